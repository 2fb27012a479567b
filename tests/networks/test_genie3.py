"""GENIE3 against a loop over forests, and what its options do."""

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.jobs.replicates import replicate_seed
from duramen.networks import Experiment
from duramen.networks.targets import Links

FAST = {"estimator": dm.RandomForestRegressor(25, max_features="sqrt"), "random_state": 0}
EXTRA = {**FAST, "estimator": dm.ExtraTreesRegressor(25, max_features="sqrt")}


@pytest.fixture(scope="module")
def made():
    return dm.datasets.gene_network(40, 8, n_links=8, random_state=3)


def test_weights_are_the_importances_of_one_forest_a_target(made):
    network = dm.genie3(made.expression, names=made.names, **FAST)
    seed = network.metadata["seed"]
    for j in range(8):
        others = [i for i in range(8) if i != j]
        y = made.expression[:, j]
        y = (y - y.mean()) / np.std(y)
        forest = dm.RandomForestRegressor(
            25, max_features="sqrt", random_state=replicate_seed(seed, j) % 2**32
        ).fit(made.expression[:, others], y)
        expected = dm.importances.mdi(forest).values
        assert np.allclose(network.weights[others, j], expected, rtol=1e-12, atol=0)
        assert network.weights[j, j] == 0


def test_columns_of_fully_grown_extra_trees_sum_to_one(made):
    network = dm.genie3(made.expression, **EXTRA)
    assert np.abs(network.weights.sum(axis=0) - 1).max() < 1e-9


def test_same_bytes_for_threads_subsets_and_resumed_runs(made, tmp_path, monkeypatch):
    whole = dm.genie3(made.expression, **FAST)
    assert dm.genie3(made.expression, n_jobs=2, **FAST).equals(whole)
    some = dm.genie3(made.expression, targets=[2, 5], **FAST)
    assert np.array_equal(some.weights[:, [2, 5]], whole.weights[:, [2, 5]])
    assert not some.weights[:, [0, 1, 3, 4, 6, 7]].any()
    path, calls, original = tmp_path / "run", [], Links._scores

    def stopping(self, data, seed):
        calls.append(seed)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(self, data, seed)

    monkeypatch.setattr(Links, "_scores", stopping)
    with pytest.raises(KeyboardInterrupt):
        dm.genie3(made.expression, checkpoint=path, **FAST)
    assert dm.genie3(made.expression, checkpoint=path, **FAST).equals(whole)
    assert len(calls) == 4 + 5  # three targets were kept


def test_regulators_by_name_index_and_mask(made):
    frame = pd.DataFrame(made.expression, columns=made.names)
    by_name = dm.genie3(frame, regulators=["G2", "G5"], **FAST)
    assert by_name.equals(dm.genie3(frame, regulators=[4, 1], **FAST))
    assert by_name.equals(dm.genie3(frame, regulators=np.isin(range(8), [1, 4]), **FAST))
    assert by_name.weights[[1, 4]].any(axis=1).all()
    assert not np.delete(by_name.weights, [1, 4], axis=0).any()
    assert by_name.n_candidates == 14


def test_constant_genes_are_named_and_have_no_links(made):
    expression = made.expression.copy()
    expression[:, [1, 6]] = 3.5
    with pytest.warns(UserWarning, match="2 genes have the same value.*'x1', 'x6'"):
        network = dm.genie3(expression, **FAST)
    assert not network.weights[[1, 6]].any()
    assert not network.weights[:, [1, 6]].any()
    assert network.notes


def test_mixed_variables_are_fractions_of_their_uncertainty(made):
    frame = pd.DataFrame(made.expression, columns=made.names)
    frame["G1"] = np.where(frame["G1"] > frame["G1"].median(), "high", "low")
    # Extra-Trees take all uncertainty away from classes as from numbers.
    network = dm.genie3(frame, **EXTRA)
    assert np.abs(network.weights.sum(axis=0) - 1).max() < 1e-9
    for measure in ("mda", "mdi_oob"):
        assert np.isfinite(dm.genie3(frame, measure=measure, **FAST).weights).all()


def test_scores_of_classes_are_divided_by_the_impurity_of_the_criterion(made):
    """Extra-Trees without limits explain all of the impurity."""
    frame = pd.DataFrame(made.expression[:, :4]).add_prefix("G")
    frame["kind"] = np.where(frame["G0"] > 0.2 + frame["G1"], "a", "b")
    for criterion in ("entropy", "gini"):
        forest = dm.ExtraTreesClassifier(20, criterion=criterion, max_features=2)
        network = dm.genie3(frame, targets=["kind"], estimator=forest, random_state=0)
        assert network.weights[:, 4].sum() == pytest.approx(1)


def test_normalizations(made):
    unit = dm.genie3(10 * made.expression, **FAST)
    assert np.allclose(unit.weights, dm.genie3(made.expression, **FAST).weights)
    summed = dm.genie3(made.expression, normalization="sum", **FAST)
    assert np.allclose(summed.weights.sum(axis=0), 1)
    plain = dm.genie3(made.expression, normalization="none", **FAST)
    variances = made.expression.var(axis=0)
    assert np.allclose(plain.weights, unit.weights * variances, rtol=1e-9)


