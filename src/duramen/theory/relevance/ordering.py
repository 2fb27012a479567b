"""Order of a minimal conditioning: features of it that sequential subspaces find one by one."""

from __future__ import annotations

from collections.abc import Sequence

from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.impurity import check_distribution
from duramen.theory.distributions.variables import Variable
from duramen.theory.relevance.relevance import feature_relevance

_FUNCTION = "conditioning_order"


def conditioning_order(
    dist: FiniteDistribution, feature: Variable, conditioning: Sequence[Variable]
) -> tuple[str, ...] | None:
    r"""Order a minimal conditioning of a feature so that each member can be found after the former.

    In a strictly positive distribution with composition (PC), a minimal conditioning
    :math:`B = \{X_1, \ldots, X_k\}` of a relevant feature, one with :math:`I(X;Y|B) > 0` and no
    proper part like it, can be ordered so that :math:`\deg(X'_i) < i` (thesis, theorem 7.6): the
    i-th is relevant given at most i - 1 others. Then sequential random subspaces that keep what
    they found need never draw two of them at once. In other distributions there may be no such
    order, as in the exclusive or.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    feature : str or int
        The feature X, by name or index.
    conditioning : sequence of str or int
        The features in B.

    Returns
    -------
    tuple of str or None
        Names in such an order, smaller degrees first; None if there is none.

    Raises
    ------
    ValueError
        If B is not a minimal conditioning of the feature, or p is above what `feature_relevance`
        takes.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.relevance import conditioning_order
    >>> conditioning_order(dm.theory.examples.chain(3), "X3", ["X2", "X1"])
    ('X1', 'X2')
    >>> conditioning_order(dm.theory.examples.clique(3), "X3", ["X2", "X1"]) is None
    True
    """
    check_distribution(_FUNCTION, dist)
    m = dist.index(feature)
    members = {dist.names[j] for j in dist.indices(list(conditioning))}
    found = {one.name: one for one in feature_relevance(dist)}
    if members not in map(set, found[dist.names[m]].conditionings):
        raise ValueError(
            f"{_FUNCTION}: conditioning must be a minimal conditioning of {dist.names[m]!r}, got "
            f"{sorted(members)!r}. Hint: feature_relevance lists them."
        )
    known = [(found[name].degree, j, name) for j, name in enumerate(dist.names) if name in members]
    ranked = sorted((degree, j, name) for degree, j, name in known if degree is not None)
    if len(ranked) < len(members) or any(d > i for i, (d, _, _) in enumerate(ranked)):
        return None
    return tuple(name for _, _, name in ranked)
