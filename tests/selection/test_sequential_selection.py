"""Sequential selection: its searches against slow ones, and its scores."""

import itertools

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.metrics import check_scoring
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test

import duramen as dm
from duramen.jobs.batches import Batches
from duramen.selection.selector import folds_of
from duramen.selection.sequential_selection import Path, new_sets, search
from duramen.support.checks import draw_seed


def scores_of(p, seed):
    """A number for every set of features."""
    random = np.random.default_rng(seed)
    sets = itertools.chain.from_iterable(itertools.combinations(range(p), k) for k in range(p + 1))
    return {frozenset(subset): float(random.random()) for subset in sets}


def run(value, p, goal, **options):
    path = Path()
    steps = {"forward": True, "plus": 1, "minus": 0, "floating": False, **options}
    course = Batches(new_sets(search(path, p, goal, **steps)))
    asked = []
    while (
        until := course.ready(np.array([[value[subset]] for subset in asked]).reshape(-1, 1))
    ) > len(asked):
        new = [frozenset(course.arguments(k)[0].tolist()) for k in range(len(asked), until)]
        asked += new
    assert len(set(asked)) == len(asked)  # none is scored twice
    return path, asked


def slow(value, p, goal, forward, plus, minus, floating):
    """The same in plain loops: sets in the order of the search, and the best of each size."""
    everything = frozenset(range(p))
    current = frozenset() if forward else everything
    visited = [] if forward else [current]
    best = {} if forward else {p: value[current]}

    def moved(current, add):
        return max(
            (
                current | {j} if add else current - {j}
                for j in sorted(everything - current if add else current)
            ),
            key=lambda subset: value[subset],
        )

    def go(there):
        visited.append(there)
        best[len(there)] = max(best.get(len(there), -1), value[there])
        return there

    while len(current) != goal:
        for _ in range(plus):
            current = go(moved(current, forward))
            if len(current) == goal:
                return visited, best
        for _ in range(minus):
            current = go(moved(current, not forward))
        while (
            floating and len(current) + (0 if forward else 1) > 1 and (forward or len(current) < p)
        ):
            back = moved(current, not forward)
            if value[back] <= best.get(len(back), -1):
                break
            current = go(back)
    return visited, best


@one_test
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    ("plus", "minus", "floating"), [(1, 0, False), (2, 1, False), (3, 1, False), (1, 0, True)]
)
@pytest.mark.parametrize("goal", [2, 5])
def test_searches_against_plain_loops(seed, forward, plus, minus, floating, goal):
    p = 6
    value = scores_of(p, seed)
    steps = {"forward": forward, "plus": plus, "minus": minus, "floating": floating}
    path, _ = run(value, p, goal, **steps)
    visited, best = slow(value, p, goal, **steps)
    assert [subset for subset, _ in path.visited] == visited
    assert {size: score for size, (_, score) in path.best.items()} == best
    assert len(path.visited[-1][0]) == goal


@one_test
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_plain_searches_are_those_of_scikit_learn(direction, task):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * random.normal(size=60)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    if task == "classes":
        y, tree = y > 0.7, DecisionTreeClassifier(max_depth=3, random_state=0)
    model = dm.SequentialSelection(tree, n_features=2, direction=direction, cv=3, random_state=5)
    model.fit(X, y)
    data = dm.learning_set(X, y)
    seed = draw_seed(5)
    folds = folds_of(data.target, 3, np.random.default_rng(seed))
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    tree.set_params(random_state=seed % 2**32)
    peer = SequentialFeatureSelector(
        tree, n_features_to_select=2, direction=direction, cv=splits
    ).fit(X, y)
    assert model.support_.tolist() == peer.get_support().tolist()
    chosen = model.selected_
    scorer = check_scoring(tree)
    fold_scores = [
        scorer(tree.fit(X[inside][:, chosen], y[inside]), X[out][:, chosen], y[out])
        for inside, out in splits
    ]
    assert model.score_ == pytest.approx(np.mean(fold_scores))


def test_backward_finds_an_exclusive_or_that_forward_misses():
    X = np.array(list(itertools.product([0, 1], repeat=4)) * 5, dtype=float)
    y = (X[:, 1] != X[:, 3]).astype(int)
    tree = DecisionTreeClassifier(random_state=0)
    model = dm.SequentialSelection(tree, direction="backward", random_state=0).fit(X, y)
    assert (model.selected_.tolist(), model.score_) == ([1, 3], 1.0)
    # The first step gains nothing, whichever feature it takes.
    first = dm.SequentialSelection(tree, max_features=1, random_state=0).fit(X, y)
    assert first.score_ <= 0.6


def test_forests_and_scorers():
    X = np.random.default_rng(0).normal(size=(50, 4))
    forest = dm.RandomForestClassifier(5)
    model = dm.SequentialSelection(forest, cv=2, max_features=2, scoring="roc_auc", random_state=0)
    model.fit(X, X[:, 3] > 0)
    assert 3 in model.selected_
    assert model.importances_.unit == "score: roc_auc"
    assert model.history_["n_features"].tolist() == [1, 2]
    assert model.history_["features"].sum(axis=1).tolist() == [1, 2]


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, "n_features must be an int"),
        ({"n_features": "all"}, "n_features must be one of 'best'"),
        ({"direction": "up"}, "direction must be one of"),
        ({"plus": 1, "minus": 1}, "minus must be"),
        ({"plus": 2, "floating": True}, "floating searches have plus=1 and minus=0"),
        ({"cv": 1}, "cv must be an int"),
        ({"estimator": dm.Boruta()}, "estimator must be a classifier or a regressor"),
    ],
)
def test_refusals(options, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises((ValueError, TypeError), match=f"SequentialSelection: {message}"):
        dm.SequentialSelection(**options).fit(X, X[:, 0] > 0)
