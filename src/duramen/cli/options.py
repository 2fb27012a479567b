"""Groups of options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.clustering import DISTANCE
from duramen.analyses.clustering import Clustering as ClusteringRequest
from duramen.analyses.execution import Execution, Wording
from duramen.cli.cluster import connected_client
from duramen.cli.console import note, notes, standard_error
from duramen.cli.declaration import choice, option, parameters, recorded
from duramen.cli.ending import Clock, obey

if TYPE_CHECKING:
    from duramen.selection import Selector


@dataclass(frozen=True)
class CommandWording(Wording):
    """Options, with the names of selectors in kebab case."""

    again: str = "the same command"
    as_classes: str = "--task classification"
    memory: str = "duramen select: --memory"

    def method(self, record: Selector) -> str:
        """Return the option for a selector."""
        return f"--method {record.option}"


OPTIONS = CommandWording()


MAX_FEATURES = "Number of features tried at a node: auto, sqrt, log2, all, an integer or a fraction"


def count_or_fraction(text: str) -> int | float | str:
    """Return a number that a text holds, whole or not; else the text, which the library refuses."""
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


def parsed_max_features(text: str) -> str | int | float | None:
    """Return ``--max-features`` as the estimators take it."""
    return None if text == "all" else count_or_fraction(text)


def writable(checkpoint: Path | None) -> Path | None:
    """Return the path of ``--checkpoint`` once a file can be written there, else raise OSError."""
    if checkpoint is None:
        return None
    from duramen.support.files import expanded

    checkpoint = expanded(checkpoint)
    if checkpoint.is_dir():
        raise IsADirectoryError(f"--checkpoint {checkpoint} is a folder; name a file")
    check_parent(f"--checkpoint {checkpoint}", checkpoint.absolute().parent, checkpoint.parent)
    if checkpoint.exists() and not os.access(checkpoint, os.R_OK):
        raise PermissionError(f"--checkpoint {checkpoint} cannot be read; name another file")
    return checkpoint


def check_demo(demo: bool, inputs: Mapping[str, Any], needed: str, data: str) -> None:
    """Check that a command has FILE or ``--demo``, and not both.

    `inputs` has the values of FILE and of the options that ``--demo`` replaces, by their names;
    `needed` and `data` are what to give, and what ``--demo`` stands for, in the message.

    Raises
    ------
    ValueError
        If something is missing, or too much.
    """
    if demo and any(value is not None for value in inputs.values()):
        *first, last = inputs
        raise ValueError(f"--demo brings its own data; leave out {', '.join(first)} and {last}")
    if not demo and inputs["FILE"] is None:
        raise ValueError(f"give {needed}, or --demo for {data}")


def check_parent(owner: str, parent: Path, shown: Path) -> None:
    """Check that a file or folder can be made in a folder, which the user wrote as `shown`."""
    if not parent.is_dir():
        raise FileNotFoundError(f"{owner} is in {shown}, which does not exist; create that folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{owner} lies in {parent}, which is not writable; choose another folder"
        )


@contextmanager
def keeping(files: Callable[[], Sequence[Path]], quiet: bool) -> Iterator[None]:
    """Say which files keep what is done, where a stop ends the work."""

    def tell(text: str) -> None:
        notes([text], quiet)

    with Execution(tell=tell, wording=OPTIONS).keeping(files):
        yield


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.forests.criteria import IMPURITIES

    return {"criterion": IMPURITIES}


def criterion_option() -> Any:
    """Declare the option ``--criterion``."""
    return choice(
        "auto",
        _choices,
        "Impurity criterion; auto is entropy for classes, variance for numbers.",
        before=("auto",),
    )


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """Processors to use."""

    jobs: int = option(
        -1,
        "Number of threads; -1 for all processors. The result does not depend on it.",
        metavar="N",
        parameter="n_jobs",
        echo="never",
    )


@dataclass(frozen=True, kw_only=True)
class Work(Jobs):
    """Checkpoint, seed and processors of a run."""

    checkpoint: Path | None = option(
        None,
        "File that saves the work done; the same command resumes a stopped run from it.",
        metavar="FILE",
        echo="never",
    )
    seed: int = option(
        0,
        "Seed of all random numbers.",
        metavar="N",
        parameter="random_state",
        min=0,
        max=2**32 - 1,
    )

    def parameters(self, quiet: bool) -> dict[str, Any]:
        """Return the parameters of a function that does the work."""
        return {
            **parameters(self),
            "checkpoint": writable(self.checkpoint),
            "verbose": int(not quiet and standard_error().is_terminal),
        }

    def execution(self, quiet: bool, clock: Clock) -> Execution:
        """Return how an analysis is to be executed."""

        def tell(text: str) -> None:
            notes([text], quiet)

        return Execution(
            random_state=self.seed,
            n_jobs=self.jobs,
            verbose=int(not quiet and standard_error().is_terminal),
            checkpoint=writable(self.checkpoint),
            client=connected_client(),
            tell=tell,
            announce=None if quiet else note,
            obey=obey,
            wording=OPTIONS,
            clock=clock,
        )


@dataclass(frozen=True, kw_only=True)
class ClusterWork(Work):
    """Checkpoint, seed and processors of a run, or the workers of a cluster."""

    scheduler: str | None = option(
        None,
        "Address of a Dask scheduler, such as tcp://192.0.2.1:8786, or the .json file that it "
        "writes: its workers grow the forests. The result does not depend on it.",
        metavar="ADDRESS",
        parameter="client",
        echo="never",
    )
    workers: int | None = option(
        None,
        "Number of worker processes to start on this machine, which divide the threads of --jobs; "
        "by default, threads of one process do the work. The result does not depend on it.",
        metavar="N",
        min=1,
        max=1024,
        parameter="client",
        echo="never",
    )

    def parameters(self, quiet: bool) -> dict[str, Any]:
        """Return the parameters of a function that does the work."""
        return {**super().parameters(quiet), "client": connected_client()}


@dataclass(frozen=True, kw_only=True)
class Output:
    """Folder of the results, and what else is shown."""

    out: Path = option(Path(), "Folder for the results.", metavar="DIR", echo="never")
    spreadsheet_safe: bool = option(
        False,
        "Put an apostrophe before text in result.csv that a spreadsheet would evaluate as a "
        "formula, such as names that begin with =, +, - or @.",
    )
    xlsx: bool = option(
        False,
        "Also write the results to result.xlsx, where no text is evaluated as a formula.",
        echo="never",
    )
    json: bool = option(
        False,
        "Print one JSON object in place of the tables: the conclusion, the files, the record of "
        "the run and the first rows of the results.",
        echo="never",
    )
    quiet: bool = option(False, "Print errors only.", "--quiet", "-q", echo="never")

    top: int = 10  # rows in the terminal

    def check(self, command: str) -> None:
        """Check that what writes the results is there.

        Raises
        ------
        ModuleNotFoundError
            If --xlsx is asked for, and the package that writes workbooks is not installed.
        """
        from duramen.io.formats.excel import require_writer

        if self.xlsx:
            require_writer(f"duramen {command}: --xlsx")


@dataclass(frozen=True, kw_only=True)
class Printed(Output):
    """Folder of the results, and rows of them in the terminal."""

    top: int = option(
        20,
        "Number of rows to show in the terminal, at most 1000.",
        metavar="K",
        min=0,
        echo="never",
    )


@dataclass(frozen=True, kw_only=True)
class Strata:
    """Columns that say which rows may be exchanged."""

    strata: str | None = option(
        None,
        "Column of the table or of its sample annotations, such as the population or the batch: "
        "rows are permuted only among those with the same value. It is not used as a feature.",
        metavar="NAME",
    )
    groups: str | None = option(
        None,
        "Column of the table or of its sample annotations, such as the person or the family: "
        "rows with the same value form a group, which trees draw and tests permute as a whole. It "
        "is not used as a feature.",
        metavar="NAME",
    )

    covariate: tuple[str, ...] = option(
        (),
        "Column of the table or of its sample annotations, such as age or ancestry, on which "
        "both features and target may depend: rows are permuted only among those with the same "
        "value, or within narrow intervals of numbers; repeat for more. It is also used as a "
        "feature.",
        metavar="NAME",
        parameter="strata",
        record="covariates",
        echo="changed",
    )

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of strata, groups and covariates, by the name of the option."""
        columns = {"strata": (self.strata,), "groups": (self.groups,), "covariate": self.covariate}
        named = {
            option: tuple(name for name in names if name is not None)
            for option, names in columns.items()
        }
        return {option: names for option, names in named.items() if names}

    def record(self) -> dict[str, Any]:
        """Return the columns that are given, for the record."""
        columns = {"strata": self.strata, "groups": self.groups, "covariates": list(self.covariate)}
        return {name: value for name, value in columns.items() if value not in (None, [])}

    def check(self, dropped: tuple[str, ...]) -> None:
        """Check that these columns are not left out.

        Raises
        ------
        ValueError
            If one is.
        """
        for name, column in self._pairs():
            if column in dropped:
                raise ValueError(
                    f"--drop: must not name the column of --{name}, got {column}. Hint: leave out "
                    f"--drop {column}."
                )

    def notes(self) -> list[str]:
        """Return what is to be said of columns that are no features, and of covariates."""
        notes = [
            f"{name} is the column of --{option} and is not used as a feature"
            for option, name in self._pairs()
            if option != "covariate"
        ]
        return notes + [
            f"{name} is a covariate: rows are permuted within its values, so that its own "
            "verdict, p-value or error rate is no evidence that it is irrelevant"
            for name in self.covariate
        ]

    def _pairs(self) -> list[tuple[str, str]]:
        """Return each option with its column."""
        return [(option, name) for option, names in self.labels().items() for name in names]


