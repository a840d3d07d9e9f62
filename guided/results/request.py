"""One request to an engine, as its caller sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from guided.decoding import FinishReason, Job
from guided.results.constraint import Constraint
from guided.results.driver import Driver
from guided.results.result import Result
from guided.results.run import make_result
from guided.results.text import MarkedTextReader, TextReader
from guided.text.tools.reading import CallParser, Event, TextPiece


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
        return Pieces(self._driver, self._job, self._reading)

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

    def __init__(self, driver: Driver, job: Job, reading: Reading | None = None) -> None:
        self._driver = driver
        self._job = job
        self._reading = reading or Reading()
        self._reader: TextReader | None = None  # made when the constraint is known
        self._parser: CallParser | None = None
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
        return "".join(event.text for event in self._events(tokens) if is_answer(event))

    def take_events(self) -> list[Event]:
        """Wait for tokens or the end, and return what they brought: text, and of calls."""
        self._driver.drive(lambda: self._job.is_over or len(self._job.tokens) > self._read)
        ended = self._job.is_over
        tokens = self._job.tokens[self._read :]
        self._read += len(tokens)
        self.ended = ended
        events = self._events(tokens)
        if self.ended and self._job.error is not None:
            raise self._job.error
        return events

    def _events(self, tokens: list[int]) -> list[Event]:
        """Read tokens, and what they end if they are the last ones."""
        if self._reader is None:
            vocabulary, tools = self._driver.loop.vocabulary, self._reading.constraint.tools
            self._parser = None if tools is None else tools.parser()
            kind = TextReader if tools is None else MarkedTextReader
            self._reader = kind(vocabulary, self._job.healed)
        text = self._reader.read(tokens)
        if self._parser is None:
            return [TextPiece(text)] if text else []
        events = self._parser.feed(text)
        return [*events, *self._parser.close()] if self.ended else events


def is_answer(event: Event) -> TypeGuard[TextPiece]:
    """Whether an event is free text, and no thought."""
    return isinstance(event, TextPiece) and not event.is_reasoning
