"""Importance measures of a ranking: their choice and their computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.forest import is_let_go
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import target_class
from duramen.estimators.base import fit_by_parts
from duramen.findings.table import unequal_values
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.measure import Measured, TreeSums
from duramen.significance.measured import exchanging
from duramen.support import checks

_KEPT = 1 << 29  # bytes that the trees of a forest may take to be kept; larger ones are let go


def choose(
    asked: Any, *, forest: str, task: str, out_of_bag: bool
) -> tuple[list[Measure], list[Measure], str]:
    """Return the measures, those of them that were asked for by name, and why some are left out.

    By default these are the measures that suit the forest, which is named for messages;
    `out_of_bag` tells whether its trees leave rows out.

    Raises
    ------
    ValueError
        If there is no such measure, or it needs classes or rows out of bag, and there are none.
    """
    several = [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked
    names = [name.replace("-", "_") if isinstance(name, str) else name for name in several]
    allowed = ("auto", *(measure.name for measure in catalogue))
    names = [checks.check_choice("rank", "measure", name, allowed) for name in names]
    target, unseen = target_class(task), f"every tree of {forest} sees all rows"
    if names == ["auto"]:
        suited = [measure for measure in catalogue if measure.default and measure.suits(target)]
        usable = [measure for measure in suited if out_of_bag or measure.rows != "out-of-bag"]
        # A measure that is 0 on average for irrelevant features ranks, not MDI.
        first = next((measure for measure in usable if measure.zero_if_irrelevant), usable[0])
        usable.sort(key=lambda measure: measure is not first)
        gone = " and ".join(measure.name for measure in suited if measure not in usable)
        note = f"{gone} left out: {unseen}; bootstrap=True computes them" if gone else ""
        return usable, [], note
    if not names or "auto" in names:
        raise checks.refuse("rank", "measure", "'auto' or names of measures", asked)
    chosen = [catalogue[name] for name in dict.fromkeys(names)]
    for measure in chosen:
        why = ""
        if not measure.suits(target):
            able = ", ".join(other.name for other in catalogue if other.suits(target))
            needs = (
                "is not defined for survival" if target.censored else "needs a target of classes"
            )
            why = f"{needs}; use one of {able}"
        elif measure.rows == "out-of-bag" and not out_of_bag:
            why = f"needs out-of-bag rows, but {unseen}; add bootstrap=True"
        if why:
            raise ValueError(f"rank: measure={measure.name!r} {why}")
    return chosen, list(chosen), ""


def with_bias(
    data: LearningSet[EncodedTable], first: Measure, out_of_bag: bool, execution: Execution
) -> LearningSet[EncodedTable]:
    """Return the data with a finding on columns that the first measure favors by chance."""
    findings = data.provenance.findings
    unequal = unequal_values(data.table, first.title, findings=findings)
    if unequal is None:
        return data
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


def grow_and_compute(
    chosen: Sequence[Measure],
    inputs: Inputs,
    execution: Execution,
    *,
    required: Sequence[Measure] = (),
) -> tuple[dict[str, Measured], int]:
    """Grow the forest, and compute the measures from its trees, kept or not.

    A measure that is `required`, or the only one left, and cannot be computed from these rows
    raises; others are left out, as are those that a stop such as Ctrl-C leaves unfinished, once the
    first is there. Also returns the number of features that the forest splits on.
    """
    used = np.zeros(inputs.data.n_columns, dtype=np.bool_)
    sums: dict[str, TreeSums] = {}

    def take(trees: Forest) -> None:
        used[trees.feature[trees.feature >= 0]] = True
        for measure in sums.values():
            measure.add(trees)

    def takers() -> Sequence[Callable[[Forest], None]]:
        for measure in chosen:
            if measure.over_trees:
                sums[measure.name] = measure.compute(inputs)
        return [take]

    with execution.step("grow"):
        on, client = (inputs.estimator, inputs.data), execution.client
        if not fit_by_parts(*on, takers, most_bytes=_KEPT, client=client):
            take(inputs.estimator.forest_)
    data = inputs.data.with_exchangeability(inputs.data.exchangeability.without_strata())
    done: dict[str, Measured] = {}
    for i, measure in enumerate(chosen):
        try:
            own = replace(inputs, data=exchanging(measure, data))
            with execution.step(f"measure {measure.name}"):
                if measure.name in sums:
                    done[measure.name] = sums[measure.name].importances()
                elif measure.refits:
                    done[measure.name] = measure(own.unfitted())
                elif is_let_go(inputs.estimator):
                    raise ValueError(
                        f"rank: measure={measure.name!r} needs all trees at once, and they do not "
                        "fit in memory. Hint: max_rows, n_estimators, max_depth or "
                        "min_samples_leaf makes a smaller forest"
                    )
                else:
                    done[measure.name] = measure(own)
        except (ValueError, MemoryError) as error:
            if measure in required or (not done and measure is chosen[-1]):
                raise
            execution.left_out.append(f"{measure.name} left out: {error}")
        except KeyboardInterrupt as stop:
            if not done:
                raise
            execution.end(stop, *(left.name for left in chosen[i:]))
            break
    return done, int(used.sum())
