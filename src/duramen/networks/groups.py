"""Links between groups of variables, such as operons, modules or pathways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from duramen.importances.groups import Aggregation, Grouping, grouping_of
from duramen.results.network import Network
from duramen.results.result import dense
from duramen.support.arrays import FloatArray

_FUNCTION = "group_links"


def group_links(
    network: Network,
    feature_groups: Any,
    *,
    how: Aggregation = "sum",
    names: Sequence[str] | None = None,
    rest: Literal["drop", "own"] = "drop",
) -> Network:
    r"""Compute the sum, mean or maximum of the weights of the links between groups of variables.

    .. math:: W_{GH} = \sum_{i \in G, j \in H} W_{ij}, \quad
              \frac{1}{|C_{GH}|} \sum_{(i, j) \in C_{GH}} W_{ij} \quad \text{or} \quad
              \max_{(i, j) \in C_{GH}} W_{ij}

    with :math:`C_{GH}` the candidate links from a variable of G to another of H.

    Parameters
    ----------
    network : Network
        Network of p variables.
    feature_groups : mapping, labels, path, Clusters, transformer or positions
        Groups of variables in any form of :func:`duramen.io.feature_groups`, such as those of each
        group by its name, or a label for each variable. They may overlap.
    how : {"sum", "mean", "max"}
        Summary of the weights. A sum favors large groups.
    names : sequence of str, optional
        Names of the groups where labels are whole numbers: label g stands for ``names[g]``.
    rest : {"drop", "own"}
        Whether variables that are in no group are left out, or are each a group of their own, after
        the others: groups of regulators of single genes, for instance.

    Returns
    -------
    Network
        Of the groups, without the links within a group, and without p-values: these would take the
        dependence between the links. A group is a source, or a target, where one of its variables
        is.

    Raises
    ------
    TypeError
        If `network` is something else, or a variable neither name nor index.
    ValueError
        If a variable is unknown or twice in one group, a group is empty, there is none, or labels
        are not one a variable.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> network = dm.Network(("a", "b", "c"), [[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    >>> dm.networks.group_links(network, {"ab": ["a", "b"], "c": ["c"]}).weights.tolist()
    [[0.0, 6.0], [11.0, 0.0]]
    """
    if not isinstance(network, Network):
        raise TypeError(f"{_FUNCTION}: network must be a Network, got {type(network).__name__}.")
    grouping = grouping_of(feature_groups, names, network.names, how, rest, _FUNCTION)
    is_source, is_target = (
        np.logical_or.reduceat(mask[grouping.members], grouping.starts)
        for mask in (network.sources, network.targets)
    )
    weights = _largest(network, grouping) if how == "max" else _total(network, grouping, how)
    np.fill_diagonal(weights, 0.0)
    return Network(
        grouping.names,
        weights,
        is_source,
        is_target,
        network.directed,
        f"group {how} of {network.measure}",
        network.unit,
        notes=network.notes,
        metadata={**network.metadata, "group": grouping.choices(network.measure, how)},
    )


def _total(network: Network, grouping: Grouping, how: Aggregation) -> FloatArray:
    """Return sums or means of the weights, group by group."""
    p, n_groups = len(network), len(grouping.names)
    entries = np.ones(len(grouping.members)), (grouping.members, grouping.of_member)
    member: Any = csr_array(entries, shape=(p, n_groups))
    sums = member.T @ csr_array(network.weights @ member)
    weights: FloatArray = sums.toarray().astype(np.float64)
    if how == "sum":
        return weights
    of_sources, of_targets = (
        member * mask[:, None].astype(np.float64) for mask in (network.sources, network.targets)
    )
    sizes = np.outer(of_sources.sum(axis=0), of_targets.sum(axis=0))
    sizes -= (of_sources.T @ of_targets).toarray()  # a variable is no target of itself
    return weights / np.maximum(sizes, 1.0)


def _largest(network: Network, grouping: Grouping) -> FloatArray:
    """Return the largest weights, group by group; 0 where there is no candidate."""
    matrix = np.where(
        np.outer(network.sources, network.targets), dense(network.weights), -np.inf
    ).astype(np.float64)
    np.fill_diagonal(matrix, -np.inf)
    members, starts = grouping.members, grouping.starts
    rows = np.maximum.reduceat(matrix[members], starts, axis=0)
    largest = np.maximum.reduceat(rows[:, members], starts, axis=1)
    return np.where(np.isinf(largest), 0.0, largest)
