"""Rows sent down trees, one comparison at a time, from the description of the flat arrays alone."""

import math

ORDERED, MULTIWAY, ONE_VS_REST, ANY = range(4)


def coded(schema, columns):
    """Rows as the walk takes them, from the cells of every column: None is missing.

    `schema` has the key labels: the labels of columns of categories, by index, in code order.
    """
    rows = []
    for j, cells in enumerate(columns):
        places = {label: code for code, label in enumerate(schema["labels"].get(j, []))}
        reader = places.get if j in schema["labels"] else float
        rows.append([math.nan if cell is None else _number(reader(cell)) for cell in cells])
    return [list(row) for row in zip(*rows, strict=True)]


def _number(result):
    return -1.0 if result is None else float(result)


def path_of(arrays, schema, tree, row):
    """Numbers within the tree of the nodes that a row passes through, the leaf last.

    `arrays` maps the names of the flat arrays to arrays; `schema` has the keys kinds,
    value_offsets, cut_values and missing; `row` holds numbers, or codes of categories (-1: never
    seen), NaN where missing.
    """
    start = int(arrays["offsets"][tree])
    words = arrays["pool"][int(arrays["pool_offsets"][tree]) :]
    nodes = [0]
    while arrays["feature"][start + nodes[-1]] >= 0:
        at = start + nodes[-1]
        column = int(arrays["feature"][at])
        branch = _branch(arrays, schema, at, column, float(row[column]), words)
        nodes.append(int(arrays["child"][at]) + branch)
    return nodes


def leaf_of(arrays, schema, tree, row):
    """Number within the tree of the leaf that a row comes to."""
    return path_of(arrays, schema, tree, row)[-1]


def _branch(arrays, schema, at, column, value, words):
    flags = int(arrays["split"][at])
    family = flags % 4
    missing_side = 0 if flags & 4 else 1
    heavier = 0 if flags & 8 else 1
    cut = int(arrays["cut"][at])
    begin, end = (int(schema["value_offsets"][column + i]) for i in (0, 1))
    numeric = schema["kinds"][column] == "numeric"
    missing = math.isnan(value)

    if family == ORDERED:
        if missing:
            return missing_side
        if numeric:
            return 0 if value <= arrays["threshold"][at] else 1
        if value == -1:
            return heavier
        return 0 if value <= cut else 1

    code = None  # never seen
    if missing:
        if schema["missing"][column]:
            code = end - begin
    elif numeric:
        cuts = [float(v) for v in schema["cut_values"][begin:end]]
        code = cuts.index(value) if value in cuts else None
    elif value >= 0:
        code = int(value)

    if family == ONE_VS_REST:
        if missing:
            return missing_side
        if code is None:
            return heavier
        return 0 if code == cut else 1
    if family == ANY:
        if code is None:
            return heavier
        word = int(words[cut + code // 32])
        return 0 if (word >> (code % 32)) & 1 else 1
    count, heaviest = int(words[cut]), int(words[cut + 1])
    codes = [int(c) for c in words[cut + 2 : cut + 2 + count]]
    return codes.index(code) if code in codes else heaviest


def leaves_of(arrays, schema, rows):
    """Leaves of many rows, row by tree."""
    n_trees = len(arrays["offsets"]) - 1
    return [[leaf_of(arrays, schema, t, row) for t in range(n_trees)] for row in rows]


def predictions_of(arrays, schema, rows):
    """Mean leaf values of many rows, row by value."""
    n_trees = len(arrays["offsets"]) - 1
    result = []
    for row in rows:
        total = [0.0] * len(arrays["leaf_values"][0])
        for tree in range(n_trees):
            total = _add(total, _values(arrays, tree, leaf_of(arrays, schema, tree, row)))
        result.append([a / n_trees for a in total])
    return result


def _values(arrays, tree, leaf):
    number = int(arrays["child"][int(arrays["offsets"][tree]) + leaf])
    return arrays["leaf_values"][int(arrays["leaf_offsets"][tree]) + number].tolist()


def _add(total, values):
    return [a + b for a, b in zip(total, values, strict=True)]


def out_of_bag_of(arrays, leaves, bags, target, *, classes):
    """Sums of leaf values and numbers of trees, over the trees whose bag lacks a row; errors.

    `leaves` is row by tree and `bags` tree by row; `target` holds the number of each row or, where
    `classes` says so, the code of its class. The errors are those after 1, 2, ... trees over the
    rows that are out of some bag so far: the fraction of wrong classes, or the mean squared error;
    NaN where there is no such row.
    """
    n_values = len(arrays["leaf_values"][0])
    sums, counts = [[0.0] * n_values for _ in target], [0] * len(target)
    curve = []
    for tree, bag in enumerate(bags):
        for row in [row for row, times in enumerate(bag) if times == 0]:
            sums[row] = _add(sums[row], _values(arrays, tree, int(leaves[row][tree])))
            counts[row] += 1
        losses = [
            float(sums[row].index(max(sums[row])) != truth)
            if classes
            else (sums[row][0] / counts[row] - truth) ** 2
            for row, truth in enumerate(target)
            if counts[row]
        ]
        curve.append(math.fsum(losses) / len(losses) if losses else math.nan)
    return sums, counts, curve
