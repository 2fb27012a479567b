"""Filters: information criteria against brute force, Lasso and ReliefF against their packages."""

import itertools
import subprocess
import sys
import time
from collections import Counter
from math import log2

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.selection.filters import intervals


def entropy(*columns):
    counts = Counter(zip(*columns, strict=True))
    n = len(columns[0])
    return -sum(k / n * log2(k / n) for k in counts.values())


def information(x, y, *arguments):
    return (
        entropy(x, *arguments)
        + entropy(y, *arguments)
        - entropy(x, y, *arguments)
        - (entropy(*arguments) if arguments else 0.0)
    )


def slow(X, y, rule, count):
    """The order of a rule by plain counting."""
    columns = X.T.tolist()
    target = y.tolist()
    taken = []
    while len(taken) < count:
        values = {}
        for j in set(range(len(columns))) - set(taken):
            own = information(columns[j], target)
            others = [columns[s] for s in taken]
            if not others:
                values[j] = own
            elif rule == "mrmr":
                values[j] = own - np.mean([information(columns[j], other) for other in others])
            elif rule == "jmi":
                pairs = [list(zip(columns[j], other, strict=True)) for other in others]
                values[j] = sum(information(pair, target) for pair in pairs)
            else:
                values[j] = min(information(columns[j], target, other) for other in others)
                values[j] = min(own, values[j]) if rule == "bounded_cmim" else values[j]
        taken.append(max(sorted(values), key=lambda j: round(values[j], 12)))
    return taken


@one_test
@pytest.mark.parametrize("rule", ["mrmr", "jmi", "cmim", "bounded_cmim"])
@pytest.mark.parametrize("seed", range(3))
def test_orders_against_brute_force(rule, seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, size=(40, 6))
    X[:, 4] = X[:, 0]
    y = X[:, 0] + X[:, 1] * random.integers(0, 2, size=40)
    model = dm.InformationFilter(rule, n_features=4).fit(X, y.astype(str))
    assert model.selected_.tolist() == slow(X, y, rule, 4)
    expected = [information(column, y.tolist()) for column in X.T.tolist()]
    np.testing.assert_allclose(model.importances_.values, expected, atol=1e-12)


def test_fcbf_against_brute_force():
    random = np.random.default_rng(1)
    X = random.integers(0, 3, size=(60, 7))
    X[:, 5] = X[:, 0]
    y = X[:, 0] + (X[:, 1] > 1)
    columns = X.T.tolist()

    def uncertainty(first, other):
        return 2 * information(first, other) / (entropy(first) + entropy(other))

    relevance = [uncertainty(column, y.tolist()) for column in columns]
    left = [j for j in sorted(range(7), key=lambda j: -relevance[j]) if relevance[j] > 0.01]
    expected = []
    while left:
        expected.append(left.pop(0))
        left = [j for j in left if uncertainty(columns[j], columns[expected[-1]]) < relevance[j]]
    model = dm.InformationFilter("fcbf", n_features=None, threshold=0.01).fit(X, y.astype(str))
    assert model.selected_.tolist() == expected
    assert dm.InformationFilter("fcbf", n_features=1).fit(X, y).selected_.tolist() == expected[:1]


def test_cmim_takes_the_partner_of_a_xor_and_bounded_cmim_does_not():
    """I(X3;Y|X0) = 1 and I(X3;Y) = 0: the conditional information is 1 bit, its bound none."""
    X = np.array(list(itertools.product([0, 1], repeat=4)))
    y = X[:, 0] ^ X[:, 3]
    cmim = dm.InformationFilter("cmim", n_features=2).fit(X, y)
    bounded = dm.InformationFilter("bounded_cmim", n_features=2).fit(X, y)
    assert (cmim.selected_.tolist(), cmim.scores_.tolist()) == ([0, 3], [0.0, 1.0])
    assert (bounded.selected_.tolist(), bounded.scores_.tolist()) == ([0, 1], [0.0, 0.0])


def divergence(columns, target, j, blanket):
    """Sum over cells of P(m, x) KL(P(Y | m, x) || P(Y | m)), by plain counting."""
    rows = list(zip(*[columns[s] for s in blanket], strict=True)) or [()] * len(target)
    cells = Counter(zip(rows, columns[j], target, strict=True))
    wide, both, narrow = Counter(rows), Counter(), Counter()
    for (m, x, y), count in cells.items():
        both[m, x] += count
        narrow[m, y] += count
    return sum(
        count / len(target) * log2((count / both[m, x]) / (narrow[m, y] / wide[m]))
        for (m, x, y), count in cells.items()
    )


