"""Methods under evaluation: selectors, rankings cut at numbers of features, and all features."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data import Exchangeability, Target
from duramen.estimators.catalogue import random_forest
from duramen.evaluation.learners import N_TREES, Data, Part, described, seeded
from duramen.importances import Inputs, Measure
from duramen.importances import catalogue as measures
from duramen.importances.refit import check_task, template_of
from duramen.results.significance import Significance
from duramen.selection import BaseSelector
from duramen.selection import catalogue as selectors
from duramen.significance.measured import MeasureLike, of_function, qualified
from duramen.significance.reproducibility.stability import drawn_best
from duramen.support import checks
from duramen.support.arrays import IntArray

# Series of default numbers of features, over powers of ten.
_SERIES = (1, 2, 5)


@dataclass(frozen=True)
class Ranking:
    """Features ranked by an importance measure of a forest, for `evaluate_selection`.

    Parameters
    ----------
    measure : str or callable
        Name of a measure in `duramen.importances.catalogue`, or ``measure(forest, X, y)`` that
        returns importances.
    estimator : estimator of duramen, optional
        Parameters of the forest; by default the one that `evaluate_selection` is given. Rankings
        with one forest in common take the same grown forest.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.evaluation.Ranking("mda", dm.RandomForestClassifier(1000)).measure
    'mda'
    """

    measure: MeasureLike
    estimator: Any = None


class Forests:
    """Forests that rankings of a resample have in common."""

    def __init__(self, part: Part, seed: int) -> None:
        self._part, self._seed = part, seed
        self._grown: dict[int, tuple[Any, float]] = {}

    def grown(self, template: Any) -> tuple[Any, float]:
        """Return the forest of a template, and the seconds that it took to grow."""
        if id(template) not in self._grown:
            start = time.perf_counter()
            forest = seeded(template, self._seed).fit(self._part.data)
            self._grown[id(template)] = forest, time.perf_counter() - start
        return self._grown[id(template)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Method:
    """Method that selects features of training rows: a selector, a ranking, or all features."""

    name: str  # in tables
    cuts: tuple[int, ...]  # numbers of features that it selects; 0 where it decides itself
    identity: str  # description for checkpoints
    selector: Any = None
    dense: bool = False  # whether the selector takes a matrix of numbers
    measure: Measure | None = None  # of a ranking
    template: Any = None  # the forest of a ranking

    def select(self, part: Part, forests: Forests, seed: int) -> tuple[list[IntArray], float]:
        """Return the features for each cut, ascending, and the seconds that it took."""
        own = _own_seed(seed, self.name)
        if self.selector is not None:
            return self._fitted(part, own)
        if self.measure is not None:
            return self._ranked(part, forests, own, self.measure)
        return [np.arange(part.data.n_columns)], 0.0

    def _fitted(self, part: Part, seed: int) -> tuple[list[IntArray], float]:
        model, data = seeded(self.selector, seed), part.data
        if not getattr(model, "exchanges_groups", False):  # it refuses groups
            data = data.with_exchangeability(Exchangeability(data.n_rows))
        start = time.perf_counter()
        if self.dense:
            model.fit(part.matrix, part.target)
        else:
            model.fit(data)
        return [np.flatnonzero(model.get_support())], time.perf_counter() - start

    def _ranked(
        self, part: Part, forests: Forests, seed: int, measure: Measure
    ) -> tuple[list[IntArray], float]:
        """Rank the features; lots decide between equal ones."""
        forest, grown = (self.template, 0.0) if measure.refits else forests.grown(self.template)
        start = time.perf_counter()
        importances = measure(Inputs(forest, part.data, seed % 2**32, 1))
        seconds = grown + time.perf_counter() - start
        scores = importances.scores if isinstance(importances, Significance) else importances.values
        # The same lots for all numbers of features: selections are nested.
        best = [drawn_best(scores, k, np.random.default_rng(seed)) for k in self.cuts]
        return [np.flatnonzero(columns) for columns in best], seconds


def _own_seed(seed: int, name: str) -> int:
    """Return a seed that depends on the method's name, not on those that it is compared with."""
    key = zlib.crc32(name.encode())
    return int(np.random.SeedSequence(seed, spawn_key=(3, key)).generate_state(1, np.uint64)[0])


def default_cuts(p: int) -> tuple[int, ...]:
    """Return 1, 2, 5, 10, 20, 50, ... below p."""
    cuts = [s * 10**e for e in range(len(str(p))) for s in _SERIES]
    return tuple(k for k in cuts if k < p) or (1,)


