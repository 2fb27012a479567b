"""Choice of the measures, and their computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.run import Steps
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import target_class
from duramen.estimators.base import fit_by_parts
from duramen.findings.table import names_in, unequal_values
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.comparison import Measured
from duramen.importances.measure import TreeSums
from duramen.importances.refit import leaves_rows_out
from duramen.significance.measured import exchanging
from duramen.support import checks


def measures_of(asked: Any) -> tuple[str, ...]:
    """Return the names of measures; none for "auto".

    Raises
    ------
    ValueError
        If there is no such measure.
    """
    several = [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked
    names = [name.replace("-", "_") if isinstance(name, str) else name for name in several]
    allowed = ("auto", *(measure.name for measure in catalogue))
    chosen = [checks.check_choice("rank", "measure", name, allowed) for name in names]
    if chosen == ["auto"]:
        return ()
    if not chosen or "auto" in chosen:
        raise checks.refuse("rank", "measure", "'auto' or names of measures", asked)
    return tuple(chosen)


@dataclass(frozen=True)
class Choice:
    """Measures to compute."""

    measures: tuple[Measure, ...]  # the first is ranked by
    asked: bool  # True if the user named them
    left_out: tuple[str, ...] = ()  # what is left out, and why
    tested: Measure | None = None  # the one that a test is about

    def with_tested(self, measure: Measure) -> Choice:
        """Return this choice with a measure to be tested, which comes last if it is not in it."""
        measures = self.measures if measure in self.measures else (*self.measures, measure)
        return replace(self, measures=measures, tested=measure)


def choose(
    asked: Sequence[str],
    *,
    forest: str,
    task: str,
    out_of_bag: bool,
) -> Choice:
    """Return the measures to compute: those that were asked for, or those that suit the forest.

    The name of the forest is for messages; `out_of_bag` says whether its trees leave rows out.

    Raises
    ------
    ValueError
        If a measure was asked for that needs classes or rows out of bag, and there are none.
    """
    target = target_class(task)
    unseen = f"every tree of {forest} sees all rows"
    if not asked:
        suited = [measure for measure in catalogue if measure.default and measure.suits(target)]
        usable = [measure for measure in suited if out_of_bag or measure.rows != "out-of-bag"]
        # A measure that is 0 on average for irrelevant features ranks, not MDI.
        first = next((measure for measure in usable if measure.zero_if_irrelevant), usable[0])
        usable.sort(key=lambda measure: measure is not first)
        gone = " and ".join(measure.name for measure in suited if measure not in usable)
        why = (f"{gone} left out: {unseen}; bootstrap=True computes them",) if gone else ()
        return Choice(tuple(usable), asked=False, left_out=why)
    chosen = tuple(catalogue[name] for name in dict.fromkeys(asked))
    for measure in chosen:
        if target.censored and not measure.survival:
            able = ", ".join(other.name for other in catalogue if other.survival)
            raise ValueError(
                f"rank: measure={measure.name!r} is not defined for survival; use one of {able}"
            )
        if not measure.suits(target):
            others = " and ".join(m.name for m in catalogue if m.default and not m.classes)
            raise ValueError(
                f"rank: measure={measure.name!r} needs a target of classes, got numbers; {others} "
                "work for both"
            )
        if measure.rows == "out-of-bag" and not out_of_bag:
            raise ValueError(
                f"rank: measure={measure.name!r} needs out-of-bag rows, but {unseen}; add "
                "bootstrap=True"
            )
    return Choice(chosen, asked=True)


def with_bias(
    data: LearningSet[EncodedTable], choice: Choice, estimator: Any, execution: Execution
) -> LearningSet[EncodedTable]:
    """Tell of columns that the measure that is ranked by favors by chance; return that as well."""
    first = choice.measures[0]
    if not first.favors_many_values:
        return data
    findings = data.provenance.findings
    unequal = unequal_values(data.table, first.title, named=names_in(findings))
    if unequal is None:
        return data
    out_of_bag = leaves_rows_out(estimator)
    fair = ", ".join(
        measure.name
        for measure in catalogue
        if measure.zero_if_irrelevant
        and measure.suits(data.target)
        and (out_of_bag or measure.rows != "out-of-bag")
    )
    hint = f"measure=NAME ranks without this bias, with NAME one of {fair}"
    unequal = replace(unequal, hint=hint)
    execution.tell(str(unequal))
    provenance = replace(data.provenance, findings=(*findings, unequal))
    return replace(data, provenance=provenance)


# Bytes that the trees of a forest may take to be kept; those of a larger one are let go.
_KEPT = 1 << 29


def trees_within(memory: int) -> int:
    """Return the bytes of trees that are kept where a table takes more memory than stated."""
    return memory // 8


def grow_and_compute(
    choice: Choice, inputs: Inputs, steps: Steps, memory: int | None = None
) -> tuple[dict[str, Measured], int]:
    """Grow the forest, and compute the measures from its trees, kept or not.

    Also returns the number of features that the forest splits on.
    """
    most_bytes = _KEPT if memory is None else min(_KEPT, trees_within(memory))
    used = np.zeros(inputs.data.n_columns, dtype=np.bool_)
    sums: dict[str, TreeSums] = {}

    def take(trees: Forest) -> None:
        used[trees.feature[trees.feature >= 0]] = True
        for measure in sums.values():
            measure.add(trees)

    def takers() -> Sequence[Callable[[Forest], None]]:
        sums.update(
            (measure.name, measure.compute(inputs))
            for measure in choice.measures
            if measure.over_trees
        )
        return [take]

    with steps.execution.clock.step("grow"):
        on, client = (inputs.estimator, inputs.data), steps.execution.client
        if not fit_by_parts(*on, takers, most_bytes=most_bytes, client=client):
            take(inputs.estimator.forest_)
    return compute(choice, inputs, steps, sums), int(used.sum())


def compute(
    choice: Choice, inputs: Inputs, steps: Steps, sums: Mapping[str, TreeSums]
) -> dict[str, Measured]:
    """Compute the measures, one after the other, some from sums over the trees.

    One that was asked for and cannot be computed from these rows raises; others are left out. So
    are those that a stop such as Ctrl-C leaves unfinished, once the first is there.
    """
    data = inputs.data.with_exchangeability(inputs.data.exchangeability.without_strata())
    done: dict[str, Measured] = {}
    for i, measure in enumerate(choice.measures):
        own = replace(inputs, data=exchanging(measure, data))
        try:
            with steps.execution.clock.step(f"measure {measure.name}"):
                if measure.name in sums:
                    done[measure.name] = measure.result(sums[measure.name].importances(), own)
                else:
                    _check_trees(measure, inputs)
                    done[measure.name] = measure(own.unfitted() if measure.refits else own)
        except (ValueError, MemoryError) as error:
            last = not done and measure is choice.measures[-1]
            if choice.asked or last or measure is choice.tested:
                raise
            steps.left_out.append(f"{measure.name} left out: {error}")
        except KeyboardInterrupt as stop:
            if not done:
                raise
            steps.end(stop, *(left.name for left in choice.measures[i:]))
            break
    return done


def _check_trees(measure: Measure, inputs: Inputs) -> None:
    """Check that a measure that needs all trees at once has them."""
    if not measure.refits and is_let_go(inputs.estimator):
        raise ValueError(
            f"rank: measure={measure.name!r} needs all trees at once, and they do not fit in "
            "memory. Hint: max_rows, n_estimators, max_depth or min_samples_leaf makes a smaller "
            "forest"
        )


def is_let_go(estimator: Any) -> bool:
    """Tell whether the trees of a fitted forest were let go."""
    return not isinstance(estimator.forest_, Forest)
