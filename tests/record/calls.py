"""Calls of functions whose results are recorded.

A call returns its results by name: one with `to_frame` is recorded by its type and its table cell
by cell, other values as facts.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.record import inputs
from tests.record.cases import LINEAR_ALGEBRA, call

import duramen as dm
from duramen import theory
from duramen.theory.distributions import examples

SEED = {"random_state": 1, "n_jobs": 1}


def frame(*names: str) -> Any:
    """Return the features of the patients, and further columns, as a data frame."""
    import pandas as pd

    return pd.DataFrame(inputs.columns(*names))


def target(name: str) -> np.ndarray:
    """Return a column of the patients as a target."""
    return np.asarray(inputs.patients()[name])


def numbers() -> Any:
    """Return the numeric features of the patients, encoded."""
    return dm.encode(inputs.values(), names=inputs.NUMERIC)


def survival() -> np.ndarray:
    """Return times and events."""
    return np.column_stack([target("months"), target("died")])


def few(*names: str) -> dict[str, Any]:
    """Return columns of the table of few values."""
    return {name: np.asarray(inputs.few()[name]) for name in names}


@cache
def classifier() -> Any:
    """Return a forest of thirty trees fitted to the grades."""
    return dm.RandomForestClassifier(30, criterion="entropy", **SEED).fit(
        numbers(), target("grade")
    )


@cache
def regressor() -> Any:
    """Return a forest of thirty trees fitted to the response."""
    return dm.RandomForestRegressor(30, **SEED).fit(numbers(), target("response"))


def forest(n: int = 20) -> Any:
    """Return a forest that is not fitted."""
    return dm.RandomForestClassifier(n, criterion="entropy", **SEED)


@contextmanager
def in_folder() -> Iterator[Path]:
    """Work in a folder of its own."""
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(back)


# ------------------------------------------------------------------------------------- analyses
def ranking(report: Any) -> dict[str, Any]:
    """Return the facts of a ranking."""
    return {
        "report": report,
        "selected": report.selected,
        "verdicts": report.verdicts,
        "measures": list(report.importances),
        "significance": report.significance,
    }


@call("rank-frame")
def _() -> Any:
    return ranking(dm.rank(frame("grade"), "grade", estimator=forest(30), n_permutations=19))


@call("rank-table")
def _() -> Any:
    data = dm.read(
        frame("ill"),
        "ill",
        kinds={"stage": "nominal"},
        strata=target("site"),
        positive="well",
        max_rows=50,
    )
    return ranking(dm.rank(data, estimator=forest(30), n_permutations=19))


@call("rank-feature-groups")
def _() -> Any:
    groups = {"drug": ["dose", "level"], "rest": ["marker", "noise"]}
    options = {"n_permutations": 19, "clusters": 0.3, "feature_groups": groups}
    return ranking(dm.rank(numbers(), target("ill"), estimator=forest(30), **options))


@call("select-default")
def _() -> Any:
    report = dm.select(numbers(), target("ill"), n_jobs=1, random_state=2)
    return {"report": report, "selected": report.selected, "importances": report.importances}


@call("evaluate-selection")
def _() -> Any:
    methods = {"mrmr": dm.InformationFilter(n_features=2), "all": None}
    data = numbers(), target("ill")
    result = dm.evaluate_selection(methods, *data, estimator=forest(5), n_resamples=4, **SEED)
    return {"evaluation": result}


# ------------------------------------------------------------------------------------- forests
@call("forests-of-classes")
def _() -> Any:
    kinds = (
        *(dm.RandomForestClassifier, dm.ExtraTreesClassifier, dm.BaggedTreesClassifier),
        *(dm.TotallyRandomizedTreesClassifier, dm.RandomSubspaceClassifier, dm.PERTClassifier),
        dm.RandomPatchesClassifier,
    )
    facts = {}
    for kind in kinds:
        model = kind(20, **SEED).fit(frame(), target("grade"))
        facts[f"{kind.__name__} importances"] = model.feature_importances_
        facts[f"{kind.__name__} probabilities"] = model.predict_proba(frame())[:5]
    return facts


@call("forests-of-numbers")
def _() -> Any:
    facts = {}
    for kind in (dm.RandomForestRegressor, dm.ExtraTreesRegressor, dm.RandomPatchesRegressor):
        model = kind(20, **SEED).fit(frame(), target("response"))
        facts[f"{kind.__name__} importances"] = model.feature_importances_
        facts[f"{kind.__name__} predictions"] = model.predict(frame())[:5]
    return facts


@call("forest-survival")
def _() -> Any:
    model = dm.RandomSurvivalForest(20, oob_score=True, **SEED).fit(numbers(), survival())
    return {
        "score": model.oob_score_,
        "risks": model.predict(inputs.values()[:6]),
        "survival": model.predict_survival_function(inputs.values()[:2]),
    }


@call("forest-sparse")
def _() -> Any:
    from scipy import sparse

    X = sparse.csc_matrix(np.floor(6 * inputs.values() * (inputs.values() > 0.4)))
    model = forest().fit(X, target("grade"))
    return {"importances": model.feature_importances_, "probabilities": model.predict_proba(X)[:5]}


# --------------------------------------------------------------------------------- importances
OF_TREES = ("frequency", "minimal_depth")  # without rows
OF_REFITS = ("air", "sandri", "holdout_mda")  # forests that are grown anew
OF_ROWS = ("mdi", "mda", "conditional_mda", "noising", "sobol_mda", "vote_change")
SEEDED = ("mda", "conditional_mda", "prediction_change", *OF_REFITS)
for measure in (*OF_TREES, *OF_REFITS, *OF_ROWS, "prediction_change"):

    @call(f"importances-{measure}")
    def _(measure: str = measure) -> Any:
        estimator = forest() if measure in OF_REFITS else classifier()
        data = () if measure in OF_TREES else (numbers(), target("grade"))
        options = {"random_state": 1} if measure in SEEDED else {}
        return {"importances": getattr(dm.importances, measure)(estimator, *data, **options)}


@call("importances-mdi-plus", digits=LINEAR_ALGEBRA)
def _() -> Any:
    result = dm.importances.mdi_plus(regressor(), numbers(), target("response"))
    return {"importances": result}


@call("importances-mdi-by-degree")
def _() -> Any:
    data = numbers(), target("grade")
    oob = dm.importances.mdi(classifier(), *data, rows="oob", by_degree=True)
    return {"importances": oob, "degrees": oob.by_degree}


@call("importances-mda-by-class")
def _() -> Any:
    result = dm.importances.mda(
        classifier(), numbers(), target("grade"), by_class=True, scaled=True, random_state=3
    )
    return {"importances": result, "by_class": result.by_class}


@call("importances-local")
def _() -> Any:
    result = dm.importances.local_mdi(classifier(), inputs.values()[:4])
    return {"local": result}


@call("importances-interactions")
def _() -> Any:
    return {"pairs": dm.importances.interactions(regressor(), numbers())}


@call("importances-clusters")
def _() -> Any:
    mdi = dm.importances.mdi(regressor())
    groups = {"drug": ["dose", "level"], "rest": ["marker", "noise"]}
    return {
        "clusters": dm.importances.clusters(mdi, numbers(), threshold=0.1),
        "groups": dm.importances.group(mdi, groups),
    }


# -------------------------------------------------------------------------------- significance
TESTS: dict[str, dict[str, Any]] = {
    "max_t": {"n_permutations": 19},
    "altmann": {"n_permutations": 12, "distribution": "gamma"},
    "one_probe": {"n_permutations": 6},
    "multiple_probes": {"n_permutations": 6},
    "conditional_error_rate": {"n_permutations": 19},
    "fdr_curve": {"n_permutations": 6},
    "frequency_control": {"n_permutations": 6},
    "mean_rank_test": {"n_permutations": 4},
    "forest_probe_ranking": {"n_permutations": 3, "n_probes": 8},
}
for name, options in TESTS.items():

    @call(f"significance-{name}")
    def _(name: str = name, options: dict[str, Any] = options) -> Any:
        function = getattr(dm.significance, name)
        return {"significance": function(forest(), numbers(), target("grade"), **options, **SEED)}


@call("significance-groups")
def _() -> Any:
    result = dm.significance.max_t(
        forest(), numbers(), target("ill"), n_permutations=19, groups=target("person"), **SEED
    )
    return {"significance": result, "verdicts": [str(x) for x in result.verdicts(0.2)]}


@call("significance-probe-ranking", digits=LINEAR_ALGEBRA)
def _() -> Any:
    return {"rates": dm.significance.probe_ranking(inputs.values(), target("response"), n_probes=5)}


@call("significance-interactions", digits=LINEAR_ALGEBRA)
def _() -> Any:
    data = inputs.values(), target("response")
    return {"pairs": dm.significance.interaction_test(*data, n_resamples=19, **SEED)}


@call("significance-conditional", digits=LINEAR_ALGEBRA)
def _() -> Any:
    return {"direct": dm.significance.conditional(forest(), numbers(), target("ill"), **SEED)}


@call("significance-intervals")
def _() -> Any:
    result = dm.significance.confidence_intervals(
        forest(), numbers(), target("ill"), n_resamples=8, **SEED
    )
    return {"intervals": result}


@call("significance-stability")
def _() -> Any:
    data = forest(), numbers(), target("ill")
    result = dm.significance.ranking_stability(*data, k=2, n_resamples=6, **SEED)
    trees = dm.significance.trees_needed(classifier(), random_state=1)
    return {"stability": result, "kuncheva": result.kuncheva, "trees": trees}


# ------------------------------------------------------------------------------------- effects
@call("effects")
def _() -> Any:
    return {
        "partial": dm.effects.partial_dependence(regressor(), numbers(), "dose", n_points=8),
        "local": dm.effects.accumulated_local_effects(
            regressor(), numbers(), "dose", n_intervals=8
        ),
        "strength": dm.effects.interaction_strength(regressor(), numbers(), max_rows=20),
    }


# ----------------------------------------------------------------------------------- selectors
SELECTORS: dict[str, Any] = {
    "boruta": lambda: dm.Boruta(n_estimators=20, max_rounds=12, **SEED),
    "knock-out": lambda: dm.KnockOut(n_estimators=10, n_permutations=19, max_rounds=2, **SEED),
    "vsurf": lambda: dm.VSURF(
        n_estimators=10, n_thresholding=4, n_interpretation=2, n_prediction=2, **SEED
    ),
    "subspace": lambda: dm.SequentialRandomSubspace(
        n_estimators=30, n_subspace_features=3, relevance="probe", **SEED
    ),
    "backward": lambda: dm.BackwardElimination(n_estimators=10, **SEED),
    "mrmr": lambda: dm.InformationFilter("mrmr", n_features=2),
    "stability": lambda: dm.StabilitySelection(n_estimators=5, n_draws=6, alpha=1.0, **SEED),
}
for name, make in SELECTORS.items():

    @call(f"selector-{name}")
    def _(make: Any = make) -> Any:
        selector = make().fit(numbers(), target("ill"))
        return {"support": selector.get_support(), "reduced": selector.transform(numbers()).shape}


@call("selection-scores")
def _() -> Any:
    return {"scores": dm.selection.scores(["a", "b"], ["b", "c"], names=["a", "b", "c", "d"])}


# ---------------------------------------------------------------------------- contexts, networks
@call("context-importances")
def _() -> Any:
    data = few(*"abcd")
    result = dm.contexts.context_importances(
        np.column_stack(list(data.values())), few("y")["y"], few("place")["place"],
        n_permutations=19, **SEED,
    )  # fmt: skip
    return {"contexts": result}


@call("context-network")
def _() -> Any:
    X = np.column_stack(list(few(*"abcd").values()))
    result = dm.contexts.context_network(
        X, few("place")["place"], targets=[0, 1], n_permutations=9, **SEED
    )
    return {"network": result}


@call("genie3")
def _() -> Any:
    estimator = dm.RandomForestRegressor(10, **SEED)
    network = dm.genie3(inputs.expression(), names=inputs.NAMES, estimator=estimator, **SEED)
    return {"network": network, "weights": network.weights}


@call("genie3-p-values")
def _() -> Any:
    estimator = dm.ExtraTreesRegressor(10, **SEED)
    network = dm.genie3(
        inputs.expression(), regulators=[0, 1], estimator=estimator, n_permutations=3, **SEED
    )
    return {"network": network}


# -------------------------------------------------------------------------------------- theory
@call("theory-xor")
def _() -> Any:
    dist = examples.xor()
    return {
        "importances": theory.population_importances(dist),
        "best": theory.population_importances(dist, max_features=2, splits="ordered", cut="best"),
        "accuracy": theory.population_mda(dist),
        "pairs": theory.population_interactions(dist),
        "shapley": theory.shapley_effects(dist),
    }


@call("theory-digits")
def _() -> Any:
    dist = examples.digits7()
    return {
        "importances": theory.population_importances(dist, max_depth=3, n_jobs=1),
        "boundaries": theory.markov_boundaries(dist),
        "redundancy": theory.redundancy(dist),
        "properties": theory.properties(dist),
    }


@call("theory-contexts")
def _() -> Any:
    return {"contexts": theory.population_context_importances(examples.problem_1())}


@call("theory-discretize")
def _() -> Any:
    table = theory.discretize(inputs.values(), n_bins=4, names=inputs.NUMERIC)
    return {"codes": [table.codes(j)[:12] for j in range(4)], "cuts": table.cuts}


@call("theory-rows")
def _() -> Any:
    X = np.column_stack(list(few(*"abcd").values()))
    dist = theory.FiniteDistribution.from_table(X, few("y")["y"])
    return {
        "importances": theory.population_importances(dist, criterion="gini", max_depth=2),
        "relevance": theory.relevance(dist, level=0.05),
    }


# --------------------------------------------------------------------------------- data, datasets
@call("encode")
def _() -> Any:
    table = dm.encode(frame(), kinds={"stage": "nominal"})
    columns = range(len(table.names))
    return {
        "names": table.names,
        "kinds": [str(kind) for kind in table.kinds],
        "codes": [table.codes(j)[:12] for j in columns],
        "values": [[str(x) for x in table.values(j).tolist()][:8] for j in columns],
    }


@call("learning-set")
def _() -> Any:
    data = dm.learning_set(frame("grade").drop(columns="grade"), target("grade"))
    return {
        "task": data.task,
        "classes": data.classes.tolist(),
        "shape": [data.n_rows, data.n_columns],
        "codes": data.target.values[:12],
    }


@call("pack")
def _() -> Any:
    with in_folder():
        dm.pack(frame("grade"), "store")
        store = dm.open_store("store")
        columns = range(store.n_columns)
        report = dm.rank(store, "grade", estimator=forest(10), test=False)
        return {
            "names": list(store.names),
            "kinds": [str(kind) for kind in store.kinds],
            "codes": [store.codes(j)[:12] for j in columns],
            "report": report,
        }


@call("findings")
def _() -> Any:
    table = frame("ill").assign(patient=inputs.SAMPLES, clinic="A")
    return {
        "findings": [
            [finding.kind, list(finding.columns)]
            for finding in dm.read(table, "ill").provenance.findings
        ]
    }


@call("datasets")
def _() -> Any:
    leukemia, tumor = dm.datasets.load_leukemia(), dm.datasets.load_primary_tumor()
    network = dm.datasets.gene_network(20, 10, random_state=0)
    return {
        "leukemia": [*leukemia.X.shape, sorted(set(map(str, leukemia.y)))],
        "tumor": [*tumor.X.shape, len(set(map(str, tumor.y)))],
        "expression": network.expression[:3],
    }


# -------------------------------------------------------------------------------------- errors
@call("error-unknown-target", error=("target", "il"))
def _() -> Any:
    dm.rank(frame("ill"), "il")


@call("error-length", error=("60", "59"))
def _() -> Any:
    dm.rank(frame(), target("ill")[1:])


@call("error-one-class", error=("target",))
def _() -> Any:
    dm.rank(numbers(), np.repeat("ill", inputs.N))


@call("error-measure", error=("measure", "mdaa", "mda"))
def _() -> Any:
    dm.rank(numbers(), target("ill"), measure="mdaa")


@call("error-test", error=("test", "altman", "altmann"))
def _() -> Any:
    dm.rank(numbers(), target("ill"), test="altman")


@call("error-criterion", error=("criterion", "variance", "gini", "entropy"))
def _() -> Any:
    dm.RandomForestClassifier(5, criterion="variance").fit(numbers(), target("ill"))


@call("error-trees", error=("n_estimators", "0"))
def _() -> Any:
    dm.RandomForestClassifier(0).fit(numbers(), target("ill"))


@call("error-missing-target", error=("y",))
def _() -> Any:
    forest().fit(numbers(), np.where(np.arange(inputs.N) == 3, np.nan, 1.0))


@call("error-weights", error=("sample_weight",))
def _() -> Any:
    dm.learning_set(numbers(), target("ill"), sample_weight=-np.ones(inputs.N))


@call("error-kinds", error=("kinds", "nothing"))
def _() -> Any:
    dm.encode(frame(), kinds={"nothing": "nominal"})


@call("error-not-fitted", error=("fit",))
def _() -> Any:
    dm.importances.mdi(forest())


@call("error-permutations", error=("n_permutations", "0"))
def _() -> Any:
    dm.significance.altmann(forest(), numbers(), target("ill"), n_permutations=0)


@call("error-groups", error=("groups", "60"))
def _() -> Any:
    dm.significance.max_t(forest(), numbers(), target("ill"), groups=[1, 2])
