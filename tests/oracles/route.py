"""Rows sent down trees, one comparison at a time, from the description of the flat arrays alone."""

import math

ORDERED, MULTIWAY, ONE_VS_REST, ANY = range(4)


def leaf_of(arrays, schema, tree, row):
    """Number within the tree of the leaf that a row comes to.

    `arrays` maps the names of the flat arrays to arrays; `schema` has the keys kinds,
    value_offsets, cut_values and missing; `row` holds numbers, or codes of categories (-1: never
    seen), NaN where missing.
    """
    start = int(arrays["offsets"][tree])
    words = arrays["pool"][int(arrays["pool_offsets"][tree]) :]
    node = 0
    while arrays["feature"][start + node] >= 0:
        at = start + node
        column = int(arrays["feature"][at])
        branch = _branch(arrays, schema, at, column, float(row[column]), words)
        node = int(arrays["child"][at]) + branch
    return node


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
        known = [float(v) for v in schema["cut_values"][begin:end]]
        code = known.index(value) if value in known else None
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
            node = leaf_of(arrays, schema, tree, row)
            number = int(arrays["child"][int(arrays["offsets"][tree]) + node])
            values = arrays["leaf_values"][int(arrays["leaf_offsets"][tree]) + number]
            total = [a + float(b) for a, b in zip(total, values, strict=True)]
        result.append([a / n_trees for a in total])
    return result
