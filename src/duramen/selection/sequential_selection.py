"""Sequential selection by the score of a learner."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import combinations
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring

from duramen.data import Task
from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import random_forest
from duramen.jobs.replicates import Batches, Steps, run_replicates
from duramen.results.importances import Importances
from duramen.selection.refitting import task_of
from duramen.selection.selector import BaseSelector, numbers_of, splits_of
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import versions

DIRECTIONS = ("forward", "backward", "exhaustive")
_TREES = 100
_FLOATING = 10  # times the sets of the plain search, after which a floating one ends
_NEAR = 3  # features from the goal within which an adaptive search takes the longest steps
_MOST_SETS = 200_000  # of an exhaustive search


@dataclass(kw_only=True, eq=False, repr=False)
class SequentialSelection(BaseSelector):
    r"""Sequential selection: sets of features, one feature at a time, by the score of a learner.

    A forward search starts from no feature and adds the one with which the cross-validated score
    is best, a backward search starts from all and removes the one without which it is. Plus l,
    minus r takes l such steps and then r back, in turn. A floating search goes back after each step
    as long as this gives a better set than any of its size so far. An adaptive floating search also
    adds and removes several features together, where one alone gives no better set. An exhaustive
    search scores all sets.

    Parameters
    ----------
    estimator : classifier or regressor, optional
        Learner of this package or of scikit-learn; it is cloned, not changed. Random forests of
        100 trees by default. Learners of scikit-learn see numbers: codes of categories, NaN for
        missing values.
    n_features : int or "best", default="best"
        Number of features to select; best is the number with the best score.

        The smallest of equal ones.
    direction : {"forward", "backward", "exhaustive"}, default="forward"
        Direction of the search. An exhaustive one has the best set of all; with `max_features` or
        a number `n_features`, of those that are not larger, or that are as large.
    plus : int, default=1
        Number of steps in the direction of the search.
    minus : int, default=0
        Number of steps back after them, smaller than `plus`.
    floating : bool or "adaptive", default=False
        Whether the search floats; `plus` is 1 and `minus` 0.
    max_step : int, default=2
        Largest number of features that an adaptive search adds or removes together.

        Where `n_features` is a number, only near it.
    max_features : int, optional
        Largest number of features of a forward or exhaustive search; all by default.

        With ``n_features="best"``.
    scoring : str, callable or None, default=None
        Score, as scikit-learn's scorers, such as accuracy; by default that of the learner.
    cv : int or None, default=5
        Number of folds of the cross-validation.

        They are drawn at random within the classes; None scores the rows that the learner is fitted
        on.
    random_state : int, RandomState, Generator or None
        Seed of the folds and of the learner, the same for all sets.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order of the columns.
    score_ : float
        Score of the selected set. It is too good, since the set was chosen by it.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Of all p features: forward and exhaustive, the score of each alone; backward, the
        decrease of the score of all features without it.
    history_ : dict of arrays
        ``"n_features"`` and ``"score"`` of the sets in the order in which the search came to them;
        of an exhaustive search, of the best of each size;
        ``"features"``, of shape (steps, p): whether a feature is in the set.
    n_scored_ : int
        Number of sets that were scored.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    A forward search needs p + (p - 1) + ... fits a fold. It misses features that matter together
    alone, such as those of an exclusive or, which a backward search keeps. Of identical features a
    further one does not improve the score of a deterministic learner, and one is selected.

    A floating search ends at the latest when it has scored ten times as many sets as the plain one
    has of steps of its size. Exhaustive searches of more than 200,000 sets are refused.

    References
    ----------
    A. W. Whitney (1971); T. Marill, D. M. Green (1963); plus l, minus r: S. D. Stearns (1976). On
    selecting features for pattern classifiers; P. Pudil, J. Novovičová, J. Kittler (1994). Floating
    search methods in feature selection. Pattern Recognition Letters 15(11); P. Somol, P. Pudil, J.
    Novovičová, P. Paclík (1999). Adaptive floating search methods in feature selection. Pattern
    Recognition Letters 20.

    Examples
    --------
    >>> import duramen as dm
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = dm.datasets.xor()
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> model = dm.SequentialSelection(tree, direction="backward", cv=2, random_state=0)
    >>> model.fit(list(data.X) * 5, list(data.y) * 5).selected_.tolist()
    [0, 1]
    """

    exchanges_groups = True

    estimator: Any = field(default=None, kw_only=False)
    n_features: int | Literal["best"] = "best"
    direction: Literal["forward", "backward", "exhaustive"] = "forward"
    plus: int = 1
    minus: int = 0
    floating: bool | Literal["adaptive"] = False
    max_step: int = 2
    max_features: int | None = None
    scoring: str | Callable[..., float] | None = None
    cv: int | None = 5
    random_state: RandomState = None
    n_jobs: int | None = None
    client: Any = None
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Search for a set of features.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        """
        owner = type(self).__name__
        plan = self._plan()
        task = _task(self.estimator, owner)
        rows = self._learning_set(X, y, task, n_threads=plan.threads_within)
        data, p = rows.in_memory(), rows.n_columns
        seed = checks.draw_seed(self.random_state)
        splits = [(np.arange(data.n_rows),) * 2]
        if self.cv is not None:
            splits = splits_of(data, self.cv, seed, owner)
        steps = self._steps(owner, p)
        learner = self.estimator
        if learner is None:
            learner = random_forest(data.task, _TREES)
        scorer = check_scoring(learner, scoring=self.scoring)
        path = Path()
        sets = Batches(new_sets(search(path, p, **steps)))
        most = self._most_sets(owner, p, steps)
        is_forest, groups = isinstance(learner, BaseForest), data.exchangeability.groups

        def fit_and_score(_: int, __: int, columns: IntArray) -> FloatArray:
            """Fit the learner without each fold, and return its mean score on the folds."""
            table, labels = data.table.take_columns(columns), data.y
            rows: Any = table.take_rows if is_forest else numbers_of(table).__getitem__
            scores = []
            for inside, out in splits:
                fitted = clone(learner)
                if "random_state" in fitted.get_params():
                    fitted.set_params(random_state=seed % 2**32)
                grouped = groups if is_forest else None
                own_groups = {} if grouped is None else {"groups": grouped[inside]}
                fitted.fit(rows(inside), labels[inside], **own_groups)
                scores.append(float(scorer(fitted, rows(out), labels[out])))
            return np.array([np.mean(scores)])

        scored = run_replicates(
            fit_and_score,
            most,
            1,
            seed=seed,
            identity={
                "method": owner,
                "learner": repr(learner),
                "scoring": str(self.scoring),
                "steps": steps,
                "cv": None if self.cv is None else len(splits),
                "data": data.fingerprint,
                **data.exchangeability.identity(),
            },
            plan=plan,
            function=f"{owner}.fit",
            ready=lambda scores: min(sets.ready(scores), most),
            arguments=sets.arguments,
            unit="set",
        )
        sets.ready(scored)
        best = [path.best[size] for size in sorted(path.best)]
        if self.n_features == "best":
            chosen, score = max(best, key=lambda candidate: candidate[1])
        else:
            # A floating search that ended early may not have come to it.
            size = min(path.best, key=lambda size: abs(size - steps["goal"]))
            chosen, score = path.best[size]
        member = np.array([[j in candidate for j in range(p)] for candidate, _ in path.visited])
        history = {
            "n_features": member.sum(axis=1),
            "score": np.array([score for _, score in path.visited]),
            "features": member,
        }
        self._adopt(rows, np.array(sorted(chosen), dtype=np.int64), history)
        self.score_ = score
        self.n_scored_ = len(scored)
        # Without a step, all features are wanted.
        first = np.array(path.first or [path.visited[0][1]] * p)
        forward = steps["direction"] != "backward"
        what = self.scoring if isinstance(self.scoring, str) else "score"
        self.importances_ = Importances(
            data.names,
            first if forward else path.visited[0][1] - first,
            "score_alone" if forward else "score_decrease",
            f"score: {what}",
            metadata={"learner": repr(self.estimator), "versions": versions()},
        )
        return self

    def _steps(self, owner: str, p: int) -> dict[str, Any]:
        direction = checks.check_choice(owner, "direction", self.direction, DIRECTIONS)
        floating, exhaustive = self.floating, direction == "exhaustive"
        if floating != "adaptive":
            checks.check_flag(owner, "floating", floating)
        max_step = checks.check_integer(owner, "max_step", self.max_step, 1)
        plus = checks.check_integer(owner, "plus", self.plus, 1)
        minus = checks.check_integer(owner, "minus", self.minus, 0, most=plus - 1)
        single = (plus, minus) == (1, 0)
        for conflicts, rule in (
            (exhaustive and not single, "exhaustive searches have plus=1 and minus=0"),
            (floating and not single, "floating searches have plus=1 and minus=0"),
            (floating and exhaustive, "an exhaustive search does not float"),
        ):
            if conflicts:
                raise ValueError(
                    f"{owner}: {rule}, got {direction=}, {floating=}, {plus=} and {minus=}."
                )
        most = p
        if self.max_features is not None:
            most = min(p, checks.check_integer(owner, "max_features", self.max_features, 1))
        if isinstance(self.n_features, str):
            checks.check_choice(owner, "n_features", self.n_features, ("best",))
            goal = 1 if direction == "backward" else most
        else:
            goal = checks.check_integer(owner, "n_features", self.n_features, 1, most=p)
        return {
            "goal": goal,
            "sizes": self.n_features == "best",
            "direction": direction,
            "plus": plus,
            "minus": minus,
            "floating": floating,
            "max_step": max_step,
        }

    def _most_sets(self, owner: str, p: int, steps: dict[str, Any]) -> int:
        """Return the largest number of sets that a search may score."""
        goal: int = steps["goal"]
        if steps["direction"] == "exhaustive":
            sizes = range(1, goal + 1) if steps["sizes"] else (1, goal)
            number = sum(math.comb(p, size) for size in set(sizes))
            if number > _MOST_SETS:
                raise ValueError(
                    f"{owner}: {p} features have {number:,} sets, more than the {_MOST_SETS:,} of "
                    "an exhaustive search. Hint: set max_features or n_features, or search forward "
                    "with floating='adaptive'."
                )
            return number
        length = abs(goal - (p if steps["direction"] == "backward" else 0)) + 1
        rounds: int = (
            length * (steps["plus"] + steps["minus"]) * (_FLOATING if self.floating else 1)
        )
        longest: int = steps["max_step"] if self.floating == "adaptive" else 1
        return 1 + rounds * sum(math.comb(p, size) for size in range(1, longest + 1))

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "estimator": repr(self.estimator)}

    def _figures(self) -> dict[str, Any]:
        return {
            "run": f"{self.n_scored_:,} sets of features",
            "results": {"score": self.score_, "sets_scored": self.n_scored_},
        }


