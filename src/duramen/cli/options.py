"""Groups of options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duramen.analyses.execution import Execution
from duramen.cli.checkpoint import writable
from duramen.cli.clock import Clock
from duramen.cli.console import note, notes, standard_error
from duramen.cli.declaration import choice, option, parameters
from duramen.cli.ending import obey
from duramen.cli.wording import OPTIONS


def criterion_option() -> Any:
    """Declare the option ``--criterion``."""
    return choice(
        "auto",
        "duramen.forests.criteria:IMPURITIES",
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
            tell=tell,
            announce=None if quiet else note,
            obey=obey,
            wording=OPTIONS,
            clock=clock,
        )


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
    quiet: bool = option(False, "Print errors only.", "--quiet", "-q", echo="never")

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
        20, "Number of rows to show in the terminal.", metavar="K", min=0, echo="never"
    )


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Trees of one family, of which the theory has infinitely many."""

    criterion: str = criterion_option()
    max_features: int = option(
        1, "Number of features tried at a node; 1 is totally randomized.", metavar="K", min=1
    )
    max_depth: int | None = option(
        None, "Maximum depth of the trees; no limit by default.", metavar="D", min=1
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
        "rows with the same value form a group that is permuted as a whole. It is not used as a "
        "feature.",
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
        given = {"strata": (self.strata,), "groups": (self.groups,), "covariate": self.covariate}
        known = {
            option: tuple(name for name in names if name is not None)
            for option, names in given.items()
        }
        return {option: names for option, names in known.items() if names}

    def record(self) -> dict[str, Any]:
        """Return the columns that are given, for the record."""
        given = {"strata": self.strata, "groups": self.groups, "covariates": list(self.covariate)}
        return {name: one for name, one in given.items() if one not in (None, [])}

    def check(self, dropped: tuple[str, ...], contexts: tuple[str, ...] = ()) -> None:
        """Check that these columns are neither left out nor contexts.

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
            if column in contexts:
                raise ValueError(
                    f"--{name}: must not be a context, got {column}. Hint: leave out --{name}."
                )

    def notes(self) -> list[str]:
        """Return what is to be said of columns that are no features, and of covariates."""
        told = [
            f"{name} is the column of --{option} and is not used as a feature"
            for option, name in self._pairs()
            if option != "covariate"
        ]
        return told + [
            f"{name} is a covariate: rows are permuted within its values, so that its own "
            "verdict, p-value or error rate is no evidence that it is irrelevant"
            for name in self.covariate
        ]

    def _pairs(self) -> list[tuple[str, str]]:
        """Return each option with its column."""
        return [(option, name) for option, names in self.labels().items() for name in names]


def settled_criterion(asked: str, task: str) -> str:
    """Return the impurity criterion that an option asks for, given the task."""
    from duramen.data.target import target_class
    from duramen.forests.criteria import CRITERIA

    suited = [one.name for one in CRITERIA if one.task == task]
    if asked == "auto":
        return target_class(task).criterion
    if asked not in suited:
        allowed = ["auto", *(name for name in suited if not target_class(task).censored)]
        raise ValueError(f"--criterion: must be {' or '.join(allowed)} for {task}, got {asked}")
    return asked
