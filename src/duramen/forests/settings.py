"""Impurity criteria, and settings of the growth loop, resolved to plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from duramen import _kernel
from duramen.data import Task
from duramen.results.summary import counted
from duramen.support import checks


@dataclass(frozen=True)
class Criterion:
    """An impurity criterion."""

    name: str
    title: str  # its name in a sentence
    unit: str  # of the impurities
    task: Task  # impurity of classes, of numbers, or score of splits of survival
    aliases: tuple[str, ...]  # values of an estimator's ``criterion`` that select it


CRITERIA = {
    criterion.name: criterion
    for criterion in (  # in the order of the kernel
        Criterion("gini", "Gini index", "gini", "classification", ("gini",)),
        Criterion("entropy", "Shannon entropy", "bits", "classification", ("entropy", "log_loss")),
        Criterion("variance", "variance", "variance", "regression", ("squared_error", "variance")),
        Criterion("log_rank", "log-rank statistic", "chi-square", "survival", ("log_rank",)),
    )
}


# What each family of splits does to the values of a feature; in the order of the kernel.
FAMILIES = {
    "ordered": "two groups by order",
    "multiway": "one child for each value",
    "one-vs-rest": "one value against all others",
    "any": "any two groups of categories",
}
# Names, each in the order of the kernel.
CUTS = ("best", "random", "pert")
SPLITS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """Settings of the growth loop, every one resolved to a plain value.

    The estimators resolve their parameters (``"sqrt"``, fractions, ``None``) to these; they are
    kept in the grown :class:`~duramen.forests.forest.Forest`, where bags are drawn again from
    them.

    Parameters
    ----------
    criterion : {"gini", "entropy", "variance", "log_rank"}
        Impurity: Gini index, Shannon entropy in bits, or variance of ``y`` (the only one for
        regression); the log-rank statistic of a split (the only one for survival).
    cut : {"best", "random", "pert"}
        Choice of the split of a candidate column: the best one, one drawn uniformly at random
        in real values (Extra-Trees), or a uniform mixture of two rows of different classes (PERT).
    splits : {"ordered", "multiway", "one-vs-rest", "any"}
        Family of splits.
    max_features : int
        Number K of candidate columns at a node.
    count_constants : bool
        Whether a column that is constant at the node counts as one of the K drawn; in multiway
        trees, which draw constant columns in any case, whether a drawn one takes a level of depth.
    max_depth, max_leaf_nodes : int or None
        Limits of the tree; None for none.
    min_samples_split, min_samples_leaf : int
        Least number of distinct rows at a node that is split, and at each of its children.
    min_impurity_decrease : float
        Least decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float
        Impurity up to which a node is a leaf.
    stop_alpha : float
        Level of the node test; 1 for no test.
    stop_permutations : int
        Permutations of the node test; 0 for the chi-square test.
    n_best_splits : int
        Number of the best splits of a node one of which is taken at random.
    feature_first : bool
        Whether PERT draws the column before the two rows.
    ccp_alpha : float
        Complexity parameter by which the grown trees are pruned; 0 for no pruning.
    bootstrap : bool
        Whether the rows of a tree are drawn with replacement.
    row_samples : int
        Rows, or groups of rows, drawn for a tree; 0 for as many as there are.
    column_samples : int
        Columns drawn for a tree, without replacement; 0 for all.
    balanced_subsample : bool
        Whether classes are weighted inversely to their frequency within the bag of each tree.

    Examples
    --------
    >>> from duramen.forests import GrowthSettings
    >>> GrowthSettings(criterion="entropy").unit
    'bits'
    """

    criterion: str = "gini"
    cut: str = "best"
    splits: str = "ordered"
    max_features: int = 1
    count_constants: bool = False
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_split: float = 0.0
    stop_alpha: float = 1.0
    stop_permutations: int = 0
    n_best_splits: int = 1
    feature_first: bool = False
    ccp_alpha: float = 0.0
    bootstrap: bool = False
    row_samples: int = 0
    column_samples: int = 0
    balanced_subsample: bool = False

    @property
    def unit(self) -> str:
        """Unit of the impurities: "gini", "bits" or "variance"; or "chi-square"."""
        return CRITERIA[self.criterion].unit

    @property
    def samples_rows(self) -> bool:
        """True if a tree may leave rows out, so that out-of-bag estimates exist."""
        return self.bootstrap or self.row_samples > 0

    def for_kernel(self) -> _kernel.Settings:
        """Return the settings as the kernel reads them."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del values["ccp_alpha"]  # for which trees are cut back once they are grown
        values |= {
            "criterion": list(CRITERIA).index(self.criterion),
            "cut": CUTS.index(self.cut),
            "splits": SPLITS.index(self.splits),
            "max_depth": self.max_depth or 0,
            "max_leaf_nodes": self.max_leaf_nodes or 0,
        }
        return _kernel.Settings(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> GrowthSettings:
        """Rebuild settings from :meth:`to_dict`.

        Raises
        ------
        ValueError
            When a name is not a setting, a value is not of its type, or a choice is not allowed.
        """
        allowed = {"criterion": tuple(CRITERIA), "cut": CUTS, "splits": SPLITS}
        defaults = {field.name: field.default for field in fields(cls)}
        for name, value in values.items():
            kind = type(defaults.get(name, ""))
            kinds = {float: (int, float), type(None): (int, type(None))}.get(kind, (kind,))
            number = type(value) in (int, float)
            fits = type(value) in kinds and value in allowed.get(name, (value,))
            if name not in defaults or not fits or (number and not 0 <= value < 2**63):
                raise ValueError(f"GrowthSettings.from_dict: no settings have {name}={value!r}")
        return cls(**values)


FEW_VALUES = 10
"""A numeric column with more distinct values has no child for each of them by default."""


def split_family(table: Any) -> str:
    """Return the family of splits that "auto" stands for on a table.

    "ordered" where a numeric column has more than `FEW_VALUES` distinct values, or without a table,
    else "multiway".
    """
    if table is None:
        return "ordered"
    numeric = table.schema.kind_codes == 0
    many = np.diff(table.schema.value_offsets)[numeric] > FEW_VALUES
    return "ordered" if many.any() else "multiway"


def resolve_count(
    owner: str,
    name: str,
    value: Any,
    total: int,
    *,
    choices: str = "",
    most: int | None = None,
    hint: str = "",
    rounded: Callable[[float], int] = math.floor,
) -> int:
    """Return a count in 1..most, given as such or as a fraction of the total.

    `choices` names, for the error, what is allowed besides.
    """
    most = total if most is None else most
    if checks.is_integer(value) and 1 <= value <= most:
        return int(value)
    if not checks.is_integer(value) and checks.is_real(value) and 0 < value <= 1:
        return max(1, int(rounded(float(value) * total)))
    allowed = f"{choices}an int in 1..{most} or a float in (0, 1]"
    raise checks.refuse(owner, name, allowed, value, hint)


def resolve_subspace(owner: str, value: Any, n_features: int) -> int:
    """Resolve the number of columns drawn for each tree; 0 when it is all of them."""
    if value is None:
        return 0
    hint = f"X has {counted(n_features, 'feature')}"
    drawn = resolve_count(owner, "n_subspace_features", value, n_features, hint=hint)
    return 0 if drawn == n_features else drawn
