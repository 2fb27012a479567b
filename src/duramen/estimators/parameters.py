"""Catalogue of the parameters that the estimators share: documentation, check, setting, names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data import Task
from duramen.forests.criteria import aliases_for
from duramen.forests.settings import (
    FAMILIES,
    SPLITS,
    resolve_max_features,
    resolve_max_samples,
    resolve_subspace,
)
from duramen.support import checks


@dataclass(frozen=True)
class ParameterValues:
    """Parameters of an estimator as its user gave them, and the shape of the training table."""

    owner: str
    task: Task
    values: Mapping[str, Any]
    n_rows: int
    n_features: int
    n_groups: int | None = None  # groups of rows that trees draw as a whole, if any


FEW_VALUES = 10
"""A numeric column with more distinct values has no child for each of them by default."""


def split_family(splits: Any, table: Any) -> Any:
    """Return the family of splits that "auto" stands for on a table; others as they are.

    "ordered" where a numeric column has more than `FEW_VALUES` distinct values, else "multiway".
    """
    if not (isinstance(splits, str) and splits == "auto"):
        return splits
    if table is None:
        return "ordered"
    numeric = table.schema.kind_codes == 0
    many = np.diff(table.schema.value_offsets)[numeric] > FEW_VALUES
    return "ordered" if many.any() else "multiway"


Resolver = Callable[[ParameterValues, str, Any], Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimators.

    In texts of the docstrings "{criteria}" and "{splits}" stand for the names or their meanings.
    ``resolve(request, name, value)`` checks a value and returns what it stands for; by default it
    is the value itself, which is checked where it is used.
    """

    name: str
    allowed: str  # what it may be, for docstrings
    text: str  # what it sets, for docstrings
    resolve: Resolver = lambda request, name, value: value
    setting: str | None = None  # field of `duramen.forests.GrowthSettings` that it sets


def _integer(least: int, **more: Any) -> Resolver:
    return lambda request, name, value: checks.check_integer(
        request.owner, name, value, least, **more
    )


def _limit(least: int) -> Resolver:
    return lambda request, name, value: checks.check_optional_integer(
        request.owner, name, value, least
    )


def _rows(least: int) -> Resolver:
    return lambda request, name, value: checks.check_count_or_fraction(
        request.owner, name, value, request.n_rows, least
    )


def _flag(request: ParameterValues, name: str, value: Any) -> bool:
    return checks.check_flag(request.owner, name, value)


def _criterion(request: ParameterValues, name: str, value: Any) -> str:
    aliases = aliases_for(request.task)
    return aliases[checks.check_choice(request.owner, name, value, aliases)]


def _subspace(request: ParameterValues, name: str, value: Any) -> int:
    return resolve_subspace(request.owner, value, request.n_features)


def _candidates(request: ParameterValues, name: str, value: Any) -> int:
    p = request.n_features
    drawn = _subspace(request, "", request.values["n_subspace_features"])
    return resolve_max_features(request.owner, value, p, drawn or p)


def _max_samples(request: ParameterValues, name: str, value: Any) -> int:
    bootstrap = _flag(request, "bootstrap", request.values["bootstrap"])
    if request.n_groups is None:
        return resolve_max_samples(request.owner, value, request.n_rows, bootstrap)
    return resolve_max_samples(request.owner, value, request.n_groups, bootstrap, "groups")


def _alpha(request: ParameterValues, name: str, value: Any) -> float:
    hint = "None or 1 for no test"
    return 1.0 if value is None else checks.check_real(request.owner, name, value, 0, 1, hint=hint)


def _permutations(request: ParameterValues, name: str, value: Any) -> int:
    if value is None:
        return 0
    count: int = checks.check_integer(request.owner, name, value, 1)
    alpha = _alpha(request, "stop_alpha", request.values["stop_alpha"])
    if alpha >= 1:
        raise ValueError(
            f"{request.owner}: {name} must be None without a test, got {value}. Hint: stop_alpha "
            "is the level of the test."
        )
    if alpha * (count + 1) * (1 + 1e-12) < 1:
        raise ValueError(
            f"{request.owner}: {name} must be at least 1 / stop_alpha - 1, since no p-value is "
            f"below 1 / ({name} + 1), got {value} with stop_alpha={alpha:g}. Hint: more "
            "permutations, or a larger stop_alpha."
        )
    return count


