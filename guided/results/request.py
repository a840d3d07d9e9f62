"""One request to an engine, as its caller sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from guided.decoding import FinishReason, Job
from guided.results.constraint import Constraint
from guided.results.driver import Driver
from guided.results.result import Result
from guided.results.run import make_result
from guided.results.text import TextReader


class Reading:
    """How the text of a request becomes its value and captures; known when its grammar is."""

    def __init__(self, constraint: Constraint | None = None) -> None:
        self.constraint = constraint or Constraint(None, str)


class Request:
    """What `Engine.submit` returns: iterate it for pieces of text, or ask for its result.

    Where the engine has no thread of its own, these run the engine, for all requests it has.
    """

    def __init__(self, driver: Driver, job: Job, reading: Reading) -> None:
        self._driver = driver
        self._job = job
        self._reading = reading
        self._result: Result | None = None

    def __iter__(self) -> Pieces:
        """Iterate over the text from its beginning, in pieces of whole characters, as they come."""
        return Pieces(self._driver, self._job)

    @property
    def done(self) -> bool:
        """Whether nothing more will come, as it ended, failed or was cancelled."""
        return self._job.is_over

    @property
    def tokens(self) -> list[int]:
        """The tokens so far, end tokens left out."""
        return list(self._job.tokens)

    @property
    def max_tokens(self) -> int:
        """How many tokens there can be: what was asked for, or what the model has room for."""
        return self._job.max_tokens

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why it ended; None before, and if it failed."""
        return self._job.finish_reason

    @property
    def error(self) -> BaseException | None:
        """Why it failed, or None."""
        return self._job.error

    def notify(self, wake: Callable[[], None]) -> None:
        """Have `wake` called by the engine's thread whenever something has come.

        What came before is not told: look for it after this call.
        """
        self._job.wake = wake

    def cancel(self) -> None:
        """Give it up at the next step; what was written stays. Any thread may call this."""
        self._job.cancelled = True
        self._driver.touch()

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result.

        A request that was cancelled or is late has a result too: its text so far, with
        `finish_reason` "cancelled" or "timeout".

        Args:
            timeout: seconds to wait; None: as long as it takes. The request goes on after it.

        Raises:
            TimeoutError: it is not done by then.
            GuidedError, MemoryError, ...: the request failed; this is why.
        """
        if not self._driver.drive(lambda: self.done, timeout):
            raise TimeoutError(f"the request is not done after {timeout} seconds")
        if self._job.error is not None:
            raise self._job.error
        if self._result is None:
            self._result = make_result(
                self._driver.loop.vocabulary, self._job, self._reading.constraint
            )
        return self._result

    def __repr__(self) -> str:
        state = self._job.finish_reason or ("failed" if self._job.error else "running")
        return f"<guided.Request {state}, {len(self._job.tokens)} tokens>"


class Pieces(Iterator[str]):
    """The text of a request, piece by piece; never empty ones, whole characters only.

    Raises, in place of a next piece: the error of a request that failed.
    """

    def __init__(self, driver: Driver, job: Job) -> None:
        self._driver = driver
        self._job = job
        self._reader = TextReader(driver.loop.vocabulary)
        self._read = 0  # tokens
        self.ended = False  # whether the last piece has been handed out

    def __next__(self) -> str:
        while not self.ended:
            self._driver.drive(lambda: self._job.is_over or len(self._job.tokens) > self._read)
            if piece := self.take():
                return piece
        if self._job.error is not None:
            raise self._job.error
        raise StopIteration

    def take(self) -> str:
        """Return the text that has come since the last piece; it may be empty."""
        ended = self._job.is_over  # before the tokens are read, so that none are missed
        tokens = self._job.tokens[self._read :]
        self._read += len(tokens)
        self.ended = ended
        return self._reader.read(tokens)
