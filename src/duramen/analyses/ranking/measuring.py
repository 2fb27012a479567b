"""Choice of the measures, and their computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from duramen.analyses.execution import PYTHON, Execution, Wording
from duramen.analyses.problem import Problem
from duramen.analyses.ranking.significance import figures_of, settings_of
from duramen.data import EncodedTable
from duramen.data.target import target_class
from duramen.estimators.base import fit_by_parts
from duramen.findings.table import names_in, unequal_values
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.comparison import Measured
from duramen.importances.measure import TreeSums
from duramen.importances.refit import leaves_rows_out
from duramen.reports.direct import Directness
from duramen.reports.effects import Effects
from duramen.reports.facts import LEVEL, as_importances, n_significant
from duramen.reports.precision import Precision
from duramen.reports.ranking import Ranked, Reasons, in_order, ranked
from duramen.reports.signals import GroupImportances
from duramen.reports.significance import Verdict
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.significance.measured import exchanging


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
    wording: Wording = PYTHON,
) -> Choice:
    """Return the measures to compute: those that were asked for, or those that suit the forest.

    The name of the forest is for messages; `out_of_bag` says whether its trees leave rows out.

    Raises
    ------
    ValueError
        If a measure was asked for that needs classes or rows out of bag, and there are none.
    """
    target = target_class(task)
    unseen = f"every tree of {wording.forest.format(forest)} sees all rows"
    if not asked:
        suited = [measure for measure in catalogue if measure.default and measure.suits(target)]
        usable = [measure for measure in suited if out_of_bag or measure.rows != "out-of-bag"]
        # A measure that is 0 on average for irrelevant features ranks, not MDI.
        first = next((measure for measure in usable if measure.zero_if_irrelevant), usable[0])
        usable.sort(key=lambda measure: measure is not first)
        gone = " and ".join(
            wording.measure_name(measure) for measure in suited if measure not in usable
        )
        why = (
            (f"{gone} left out: {unseen}; add {wording.bootstrap} to compute them",) if gone else ()
        )
        return Choice(tuple(usable), asked=False, left_out=why)
    chosen = tuple(catalogue[name] for name in dict.fromkeys(asked))
    for measure in chosen:
        if target.censored and not measure.survival:
            able = ", ".join(wording.names(m for m in catalogue if m.survival))
            raise ValueError(
                f"{wording.measure(measure)} is not defined for survival; use one of {able}"
            )
        if not measure.suits(target):
            others = " and ".join(
                wording.names(m for m in catalogue if m.default and not m.classes)
            )
            raise ValueError(
                f"{wording.measure(measure)} needs a target of classes, got numbers; {others} "
                "work for both"
            )
        if measure.rows == "out-of-bag" and not out_of_bag:
            raise ValueError(
                f"{wording.measure(measure)} needs out-of-bag rows, but {unseen}; add "
                f"{wording.bootstrap}"
            )
    return Choice(chosen, asked=True)


def with_bias(
    problem: Problem[EncodedTable], choice: Choice, estimator: Any, execution: Execution
) -> Problem[EncodedTable]:
    """Tell of columns that the measure that is ranked by favors by chance; return that as well."""
    first = choice.measures[0]
    if not first.favors_many_values:
        return problem
    named = names_in(problem.findings)
    unequal = unequal_values(problem.table, first.words.title, named=named)
    if unequal is None:
        return problem
    out_of_bag = leaves_rows_out(estimator)
    fair = execution.wording.names(
        measure
        for measure in catalogue
        if measure.zero_if_irrelevant
        and measure.suits(problem.data.target)
        and (out_of_bag or measure.rows != "out-of-bag")
    )
    hint = execution.wording.fair.format(", ".join(fair))
    unequal = replace(unequal, hint=hint)
    execution.tell(str(unequal))
    return replace(problem, findings=(*problem.findings, unequal))


@dataclass(frozen=True)
class Found:
    """Importances by the measures."""

    names: tuple[str, ...]  # of the measures that were computed
    measures: tuple[Measured, ...]  # importances by each; the first is ranked by
    left_out: tuple[str, ...]  # what is left out, and why
    tested: Verdict | None = None  # a test of one of them
    effects: Effects | None = None  # of the first features
    stop: KeyboardInterrupt | None = None  # what ended the work, if these are the results so far
    unfinished: tuple[str, ...] = ()  # what it left out
    features_used: int = 0  # number of features that the forest splits on
    precision: Precision | None = None  # intervals, stability and number of trees
    feature_groups: GroupImportances | None = None  # importances of groups
    direct: Directness | None = None  # test of each feature given all others
    reasons: Reasons = field(default_factory=Reasons)  # of predictions: pairs, and single rows

    @property
    def ranking(self) -> Importances:
        """Importances by the first measure, in the order of the table of results."""
        return in_order(self.measures[0], self.tested)

    def ranked(self, k: int | None = None) -> Ranked:
        """Return the first k features, or all, in that order, with all that is known of them."""
        described = None if self.effects is None else self.effects.described
        return ranked(
            self.measures,
            k,
            tested=self.tested,
            described=described,
            precision=self.precision,
            direct=self.direct,
        )

    @property
    def n_selected(self) -> int:
        """Number of features that the test selects; 0 without a test."""
        return 0 if self.tested is None else len(self.tested.selected())

    def settings(self) -> dict[str, Any]:
        """Return the names of the measures, and the settings of each and of the test."""
        pairs = zip(self.names, self.measures, strict=True)
        measured = {name: dict(result.metadata.get(name, {})) for name, result in pairs}
        test = {} if self.tested is None else {"significance": settings_of(self.tested)}
        more = {} if self.precision is None else self.precision.settings()
        feature_groups = (
            {} if self.feature_groups is None else {"group_mda": self.feature_groups.settings()}
        )
        direct = {} if self.direct is None else {"direct": self.direct.settings()}
        return {
            "measures": list(self.names),
            **measured,
            **test,
            **more,
            **feature_groups,
            **direct,
        }

    def figures(self) -> dict[str, Any]:
        """Return a few figures: unit and sum of the first, units of all, what is significant."""
        pairs = list(zip(self.names, self.measures, strict=True))
        first = as_importances(self.measures[0])
        return {
            "importance_sum": float(first.values.sum()),
            "unit": first.unit,
            "units": {name: result.unit for name, result in pairs},
            f"features_with_q_up_to_{LEVEL:g}": {
                name: n_significant(result)
                for name, result in pairs
                if isinstance(result, Significance)
            },
            **({} if self.tested is None else {"significance": figures_of(self.tested)}),
            **({} if self.precision is None else self.precision.figures()),
            **({} if self.direct is None else {"direct": self.direct.figures()}),
            **self.reasons.figures(),
        }


# Bytes that the trees of a forest may take to be kept; those of a larger one are let go.
_KEPT = 1 << 29


def trees_within(memory: int) -> int:
    """Return the bytes of trees that are kept where a table takes more memory than stated."""
    return memory // 8


def grow_and_compute(
    choice: Choice, inputs: Inputs, execution: Execution, memory: int | None = None
) -> Found:
    """Grow the forest, and compute the measures from its trees, kept or not."""
    most_bytes = _KEPT if memory is None else min(_KEPT, trees_within(memory))
    used = np.zeros(inputs.data.n_columns, dtype=np.bool_)
    sums: dict[str, TreeSums] = {}

    def take(trees: Forest) -> None:
        used[trees.feature[trees.feature >= 0]] = True
        for measure in sums.values():
            measure.add(trees)

    def takers() -> Sequence[Callable[[Forest], None]]:
        sums.update(
            (measure.name, measure.sums(inputs))
            for measure in choice.measures
            if measure.sums is not None
        )
        return [take]

    with execution.clock.step("grow"):
        on, client = (inputs.estimator, inputs.data), execution.client
        if not fit_by_parts(*on, takers, most_bytes=most_bytes, client=client):
            take(inputs.estimator.forest_)
    return replace(compute(choice, inputs, execution, sums), features_used=int(used.sum()))


def compute(
    choice: Choice,
    inputs: Inputs,
    execution: Execution,
    sums: Mapping[str, TreeSums] | None = None,
) -> Found:
    """Compute the measures, one after the other, some from sums over the trees.

    One that was asked for and cannot be computed from these rows raises; others are left out. So
    are those that a stop such as Ctrl-C leaves unfinished, once the first is there.
    """
    data = inputs.data.with_exchangeability(inputs.data.exchangeability.without_strata())
    sums = sums or {}
    done: dict[str, Measured] = {}
    left_out = list(choice.left_out)
    for i, measure in enumerate(choice.measures):
        own = replace(inputs, data=exchanging(measure, data))
        try:
            with execution.clock.step(f"measure {measure.name}"):
                if measure.name in sums:
                    done[measure.name] = measure.result(sums[measure.name].importances(), own)
                else:
                    _check_trees(measure, inputs, execution.wording)
                    done[measure.name] = measure(own.unfitted() if measure.refits else own)
        except (ValueError, MemoryError) as error:
            last = not done and measure is choice.measures[-1]
            if choice.asked or last or measure is choice.tested:
                raise
            left_out.append(f"{execution.wording.measure_name(measure)} left out: {error}")
        except KeyboardInterrupt as stop:
            if not done:
                raise
            execution.obey(stop)
            rest = tuple(map(execution.wording.measure_name, choice.measures[i:]))
            computed = Found(tuple(done), tuple(done.values()), tuple(left_out))
            return replace(computed, stop=stop, unfinished=rest)
    return Found(tuple(done), tuple(done.values()), tuple(left_out))


def _check_trees(measure: Measure, inputs: Inputs, wording: Wording) -> None:
    """Check that a measure that needs all trees at once has them."""
    if not measure.refits and is_let_go(inputs.estimator):
        raise ValueError(
            f"{wording.measure(measure)} needs all trees at once, and they do not fit in memory. "
            f"Hint: {wording.smaller}"
        )


def is_let_go(estimator: Any) -> bool:
    """Tell whether the trees of a fitted forest were let go."""
    return not isinstance(estimator.forest_, Forest)
