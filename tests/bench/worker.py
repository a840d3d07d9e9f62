"""One engine in a process of its own: what it measures, and how it is asked to.

A process that hangs is killed, one that crashes is missed, and either is replaced, so that a schema
costs an engine no more than itself.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import resource
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

import numpy as np

from tests.bench.engines import ENGINES, Engine, Mask, Matcher, load_tokenizer, width

WARM_UP = ('{"type": "object", "properties": {"zz": {"type": "string"}}}', '{"zz": "a b", "y": 1}')
MEMORY_LIMIT = 8 << 30  # bytes of address space that an engine may add; more is a crash
Tokens = list[int]


@dataclass(frozen=True, slots=True)
class Schema:
    """Compile, fill a first mask, then walk each instance from the start."""

    text: str
    instances: list[Tokens]


@dataclass(frozen=True, slots=True)
class Batch:
    """One matcher a schema: fill all rows and accept, step by step (cold).

    Then the same with new matchers of the same grammars, as a second request would (warm).
    """

    texts: list[str]
    instances: list[Tokens]
    steps: int


@dataclass(slots=True)
class Walk:
    """One instance. `token_ns` is mask and accept; its last entry is the mask after the end."""

    token_ns: list[int] = field(default_factory=list)
    accepted: bool = False
    contradicts_mask: bool = False  # the mask allowed a token that was then not accepted


@dataclass(slots=True)
class Outcome:
    """What came of a job. Refused: an error of the engine's own; failed: one in mid-walk."""

    status: Literal["ok", "refused", "failed", "timeout", "crashed"] = "ok"
    reason: str = ""
    first_mask_ns: int = 0
    walks: list[Walk] = field(default_factory=list)
    cold_ns: list[int] = field(default_factory=list)
    warm_ns: list[int] = field(default_factory=list)
    peak_mb: int = 0


def switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def fair(wall: int, cpu: int, switched: bool) -> int:
    """Wall time; where the kernel took the processor away meanwhile, processor time instead."""
    return min(wall, cpu) if switched else wall


def walk(matcher: Matcher, tokens: Tokens, row: Mask) -> Walk:
    # The clock is read right around the two calls: some of them take half a microsecond.
    clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    fill_mask, accept = matcher.fill_mask, matcher.accept
    result = Walk()
    for token in [*tokens, None]:
        switched, cpu = switches(), cpu_clock()
        began = clock()
        fill_mask()
        wall = clock() - began
        if token is None:
            result.accepted = bool(matcher.is_complete())
        elif allowed := (int(row[token >> 5]) >> (token & 31)) & 1:
            began = clock()
            accepted = accept(token)
            wall += clock() - began
        cpu = cpu_clock() - cpu
        result.token_ns.append(fair(wall, cpu, switches() != switched))
        if token is not None and not (allowed and accepted):
            result.contradicts_mask = bool(allowed)
            break
    return result


def walk_schema(engine: Engine, job: Schema, row: Mask) -> Outcome:
    outcome = Outcome()
    switched, cpu, began = switches(), time.process_time_ns(), time.perf_counter_ns()
    try:
        start = engine.compile(job.text)
        start().fill_mask()
    except Exception as error:  # each engine has its own classes
        return Outcome("refused", f"{type(error).__name__}: {error}"[:300])
    wall, cpu = time.perf_counter_ns() - began, time.process_time_ns() - cpu
    outcome.first_mask_ns = fair(wall, cpu, switches() != switched)
    try:
        for tokens in job.instances:
            outcome.walks.append(walk(start(), tokens, row))
    except Exception as error:
        outcome.status, outcome.reason = "failed", f"{type(error).__name__}: {error}"[:300]
    return outcome


def fill_batch(engine: Engine, job: Batch, row: Mask) -> Outcome:
    outcome = Outcome()
    starts = [engine.compile(text) for text in job.texts]
    for times in (outcome.cold_ns, outcome.warm_ns):
        matchers = [start() for start in starts]
        mask = np.zeros((len(matchers), row.size), np.int32)  # (B, W)
        fill = engine.batch([matcher.inner for matcher in matchers], mask)
        for step in range(job.steps):
            began = time.perf_counter_ns()
            fill()
            times.append(time.perf_counter_ns() - began)
            for matcher, tokens in zip(matchers, job.instances, strict=True):
                matcher.accept(tokens[step])
    return outcome


def peak_mb() -> int:
    """Peak resident memory of this process; `ru_maxrss` would count the parent's as well."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def serve(pipe: Connection, name: str, folder: str, cpu: int | None, nice: int) -> None:
    """Run jobs until None comes; the first answer is a text that describes the engine."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    with contextlib.suppress(PermissionError):
        os.nice(nice)
    tokenizer = load_tokenizer(folder)
    row = np.zeros(-(-width(tokenizer) // 32), np.int32)  # (W,)
    try:
        engine = ENGINES[name](tokenizer, row)
    except ImportError as error:
        pipe.send(error)
        return
    schema, text = WARM_UP
    walk_schema(engine, Schema(schema, [tokenizer.encode(text, add_special_tokens=False)]), row)
    pipe.send({"settings": engine.settings, "loaded_mb": peak_mb()})
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_LIMIT, used + MEMORY_LIMIT))
    gc.disable()
    while (job := pipe.recv()) is not None:
        gc.collect()
        run = walk_schema if isinstance(job, Schema) else fill_batch
        outcome = run(engine, job, row)
        outcome.peak_mb = peak_mb()
        pipe.send(outcome)


class Worker:
    """The other end: a process that runs one engine, and its replacement when it is lost."""

    def __init__(self, name: str, folder: str, cpu: int | None, nice: int) -> None:
        self.arguments = (name, folder, cpu, nice)
        self.start()

    def start(self) -> None:
        """Raises ImportError if the engine is not installed."""
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, *self.arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.about = self.pipe.recv()
        if isinstance(self.about, ImportError):
            raise self.about

    def run(self, job: Schema | Batch, limit: float) -> Outcome:
        try:
            self.pipe.send(job)
            if self.pipe.poll(limit):
                outcome: Outcome = self.pipe.recv()
                return outcome
            lost = Outcome("timeout", f"over {limit:g} s")
        except (EOFError, OSError):
            self.process.join()
            lost = Outcome("crashed", f"exit status {self.process.exitcode}")
        self.process.kill()
        self.start()
        return lost

    def close(self) -> None:
        self.pipe.send(None)
        self.process.join(10)
        self.process.kill()