def estimator_of(forest: str, task: str, **parameters: Any) -> Any:
    """Return the estimator of a kind of forest for a task; None where the kind has none.

    Parameters that are None have their defaults.
    """
    from duramen.estimators.catalogue import FORESTS

    kind = next(kind for kind in FORESTS if kind.name == forest.replace("_", "-")).estimator(task)
    values = {name: value for name, value in parameters.items() if value is not None}
    return None if kind is None else kind(**values)


def settled_criterion(asked: str, task: str) -> str:
    """Return the impurity criterion that an option asks for, given the task."""
    from duramen.data.target import target_class
    from duramen.forests.criteria import CRITERIA

    suited = [criterion.name for criterion in CRITERIA if criterion.task == task]
    if asked == "auto":
        return target_class(task).criterion
    if asked not in suited:
        allowed = ["auto", *(name for name in suited if not target_class(task).censored)]
        raise ValueError(f"--criterion: must be {' or '.join(allowed)} for {task}, got {asked}")
    return asked


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Clusters of features that stand for the same signal."""

    clusters: float | None = option(
        None,
        "Put features in a cluster with a more important one if their absolute correlation is at "
        "least R, such as 0.8; variants of a PLINK file only within --distance. None by default.",
        metavar="R",
        echo="changed",
    )
    distance: int = option(
        DISTANCE,
        "With --clusters: largest distance, in base pairs, between a variant and the "
        "representative of its cluster.",
        metavar="BP",
        min=0,
        echo="changed",
    )

    def check(self) -> None:
        """Check that the correlation can be one.

        Raises
        ------
        ValueError
            If it cannot.
        """
        _check_threshold("--clusters", self.clusters)
        needed = self.distance_needs
        if needed and self.distance != DISTANCE:
            raise ValueError(f"--distance needs {needed}")

    @property
    def distance_needs(self) -> str:
        """Options that --distance has no effect without, empty if one of them is given."""
        return "--clusters R" if self.clusters is None else ""

    def request(self) -> ClusteringRequest:
        """Return the clusters that are asked for."""
        return ClusteringRequest(self.clusters, self.distance)

    def record(self) -> dict[str, Any]:
        """Return the settings for the record, if clusters are asked for."""
        own = recorded(self)
        asked = {
            name: value for name, value in own.items() if name != "distance" and value is not None
        }
        return own if asked else {}


def _check_threshold(word: str, value: float | None) -> None:
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"{word} must be a correlation in (0, 1], got {value:g}")
