"""What the user says of the data, and the table and target that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.options import Task
from duramen.cli.problem import Problem, encoded, loaded
from duramen.cli.reading import Reading, Samples, repeated
from duramen.cli.source import Demo, check_input, read_source
from duramen.cli.stores import is_store, read_stored

if TYPE_CHECKING:
    from duramen.cli.clock import Clock
    from duramen.tables import ColumnStore, EncodedTable


def located(file: str | None) -> Path | str | None:
    """Return a path of this machine as one, and a URL as it is."""
    return file if file is None or "://" in file else Path(file)


@dataclass(frozen=True)
class Input:
    """A table or a store, its target, and what is left out.

    Parameters
    ----------
    file : Path, str or None
        A path, or a URL.
    target : str or None
        Name of the target.
    samples : Samples
        Sample annotations.
    demo : bool
        Whether it is the leukemia set that ships, in place of a file and a target.
    task : Task
        What the target is.
    drop : tuple of str
        Columns to leave out.
    categorical : tuple of str
        Columns of numbers that are categories.
    strata, blocks : str or None
        Columns that tell which rows may be exchanged.
    reading : Reading
        How text files are read.
    """

    file: Path | str | None
    target: str | None
    samples: Samples
    demo: bool
    task: Task
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    reading: Reading
    strata: str | None = None
    blocks: str | None = None

    def check(self) -> None:
        """Check that the user named a table and its target, or asked for the one that ships.

        Raises
        ------
        ValueError
            If something is missing, or too much.
        """
        check_input(self.file, self.target, self.demo, "leukemia set")
        for option, name in self.labels().items():
            if name in self.drop:
                raise ValueError(
                    f"--drop {name} is the column of --{option}, which is no feature; leave out "
                    "--drop"
                )
        self.samples.check()
        self.reading.check(self.file, self.samples.file)

    def read(
        self, command: str, jobs: int, clock: Clock
    ) -> Problem[EncodedTable] | Problem[ColumnStore]:
        """Read and encode a table, or open a store.

        Raises
        ------
        ValueError, TypeError, MemoryError, OSError
            If there is no such file or column, or it cannot be used.
        """
        if self.file is not None and is_store(self.file):
            with clock.step("open"):
                return read_stored(
                    command,
                    self.file,
                    str(self.target),
                    samples=self.samples,
                    reading=self.reading,
                    task=self.task,
                    drop=self.drop,
                    categorical=self.categorical,
                    labels=self.labels(),
                )
        from duramen.datasets.bundled import LEUKEMIA, LEUKEMIA_CITATION

        with clock.step("read"):
            demo = Demo(LEUKEMIA, LEUKEMIA_CITATION) if self.demo else None
            source = read_source(
                command,
                self.file,
                self.target,
                demo,
                self.drop,
                reading=self.reading,
                samples=self.samples,
            ).labelled(self.labels())
        with clock.step("encode"):
            return encoded(command, source, task=self.task, categorical=self.categorical, jobs=jobs)

    def load(self, command: str, jobs: int, clock: Clock) -> Problem[EncodedTable]:
        """Read and encode a table, or take a store into memory.

        Raises
        ------
        ValueError, TypeError, MemoryError, OSError
            If there is no such file or column, or it cannot be used.
        """
        from duramen.tables import EncodedTable

        problem = self.read(command, jobs, clock)
        if isinstance(problem.table, EncodedTable):
            return problem
        with clock.step("load"):
            return loaded(problem)

    def labels(self) -> dict[str, str]:
        """Return the columns of strata and blocks, by the name of the option."""
        given = {"strata": self.strata, "blocks": self.blocks}
        return {option: name for option, name in given.items() if name is not None}

    def notes(self) -> list[str]:
        """Return what is to be said of columns that are no features."""
        return [
            f"{name} is the column of --{option} and not a feature"
            for option, name in self.labels().items()
        ]

    def words(self, problem: Problem[Any]) -> list[str]:
        """Return the words of a command line that say the same, whatever folder it is run in."""
        words = ["--demo"] if self.demo else [problem.name, "--target", problem.target]
        words += [*self.samples.words(), "--task", problem.task]
        words += repeated("--drop", self.drop) + repeated("--categorical", self.categorical)
        return words + self.reading.words()

    def record(self, problem: Problem[Any]) -> dict[str, Any]:
        """Return what is on record of how the table was read."""
        return {
            **self.samples.record(),
            "dropped": list(self.drop),
            "categorical": list(self.categorical),
            **self.labels(),
            **self.reading.record(),
            **({"notes": list(problem.notes)} if problem.notes else {}),
        }
