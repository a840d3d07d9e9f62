"""Any number of threads wait for the jobs of one loop, and one of them at a time steps it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import perf_counter

from guided.decoding import Job, Loop
from guided.errors import GuidedError


class Driver:
    """Steps a loop in whatever thread waits for it, or in one of its own after `start`.

    Any thread may call any of its methods.

    Attributes:
        loop: what is stepped.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        # Guards the fields below, not the loop: that belongs to whoever has set `_stepping`.
        self._changed = threading.Condition()
        self._changes = 0  # jobs handed in or cancelled, grammars compiled
        self._stepping = False
        self._stalled = -1  # `_changes` when a step had nothing to do
        self._alarm = math.inf  # when there will be something to do nevertheless
        self._closing = False
        self._thread: threading.Thread | None = None

    def add(self, job: Job) -> None:
        """Hand in a job.

        Raises:
            LimitError: its prompt can never fit into the cache.
            GuidedError: the driver is closed.
        """
        with self._changed:
            if self._closing:
                raise GuidedError("the engine is closed", mend="make a new one")
            self.loop.add(job)
            self.touch()

    def touch(self) -> None:
        """Say that a step may find something to do."""
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def drive(self, until: Callable[[], bool], timeout: float | None = None) -> bool:
        """Step, or wait while another thread steps, until it holds.

        Args:
            until: a quick question.
            timeout: seconds after which to return all the same.

        Returns:
            whether it holds.
        """
        end = deadline(timeout)
        while self._wait_for_turn(until, end):
            self._step()
        return until()

    def run(self) -> None:
        """Step, or wait, until there is no job left."""
        self.drive(lambda: not self._stepping and self.loop.is_idle)

    def start(self) -> None:
        """Step in a thread of its own from now on; nothing if there is one."""
        with self._changed:
            if self._closing:
                raise GuidedError("the engine is closed", mend="make a new one")
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="guided", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Cancel all jobs, and let go of thread and cache. A second call does nothing."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._changed:
            while self._stepping:
                self._changed.wait()
            self._stepping = True
        try:
            self.loop.close()
        finally:
            with self._changed:
                self._stepping = False
                self._changed.notify_all()

    def _serve(self) -> None:
        self.drive(lambda: self._closing)

    def _wait_for_turn(self, until: Callable[[], bool], end: float) -> bool:
        """Wait until this thread is to step; False when it need not wait any longer."""
        with self._changed:
            while not until():
                now = perf_counter()
                if now >= end:
                    return False
                if self._is_my_turn(now):
                    self._stepping = True
                    return True
                soonest = min(end, self._alarm)
                self._changed.wait(None if soonest == math.inf else max(0.0, soonest - now))
        return False

    def _is_my_turn(self, now: float) -> bool:
        if self._stepping or self._closing:
            return False
        own = self._thread
        if own is not None and own.is_alive() and own is not threading.current_thread():
            return False
        return self._stalled != self._changes or now >= self._alarm

    def _step(self) -> None:
        """Do one step; whoever waits looks again after it."""
        changes, moved = self._changes, True
        try:
            moved = self.loop.step()
        except Exception as error:  # nobody shall wait for ever
            self.loop.fail_all(error)
        finally:
            with self._changed:
                self._stepping = False
                self._stalled = -1 if moved else changes
                self._alarm = math.inf if moved else self.loop.next_deadline()
                self._changed.notify_all()


def deadline(timeout: float | None) -> float:
    """Return when a number of seconds will be over, by `perf_counter`."""
    return math.inf if timeout is None else perf_counter() + timeout