def test_scaling_by_the_variance_of_sources(made):
    plain = dm.genie3(made.expression, **FAST)
    scaled = dm.genie3(made.expression, source_scaling="variance", **FAST)
    off = ~np.eye(8, dtype=bool)
    for i in range(8):
        row = plain.weights[i, off[i]]
        assert np.allclose(scaled.weights[i, off[i]], row * row.var())


def test_last_level_finds_strongly_relevant_inputs_alone():
    # A chain a -> b -> c of binary variables: a is not strongly relevant to c.
    rng = np.random.default_rng(0)
    n = 20_000
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    c = np.where(rng.random(n) < 0.9, b, 1 - b)
    frame = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    settings = {"estimator": dm.TotallyRandomizedTreesClassifier(25), "random_state": 0}
    plain = dm.genie3(frame, **settings)
    last = dm.genie3(frame, measure="last_level", **settings)
    assert plain.weights[0, 2] > 0.05
    assert last.weights[0, 2] < 0.001 < 0.05 < min(last.weights[0, 1], last.weights[1, 2])


def test_knocked_out_samples_are_left_out_for_the_gene_itself(made):
    expression = made.expression.copy()
    expression[:5, 2] = 0.0
    which = ["x2"] * 5 + [None] * 35
    network = dm.genie3(expression, experiment=Experiment(knocked_out=which), **FAST)
    assert np.array_equal(network.weights[:, 2], dm.genie3(expression[5:], **FAST).weights[:, 2])
    assert np.array_equal(network.weights[:, 3], dm.genie3(expression, **FAST).weights[:, 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"regulators": ["nobody"]}, "regulators holds 'nobody', which is none of the 8 genes"),
        ({"targets": [99]}, "targets holds 99, which is none"),
        ({"regulators": []}, "must hold a gene, got none"),
        ({"measure": "holdout_mda"}, "measure must be one of"),
        ({"experiment": Experiment(knocked_out=["x0"])}, "one entry per sample"),
        ({"estimator": dm.BaggedTreesRegressor(max_depth=0)}, "BaggedTreesRegressor: max_depth"),
    ],
)
def test_refuses(made, change, message):
    with pytest.raises(ValueError, match=message):
        dm.genie3(made.expression, **{**FAST, **change})


@pytest.mark.parametrize(
    "estimator",
    [dm.PERTClassifier(), dm.RandomSurvivalForest(), dm.GuidedForestRegressor(), "random_forest"],
)
def test_refuses_what_predicts_no_numbers_and_classes(made, estimator):
    with pytest.raises(TypeError, match=r"genie3: estimator must be .*RandomForest"):
        dm.genie3(made.expression, estimator=estimator)


def test_targets_of_both_tasks_have_the_parameters_of_the_estimator(made):
    frame = pd.DataFrame(made.expression[:, :4]).add_prefix("G")
    frame["kind"] = np.where(frame["G0"] > frame["G1"], "a", "b")
    shared = {"max_features": 2, "min_samples_leaf": 3, "bootstrap": False}
    regressor = dm.ExtraTreesRegressor(20, **shared, n_jobs=2, random_state=5, oob_score=False)
    classifier = dm.ExtraTreesClassifier(20, criterion="entropy", **shared)
    network = dm.genie3(frame, estimator=regressor, random_state=0)
    assert network.equals(dm.genie3(frame, estimator=regressor, random_state=0))
    other = dm.genie3(frame, estimator=classifier, random_state=0)
    np.testing.assert_array_equal(network.weights, other.weights)
    assert network.metadata["forest"] == "extra_trees"
    assert network.metadata["parameters"] == {
        "n_estimators": 20,
        "max_features": 2,
        "min_samples_leaf": 3,
    }


def test_refuses_targets_with_missing_values(made):
    expression = made.expression.copy()
    expression[3, 4] = np.nan
    with pytest.raises(ValueError, match="'x4' must have no missing values"):
        dm.genie3(expression, **FAST)
    others = [j for j in range(8) if j != 4]
    assert dm.genie3(expression, targets=others, **FAST).weights[4].any()


@pytest.mark.parametrize("scaling", ["none", "variance"])
def test_weights_of_few_candidates_are_sparse(made, monkeypatch, scaling):
    options = {**FAST, "regulators": [1, 4], "targets": [0, 1, 6], "source_scaling": scaling}
    dense = dm.genie3(made.expression, **options)
    monkeypatch.setattr("duramen.networks.inference._DENSE_BYTES", 0)
    sparse = dm.genie3(made.expression, **options)
    assert sparse.weights.nnz <= 6
    assert sparse.weights.toarray().tobytes() == dense.weights.tobytes()
    assert sparse.top(5) == dense.top(5)
    assert isinstance(dm.genie3(made.expression, **FAST).weights, np.ndarray)


def test_what_is_no_experiment_is_refused(made):
    for options in ({"series": [0] * 40}, {"decay": 0.5}):
        with pytest.raises(ValueError, match=f"Experiment: {next(iter(options))} needs time"):
            Experiment(**options)
    with pytest.raises(TypeError, match=r"genie3: experiment must be .*Experiment, got dict"):
        dm.genie3(made.expression, experiment={"time": [0] * 40})