def _best_splits(request: ParameterValues, name: str, value: Any) -> int:
    count: int = checks.check_integer(request.owner, name, value, 1, most=2**31 - 1)
    if count > 1 and request.values["splits"] == "multiway":
        raise ValueError(
            f"{request.owner}: {name} must be 1 with splits='multiway', whose nodes have one split "
            f"a feature, got {value}. Hint: splits='ordered'."
        )
    return count


def _oob_score(request: ParameterValues, name: str, value: Any) -> Any:
    return value if callable(value) else _flag(request, name, value)


# In the order of the signatures.
PARAMETERS = (
    Parameter("n_estimators", "int", "Number of trees.", _integer(1, most=2**62)),
    Parameter("criterion", "{criteria}", "Impurity: {criteria}.", _criterion, "criterion"),
    Parameter(
        "max_depth",
        "int or None",
        "Maximum depth of the trees; None for no limit.",
        _limit(1),
        "max_depth",
    ),
    Parameter(
        "min_samples_split",
        "int or float",
        "Minimum number of distinct rows at a node that is split; a float is a fraction of "
        "all rows.",
        _rows(2),
        "min_samples_split",
    ),
    Parameter(
        "min_samples_leaf",
        "int or float",
        "Minimum number of distinct rows at a child; a float is a fraction of all rows.",
        _rows(1),
        "min_samples_leaf",
    ),
    Parameter(
        "max_features",
        '{"sqrt", "log2"}, int, float or None',
        "Number of features tried at a node, drawn among those that are not constant there; a "
        "float is a fraction of the features, None all of them.",
        _candidates,
        "max_features",
    ),
    Parameter(
        "max_leaf_nodes",
        "int or None",
        "Maximum number of leaves; nodes whose splits decrease impurity most are split first.",
        _limit(2),
        "max_leaf_nodes",
    ),
    Parameter(
        "min_impurity_decrease",
        "float",
        "Minimum decrease of impurity of a split, times the fraction of the weight at the node.",
        lambda request, name, value: checks.check_real(request.owner, name, value, 0),
        "min_impurity_decrease",
    ),
    Parameter(
        "min_impurity_split",
        "float",
        "Impurity up to which a node is a leaf, in the unit of ``criterion``.",
        lambda request, name, value: checks.check_real(request.owner, name, value, 0),
        "min_impurity_split",
    ),
    Parameter(
        "n_subspace_features",
        "int or float",
        "Number of features drawn for each tree, without replacement; a float is a fraction.",
        _subspace,
        "column_samples",
    ),
    Parameter(
        "bootstrap",
        "bool",
        "Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of "
        "`fit`.",
        _flag,
        "bootstrap",
    ),
    Parameter(
        "oob_score",
        "bool or callable",
        "Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.",
        _oob_score,
    ),
    Parameter(
        "n_jobs",
        "int or None",
        "Number of threads; None for 1, -1 for all processors. The result does not depend on it.",
        lambda request, name, value: checks.check_jobs(request.owner, value),
    ),
    Parameter(
        "random_state",
        "int, RandomState, Generator or None",
        "Source of the seed; an int gives the same forest every time.",
    ),
    Parameter(
        "verbose",
        "int",
        "Above 0 for a progress bar on standard error.",
        lambda request, name, value: checks.check_verbosity(request.owner, value),
    ),
    Parameter(
        "warm_start",
        "bool",
        "Whether the next fit, on the same rows, keeps the trees and adds the missing ones of "
        "``n_estimators``; the result is that of growing all at once.",
        _flag,
    ),
    Parameter(
        "class_weight",
        'dict, "balanced", "balanced_subsample" or None',
        'Weights of the classes; "balanced": n / (C n_c), "balanced_subsample": so in each bag.',
        lambda request, name, value: isinstance(value, str) and value == "balanced_subsample",
        "balanced_subsample",
    ),
    Parameter(
        "ccp_alpha",
        "float",
        "Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to "
        "its subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.",
        lambda request, name, value: checks.check_real(request.owner, name, value, 0),
        "ccp_alpha",
    ),
    Parameter(
        "max_samples",
        "int, float or None",
        "Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; "
        "a float is a fraction, None as many as there are.",
        _max_samples,
        "row_samples",
    ),
    Parameter(
        "splits",
        "{splits}",
        "Family of splits: "
        + "; ".join(entry.title for entry in FAMILIES)
        + '. "auto" is "ordered" if a numeric column has more than 10 distinct values, else '
        '"multiway".',
        lambda request, name, value: checks.check_choice(
            request.owner, name, value, ("auto", *SPLITS)
        ),
        "splits",
    ),
    Parameter(
        "n_best_splits",
        "int",
        "Number k of the best splits of a node, over all features tried there, one of which is "
        "taken at random, each with the same probability; 1 for the best one.",
        _best_splits,
        "n_best_splits",
    ),
    Parameter(
        "feature_first",
        "bool",
        "Whether the feature of a split is drawn before the two rows, which then are any two of "
        "different classes that differ on it; otherwise the rows come first.",
        _flag,
        "feature_first",
    ),
    Parameter(
        "categorical_features",
        'None, "from_dtype" or list of names, indices or bools',
        "Columns to treat as categorical, besides those whose type says so.",
    ),
    Parameter(
        "stop_alpha",
        "float or None",
        "Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are "
        "given; None for no test.",
        _alpha,
        "stop_alpha",
    ),
    Parameter(
        "stop_permutations",
        "int or None",
        "Number of permutations of the target at the node by which the best split is tested at "
        "level ``stop_alpha``; None for the chi-square test.",
        _permutations,
        "stop_permutations",
    ),
    Parameter(
        "count_constant_features",
        "bool",
        "Whether a feature that is constant at the node counts as one of ``max_features``; in "
        "multiway trees, which draw them anyway, whether such a draw takes a level of depth.",
        _flag,
        "count_constants",
    ),
)


