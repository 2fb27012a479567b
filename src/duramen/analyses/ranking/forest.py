"""Forest of a ranking, its importance measures, and its accuracy out of bag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.data import EncodedTable, LearningSet, Target
from duramen.data.target import sampled_rows, target_class
from duramen.estimators.catalogue import FORESTS
from duramen.findings.table import unequal_values
from duramen.forests import Forest
from duramen.forests.settings import CRITERIA
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.measure import Measured, TreeSums
from duramen.importances.refit import is_model, leaves_rows_out, template_of
from duramen.significance.measured import exchanging
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

PARAMETERS = (
    "n_estimators",
    "max_features",
    "max_depth",
    "min_samples_leaf",
    "criterion",
    "class_weight",
    "bootstrap",
)
"""Parameters of `duramen.rank` that a kind of forest takes."""
TREES, LEAST_TREES = 1000, 50
"""Number of trees by default, and of those of the tallest tables."""
# Rows from which on there are fewer trees by default, and the default test is of a sample, and the
# rows of samples. A test grows about 100 forests, so that its time is about that of the ranking.
MANY, FEW = 100_000, 20_000
DESCRIBING_TREES = 200  # most trees that describe effects if the trees of the ranking were released
_MOST_BYTES = 1 << 29  # of the trees of a forest; trees of a larger forest are released

# --- the forest -------------------------------------------------------------------------------


def forest_of(
    estimator: Any,
    growth: Mapping[str, Any],
    changed: Sequence[str],
    data: LearningSet[Any],
    execution: Execution,
) -> tuple[Any, str]:
    """Return the forest to grow, with out-of-bag estimates if it has any, and the name of its kind.

    A kind of forest gets the parameters of `growth`, which has those of `PARAMETERS`; an estimator
    has its own, so that none may be `changed`, and the seed and the number of threads of the call
    where it has none. A model of another package is returned as it is, with the name of its class.

    Raises
    ------
    ValueError, TypeError
        If it is for another task, none of duramen, or has no use for a parameter.
    """
    work = {name: execution.resources[name] for name in ("random_state", "n_jobs", "verbose")}
    if is_model(estimator):
        return estimator, type(estimator).__name__
    if not isinstance(estimator, str):
        forest = template_of(estimator, "rank")
        kind = type(forest).__name__
        if changed:
            raise ValueError(f"rank: {changed[0]} has no effect beside a {kind}; set it there")
        if forest.task != data.task:
            raise ValueError(f"rank: estimator must be for {data.task}, got {kind}")
        unset = {name: value for name, value in work.items() if getattr(forest, name) is None}
        forest.set_params(**{"verbose": forest.verbose or execution.verbose, **unset})
        name = next((entry.name for entry in FORESTS if kind in entry.names), kind)
        return forest.set_params(oob_score=leaves_rows_out(forest)), name
    names = [kind.name for kind in FORESTS]
    name = checks.check_choice("rank", "estimator", estimator.replace("_", "-"), names)
    task, target = data.task, target_class(data.task)
    made = FORESTS[names.index(name)].estimator(task)
    if made is None:
        able = ", ".join(entry.name for entry in FORESTS if entry.estimator(task) is not None)
        raise ValueError(f"rank: estimator must be one of {able} for {task}, got {name}")
    n_trees = growth["n_estimators"]
    if n_trees is None:
        n_trees = max(LEAST_TREES, min(TREES, TREES * MANY // data.n_rows))
        if n_trees != TREES:
            execution.tell(
                f"the forest has {n_trees:,} trees instead of {TREES:,}, as the table has "
                f"{data.n_rows:,} rows; n_estimators sets another number"
            )
    forest = made(n_estimators=n_trees, **work)
    criterion = growth["criterion"]
    if criterion == "auto":
        criterion = target.criterion
    suited = [entry.name for entry in CRITERIA.values() if entry.task == task]
    if criterion not in suited:
        allowed = " or ".join(["auto", *([] if target.censored else suited)])
        raise ValueError(f"rank: criterion must be {allowed} for {task}, got {criterion}")
    if not target.censored:  # which has one criterion
        forest.set_params(criterion="squared_error" if criterion == "variance" else criterion)
    for parameter in changed:
        if parameter in ("n_estimators", "criterion"):
            continue
        value = growth[parameter]
        if parameter == "class_weight" and not target.categorical:
            raise ValueError(f"rank: class_weight is for classes, but the task is {task}")
        if parameter not in forest.get_params():
            raise ValueError(
                f"rank: {parameter} has no effect with estimator={name!r}; leave it out"
            )
        if isinstance(value, str):
            value = None if value == "all" else value.replace("-", "_")
        forest.set_params(**{parameter: value})
    return forest.set_params(oob_score=leaves_rows_out(forest)), name


def sampled_if_many(inputs: Inputs) -> Inputs:
    """Return a random sample of many rows, in which classes keep their proportions."""
    if inputs.data.n_rows <= MANY:
        return inputs
    seed = inputs.random_state or 0
    rows = sampled_rows(inputs.data.target, FEW, seed)
    return replace(inputs, data=inputs.data.of_rows(rows, key=("sample", FEW, seed)))


def described(inputs: Inputs) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest and its rows, by which effects are described.

    Where the trees of the ranking were let go, those of a sample of the rows.
    """
    if isinstance(inputs.estimator.forest_, Forest):
        return inputs.estimator, inputs.data
    data, estimator = sampled_if_many(inputs).data, inputs.unfitted().estimator
    estimator.set_params(n_estimators=min(DESCRIBING_TREES, estimator.n_estimators))
    return estimator.fit(data), data


