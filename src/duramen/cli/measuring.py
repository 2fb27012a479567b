"""Which measures are computed, and computing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.cli.clock import Clock
from duramen.cli.measures import DEFAULT, MEASURES, Given, MeasureName

if TYPE_CHECKING:
    from duramen.importances.comparison import Measured
    from duramen.reports.significance import Verdict


@dataclass(frozen=True)
class Choice:
    """The measures to compute.

    Parameters
    ----------
    names : tuple of MeasureName
        Which ones; the first is ranked by.
    asked : bool
        Whether the user named them.
    left_out : tuple of str
        What is left out, and why.
    tested : MeasureName or None
        The one that a test is about.
    """

    names: tuple[MeasureName, ...]
    asked: bool
    left_out: tuple[str, ...] = ()
    tested: MeasureName | None = None

    def with_tested(self, name: MeasureName) -> Choice:
        """Return this choice with a measure to be tested, which comes last if it is not in it."""
        names = self.names if name in self.names else (*self.names, name)
        return replace(self, names=names, tested=name)


def choose(asked: Sequence[MeasureName], *, forest: str, task: str, out_of_bag: bool) -> Choice:
    """Return the measures to compute: those that were asked for, or those that suit the forest.

    Parameters
    ----------
    asked : sequence of MeasureName
        What the user named; nothing for the default.
    forest : str
        Name of the forest, for what is said of it.
    task : str
        "classification" or "regression".
    out_of_bag : bool
        Whether trees leave rows out.

    Raises
    ------
    ValueError
        If a measure was asked for that needs classes or rows out of bag, and there are none.
    """
    classes = task == "classification"
    if not asked:
        suited = [name for name in DEFAULT if classes or not MEASURES[name].classes]
        kept = tuple(name for name in suited if out_of_bag or not MEASURES[name].out_of_bag)
        gone = [name.value for name in suited if name not in kept]
        why = f"left out: every tree of --forest {forest} sees all rows; --bootstrap changes that"
        return Choice(kept, asked=False, left_out=(f"{' and '.join(gone)} {why}",) if gone else ())
    for name in asked:
        if MEASURES[name].classes and not classes:
            raise ValueError(
                f"--measure {name.value} needs classes, the target is a number; mda takes both"
            )
        if MEASURES[name].out_of_bag and not out_of_bag:
            raise ValueError(
                f"--measure {name.value} needs rows that a tree was grown without, but every tree "
                f"of --forest {forest} sees all rows; add --bootstrap"
            )
    return Choice(tuple(dict.fromkeys(asked)), asked=True)


@dataclass(frozen=True)
class Found:
    """What the measures say.

    Parameters
    ----------
    names : tuple of MeasureName
        The measures that were computed.
    measures : tuple of Importances and Significance
        What each says; the first is ranked by.
    left_out : tuple of str
        What is left out, and why.
    tested : Verdict or None
        What a test says of one of them.
    """

    names: tuple[MeasureName, ...]
    measures: tuple[Measured, ...]
    left_out: tuple[str, ...]
    tested: Verdict | None = None

    def settings(self) -> dict[str, Any]:
        """Return the names of the measures, and the settings of each and of the test."""
        from duramen.cli.significance import settings_of

        names = [name.function for name in self.names]
        pairs = zip(names, self.measures, strict=True)
        measured = {name: dict(one.metadata[name]) for name, one in pairs}
        test = {} if self.tested is None else {"significance": settings_of(self.tested)}
        return {"measures": names, **measured, **test}

    def figures(self) -> dict[str, Any]:
        """Return a few figures: unit and sum of the first, units of all, what is significant."""
        from duramen.cli.significance import figures_of
        from duramen.reports.measures import LEVEL, as_importances, n_significant
        from duramen.results.significance import Significance

        pairs = [(name.function, one) for name, one in zip(self.names, self.measures, strict=True)]
        first = as_importances(self.measures[0])
        return {
            "importance_sum": float(first.values.sum()),
            "unit": first.unit,
            "units": {name: one.unit for name, one in pairs},
            f"features_with_q_up_to_{LEVEL:g}": {
                name: n_significant(one) for name, one in pairs if isinstance(one, Significance)
            },
            **({} if self.tested is None else {"significance": figures_of(self.tested)}),
        }


def compute(choice: Choice, given: Given, clock: Clock) -> Found:
    """Compute the measures, one after the other.

    Raises
    ------
    ValueError, MemoryError
        If one that was asked for cannot be computed from these rows; others are left out.
    """
    done: dict[MeasureName, Measured] = {}
    left_out = list(choice.left_out)
    for name in choice.names:
        module = import_module(f"duramen.importances.{name.function}")
        try:
            with clock.step(f"measure {name.function}"):
                function = getattr(module, name.function)
                done[name] = MEASURES[name].compute(function, given)
        except (ValueError, MemoryError) as error:
            if choice.asked or not done or name is choice.tested:
                raise
            left_out.append(f"{name.value} left out: {error}")
    return Found(tuple(done), tuple(done.values()), tuple(left_out))
