"""Seed, threads, checkpoint, messages and clock of an analysis."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duramen.support.warning import gathered_warnings


@dataclass
class Clock:
    """Clock of the steps of an analysis: the seconds that each took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, whose name is the title of progress bars."""
        from duramen.jobs.progress import titled  # imports that take long

        start = time.perf_counter()
        with titled(name.replace("_", "-")):
            yield
        self.seconds[name] = round(time.perf_counter() - start, 4)


def _silent(_: str) -> None:
    """Show no remark."""


def nothing(_: KeyboardInterrupt) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Execution:
    """Execution of an analysis: what no number of its result depends on, and the seed."""

    random_state: int = 0
    n_jobs: int | None = None
    verbose: int = 0  # above 0: progress bars
    checkpoint: Path | None = None
    client: Any = None  # of a Dask cluster, for work that is repeated
    tell: Callable[[str], None] = _silent  # shows a remark
    told: list[str] = field(default_factory=list)  # remarks that were shown, for the report
    announce: Callable[[str], None] | None = None  # shows how long work will take
    obey: Callable[[KeyboardInterrupt], None] = nothing  # told of a stop that ended the work
    again: str = "the same call"  # which resumes a stopped run
    clock: Clock = field(default_factory=Clock)

    def notes(self, lines: Iterable[str]) -> None:
        """Show remarks."""
        for line in lines:
            self.tell(line)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Show warnings of the library as remarks."""
        with gathered_warnings() as gathered:
            yield
        self.notes(map(str, gathered))

    @contextmanager
    def keeping(self, files: Callable[[], Sequence[Path]]) -> Iterator[None]:
        """Show which files hold the work done so far, where a stop ends a step."""
        try:
            yield
        except KeyboardInterrupt:
            left = files()
            if left:
                shown = ", ".join(file.name for file in left[:3])
                self.tell(f"{shown} holds the work done so far; {self.again} resumes from it")
            raise


def checkpoints(checkpoint: Path | None) -> list[Path]:
    """Return the files of a checkpoint: that of its name, and those with a word added to it."""
    if checkpoint is None:
        return []
    stem, suffix = checkpoint.stem, checkpoint.suffix
    return sorted(
        file
        for file in checkpoint.absolute().parent.iterdir()
        if file.suffix == suffix and (file.stem == stem or file.stem.startswith(f"{stem}-"))
    )
