"""Trees of a fitted forest as the nested nodes that the oracle of MDI reads."""

import numpy as np

from duramen.forests.growth import bag


def nested(estimator, X_train, X_held, *, oob=False):
    """The root of every tree."""
    roots = []
    train_leaves, held_leaves = estimator.apply(X_train), estimator.apply(X_held)
    for t, tree in enumerate(estimator.forest_):
        drawn = bag(estimator.forest_, t)
        held = np.flatnonzero(drawn == 0) if oob else np.arange(len(held_leaves))
        nodes = [{"train": [], "held": []} for _ in range(tree.n_nodes)]
        for kind, rows, leaves in (
            ("train", np.repeat(np.arange(len(drawn)), drawn), train_leaves),
            ("held", held, held_leaves),
        ):
            for row in rows.tolist():
                node = int(leaves[row, t])
                while node >= 0:
                    nodes[node][kind].append(row)
                    node = int(tree.parent[node])
        for i, node in enumerate(nodes):
            if tree.feature[i] >= 0:
                first = int(tree.child[i])
                node["feature"] = int(tree.feature[i])
                node["degree"] = int(tree.degree[i])
                node["children"] = nodes[first : first + int(tree.n_children[i])]
        roots.append(nodes[0])
    return roots