def resolve(request: ParameterValues) -> tuple[dict[str, Any], dict[str, Any]]:
    """Check every parameter; return what each stands for, and the settings of growth among them."""
    resolved = {
        entry.name: entry.resolve(request, entry.name, request.values[entry.name])
        for entry in PARAMETERS
    }
    settings = {
        entry.setting: resolved[entry.name] for entry in PARAMETERS if entry.setting is not None
    }
    return resolved, settings


# --- names of parameters in other packages --------------------------------------------------------


_NAMES = {
    "n_estimators": ("ntree", "num.trees", "num_trees", "ntrees", "n_trees"),
    "max_features": ("mtry", "feature_fraction", "colsample_bynode"),
    "min_samples_leaf": ("nodesize", "min.bucket", "min_bucket", "min_data_in_leaf"),
    "min_samples_split": ("min.node.size", "min_node_size"),
    "max_leaf_nodes": ("maxnodes", "num_leaves"),
    "max_depth": ("max.depth", "depth", "nodedepth"),
    "bootstrap": ("replace",),
    "max_samples": ("sampsize", "sample.fraction", "sample_fraction", "subsample"),
    "criterion": ("splitrule",),
    "class_weight": ("class.weights", "class_weights", "classwt"),
    "categorical_features": ("respect.unordered.factors", "cat_features", "categorical_feature"),
    "random_state": ("seed",),
    "n_jobs": ("num.threads", "num_threads", "nthread", "n_threads"),
}
RENAMED = {other: name for name, others in _NAMES.items() for other in others}
"""Parameters by what other packages call them."""


def unknown_parameter(owner: str, name: str, names: Iterable[str]) -> TypeError:
    """Return the error for a parameter that an estimator does not have.

    Examples
    --------
    >>> from duramen.estimators.parameters import unknown_parameter
    >>> print(unknown_parameter("RandomForestClassifier", "mtry", ["max_features"]))
    RandomForestClassifier: there is no parameter 'mtry'. Hint: it is called max_features.
    """
    there = list(names)
    ours = RENAMED.get(name)
    close = difflib.get_close_matches(name, there, n=1)
    if ours in there:
        hint = f"it is called {ours}"
    elif close:
        hint = f"did you mean {close[0]}?"
    else:
        hint = f"parameters: {', '.join(there)}"
    end = "" if hint.endswith("?") else "."
    return TypeError(f"{owner}: there is no parameter {name!r}. Hint: {hint}{end}")


def check_parameters(kind: type[Any], parameters: Collection[str]) -> None:
    """Check that an estimator has the parameters that it is made with."""
    names = kind._get_param_names() if parameters else []
    for name in parameters:
        if name not in names:
            raise unknown_parameter(kind.__name__, name, names)
