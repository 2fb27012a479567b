"""Boruta's verdicts from hits, as the R package and boruta_py give them, one p-value at a time."""

from functools import cache
from math import comb


@cache
def upper(hits, n):
    """P(B >= hits) for B binomial of n fair coins."""
    return sum(comb(n, k) for k in range(hits, n + 1)) / 2**n


@cache
def lower(hits, n):
    """P(B <= hits)."""
    return sum(comb(n, k) for k in range(hits + 1)) / 2**n


def of_r(p_values, n_rounds, p, level):
    """Bonferroni's correction over all features."""
    return [min(1.0, p * p_value) < level for p_value in p_values]


def of_python(p_values, n_rounds, p, level):
    """Benjamini and Hochberg over the features that are left, and the level over the rounds."""
    m = len(p_values)
    ordered = sorted(p_values)
    passing = [p for i, p in enumerate(ordered, 1) if p <= level * i / m]
    largest = max(passing, default=-1.0)
    return [p_value <= largest and p_value <= level / n_rounds for p_value in p_values]


RULES = {"bonferroni": of_r, "two-step": of_python}


def verdicts(hit, rule, level):
    """Return the verdicts after each round; `hit[r][j]` tells whether j, if there, has a hit."""
    p = len(hit[0])
    states, counts, history = ["tentative"] * p, [0] * p, []
    for n, row in enumerate(hit, 1):
        if "tentative" not in states:
            break
        there = [j for j in range(p) if states[j] != "rejected"]
        for j in there:
            counts[j] += bool(row[j])
        better = RULES[rule]([upper(counts[j], n) for j in there], n, p, level)
        worse = RULES[rule]([lower(counts[j], n) for j in there], n, p, level)
        for j, above, below in zip(there, better, worse, strict=True):
            if states[j] == "tentative" and (above or below):
                states[j] = "confirmed" if above else "rejected"
        history.append(list(states))
    return history, counts
