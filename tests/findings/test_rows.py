"""Rows that depend on each other are noted, whatever the kind; independent rows are not."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.error_rates.dependent_rows import DEPENDENT, INDEPENDENT, independent, noted
from sklearn import datasets

import duramen as dm
from duramen.findings.rows import (
    COPIES,
    GROUPED,
    SERIAL,
    WITHIN,
    _autocorrelation,
    _excess,
    _second_moment,
    dependence,
    of_leaks,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def persons(n=40, size=5, *, p=4, within=0.7, seed=0, **columns):
    """Rows of persons, their number, and a class that is constant in a person."""
    random = rng(seed)
    person = random.permutation(np.repeat(np.arange(n), size))
    shared = np.sqrt(within) * random.normal(size=(n, p))[person]
    X = shared + np.sqrt(1 - within) * random.normal(size=(n * size, p))
    frame = pd.DataFrame({name: make(person) for name, make in columns.items()}, range(n * size))
    return frame.join(pd.DataFrame(X).add_prefix("g")), person, person % 2


def text(person):
    return [f"P{k}" for k in person]


def finding_of(X, y, groups=None, task="auto"):
    return dependence(dm.encode(X), y, "ill", task, groups)


# --- statistics against plain computations ------------------------------------------------------


@pytest.mark.parametrize("ordered", [False, True])
def test_the_excess_is_the_mean_product_over_pairs_of_rows(ordered):
    random = rng()
    values, groups = random.normal(size=(60, 3)), random.integers(0, 12, 60)
    groups = np.unique(groups, return_inverse=True)[1]
    values += random.normal(size=(12, 3))[groups]
    products = values @ values.T / 3
    apart = np.abs(groups[:, None] - groups)
    upper = np.triu(np.ones((60, 60), dtype=bool), 1)
    expected = products[upper & (apart == 0)].mean()
    inverse = 1 / (upper & (apart == 0)).sum()
    if ordered:
        expected -= max(products[upper & (apart == 1)].mean(), 0)
        inverse += 1 / (upper & (apart == 1)).sum()
    size = np.sqrt((products[upper] ** 2).mean() * inverse)
    value, z = _excess(values, groups, ordered=ordered)
    assert value == pytest.approx(expected)
    assert z == pytest.approx(expected / size)


@pytest.mark.parametrize("q", [3, 80])
def test_the_second_moment_is_that_of_all_pairs(q):
    values = rng().normal(size=(50, q))
    products = (values @ values.T / q)[np.triu_indices(50, 1)]
    assert _second_moment(values) == pytest.approx((products**2).mean())


def test_the_autocorrelation_is_that_of_lagged_rows():
    values = rng().normal(size=(40, 2))
    values -= values.mean(axis=0)
    found = _autocorrelation([values])
    expected = [(values[k:] * values[:-k]).sum(0) / (values**2).sum(0) for k in (1, 2)]
    np.testing.assert_allclose(found[:2], np.mean(expected, axis=1))


# --- dependent rows -----------------------------------------------------------------------------

EXPECTED = {
    "10 copies of 30 rows": COPIES,
    "10 near copies of 30 rows": COPIES,
    "40 persons x 5, id of text": GROUPED,
    "40 persons x 5, id of numbers": GROUPED,
    "40 persons x 5, another name": GROUPED,
    "12 plates of 12": GROUPED,
    "40 families of 4": GROUPED,
}


@pytest.mark.parametrize("name", list(DEPENDENT))
def test_dependent_rows_are_noted_until_groups_are_given(name):
    for seed in (0, 1):
        data = DEPENDENT[name](rng(seed))
        assert noted(data.X, data.y) == EXPECTED.get(name, SERIAL)
        assert noted(data.X, data.y, data.rows["groups"]) == ""


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_rows_are_not_noted(name):
    for seed in range(10):
        assert noted(*independent(rng(seed), name)) == ""


KNOWN = (
    *(datasets.load_iris, datasets.load_wine, datasets.load_diabetes, datasets.load_breast_cancer),
    *(dm.datasets.load_leukemia, dm.datasets.load_primary_tumor),
)


@pytest.mark.parametrize("make", KNOWN)
def test_known_tables_are_not_noted(make):
    data = make()
    X, y = (data.data, data.target) if hasattr(data, "data") else (data.X, data.y)
    assert noted(X, y) == ""
    assert of_leaks(dm.encode(X), y, "y", "auto") == []


@pytest.mark.parametrize("label", [text, np.asarray, lambda person: person * 7919 % 40])
@pytest.mark.parametrize("name", ["id", "patient_id", "subject", "donor", "code"])
def test_a_repeated_identifier_is_no_leak(label, name):
    X, _, ill = persons(**{name: label})
    notes = dm.read(X, ill).provenance.findings
    (finding,) = (one for one in notes if name in one.columns)  # which is no leak
    assert (finding.kind, finding.columns) == (GROUPED, (name,))
    assert finding.hint.startswith(f"groups={name!r}")
    assert "40 values in 200 rows" in finding.message


def test_a_column_within_which_the_target_is_constant_is_a_group_whatever_the_others():
    X, _, ill = persons(code=text, within=0.0)
    assert finding_of(X, ill).columns == ("code",)
    assert finding_of(X[["code"]], ill).columns == ("code",)


def test_persons_whose_target_varies_are_permuted_within():
    X, _, _ = persons(subject=text, within=0.6)
    finding = finding_of(X, rng(5).integers(0, 2, 200))
    assert finding.kind == WITHIN
    assert "strata='subject'" in finding.hint


def test_a_leak_remains_a_leak():
    random = rng()
    ill = random.integers(0, 2, 200)
    stage = 10 * ill + random.integers(0, 10, 200)  # whole numbers in two ranges
    X = pd.DataFrame(random.normal(size=(200, 4))).add_prefix("g").assign(stage=stage)
    (leak,) = dm.read(X, ill).provenance.findings
    assert leak.kind == "leak"


def test_an_identifier_of_rows_and_a_category_are_no_groups():
    random = rng()
    site = random.integers(0, 5, 200)
    X = random.normal(size=(200, 4)) + random.normal(size=(5, 4))[site]
    frame = pd.DataFrame(X).add_prefix("g").assign(site=[f"S{k}" for k in site], id=range(200))
    assert finding_of(frame, (X[:, 0] > X[:, 0].mean()).astype(int)) is None


def test_dependence_of_features_or_of_the_target_alone_is_no_threat():
    X, person, ill = persons()
    order = np.argsort(person, kind="stable")
    assert finding_of(X.iloc[order], rng(3).integers(0, 2, 200)) is None
    assert finding_of(rng(4).normal(size=(200, 4)), ill[order]) is None
    copies = np.tile(rng().normal(size=(30, 6)), (10, 1))
    assert finding_of(copies, rng(1).integers(0, 2, 300)) is None


def test_rows_that_alternate_or_repeat_a_design_are_no_series():
    design = np.column_stack([np.arange(120) % 2, np.arange(120) % 3, rng().normal(size=120)])
    assert finding_of(design, np.arange(120) % 2) is None
    design = np.tile(np.indices((2, 2, 2)).reshape(3, -1).T, (20, 1))
    assert finding_of(design, design[:, 0] | design[:, 1]) is None


def test_copies_are_counted_and_two_of_them_named():
    copies = np.tile(rng().normal(size=(30, 6)), (10, 1))
    finding = finding_of(copies, np.tile(rng(1).integers(0, 2, 30), 10))
    assert finding.message.startswith("1,350 pairs of rows, such as rows 1 and 31, are copies")


def test_dependence_between_groups_is_noted():
    plate = np.arange(240) // 20
    visit = np.arange(240) // 2
    random = rng()
    X = 2 * random.normal(size=(12, 5))[plate] + random.normal(size=(240, 5))
    frame = pd.DataFrame(X).add_prefix("g").assign(plate=plate * 5 % 12)
    order = random.permutation(240)
    y = random.normal(size=12)[plate]
    finding = finding_of(frame.iloc[order], y[order], visit[order], task="regression")
    assert finding.columns == ("plate",)
    assert finding_of(frame.iloc[order], y[order], plate[order], task="regression") is None


def test_missing_values_and_targets_are_left_out():
    X, _, ill = persons(id=text)
    X.loc[::7, "g1"] = np.nan
    X.loc[::11, "id"] = None
    y = np.where(np.arange(200) % 9 == 0, None, ill.astype(str))
    assert finding_of(X, y).columns == ("id",)


def test_the_order_of_many_rows_is_looked_at_in_windows():
    random = rng()
    values = np.empty((20_000, 4))
    values[0] = 0
    for i, noise in enumerate(random.normal(size=(19_999, 4))):
        values[i + 1] = 0.7 * values[i] + noise
    assert finding_of(values[:, 1:], values[:, 0]).kind == SERIAL
    shuffled = values[random.permutation(20_000)]
    assert finding_of(shuffled[:, 1:], shuffled[:, 0]) is None


def test_copies_are_found_among_many_rows():
    original = rng().integers(0, 2_000, 20_000)
    X, y = rng(1).normal(size=(2_000, 5))[original], rng(2).integers(0, 2, 2_000)[original]
    assert finding_of(X, y).kind == COPIES


# --- where they are told ------------------------------------------------------------------------


def test_analyses_in_python_tell_of_them():
    X, _, ill = persons(id=text)
    X = X.assign(ill=ill)
    quick = {"n_jobs": 1, "random_state": 0}
    report = dm.select(X, "ill", selector="mrmr", **quick)
    assert any("Hint: groups='id'" in note for note in report.notes)
    report = dm.rank(dm.read(X, "ill", groups="id"), test=False, **quick)
    assert not any("exchangeable" in note for note in report.notes)
    assert "id" not in report.directions


def test_survival_is_looked_at():
    X, person, _ = persons(id=text)
    times = 1 + person % 8 + rng().random(200) / 10
    y = np.array(list(zip(rng(1).random(200) < 0.8, times, strict=True)), dtype="?,f8")
    y.dtype.names = ("event", "time")
    report = dm.rank(X, y, test=False, n_jobs=1, random_state=0)
    assert any("groups='id'" in note for note in report.notes)
