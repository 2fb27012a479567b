"""Step-down max-T and standardized columns by their definitions. Nothing from duramen is used."""

import math


def step_down(observed, null):
    """Return step-down adjusted p-values from the maxima of the remaining features."""
    p = len(observed)
    adjusted, so_far = [0.0] * p, 0.0
    for value in sorted(set(observed), reverse=True):
        left = [j for j in range(p) if observed[j] <= value]
        reached = sum(1 for draw in null if max(draw[j] for j in left) >= value)
        so_far = max(so_far, (1 + reached) / (len(null) + 1))
        for j in range(p):
            if observed[j] == value:
                adjusted[j] = so_far
    return adjusted


def pooled_rates(observed, null):
    """Return the smallest estimated rate of the sets {score >= c} that contain each feature."""
    rates = {}
    for value in set(observed):
        false = sum(sum(1 for x in draw if x >= value) for draw in null) / len(null)
        rates[value] = min(1.0, false / sum(1 for x in observed if x >= value))
    return [min(rate for value, rate in rates.items() if value <= x) for x in observed]


def mean_and_sd(values):
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in values) / len(values))


def standardized(rows):
    """Standardize each number by the others of its column; deviations have a floor."""
    columns = list(zip(*rows, strict=True))
    mean_square = math.fsum(mean_and_sd(column)[1] ** 2 for column in columns) / len(columns)
    least = math.sqrt(mean_square)
    result = [[0.0] * len(columns) for _ in rows]
    for j, column in enumerate(columns):
        for b, x in enumerate(column):
            mean, sd = mean_and_sd(column[:b] + column[b + 1 :])
            scale = max(sd, least)
            result[b][j] = (x - mean) / scale if scale > 0 else 0.0
    return result
