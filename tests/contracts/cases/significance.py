"""P-values, intervals and stability of importances."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    classes,
    estimator,
    features,
    forest,
    groups,
    jobs,
    mixed,
    mixed_target,
    numbers,
    strata,
    table,
    target,
)
from tests.contracts.registry import case

import duramen as dm
from duramen import significance
from duramen.importances import catalogue, holdout_mda, mda

SEED = {"random_state": 11, "n_jobs": jobs()}
ALTMANN, MAX_T = significance.altmann, significance.max_t


def _tested(function: Any, task: str = "classification", **options: Any) -> Any:
    return function(estimator(task), table(), target(task), **{**SEED, **options})


def _p_values(name: str, task: str = "classification", **options: Any) -> Any:
    return extracts.significance(_tested(getattr(significance, name), task, **options))


for measure in [record.name for record in catalogue if record.testable]:
    case(f"altmann/{measure}", name="altmann", measure=measure, n_permutations=5)(_p_values)
for name, common, variants in (
    (
        "altmann",
        {"n_permutations": 12},
        {
            "regression": {"task": "regression"},
            **{kind: {"distribution": kind} for kind in ("normal", "lognormal", "gamma")},
            "stop_after": {"stop_after": 2},
            "strata": {"strata": strata()},
            "groups": {"groups": groups()},
        },
    ),
    ("hapfelmeier", {"n_permutations": 5}, {"accuracy": {}}),
    (
        "hapfelmeier",
        {"n_permutations": 5, "measure": "mdi"},
        {
            "classification": {},
            "regression": {"task": "regression"},
            "some features": {"features": [0, 3]},
            "stop_after": {"stop_after": 2},
            "strata": {"strata": strata()},
            "groups": {"groups": groups()},
        },
    ),
    (
        "mean_rank_test",
        {"n_resamples": 4, "n_permutations": 6},
        {
            "classification": {},
            "regression": {"task": "regression"},
            "probes within strata": {"null": "permuted", "strata": strata()},
            "larger samples": {"subsample": 0.8},
            "groups": {"groups": groups()},
        },
    ),
    (
        "one_probe",
        {},
        {
            "classification": {"n_permutations": 12},
            "regression of groups": {
                **{"n_permutations": 8, "task": "regression", "groups": groups()}
            },
        },
    ),
    (
        "frequency_control",
        {"n_permutations": 6},
        {"of an estimator": {}, "regression": {"task": "regression"}},
    ),
):
    for label, options in variants.items():
        case(f"{name}/{label}", name=name, **common, **options)(_p_values)


@case("frequency_control/binomial", null="binomial")
@case("frequency_control/permuted", null="permuted", strata=strata(), n_permutations=6)
def _frequencies(**options: Any) -> Any:
    kind = (
        dm.TotallyRandomizedTreesClassifier
        if options["null"] == "binomial"
        else (dm.RandomForestClassifier)
    )
    model = kind(8, max_depth=2, random_state=1).fit(table(), classes())
    result = significance.frequency_control(model, table(), classes(), **options, **SEED)
    return extracts.significance(result)


@case("max_t/classification")
@case("max_t/unbalanced", balanced=False)
@case("max_t/regression", task="regression")
@case("max_t/strata", strata=strata())
@case("max_t/groups", groups=groups())
@case("max_t/feature groups", feature_groups={"first": [0, 1, 2], "second": [3, 4]})
def _step_down(task: str = "classification", **options: Any) -> Any:
    return extracts.adjusted(_tested(MAX_T, task, n_permutations=19, **options))


@case("max_t/nominal columns")
def _step_down_mixed() -> Any:
    result = MAX_T(estimator(), mixed(), mixed_target(), n_permutations=19, **SEED)
    return (extracts.adjusted(result), extracts.frame(result), extracts.significance(result.top(2)))


@case("conditional/classes")
@case("conditional/numbers", method="cpi", task="regression")
@case("conditional/groups", groups=groups(), task="regression")
def _given_the_others(task: str = "classification", **choices: Any) -> Any:
    """Verdicts alone: p-values come from libraries of linear algebra, in bits of their own."""
    result = _tested(significance.conditional, task, **choices)
    return (list(result.verdicts()), result.names)


@case("knockoffs/classes")
@case("knockoffs/one forest", measure="mdi", task="regression", n_draws=1)
def _knockoffs(task: str = "classification", **choices: Any) -> Any:
    """Names alone, for the same reason; of few columns at a rate that allows one of them."""
    result = _tested(significance.knockoffs, task, **{"alpha": 0.5, "n_draws": 2, **choices})
    return (result.selected(0.5), result.names, result.adjustment)


def _correlations(X: Any, y: Any, seed: int) -> Any:
    return np.abs(np.corrcoef(np.column_stack([X, y]), rowvar=False)[-1, :-1])


@case("permutation_test/any function")
@case("permutation_test/stop_after", stop_after=3)
@case("permutation_test/strata", strata=strata())
@case("permutation_test/groups", groups=groups())
def _any_function(**options: Any) -> Any:
    result = significance.permutation_test(
        _correlations, features(), numbers(), n_permutations=20, **options, **SEED
    )
    return extracts.significance(result)


@case("janitza/add one")
@case("janitza/as in the paper", add_one=False)
def _janitza(**options: Any) -> Any:
    importances = holdout_mda(estimator(max_depth=None), table(), classes(), random_state=2)
    values = np.concatenate([importances.values, [-0.02, -0.01, 0.0, -0.03]])
    made = dm.Importances(
        names=tuple("abcdefghi"), values=values, measure="holdout_mda", unit="accuracy"
    )
    return extracts.significance(significance.janitza(made, **options))


@case("z_scores")
def _z_scores() -> Any:
    return extracts.significance(
        significance.z_scores(mda(forest(), table(), classes(), random_state=3))
    )


@case("Significance/methods")
def _methods() -> Any:
    result = _tested(ALTMANN, n_permutations=19)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "p.npz")
        again = dm.Significance.load(Path(folder) / "p.npz")
    return (
        result.holm(),
        result.order(),
        list(result.selected(0.3, "none")),
        result.mask(0.3, "fdr"),
        extracts.significance(result.top(2)),
        extracts.frame(result),
        extracts.significance(again),
        again.equals(result),
    )


INTERVALS = significance.confidence_intervals


@case("confidence_intervals/subsampling")
@case("confidence_intervals/regression", task="regression")
@case("confidence_intervals/normal", kind="normal")
@case("confidence_intervals/uncorrected", correction=False, confidence_level=0.8)
@case("confidence_intervals/delete-d", method="delete-d")
@case("confidence_intervals/double bootstrap", method="double-bootstrap")
@case("confidence_intervals/groups", measure="mdi", groups=groups())
def _intervals(**options: Any) -> Any:
    return extracts.intervals(_tested(INTERVALS, **{"n_resamples": 8, **options}))


@case("Intervals/methods")
def _intervals_kept() -> Any:
    result = _tested(INTERVALS, measure="mdi", n_resamples=8)
    return (
        extracts.frame(result),
        result.order(),
        list(result.above(0.05)),
        extracts.intervals(result.top(2)),
    )


@case("stability/named")
def _stability() -> Any:
    masks = np.array([[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]], dtype=bool)
    result = significance.stability(masks, names=("a", "b", "c", "d", "e", "f"))
    return (extracts.stability(result), result.mean_size, extracts.frame(result))


@case("stability/masks")
def _stability_masks() -> Any:
    masks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    return extracts.stability(significance.stability(masks, confidence_level=0.9))


@case("ranking_stability/classification")
@case("ranking_stability/regression of groups", task="regression", groups=groups())
def _ranking_stability(**options: Any) -> Any:
    return extracts.stability(
        _tested(significance.ranking_stability, k=2, n_resamples=6, **options)
    )


@case("trees_needed/mdi")
@case("trees_needed/mda", measure="mda")
def _trees_needed(**options: Any) -> Any:
    model = estimator().set_params(n_estimators=24).fit(table(), classes())
    result = significance.trees_needed(model, table(), classes(), k=2, random_state=3, **options)
    return (
        result.trees_to_rank,
        result.agreement,
        result.sizes,
        result.expected_agreement,
        result.extrapolated,
        result.splits_per_tree,
        result.all_seen,
        result.trees_to_see,
        result.n_unused,
        result.drawn,
        result.trees,
    )


@case("estimate_cost/forests")
def _cost() -> Any:
    result = significance.estimate_cost(estimator(), table(), classes(), 10, n_jobs=1)
    return (result.n_forests, result.seconds > 0)


@case("covariate_strata/a number", columns=1)
@case("covariate_strata/numbers", columns=3, rows_per_stratum=5)
def _covariates(columns: int, **options: Any) -> Any:
    return significance.covariate_strata(features()[:, :columns], classes(), **options)


@case("mean_of_maxima")
def _mean_of_maxima() -> Any:
    result = significance.mean_of_maxima(
        estimator("classification"), table(), target("classification"), n_permutations=7, **SEED
    )
    return [result.maxima, result.threshold, result.selected()]


@case("permuted_importances/of classes")
@case("permuted_importances/regression", task="regression")
@case("permuted_importances/strata", strata=strata())
@case("permuted_importances/groups", groups=groups())
@case("permuted_importances/without marginal", marginal=False)
def _permuted(task: str = "classification", **options: Any) -> Any:
    result = _tested(significance.permuted_importances, task, n_permutations=7, **options)
    return (result.importances.values, result.permuted, result.marginal, result.maxima)


@case("PermutedImportances/readings")
def _permuted_readings() -> Any:
    result = _tested(significance.permuted_importances, n_permutations=39)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "permuted.npz")
        again = significance.PermutedImportances.load(Path(folder) / "permuted.npz")
    maxima = significance.mean_of_maxima(again)
    return (
        again.equals(result),
        extracts.frame(result),
        result.threshold(0.1),
        extracts.significance(ALTMANN(again)),
        extracts.significance(ALTMANN(again, stop_after=2)),
        extracts.adjusted(MAX_T(again)),
        extracts.error_rates(significance.fdr_curve(again)),
        extracts.significance(significance.permutation_test(again)),
        [maxima.maxima, maxima.threshold, maxima.selected()],
    )


@case("average_effects")
def _average_effects() -> Any:
    models = {
        "outcome": dm.RandomForestRegressor(10, random_state=0),
        "propensity": dm.RandomForestClassifier(10, min_samples_leaf=5, random_state=0),
    }
    result = significance.average_effects(
        features(), numbers(), features=[0, 2], cv=2, **models, random_state=3
    )
    return extracts.intervals(result)


@case("interaction_test/classification")
@case("interaction_test/regression", task="regression", n_cuts=1)
def _interactions(task: str = "classification", **options: Any) -> Any:
    result = significance.interaction_test(
        table(), target(task), n_pairs=8, n_resamples=19, **SEED, **options
    )
    return extracts.frame(result)