def _task(estimator: Any, owner: str) -> Task | None:
    """Return the task of a learner; None for any task."""
    if estimator is None or isinstance(estimator, BaseForest):
        return task_of(estimator, owner)
    if hasattr(estimator, "fit") and is_classifier(estimator):
        return "classification"
    if hasattr(estimator, "fit") and is_regressor(estimator):
        return "regression"
    raise checks.refuse(
        owner, "estimator", "a classifier or a regressor of duramen or of scikit-learn", estimator
    )


Subset = frozenset[int]
Scores = Generator[list[Subset], list[float], None]
Move = Generator[list[Subset], list[float], tuple[Subset, float]]


@dataclass
class Path:
    """Sets on the path of a search with their scores, and the best set of each size."""

    visited: list[tuple[Subset, float]] = field(default_factory=list)
    best: dict[int, tuple[Subset, float]] = field(default_factory=dict)
    first: list[float] = field(default_factory=list)  # scores of the sets of the first step

    def improves(self, current: Subset, score: float) -> bool:
        """Tell whether a set is better than all others of its size so far."""
        return len(current) not in self.best or score > self.best[len(current)][1]

    def go(self, current: Subset, score: float) -> Subset:
        """Go to a set."""
        self.visited.append((current, score))
        if self.improves(current, score):
            self.best[len(current)] = current, score
        return current


