"""Context-dependent links between features, each of which is the target of the others in turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.context.analysis import analyze
from duramen.context.options import Options
from duramen.context.subject import Growth, binned, subject_of
from duramen.context.values import Context, split_off
from duramen.data import EncodedTable, Exchangeability, encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import column_target, refuse_missing
from duramen.jobs.replicates import Plan, replicate_seed, run_jobs
from duramen.results.context_importances import ContextImportances, ContextNetwork
from duramen.support import checks
from duramen.support.provenance import fingerprint, versions

_FUNCTION = "context_network"


def context_network(
    X: Any,
    context: Any,
    *,
    targets: Any = None,
    n_estimators: int = 1000,
    n_permutations: int | None = None,
    permute: str = "conditional",
    strata: Any = None,
    groups: Any = None,
    empty: str = "skip",
    splits: str = "auto",
    n_bins: int | None = None,
    n_context_bins: int = 3,
    max_features: str | int | float | None = 1,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    plain: bool = True,
    plain_p_values: bool = False,
    tolerance: float = 0.05,
    names: Iterable[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ContextNetwork:
    """Find the links between features that depend on a context.

    Each variable in turn is the target Y of `context_importances`, and all others are the inputs,
    as GENIE3 does for networks that do not depend on a context (thesis, section 6.4, problem 4).
    All targets share one encoding. The context is permuted for each target in turn; with
    ``permute="all"`` all targets share the same permutations. A numeric target
    has its variance scaled to 1, so that links to different targets can be compared; a nominal or
    ordinal one is a class, with the entropy for impurity.

    Parameters
    ----------
    X : table of shape (n, p)
        The variables, such as the expressions of p genes.
    context : array-like of shape (n,) or str
        Context of every row, or the name of a column of `X` that holds it, which is then no
        variable.
    targets : iterable of str or int, or bool array of shape (p,), optional
        Variables that are targets, by name or index; by default all that are not constant.
    n_estimators, n_permutations, permute, strata, groups, empty, splits, n_bins, n_context_bins, \
max_features, max_depth, min_samples_leaf, plain, plain_p_values, tolerance, names
        As in `context_importances`, for each target. Inputs are binned, targets are not. The
        default number of permutations is that for the effects on all links.
    random_state : int, RandomState, Generator or None
        Seed of the trees and of the permutations.
    n_jobs : int, optional
        Targets analyzed at a time, each with a forest of its own; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster whose workers analyze the targets instead of threads; the result does not change.
    checkpoint : path, optional
        File that keeps the targets that are done; an interrupted run resumes from it, to the same
        bytes.
    verbose : int, default=0
        Above 0: a progress bar over the targets, with the time left.

    Returns
    -------
    ContextNetwork
        A `Network` of the importances on all rows, with those in each context.

    Raises
    ------
    ValueError
        As `context_importances`; if a target is no variable, there are fewer than two variables,
        or several contexts.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests: characterisation and
    extension. PhD thesis, University of Liège, section 6.4.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> X[:, 2] = np.where(context, X[:, 0], X[:, 1])
    >>> network = dm.context_network(
    ...     X, context, targets=["x2"], n_estimators=20, n_permutations=99, random_state=0)
    >>> network.mask("absolute", "0")[:, 2].tolist()
    [True, True, False]
    """
    plan = Plan.checked(_FUNCTION, n_jobs, checkpoint, verbose, client)
    asked = (empty, n_permutations, plain, plain_p_values, tolerance, permute)
    options = Options(*asked, Plan(), _FUNCTION)
    growth = Growth(n_estimators, None, splits, None, max_features, max_depth, min_samples_leaf)
    table = encode(X, names=names, n_jobs=plan.n_threads)
    variables, one = _apart(table, context, n_context_bins)
    rows = Exchangeability.checked(table.n_rows, strata, groups, function=_FUNCTION)
    chosen = _targets(variables, targets)
    seed = checks.draw_seed(random_state)
    inputs = _inputs(variables, n_bins)
    # Targets share the threads; the forest and the permutations of one get those that are left.
    options = options.resolved(len(chosen) * (inputs.n_columns - 1) * one.count)
    options = replace(options, plan=Plan(max(1, plan.threads_within // max(1, len(chosen)))))

    def task(number: int, _: int) -> dict[str, NDArray[Any]]:
        j = chosen[number]
        others = inputs.take_columns([k for k in range(inputs.n_columns) if k != j])
        data = learning_set_of(others, column_target(variables, j, _FUNCTION), _FUNCTION)
        data = data.with_exchangeability(rows)
        subject = subject_of(data, growth, seed, _FUNCTION, scale=True)
        forest = subject.forest(replicate_seed(seed, j), n_threads=options.plan.n_threads)
        return analyze(forest, subject, one, options).to_arrays()

    told = {"fingerprint": variables.fingerprint(), "versions": versions()}
    contexts = [one.name, one.labels, fingerprint(one.codes)]
    settings = {"targets": chosen, "n_bins": n_bins, "context": contexts, "options": asked}
    identity = {"function": _FUNCTION, **asdict(growth), **settings, **rows.identity(), **told}
    run = partial(run_jobs, seed=seed, identity=identity, plan=plan, function=_FUNCTION)
    found = run(task, len(chosen), unit="target")
    analyses = {
        variables.names[j]: ContextImportances.from_arrays(arrays)
        for j, arrays in zip(chosen, found, strict=True)
    }
    return ContextNetwork.of(variables.names, analyses, {"seed": seed, **told})


def _inputs(variables: EncodedTable, n_bins: int | None) -> EncodedTable:
    """Put numbers into bins where this is asked for."""
    if n_bins is None:
        return variables
    return binned(variables, checks.check_integer(_FUNCTION, "n_bins", n_bins, 2))


def _apart(table: EncodedTable, given: Any, n_bins: int) -> tuple[EncodedTable, Context]:
    """Set the context apart from the variables."""
    variables, contexts, _ = split_off(table, given, n_bins, _FUNCTION)
    if len(contexts) != 1:
        raise ValueError(f"{_FUNCTION}: context must be a single context, got {len(contexts)}.")
    if variables.n_columns < 2:
        raise ValueError(f"{_FUNCTION}: X must have at least two variables, got one.")
    return variables, next(iter(contexts.values()))


def _targets(variables: EncodedTable, asked: Any) -> list[int]:
    """Return the indices of the targets, ascending; for None those that are not constant."""
    if asked is None:
        chosen = np.flatnonzero(~variables.constant()).tolist()
    else:
        chosen = sorted(checks.places_of(asked, variables.names, f"{_FUNCTION}: targets"))
    refuse_missing(variables, chosen, _FUNCTION)
    return chosen
