"""Minimal cost-complexity pruning by the definition: the cheapest of all subtrees."""


def children_of(tree, node):
    """Children of a node of a view of a tree; empty at a leaf."""
    first = int(tree.child[node])
    return range(first, first + int(tree.n_children[node]))


def cost(tree, node):
    """Impurity of a node times its fraction of the weight of the tree."""
    return float(tree.impurity[node] * tree.weight[node] / tree.weight[0])


def cheapest(tree, alpha, node=0):
    """Cost, with alpha for each leaf, of the cheapest subtree under a node, and its leaves.

    Of subtrees that cost the same, but for 1e-12, the smallest one.
    """
    alone = cost(tree, node) + alpha
    if tree.n_children[node] == 0:
        return alone, [node]
    total, leaves = 0.0, []
    for child in children_of(tree, node):
        own, result = cheapest(tree, alpha, child)
        total, leaves = total + own, leaves + result
    return (alone, [node]) if alone <= total + 1e-12 else (total, leaves)