@one_test
@pytest.mark.parametrize("size", [0, 1, 2, 9])
def test_markov_blanket_filter_against_divergences(size):
    random = np.random.default_rng(2)
    X = random.integers(0, 3, size=(60, 6))
    X[:, 4] = X[:, 0]
    y = X[:, 0] + (X[:, 1] > random.integers(0, 3, size=60))
    columns, target = X.T.tolist(), y.tolist()
    left, removed = list(range(6)), []
    while True:
        scores = {}
        for j in left:
            others = sorted(
                (s for s in left if s != j), key=lambda s: divergence(columns, target, j, [s])
            )
            scores[j] = divergence(columns, target, j, others[:size])
        if len(left) == 3:
            break
        last = min(left, key=lambda j: (round(scores[j], 10), -j))
        removed.append(scores[last])
        left.remove(last)
    model = dm.InformationFilter("mbf", n_features=3, blanket_size=size).fit(X, y)
    assert sorted(model.selected_.tolist()) == left
    expected = [scores[j] for j in model.selected_.tolist()]
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)
    np.testing.assert_allclose(model.history_["score"], removed, atol=1e-12)
    assert model.history_["n_selected"].tolist() == [5, 4, 3]


def test_markov_blanket_filter_removes_copies_and_loses_an_exclusive_or():
    """All 2^4 rows: with y = (x0, x1), x0 copied, the copy goes first; of a xor all is removed."""
    X = np.array(list(itertools.product([0, 1], repeat=4)))
    copied = np.column_stack([X, X[:, 0]])
    model = dm.InformationFilter("mbf", n_features=2).fit(copied, 2 * X[:, 0] + X[:, 1])
    assert model.selected_.tolist() == [0, 1]
    assert model.scores_.tolist() == [1.0, 1.0]
    assert model.history_["score"].tolist() == [0.0, 0.0, 0.0]
    parity = dm.InformationFilter("mbf", n_features=2, blanket_size=1)
    parity.fit(X[:, ::-1], X[:, 0] ^ X[:, 1])
    assert parity.selected_.tolist() == [0, 1]  # the columns 2 and 3 determine y


def test_intervals_keep_equal_values_together():
    values = np.array([5, 5, 5, 5, 1, 2, 3, 9])
    assert intervals(values, 8).tolist() == [3, 3, 3, 3, 0, 1, 2, 4]
    result = intervals(values, 2)
    assert len(np.unique(result)) <= 2
    assert len(set(result[:4].tolist())) == 1
    many = intervals(np.arange(1000), 10)
    assert np.bincount(many).tolist() == [100] * 10


def test_lasso_is_that_of_scikit_learn():
    from sklearn.linear_model import LassoCV
    from sklearn.preprocessing import StandardScaler

    random = np.random.default_rng(0)
    X = random.normal(size=(60, 8)) * np.arange(1, 9)
    y = X[:, 0] - X[:, 4] + random.normal(size=60)
    model = dm.LassoSelector(random_state=0).fit(X, y)
    peer = LassoCV(alphas=[model.penalty_]).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(model.coefficients_, peer.coef_, atol=1e-3)
    assert {0, 4} <= set(model.selected_.tolist())
    three = dm.LassoSelector(random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]).astype(str))
    assert three.selected_[0] == 0
    X[0, 0] = np.nan
    assert 4 in dm.LassoSelector(random_state=0).fit(X, y).selected_


def test_ridge_is_that_of_formulas():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 8)) * np.arange(1, 9)
    y = X[:, 0] - X[:, 4] + random.normal(size=60)
    model = dm.RidgeSelector(n_features=2).fit(X, y)
    Z, c = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    gram = Z.T @ Z + 60 * model.penalty_ * np.eye(8)
    np.testing.assert_allclose(model.coefficients_, np.linalg.solve(gram, Z.T @ c), rtol=1e-8)
    assert model.selected_.tolist() == [4, 0]
    # The penalty has the smallest of the leave-one-out errors, and these are such errors.
    chosen = int(np.argmin(model.history_["error"]))
    assert model.history_["penalty"][chosen] == pytest.approx(model.penalty_)
    hat = Z @ np.linalg.solve(gram, Z.T) + 1 / 60
    left_out = (y - (y.mean() + Z @ model.coefficients_)) / (1 - np.diag(hat))
    assert model.history_["error"][chosen] == pytest.approx(np.mean(left_out**2))
    three = dm.RidgeSelector(n_features=1)
    three.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]).astype(str))
    assert three.selected_.tolist() == [0]
    X[0, 0] = np.nan
    assert 4 in dm.RidgeSelector(n_features=2).fit(X, y).selected_