def out_of_bag_accuracy(
    estimator: Any,
    target: Target,
    groups: IntArray | None = None,
    held_out: FloatArray | None = None,
) -> dict[str, float | None]:
    """Return the out-of-bag error of a forest and the error of the best constant prediction.

    Of a model, `held_out` are its predictions of rows that it was not fitted to, of shape (n, C).

    Without features, classes are predicted by the most frequent one, numbers by their mean. The
    p-value is that of the one-sided paired t-test of the null hypothesis that the forest is not
    more accurate, over the rows, as if they were predicted independently; over the sums in each
    group where rows have groups, and then at least 2**-G for G groups. All are None where no row is
    out of bag; of survival only the error is known.
    """
    curve = getattr(estimator, "oob_error_curve_", None)
    last = None if curve is None or not np.isfinite(curve[-1]) else float(curve[-1])
    unknown = {"oob_error": last, "baseline_error": None, "baseline_p_value": None}
    means: Any = getattr(estimator, "oob_decision_function_", None)
    guess: Any = getattr(estimator, "oob_prediction_", None)
    if held_out is not None:
        means, guess = (None, held_out[:, 0]) if target.codes is None else (held_out, None)
    if target.censored or (means is None and guess is None):
        return unknown
    seen = np.isfinite(guess) if means is None else np.isfinite(means).all(axis=1)
    if not seen.any():
        return unknown
    values = np.asarray(target.values)[seen]
    if means is not None:
        codes = values.astype(np.intp)
        error = (means[seen].argmax(axis=1) != codes).astype(np.float64)
        baseline = (codes != np.bincount(codes).argmax()).astype(np.float64)
    else:
        values = values.astype(np.float64)
        error, baseline = (values - guess[seen]) ** 2, (values - values.mean()) ** 2
    gains, least = baseline - error, 0.0
    if groups is not None:
        gains = np.bincount(np.unique(groups[seen], return_inverse=True)[1], gains)
        # Gains of one sign in all groups have this probability by chance: a bound for few groups.
        least = 0.5 ** len(gains)
    from scipy.special import stdtr

    n, mean = len(gains), float(gains.mean())
    spread = float(gains.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    p_value = float(stdtr(n - 1, -mean / spread)) if spread else float(mean <= 0 or n == 1)
    of_model = {"cross_fitted_error": float(error.mean())}
    return {
        **({"oob_error": last} if held_out is None else of_model),
        "baseline_error": float(baseline.mean()),
        "baseline_p_value": max(p_value, least),
    }


# --- the measures -----------------------------------------------------------------------------


def choose(
    asked: Any, *, forest: str, task: str, out_of_bag: bool
) -> tuple[list[Measure], list[Measure], str]:
    """Return the measures, the measures requested by name, and a note on measures left out.

    By default these are the measures that suit the forest, which is named for messages;
    `out_of_bag` tells whether its trees leave rows out.

    Raises
    ------
    ValueError
        If there is no such measure, or it needs classes or rows out of bag, and there are none.
    """
    several = [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked
    names = [name.replace("-", "_").lower() if isinstance(name, str) else name for name in several]
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
    measures = [catalogue[name] for name in dict.fromkeys(names)]
    for measure in measures:
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
    return measures, list(measures), ""


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
    measures: Sequence[Measure],
    inputs: Inputs,
    execution: Execution,
    *,
    required: Sequence[Measure] = (),
) -> tuple[dict[str, Measured], int]:
    """Grow the forest, and compute the measures from its trees, kept or not; or refit a model.

    A measure that is `required`, or the only one left, and cannot be computed from these rows
    raises; others are left out, as are those that a stop such as Ctrl-C leaves unfinished, once the
    first is there. Also returns the number of features that the forest splits on.
    """
    from duramen.estimators.base import fit_by_parts  # the help of commands needs no scikit-learn

    used = np.zeros(inputs.data.n_columns, dtype=np.bool_)
    sums: dict[str, TreeSums] = {}

    def take(trees: Forest) -> None:
        used[trees.feature[trees.feature >= 0]] = True
        for measure in sums.values():
            measure.add(trees)

    def takers() -> Sequence[Callable[[Forest], None]]:
        for measure in measures:
            if measure.over_trees:
                sums[measure.name] = measure.compute(inputs)
        return [take]

    forest, other = inputs.estimator, is_model(inputs.estimator)
    if not other:
        with execution.step("grow"):
            if not fit_by_parts(forest, inputs.data, takers, most_bytes=_MOST_BYTES):
                take(forest.forest_)
    data = inputs.data.with_exchangeability(inputs.data.exchangeability.without_strata())
    done: dict[str, Measured] = {}
    for i, measure in enumerate(measures):
        try:
            here = replace(inputs, data=exchanging(measure, data))
            with execution.step(f"measure {measure.name}"):
                if measure.name in sums:
                    done[measure.name] = sums[measure.name].importances()
                elif measure.refits:
                    done[measure.name] = measure(here if other else here.unfitted())
                elif not isinstance(inputs.estimator.forest_, Forest):
                    raise ValueError(
                        f"rank: measure={measure.name!r} needs all trees at once, and they do not "
                        "fit in memory. Hint: max_rows, n_estimators, max_depth or "
                        "min_samples_leaf makes a smaller forest"
                    )
                else:
                    done[measure.name] = measure(here)
        except (ValueError, MemoryError) as error:
            if measure in required or (not done and measure is measures[-1]):
                raise
            execution.left_out.append(f"{measure.name} left out: {error}")
        except KeyboardInterrupt as stop:
            if not done:
                raise
            execution.end(stop, *(left.name for left in measures[i:]))
            break
    return done, int(used.sum())
