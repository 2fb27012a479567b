"""Sequential selection: its searches against slow ones, and its scores."""

import itertools

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test

import duramen as dm
from duramen.jobs.replicates import Batches
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
    course = Batches(new_sets(search(path, p, goal, **options)))
    asked = []
    while (
        until := course.ready(np.array([[value[subset]] for subset in asked]).reshape(-1, 1))
    ) > len(asked):
        new = [frozenset(course.arguments(k)[0].tolist()) for k in range(len(asked), until)]
        asked += new
    assert len(set(asked)) == len(asked)  # none is scored twice
    return path, asked


def slow(value, p, goal, forward, plus, minus, floating):
    """Search in plain loops: sets in the order of the search, and the best of each size."""
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
    steps = {"plus": plus, "minus": minus, "floating": floating}
    path, _ = run(value, p, goal, direction="forward" if forward else "backward", **steps)
    visited, best = slow(value, p, goal, forward, **steps)
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
    folds = folds_of(data, 3, np.random.default_rng(seed))
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


# --- exhaustive searches --------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("sizes", [True, False])
def test_all_sets_are_scored_once(sizes):
    value = scores_of(6, 3)
    path, asked = run(value, 6, 3, direction="exhaustive", sizes=sizes)
    assert len(asked) == (6 + 15 + 20 if sizes else 6 + 20)
    for size in (1, 2, 3) if sizes else (1, 3):
        assert path.best[size][1] == max(value[s] for s in value if len(s) == size)
    assert path.first == [value[frozenset([j])] for j in range(6)]


def test_rows_of_the_fit_are_scored():
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 6))
    y = X @ [3, 0, -2, 0, 0, 1] + random.normal(size=40)
    line = LinearRegression()
    model = dm.SequentialSelection(
        line, direction="exhaustive", n_features=3, cv=None, random_state=0
    ).fit(X, y)
    best = max(
        itertools.combinations(range(6), 3),
        key=lambda chosen: line.fit(X[:, chosen], y).score(X[:, chosen], y),
    )
    assert model.selected_.tolist() == list(best)
    assert model.score_ == pytest.approx(line.fit(X[:, best], y).score(X[:, best], y))


# --- adaptive floating ----------------------------------------------------------------------------


def test_adaptive_searches_find_more_of_the_best_sets():
    p = 7
    searches = [{"floating": True}, *({"floating": "adaptive", "max_step": n} for n in (1, 2, 3))]
    counts = np.zeros(4, dtype=int)
    for seed in range(15):
        value = scores_of(p, seed)
        for k, options in enumerate(searches):
            path, asked = run(value, p, p, sizes=True, **options)
            assert len(asked) < len(value)
            for size, (_, score) in path.best.items():
                counts[k] += score == max(value[s] for s in value if len(s) == size)
    assert counts[0] <= counts[1] < counts[2] < counts[3]


@one_test
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("sizes", [True, False])
def test_adaptive_searches_end_and_come_to_the_goal(seed, direction, sizes):
    p, goal = 7, 3
    value = scores_of(p, seed)
    steps = {"direction": direction, "floating": "adaptive", "sizes": sizes}
    path, asked = run(value, p, goal, max_step=3, **steps)
    assert len(path.visited[-1][0]) == goal
    assert all(path.best[len(s)][1] >= score for s, score in path.visited)
    assert all(score == value[s] for s, score in path.best.values())
    assert len(asked) <= len(value)
    if direction == "forward":
        assert path.best[1][1] == max(value[frozenset([j])] for j in range(p))


# --- refusals -----------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": "all"}, "n_features must be one of 'best'"),
        ({"plus": 1, "minus": 1}, "minus must be"),
        ({"plus": 2, "floating": True}, "floating searches have plus=1 and minus=0"),
        ({"direction": "exhaustive", "plus": 2}, "exhaustive searches have plus=1 and minus=0"),
        ({"direction": "exhaustive", "floating": True}, "an exhaustive search does not float"),
        ({"floating": "sometimes"}, "floating must be"),
    ],
)
def test_refusals(options, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises((ValueError, TypeError), match=f"SequentialSelection: {message}"):
        dm.SequentialSelection(**options).fit(X, X[:, 0] > 0)


def test_an_exhaustive_search_of_many_sets_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 18))
    message = "18 features have 262,143 sets, more than the 200,000"
    with pytest.raises(ValueError, match=message):
        dm.SequentialSelection(direction="exhaustive").fit(X, X[:, 0] > 0)