def checked_cuts(n_features: Any, p: int, owner: str) -> tuple[int, ...]:
    """Return numbers of features, ascending; by default those of `default_cuts`."""
    if n_features is None:
        return default_cuts(p)
    asked = [n_features] if checks.is_integer(n_features) else list(n_features)
    good = asked and all(checks.is_integer(k) and 1 <= k <= p for k in asked)
    if not good or len(set(asked)) < len(asked):
        raise checks.refuse(
            owner, "n_features", f"different numbers in 1..{p}, the number of features", n_features
        )
    return tuple(sorted(int(k) for k in asked))


def methods_of(
    methods: Any, estimator: Any, data: Data, n_features: Any, owner: str
) -> tuple[Method, ...]:
    """Return the methods that the user asks for.

    Raises
    ------
    TypeError, ValueError
        If one is not as `evaluate_selection` describes, or two have one name.
    """
    if isinstance(methods, Mapping):
        named: list[tuple[str, Any]] = list(methods.items())
    elif isinstance(methods, str | Ranking) or not isinstance(methods, Iterable):
        named = [(_name_of(methods), methods)]
    else:
        named = [(_name_of(item), item) for item in methods]
    names = [name for name, _ in named]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not named or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"{owner}: methods must have different names, got "
            f"{twice[0] + ' twice' if twice else names}. Hint: a dict of methods by names."
        )
    cuts = checked_cuts(n_features, data.n_columns, owner)
    template = _forest_template(estimator, data.target, owner)
    return tuple(_method(name, item, data, cuts, template, owner) for name, item in named)


def _name_of(method: Any) -> str:
    if method is None:
        return "all features"
    if isinstance(method, Ranking):
        return _name_of(method.measure)
    if isinstance(method, str):
        return method
    return getattr(method, "__name__", type(method).__name__)


def _forest_template(estimator: Any, target: Target, owner: str) -> Any:
    if estimator is None:
        estimator = random_forest(target.task, N_TREES)
    template = template_of(estimator, owner)
    check_task(template, target, owner)
    return template.set_params(n_jobs=1, verbose=0)


def _method(
    name: str, request: Any, data: Data, cuts: tuple[int, ...], template: Any, owner: str
) -> Method:
    """Return the method that one request stands for."""
    if request is None:
        return Method(name=name, cuts=(data.n_columns,), identity="all features")
    if isinstance(request, str) and request in selectors:
        if data.task not in selectors[request].tasks:
            raise ValueError(
                f"{owner}: selector {request!r} is for classes, the target is numbers."
            )
        request = selectors[request].make()
    if hasattr(request, "get_support") and hasattr(request, "fit"):
        from sklearn.base import clone

        selector, own = clone(request), isinstance(request, BaseSelector)
        if own:
            working = {"n_jobs": 1, "client": None, "checkpoint": None, "verbose": 0}
            parameters = selector.get_params(deep=False)
            selector.set_params(**{key: working[key] for key in working if key in parameters})
        return Method(
            name=name, cuts=(0,), identity=described(selector), selector=selector, dense=not own
        )
    ranking = Ranking(request) if isinstance(request, str) or callable(request) else request
    if not isinstance(ranking, Ranking):
        raise TypeError(
            f"{owner}: methods must be selectors, names or functions of measures, or None for "
            f"all features, got {type(request).__name__}. Hint: "
            "dm.evaluation.Ranking('mdi', forest) ranks by a forest of its own."
        )
    if callable(ranking.measure):
        measure, of_measure = of_function(ranking.measure), qualified(ranking.measure)
    elif ranking.measure in measures:
        measure, of_measure = measures[ranking.measure], ranking.measure
    else:
        known = ", ".join(entry.name for entry in (*selectors, *measures))
        raise checks.refuse(owner, "methods", f"names among {known}", ranking.measure)
    if not measure.suits(data.target):
        raise ValueError(
            f"{owner}: measure {measure.name!r} needs a target of classes, got numbers."
        )
    if ranking.estimator is not None:
        template = _forest_template(ranking.estimator, data.target, owner)
    identity = f"{of_measure} of {described(template)}"
    return Method(name=name, cuts=cuts, identity=identity, measure=measure, template=template)


def rows_of(methods: Sequence[Method]) -> tuple[tuple[str, ...], IntArray]:
    """Return the name of the method and the cut of each row of the result."""
    names = tuple(method.name for method in methods for _ in method.cuts)
    return names, np.array([cut for method in methods for cut in method.cuts], dtype=np.int64)