def test_relief_is_that_of_skrebate():
    skrebate = pytest.importorskip("skrebate")
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = dm.ReliefF(n_features=2, n_neighbors=5).fit(X, y)
    peer = skrebate.ReliefF(n_neighbors=5).fit(X, y)
    assert model.importances_.values.tolist() == peer.feature_importances_.tolist()
    assert set(model.selected_.tolist()) == {0, 1}
    other = dm.ReliefF(n_features=2, variant="multisurf").fit(X, y)
    assert other.importances_.measure == "multisurf"


def relief(squares, y):
    """Weights of Relief by loops over rows, from squared differences of shape (n, n, p)."""
    weights = np.zeros(squares.shape[2])
    for i in range(len(y)):
        distances = {k: squares[i, k].sum() for k in range(len(y)) if k != i}
        for sign, rows in ((-1, y == y[i]), (1, y != y[i])):
            able = [k for k in distances if rows[k]]
            least = min(distances[k] for k in able)
            near = [k for k in able if distances[k] <= least + 1e-12]
            weights += sign * np.mean([squares[i, k] for k in near], axis=0)
    return weights / len(y)


def test_original_relief_is_that_of_loops():
    random = np.random.default_rng(3)
    X = random.normal(size=(30, 4)).round(1)
    y = np.where(X[:, 0] * X[:, 1] > 0, "b", "a")
    scaled = X / np.ptp(X, axis=0)
    expected = relief((scaled[:, np.newaxis] - scaled) ** 2, y)
    model = dm.ReliefF(variant="relief").fit(100 + 7 * X, y)
    np.testing.assert_allclose(model.importances_.values, expected, rtol=1e-9)
    bound = sorted(expected)[1]
    selected = dm.ReliefF(variant="relief", threshold=bound + 1e-9).fit(X, y).selected_
    assert selected.tolist() == np.argsort(-expected)[:2].tolist()
    colors = np.array(["red", "green", "blue"])[random.integers(0, 3, size=(30, 2))]
    nominal = dm.ReliefF(variant="relief").fit(colors, y).importances_.values
    expected = relief((colors[:, np.newaxis] != colors).astype(float), y)
    np.testing.assert_allclose(nominal, expected, atol=1e-12)


def test_original_relief_of_a_parity():
    """All 2^3 rows, y = x0 xor x1: a miss differs in x0 or x1, a hit in x2."""
    X = np.array(list(itertools.product([0, 1], repeat=3)))
    model = dm.ReliefF(variant="relief").fit(X, X[:, 0] ^ X[:, 1])
    assert model.importances_.values.tolist() == [0.5, 0.5, -1.0]


def test_original_relief_refuses_three_classes_and_missing_values():
    with pytest.raises(ValueError, match="y must be two classes of at least two rows each"):
        dm.ReliefF(variant="relief").fit(np.eye(6), list("aabbcc"))
    with pytest.raises(ValueError, match="X must be a table without missing values"):
        dm.ReliefF(variant="relief").fit([[1.0], [np.nan], [2.0], [3.0]], list("aabb"))


def test_relief_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skrebate", None)
    with pytest.raises(ImportError, match=r"pip install 'duramen\[baselines\]'"):
        dm.ReliefF().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_refusals():
    with pytest.raises(ValueError, match="InformationFilter: n_features must be an int"):
        dm.InformationFilter(n_features=None).fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="has 3 labels without an order"):
        dm.LassoSelector(cv=2).fit([["a"], ["b"], ["c"], ["a"]], [0.0, 1.5, 2.5, 0.5])


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs signals")
def test_relief_leaves_no_processes_when_it_is_killed():
    skrebate = pytest.importorskip("skrebate")
    psutil = pytest.importorskip("psutil")
    assert skrebate
    program = (
        "import numpy as np, duramen as dm; X = np.random.default_rng(0).normal(size=(3000, 40)); "
        "dm.ReliefF(n_jobs=2).fit(X, np.arange(3000) % 2)"
    )
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", program]) as process:
        deadline, children = time.monotonic() + 120, []
        while len(children) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
            children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    assert len(children) >= 3
    _, alive = psutil.wait_procs(children, timeout=60)
    for child in alive:
        child.kill()
    assert alive == []
