"""Context-dependent links between features, each of which is the target of the others in turn."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.contexts.importances import analyze, check_options, default_permutations
from duramen.contexts.inputs import PARAMETERS, binned, growth_of, split_off, template_for
from duramen.data import Exchangeability, encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import column_target, refuse_missing
from duramen.jobs.replicates import Plan, replicate_seed, run_jobs
from duramen.results.context_importances import ContextImportances, ContextNetwork
from duramen.support import checks
from duramen.support.arrays import RandomState, TableLike
from duramen.support.provenance import fingerprint, versions

_FUNCTION = "context_network"


def context_network(
    X: TableLike,
    context: Any,
    *,
    targets: Any = None,
    estimator: Any = None,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_permutations: int | None = None,
    permute: str = "conditional",
    empty: str = "skip",
    n_bins: int | None = None,
    context_bins: int = 3,
    plain: str = "importances",
    random_state: RandomState = None,
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
    estimator : estimator of duramen, optional
        Parameters of the trees, as in `context_importances`; targets of the other task get the
        estimator of the same kind and parameters for their task, with the entropy as the criterion
        of classes.
    strata, groups, n_permutations, permute, empty, n_bins, context_bins, plain
        As in `context_importances`, for each target. Inputs are binned, targets are not. The
        default number of permutations is that for the effects on all links.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Targets analyzed at a time, each with a forest of its own; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

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
    >>> network = dm.contexts.context_network(
    ...     X, context, targets=["x2"], n_permutations=99, random_state=0)
    >>> network.mask("absolute", "0")[:, 2].tolist()
    [True, True, False]
    """
    plan = Plan.checked(_FUNCTION, n_jobs, checkpoint, verbose, client)
    check_options(_FUNCTION, empty, n_permutations, plain)
    template = template_for(estimator, _FUNCTION)
    table = encode(X, n_jobs=plan.n_threads)
    variables, subdivision = split_off(table, context, context_bins, _FUNCTION)
    if variables.n_columns < 2:
        raise ValueError(f"{_FUNCTION}: X must have at least two variables, got one.")
    rows = Exchangeability.checked(table.n_rows, strata, groups, function=_FUNCTION)
    if targets is None:
        target_columns = np.flatnonzero(~variables.constant()).tolist()
    else:
        target_columns = sorted(checks.places_of(targets, variables.names, f"{_FUNCTION}: targets"))
    refuse_missing(variables, target_columns, _FUNCTION)
    seed = checks.draw_seed(random_state)
    inputs = variables
    if n_bins is not None:
        inputs = binned(variables, checks.check_integer(_FUNCTION, "n_bins", n_bins, 2))
    count = n_permutations
    if count is None:
        count = default_permutations(
            len(target_columns) * (inputs.n_columns - 1) * subdivision.count
        )
    # Targets share the threads; the forest and the permutations of one get those that are left.
    n_threads = max(1, plan.threads_within // max(1, len(target_columns)))

    def task(number: int, _: int) -> dict[str, NDArray[Any]]:
        j = target_columns[number]
        others = inputs.take_columns([k for k in range(inputs.n_columns) if k != j])
        data = learning_set_of(others, column_target(variables, j, _FUNCTION), _FUNCTION)
        data = data.with_exchangeability(rows)
        growth = growth_of(data, template, seed, _FUNCTION, scale=True)
        forest = growth.forest(replicate_seed(seed, j), n_threads=n_threads)
        return analyze(
            forest,
            growth,
            subdivision,
            permute=permute,
            n_permutations=count,
            empty=empty,
            plain=plain,
            plan=Plan(n_threads),
            function=_FUNCTION,
        ).to_arrays()

    versions_of = {"fingerprint": variables.fingerprint(), "versions": versions()}
    settings = {
        "targets": target_columns,
        "context": [subdivision.name, subdivision.labels, fingerprint(subdivision.codes)],
        "n_bins": n_bins,
        "n_permutations": n_permutations,
        "permute": permute,
        "empty": empty,
        "plain": plain,
    }
    trees = {name: getattr(template, name) for name in PARAMETERS}
    kind = {"function": _FUNCTION, "estimator": type(template).__name__}
    identity = {**kind, **trees, **settings, **rows.identity(), **versions_of}
    run = partial(run_jobs, seed=seed, identity=identity, plan=plan, function=_FUNCTION)
    rows_of = run(task, len(target_columns), unit="target")
    analyses = {
        variables.names[j]: ContextImportances.from_arrays(arrays)
        for j, arrays in zip(target_columns, rows_of, strict=True)
    }
    return ContextNetwork.of(variables.names, analyses, {"seed": seed, **versions_of})
