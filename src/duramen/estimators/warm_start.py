"""Trees that are added to a fitted forest, and its trees one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from sklearn.base import clone

from duramen.data import EncodedTable, LearningSet
from duramen.forests.forest import Forest, extended
from duramen.forests.settings import GrowthSettings


def check_kept(
    owner: str,
    grown: Forest,
    n_trees: int,
    settings: GrowthSettings,
    data: LearningSet[EncodedTable],
) -> None:
    """Check that a forest of `n_trees` trees can begin with those of a fitted forest.

    Raises
    ------
    ValueError
        If there are more of them, or they were grown on other rows or with other settings.
    """
    if n_trees < grown.n_trees:
        raise ValueError(
            f"{owner}: n_estimators must be at least {grown.n_trees}, the number of trees already "
            f"grown, with warm_start=True, got {n_trees}"
        )
    if data.fingerprint != grown.fingerprint:
        raise ValueError(
            f"{owner}: with warm_start=True, X, y and the weights must be those of the previous "
            "fit, but they differ. Hint: use warm_start=False, or a new estimator"
        )
    now, then = settings.to_dict(), grown.settings.to_dict()
    changed = [name for name in now if now[name] != then[name]]
    if changed:
        raise ValueError(
            f"{owner}: with warm_start=True, parameters must be those of the previous fit, but "
            f"{', '.join(changed)} changed. Hint: warm_start=False, or a new estimator"
        )


def completed(earlier: Forest | None, n_trees: int, grow: Callable[[int], Forest]) -> Forest:
    """Return a forest of `n_trees` trees: those that are kept, and the others as they grow."""
    if earlier is None:
        return grow(n_trees)
    missing = n_trees - earlier.n_trees
    return extended(earlier, grow(missing)) if missing else earlier


class TreeEstimators(Sequence[Any]):
    """Trees of a fitted estimator as estimators of one tree each, made when they are asked for."""

    def __init__(self, fitted: Any) -> None:
        self._fitted = fitted
        self._n_trees: int = fitted.forest_.n_trees

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._make(tree) for tree in range(*index.indices(self._n_trees))]
        if not -self._n_trees <= index < self._n_trees:
            raise IndexError(
                f"estimators_: index must be in {-self._n_trees}..{self._n_trees - 1}, got {index}"
            )
        return self._make(index % self._n_trees)

    def _make(self, index: int) -> Any:
        single = clone(self._fitted).set_params(n_estimators=1, oob_score=False)
        single._adopt(self._fitted.forest_.part(index, index + 1))
        return single

    def __repr__(self) -> str:
        return f"<{self._n_trees} estimators of one tree each>"