def _step(path: Path, current: Subset, p: int, add: bool, size: int = 1) -> Move:
    """Score all sets of some features more or fewer, and return the best, the first of equals."""
    features = sorted(set(range(p)) - current if add else current)
    sets = [current ^ set(changed) for changed in combinations(features, size)]
    scores = yield sets
    path.first = path.first or list(scores)
    best = int(np.argmax(scores))
    return sets[best], scores[best]


def search(
    path: Path,
    p: int,
    goal: int,
    *,
    direction: str = "forward",
    sizes: bool = False,
    plus: int = 1,
    minus: int = 0,
    floating: bool | str = False,
    max_step: int = 1,
) -> Scores:
    """Yield sets that are to be scored, and take their scores, until a set of `goal` features.

    Parameters
    ----------
    path : Path
        Takes the sets that the search comes to.
    p : int
        Number of features.
    goal : int
        Number of features of the last set.
    direction : {"forward", "backward", "exhaustive"}
        Whether the search starts from no feature, from all, or scores all sets.
    sizes : bool
        Whether the best set of any size is looked for, else that of `goal` features.
    plus, minus : int
        Number of features that are added, and then removed, in turn; the other way round backward.
    floating : bool or "adaptive"
        Whether to go back as long as the set is better than all others of its size so far.
    max_step : int
        Largest number of features that an adaptive search adds or removes together.
    """
    if direction == "exhaustive":
        for size in sorted(set(range(1, goal + 1) if sizes else (1, goal))):
            sets = [frozenset(features) for features in combinations(range(p), size)]
            scores = yield sets
            if size == 1:
                path.first = list(scores)
            best = int(np.argmax(scores))
            path.go(sets[best], scores[best])
        return
    forward = direction == "forward"
    current: Subset = frozenset() if forward else frozenset(range(p))
    if not forward:
        score = (yield [current])[0]
        current = path.go(current, score)
    while len(current) != goal:
        if floating == "adaptive":
            away = 0 if sizes else max(0, abs(goal - len(current)) - _NEAR)
            longest = max(1, max_step - away)
            current = yield from _adaptive(path, current, p, goal, forward, longest)
            continue
        for _ in range(plus):
            current = path.go(*(yield from _step(path, current, p, forward)))
            if len(current) == goal:
                return
        for _ in range(minus):
            current = path.go(*(yield from _step(path, current, p, not forward)))
        while floating and (len(current) > 1 if forward else len(current) < p):
            back, score = yield from _step(path, current, p, not forward)
            if not path.improves(back, score):
                break
            current = path.go(back, score)


