"""Effects of a context, by the definitions of chapter 6 of the thesis, term by term.

A table is a list of ``(x, c, y, weight)``: x a tuple of values, c that of the context.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from tests.oracles.theory.population import IMPURITIES, decrease, importances

Row = tuple[Sequence[Any], Any, Any, float]


def without_context(rows: Sequence[Row]) -> list[tuple[Sequence[Any], Any, float]]:
    return [(x, y, w) for x, _, y, w in rows]


def with_context_as_feature(rows: Sequence[Row]) -> list[tuple[Sequence[Any], Any, float]]:
    return [((*x, c), y, w) for x, c, y, w in rows]


def mass(rows: Sequence[Row]) -> float:
    return sum(w for _, _, _, w in rows)


def within(rows: Sequence[Row], context: Any) -> list[Row]:
    return [row for row in rows if row[1] == context]


def cells(rows: Sequence[Row], given: Sequence[int]) -> list[list[Row]]:
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        parts[tuple(row[0][j] for j in given)].append(row)
    return list(parts.values())


def information_of(
    rows: Sequence[Row], m: int, given: Sequence[int] = (), criterion: str = "entropy"
):
    """G(Y; X_m | B) over these rows."""
    return decrease(without_context(rows), m, list(given), IMPURITIES[criterion])


def conditionings(m: int, p: int) -> Iterator[tuple[int, ...]]:
    others = [j for j in range(p) if j != m]
    for k in range(p):
        yield from itertools.combinations(others, k)


# --- importances ---------------------------------------------------------------------------------


def effects(
    rows: Sequence[Row],
    m: int,
    p: int,
    context: Any,
    criterion: str = "entropy",
    empty: str = "skip",
    depth: int | None = None,
) -> tuple[float, float, float]:
    """Absolute, signed and conditional sums of a feature in a context (eq. 6.11, 6.12)."""
    absolute = signed = conditional = 0.0
    total = mass(rows)
    for B in conditionings(m, p):
        k = len(B)
        if depth is not None and k >= depth:
            continue
        weight = 1 / math.comb(p, k) / (p - k)
        for cell in cells(rows, B):
            here = within(cell, context)
            if not here and empty == "skip":
                continue
            inside = information_of(here, m, criterion=criterion) if here else 0.0
            gap = information_of(cell, m, criterion=criterion) - inside
            absolute += weight * mass(cell) / total * abs(gap)
            signed += weight * mass(cell) / total * gap
            conditional += weight * mass(cell) / total * inside
    return absolute, signed, conditional


def overall(rows: Sequence[Row], m: int, p: int, criterion: str = "entropy") -> float:
    """Imp^{X_c}: with G(Y; X_m | B, X_c) from a table in which the context is a column."""
    table, impurity = with_context_as_feature(rows), IMPURITIES[criterion]
    return sum(
        (decrease(table, m, B, impurity) - decrease(table, m, [*B, p], impurity))
        / math.comb(p, len(B))
        / (p - len(B))
        for B in conditionings(m, p)
    )


def plain_importances(rows: Sequence[Row], p: int, criterion: str = "entropy") -> list[float]:
    return [sum(parts) for parts in importances(without_context(rows), p, criterion)]


def relevance(rows: Sequence[Row], p: int, criterion: str = "entropy") -> float:
    return sum(importances(with_context_as_feature(rows), p + 1, criterion)[p])


# --- definitions ---------------------------------------------------------------------------------


def definitions(rows: Sequence[Row], m: int, p: int, tolerance: float = 1e-10) -> dict[str, Any]:
    """Check (6.1) and (6.3) to (6.6), and return the changes in each context (6.3, 6.4)."""
    contexts = sorted({c for _, c, _, _ in rows})
    true = dict.fromkeys(("eq_6_1", "eq_6_3", "eq_6_4", "eq_6_5", "eq_6_6"), False)
    more, less = set(), set()

    def differ(first: float, other: float) -> bool:
        return abs(first - other) > tolerance

    for B in conditionings(m, p):
        mean_over_all = information_of(rows, m, B)
        averages = {c: information_of(within(rows, c), m, B) for c in contexts}
        true["eq_6_4"] |= any(differ(value, mean_over_all) for value in averages.values())
        mean = sum(mass(within(rows, c)) * averages[c] for c in contexts) / mass(rows)
        true["eq_6_6"] |= differ(mean, mean_over_all)
        for cell in cells(rows, B):
            everywhere = information_of(cell, m)
            parts = {c: within(cell, c) for c in contexts if within(cell, c)}
            informations = {c: information_of(part, m) for c, part in parts.items()}
            for c, value in informations.items():
                if differ(value, everywhere):
                    true["eq_6_1"] = True
                    (more if value > everywhere else less).add(c)
            true["eq_6_3"] |= any(
                differ(a, b) for a, b in itertools.combinations(informations.values(), 2)
            )
            mean = sum(mass(parts[c]) * informations[c] for c in parts) / mass(cell)
            true["eq_6_5"] |= differ(mean, everywhere)
    words = {
        (False, False): "independent",
        (True, False): "complementary",
        (False, True): "redundant",
        (True, True): "uncharacterized",
    }
    return true | {"changes": tuple(words[c in more, c in less] for c in contexts)}


def distribution(rows: Sequence[Row]) -> dict[Any, float]:
    result: dict[Any, float] = defaultdict(float)
    for _, _, y, w in rows:
        result[y] += w / mass(rows)
    return result


def weakly_sensitive(rows: Sequence[Row], m: int, p: int, tolerance: float = 1e-10) -> bool:
    """Turney 1996, as in section 6.2 of the thesis: every B, b, x_m, x_c and y."""
    classes = {y for _, _, y, _ in rows}
    for B in conditionings(m, p):
        for cell in cells(rows, B):
            for part in cells(cell, [m]):
                for c in {row[1] for row in part}:
                    both, of_feature, of_context = map(
                        distribution, (within(part, c), part, within(cell, c))
                    )
                    for y in classes:
                        if (
                            abs(both[y] - of_feature[y]) > tolerance
                            and abs(both[y] - of_context[y]) > tolerance
                        ):
                            return True
    return False
