"""Boruta: its rules, the course of its rounds, and what it selects."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.cli.commands import assert_refused, done
from tests.grid import one_test
from tests.oracles import boruta as oracle
from tests.significance.noise import TINY, correlation, noise, signal

import duramen as dm
from duramen.selection.boruta import CONFIRMED, CORRECTIONS, VERDICTS, HitCounts, decided

WORDS = np.vectorize(VERDICTS.get)


def boruta(**options):
    options = {"n_estimators": 30, "measure": "mdi", "max_rounds": 25, "random_state": 0, **options}
    return dm.Boruta(**options)


def plain(**options):
    """Boruta by correlations, which no forest has a part in."""
    return boruta(estimator=TINY, n_estimators=None, **{"measure": correlation, **options})


def everything(model):
    names = ("selected_", "verdicts_", "hits_", "decided_in_", "support_")
    return (
        *(getattr(model, name).tolist() for name in names),
        {name: np.nan_to_num(values, nan=-9).tolist() for name, values in model.history_.items()},
        model.importances_.values.tolist(),
    )


# --- rules --------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("p", "first"), [(10, 10), (100, 14), (1000, 17)])
def test_known_first_verdicts_of_r(p, first):
    """A feature that always has a hit is confirmed, one that never has rejected, in that round."""
    verdicts, hits = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    for n in range(1, first + 1):
        hits[0] += 1
        verdicts = decided(verdicts, hits, n, CORRECTIONS["bonferroni"], 0.01)
        assert (verdicts != 0).any() == (n == first)
    assert verdicts.tolist() == [1] + [-1] * (p - 1)


def test_known_first_verdict_of_two_steps():
    """2^-n <= .05 / n holds from the eighth round on, however many features there are."""
    for p in (5, 500):
        hits = np.full(p, 8)
        for n, any_ in ((7, False), (8, True)):
            result = decided(0 * hits, np.minimum(hits, n), n, CORRECTIONS["two-step"], 0.05)
            assert (result == CONFIRMED).all() == any_


@one_test
@pytest.mark.parametrize("rule", CORRECTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_course_against_the_oracle(rule, seed):
    random = np.random.default_rng(seed)
    p, most, level = 9, 40, 0.1
    chances = random.choice([0.02, 0.3, 0.5, 0.7, 0.98], size=p)
    hit = random.random((most, p)) < chances
    history, counts = oracle.verdicts(hit.tolist(), rule, level)
    rows = np.column_stack([hit.astype(float), np.full(most, 0.5)])
    course = HitCounts(np.ones(p, dtype=int), most, CORRECTIONS[rule], level)
    ends = []
    for n in range(1, len(history) + 1):
        allowed = course.ready(rows[: n - 1])
        assert allowed >= n
        ends.append(allowed)
        rows[n:, :-1][:, [verdict == "rejected" for verdict in history[n - 1]]] = np.nan
        course.take(rows[:n])
        assert WORDS(course.verdicts).tolist() == history[n - 1]
        # No verdict changes before the round up to which all can be computed at a time.
        changes = [k for k in range(n, len(history)) if history[k] != history[n - 1]]
        assert course.ready(rows[:n]) <= (changes[0] + 1 if changes else most)
    assert course.hits.tolist() == counts
    assert course.ready(rows[: len(history)]) == len(history) or len(history) == most
    assert max(ends) > 1


# --- rounds -------------------------------------------------------------------------------------


def test_shadows():
    """Beside the features stand permuted copies of them, five at least."""
    X, y = signal()
    seen = {}

    def looking(forest, table, labels):
        p = len(seen) and seen["p"]
        own, copies = table.take_columns(range(p)), table.take_columns(range(p, table.n_columns))
        seen.setdefault("sizes", set()).add(table.n_columns)
        for j in range(copies.n_columns):
            copy, column = copies.codes(j), own.codes(j % p)
            assert sorted(copy) == sorted(column)
            assert (copy != column).any()
            assert copies.values(j).tolist() == own.values(j % p).tolist()
        seen["orders"] = {tuple(copies.codes(j)) for j in range(copies.n_columns)}
        assert len(seen["orders"]) == copies.n_columns  # each in an order of its own
        return np.arange(table.n_columns, dtype=float)

    for p, wanted in ((1, 9), (2, 10), (3, 9), (5, 10), (8, 16)):
        seen.update(p=p, sizes=set())
        plain(measure=looking, max_rounds=2).fit(X[:, :p], y)
        assert seen["sizes"] == {wanted, p}  # the latter once, for the unit


def test_history():
    X, y = signal()
    model = plain(max_rounds=40).fit(X, y)
    history = model.history_
    importance, threshold = history["importance"], history["threshold"]
    assert set(model.selected_) == {0, 1}
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(model.hits_, (importance > threshold[:, None]).sum(axis=0))
    for j in range(8):
        end = model.decided_in_[j] if model.verdicts_[j] == "rejected" else model.n_rounds_
        assert np.isnan(importance[:, j]).tolist() == [r >= end for r in range(model.n_rounds_)]
        np.testing.assert_allclose(model.importances_.values[j], importance[:end, j].mean())
    for word, name in (("confirmed", "selected"), ("tentative",) * 2, ("rejected",) * 2):
        assert history[f"n_{name}"][-1] == (model.verdicts_ == word).sum()
    assert (
        sum(history[f"n_{verdict}"] for verdict in ("selected", "tentative", "rejected")) == 8
    ).all()


def test_ranking_puts_tentative_features_first():
    X, y = noise(3, p=12)
    model = boruta(max_rounds=15).fit(X, y)
    words = model.verdicts_[np.argsort(model.ranking_, kind="stable")]
    order = [word for word in ("confirmed", "tentative", "rejected") if word in words]
    assert list(dict.fromkeys(words)) == order
    assert len(order) > 1


def test_rough_fix():
    X, y = noise(3, p=12)
    left = boruta(max_rounds=15).fit(X, y)
    fixed = boruta(max_rounds=15, rough_fix=True).fit(X, y)
    tentative = left.verdicts_ == "tentative"
    assert tentative.any()
    medians = np.median(left.history_["importance"][:, tentative], axis=0)
    above = medians > np.median(left.history_["threshold"])
    assert fixed.verdicts_[tentative].tolist() == np.where(above, "confirmed", "rejected").tolist()
    assert fixed.verdicts_[~tentative].tolist() == left.verdicts_[~tentative].tolist()


def test_percentile():
    X, y = noise(1)
    strict, lax = (plain(percentile=q, max_rounds=5).fit(X, y) for q in (100, 50))
    assert (lax.history_["threshold"] < strict.history_["threshold"]).all()
    assert (lax.hits_ >= strict.hits_).all()


# --- known selections ---------------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("measure", ["mdi", "scaled_mda"])
def test_all_identical_relevant_columns_are_confirmed(correction, measure):
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 10))
    X[:, 5:7] = X[:, [0]]
    y = X[:, 0] + 0.3 * random.normal(size=150) > 0
    model = boruta(n_estimators=60, correction=correction, measure=measure, max_rounds=40)
    assert {0, 5, 6} <= set(model.fit(X, y).selected_.tolist())


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_is_confirmed():
    X, y = noise(0, p=5)
    model = plain(max_rounds=3).fit(X, y)
    assert model.transform(X).shape == (60, 0)
    assert model.selected_.tolist() == []
    assert model.verdicts_.tolist() == ["tentative"] * 5


@pytest.mark.slow
def test_rate_on_noise():
    """Half of the time the best feature is above the best shadow, in all rounds of a data set."""
    result = 0
    for seed in range(40):
        X, y = noise(seed, p=20)
        result += len(plain(max_rounds=60, random_state=seed).fit(X, y).selected_) > 0
    assert 0.2 < result / 40 < 0.7  # what the guide says of it


# --- work ---------------------------------------------------------------------------------------


def test_learning_sets_and_stores(tmp_path):
    X, y = signal()
    whole = everything(boruta().fit(X, y))
    assert everything(boruta().fit(dm.learning_set(X, y))) == whole
    assert everything(boruta().fit(dm.pack(X, tmp_path / "store"), y)) == whole
    strata = np.arange(len(y)) % 2
    within = boruta().fit(dm.learning_set(X, y, strata=strata))
    assert everything(within) != whole
    with pytest.raises(ValueError, match="weights"):
        boruta().fit(dm.learning_set(X, y, sample_weight=np.arange(1.0, 81.0)))


# --- groups -------------------------------------------------------------------------------------


def test_groups_of_one_are_boruta_without_groups():
    X, y = signal()
    features = [f"g{j}" for j in range(X.shape[1])]
    alone, grouped = plain().fit(X, y), plain(feature_groups=features).fit(X, y)
    for name in ("selected_", "verdicts_", "hits_", "decided_in_"):
        assert getattr(alone, name).tolist() == getattr(grouped, name).tolist()
    assert list(grouped.group_verdicts_) == features
    assert clone(grouped).fit(X, y).group_verdicts_ == grouped.group_verdicts_


def test_shadows_of_a_group_are_permuted_together():
    X, y = signal()
    p, groups = 8, {"a": [6, 1, 3], "b": [2, 5]}
    ordered = [6, 1, 3, 2, 5, 0, 4, 7]
    labels = np.array([0, 0, 0, 1, 1, 2, 3, 4])
    X = np.tile(np.arange(len(y))[:, None], p) + 1000.0 * np.arange(p)
    seen = []

    def looking(forest, table, labels_of_rows):
        if table.n_columns == 2 * p:
            orders = [tuple(table.codes(p + j)) for j in range(p)]
            origins = [int(table.values(j)[0] // 1000) for j in range(2 * p)]
            assert origins == ordered * 2
            for i in range(p):
                for j in range(p):
                    assert (orders[i] == orders[j]) == (labels[i] == labels[j])
            seen.append(orders)
        return np.arange(table.n_columns, dtype=float)

    plain(measure=looking, max_rounds=2, feature_groups=groups).fit(X, y)
    assert len(seen) == 2
    assert seen[0] != seen[1]


def test_the_score_of_a_group_is_the_scaled_sum_of_its_members():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 6)), np.arange(40) % 2
    scores_of = np.array([5, 1, 1, 2, 0, 0, 4, 2, 2, 0, 0, 4], dtype=float)
    groups = {"large": ["x0", "x1", "x2", "x3"], "small": ["x4", "x5"]}
    # Two groups have too few shadows: each has four copies.
    values = np.concatenate([scores_of[:6], np.tile(scores_of[6:], 4)])

    def scripted(forest, table, labels):
        return values[: table.n_columns]

    model = plain(measure=scripted, max_rounds=1, feature_groups=groups).fit(X, y)
    center = scores_of[6:].mean()
    scores = [(9 - 4 * center) / 2, (0 - 2 * center) / np.sqrt(2)]
    shadows = [(8 - 4 * center) / 2, (4 - 2 * center) / np.sqrt(2)]
    np.testing.assert_allclose(model.history_["group_score"], [scores])
    np.testing.assert_allclose(model.history_["threshold"], max(shadows))
    assert model.hits_.tolist() == [int(scores[0] > max(shadows))] * 4 + [0, 0]


def test_weak_members_are_found_together():
    random = np.random.default_rng(3)
    X = random.normal(size=(100, 40))
    y = X[:, :10].sum(axis=1) + 1.5 * random.normal(size=100) > 0
    groups = {"weak": range(10), "large": range(10, 35)}
    alone, grouped = boruta(max_rounds=40).fit(X, y), boruta(feature_groups=groups).fit(X, y)
    assert alone.support_[:10].sum() < 10
    assert set(grouped.selected_) == set(range(10))
    assert grouped.group_verdicts_["weak"] == "confirmed"
    assert grouped.group_verdicts_["large"] == "rejected"
    counts = grouped.history_
    total = counts["n_selected"] + counts["n_tentative"] + counts["n_rejected"]
    assert set(total.tolist()) == {40}


def test_groups_must_not_overlap():
    X, y = signal()
    with pytest.raises(ValueError, match="feature_groups must not overlap, but 'x1' is in"):
        plain(feature_groups={"a": [0, 1], "b": [1]}).fit(X, y)


def test_groups_of_a_file_on_the_command_line(tmp_path):
    X, y = signal()
    names = [f"x{j}" for j in range(X.shape[1])]
    pd.DataFrame(X, columns=names).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "groups.csv").write_text("feature,group\nx0,a\nx1,a\nx2,b\nx3,b\n")
    words = ["--selector", "boruta", "--measure", "mdi", "--trees", 20, "--max-rounds", 12]
    words += ["--feature-groups", tmp_path / "groups.csv"]
    _, run = done(tmp_path / "out", "select", tmp_path / "t.csv", "--target", "y", *words)
    verdicts = pd.read_csv(tmp_path / "out" / "result.csv").set_index("name")["verdict"]
    assert verdicts["x0"] == verdicts["x1"]
    assert verdicts["x2"] == verdicts["x3"]
    model = boruta(n_estimators=20, max_rounds=12, feature_groups={"a": [0, 1], "b": [2, 3]})
    assert verdicts[names].tolist() == model.fit(X, y).verdicts_.tolist()
    assert run["results"]["groups"] == model.group_verdicts_
    assert run["settings"]["feature_groups"] == list(model.group_verdicts_)
    words = [tmp_path / "t.csv", "--target", "y", "--selector", "boruta"]
    message = "--feature-groups: there is no file no.csv"
    assert_refused("select", tmp_path / "no", [*words, "--feature-groups", "no.csv"], message)
