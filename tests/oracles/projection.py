"""Trees projected along features: each row against each row of the bag, level by level.

A tree is a list of nodes with ``feature``, ``children`` and ``side(row)``; leaves have no
``feature``.
"""


def levels(tree, row, ignored):
    """Nodes that a row reaches at each level; a leaf stays. Splits on ignored features go all ways.

    The last level holds leaves alone.
    """
    here = frozenset([0])
    result = [here]
    while any("feature" in tree[node] for node in here):
        below = set()
        for node in here:
            if "feature" not in tree[node]:
                below.add(node)
            elif tree[node]["feature"] in ignored:
                below.update(tree[node]["children"])
            else:
                below.add(tree[node]["children"][tree[node]["side"](row)])
        here = frozenset(below)
        result.append(here)
    return result


def prediction(tree, row, bag, ignored, fewest=1):
    """Mean response over the bag (row, weight, response) that reaches the nodes that a row does.

    At the deepest level of which the bag has `fewest` rows, and all levels above it have.
    """
    own = levels(tree, row, ignored)
    others = [(levels(tree, x, ignored), w, y) for x, w, y in bag]
    result = None
    for depth, nodes in enumerate(own):
        same = [(w, y) for their, w, y in others if their[min(depth, len(their) - 1)] == nodes]
        if len(same) < fewest and depth:
            break
        total = sum(w for w, _ in same)
        result = [sum(w * y[k] for w, y in same) / total for k in range(len(same[0][1]))]
    return result