def _adaptive(
    path: Path, current: Subset, p: int, goal: int, forward: bool, longest: int
) -> Generator[list[Subset], list[float], Subset]:
    """Go some features on, and back as long as this gives the best set of its size so far.

    If no step of at most `longest` features on gives such a set, the search goes on from the best
    set of one feature more (or fewer) that it has come to.
    """
    for size in range(1, min(longest, abs(goal - len(current))) + 1):
        move, score = yield from _step(path, current, p, forward, size)
        if path.improves(move, score):
            current = path.go(move, score)
            break
    else:
        current = path.go(*path.best[len(current) + (1 if forward else -1)])
    if len(current) == goal:
        return current
    room = True
    while room:
        room = False
        for size in range(1, min(longest, len(current) - 1 if forward else p - len(current)) + 1):
            back, score = yield from _step(path, current, p, not forward, size)
            if path.improves(back, score):
                current, room = path.go(back, score), True
                break
    return current


def new_sets(steps: Scores) -> Steps[None]:
    """Yield the columns of the sets that a search asks for, each set once."""
    scored: dict[Subset, float] = {}
    asked = next(steps, None)
    while asked is not None:
        new = [subset for subset in asked if subset not in scored]
        scores = yield [(np.array(sorted(subset), dtype=np.int64),) for subset in new]
        scored.update(zip(new, scores[:, 0].tolist(), strict=True))
        try:
            asked = steps.send([scored[subset] for subset in asked])
        except StopIteration:
            return
