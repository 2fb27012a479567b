"""The staged max-T test, list by list. Nothing from duramen is used."""

from math import ceil, comb
from statistics import fmean, pstdev, pvariance

from tests.oracles import step_down as oracle

LOOKS = (19, 39)


def scale(rows, fraction):
    """Value that a fraction of the rows, at least two, reach with their largest number."""
    largest = sorted((max(row) for row in rows), reverse=True)
    place = min(max(2, round(fraction * 0.1 * len(rows))), len(rows))
    return largest[place - 1] if largest[place - 1] > 0 else 1.0


FRACTIONS = {2: [0.3, 0.7], 3: [0.3, 0.5, 0.2]}


def statistics_of(importances, *beside):
    """Standardized importances and other statistics on their scales; the first row is data."""
    standardized = [[round(v, 9) for v in row] for row in oracle.standardized(importances)]
    tables = [standardized, *beside]
    scales = [scale(rows, part) for rows, part in zip(tables, FRACTIONS[len(tables)], strict=True)]
    divided = [
        [[v / by for v in row] for row in rows] for rows, by in zip(tables, scales, strict=True)
    ]
    return divided, scales


def rates_of(rows, n_kept):
    """Return the error rate of selecting the kept features and all with at least each value."""
    rates = []
    for value in rows[0]:
        false = sum(sum(v >= value for v in row) for row in rows) / len(rows)
        rates.append(min(1.0, false / (n_kept + sum(v >= value for v in rows[0]))))
    return rates


def reached_by(rows, standing):
    """Count the permutations whose largest statistic reaches each kept feature."""
    return [sum(max(row) >= value for row in rows[1:]) for value in standing]


def levels_of(n, look):
    """P-values of 0, 1, ..., n permutations that reach a statistic, by listing all the cases.

    Without a look they are (1 + k) / (n + 1). With one, a statistic that none of its permutations
    reaches comes first; the level of k is the probability of that, or of at most k of all n.
    """
    if look is None:
        return [(1 + k) / (n + 1) for k in range(n + 1)]
    early = [comb(n - look, k) / comb(n, k) for k in range(n + 1)]
    return [
        (sum(early[j] if j > k or j == 0 else 1.0 for j in range(n + 1))) / (n + 1)
        for k in range(n + 1)
    ]


def ends(rows, adjusted, surely, n, standing, alpha, most, first):
    """Tell whether no feature can still be confirmed, lost, or found by its p-value."""
    look = len(rows) - 1
    for value, sure in zip(adjusted, surely, strict=True):
        if not sure and round(value * (look + 1)) - 1 <= most:
            return False
    if any(count > 0 and 1 + count <= alpha * (n + 1) for count in reached_by(rows, standing)):
        return False
    if not first and look >= LOOKS[-1]:
        return True
    for i, rate in enumerate(rates_of(rows, len(standing))):
        own = sum(row[i] >= rows[0][i] for row in rows)
        if own <= alpha * (n + 1) and rate <= 2 * alpha:
            return False
    return True


def staged(observed, grow, beside, n, alpha=0.05, max_stages=3):
    """Run the test.

    `observed` are p importances, ``grow(kept, b)`` returns those of permutation b with the kept
    features permuted together with the target, ``beside(kept)`` the marginal statistics and, if
    there are any, the joint ones, n + 1 rows each, that of the data first. Returns one dict for
    each feature, the stages as (kept, number of permutations), and the number of forests.
    """
    success = max(39, ceil(2 / alpha - 1e-9) - 1)
    success = success if n > 2 * success else None
    levels = levels_of(n, success)
    most = sum(level <= alpha for level in levels) - 1
    features, rejected, stages = list(range(len(observed))), [], []
    result, order, columns = {}, [], {}
    for number in range(1, max_stages + 1):
        tested = [j for j in features if j not in rejected]
        on_data = [rows[0] for rows in beside([])]
        others = [[[row[j] for j in tested] for row in rows] for rows in beside(rejected)]
        importances, surely = [[observed[j] for j in tested]], [False] * len(tested)
        for b in range(n):
            grown = grow(rejected, b)
            importances.append([grown[j] for j in tested])
            if b + 1 in (*LOOKS, success) and b + 1 < n:
                parts = [rows[: b + 2] for rows in others]
                divided, scales = statistics_of(importances, *parts)
                standing = still(columns, importances, on_data, rejected, scales)
                rows = largest(divided)
                adjusted = oracle.step_down(rows[0], rows[1:])
                if b + 1 == success:
                    surely = [round(value * (b + 2)) == 1 for value in adjusted]
                    if any(surely) and number < max_stages:
                        break
                if ends(rows, adjusted, surely, n, standing, alpha, most, number == 1):
                    break
        parts = [rows[: len(importances)] for rows in others]
        divided, scales = statistics_of(importances, *parts)
        standing = still(columns, importances, on_data, rejected, scales)
        columns.update({j: [row[i] for row in importances] for i, j in enumerate(tested)})
        rows = largest(divided)
        stages.append((list(rejected), len(rows) - 1))
        adjusted, rates = oracle.step_down(rows[0], rows[1:]), rates_of(rows, len(rejected))
        if len(rows) == n + 1:
            counts = [round(value * (n + 1)) - 1 for value in adjusted]
            adjusted = [
                levels[0] if sure else levels[count]
                for sure, count in zip(surely, counts, strict=True)
            ]
            surely = [value <= alpha for value in adjusted]
        ranked = sorted(range(len(tested)), key=lambda i: -rows[0][i])
        sure = [tested[i] for i in ranked if surely[i]]
        goes_on = sure and len(sure) < len(tested) and number < max_stages
        least = max((result[j]["p_adjusted"] for j in order), default=0.0)
        for i in ranked:
            if goes_on and tested[i] not in sure:
                continue
            order.append(tested[i])
            result[tested[i]] = {
                "stage": number,
                **{
                    f"{kind}_statistic": table[0][i]
                    for kind, table in zip(("importance", "marginal", "joint"), divided)  # noqa: B905
                },
                "statistic": rows[0][i],
                "p_value": sum(row[i] >= rows[0][i] for row in rows) / len(rows),
                "p_adjusted": max(adjusted[i], least),
                "rate": rates[i],
            }
        if not goes_on:
            break
        rejected = rejected + sure
    for j, count in zip(rejected, reached_by(rows, standing), strict=True):
        if count:
            result[j]["p_adjusted"] = max(result[j]["p_adjusted"], (1 + count) / len(rows))
    for place, j in enumerate(order):
        result[j]["q_value"] = min(result[k]["rate"] for k in order[place:])
    least = 0.0
    for j in sorted(order, key=lambda j: result[j]["p_adjusted"]):
        least = result[j]["q_value"] = max(result[j]["q_value"], least)
    forests = 1 + sum(b for _, b in stages)
    return [result[j] for j in features], stages, forests


def still(columns, importances, on_data, rejected, scales):
    """Statistics of the kept features on the scales of a later stage.

    `columns` has the importances of each kept feature in the stage that confirmed it, `importances`
    those of the tested features in the later stage, `on_data` the other statistics on the data.
    """
    least = fmean(map(pvariance, zip(*importances, strict=True))) ** 0.5
    return [
        max(
            own(columns[j][0], columns[j][1:], least) / scales[0],
            *(row[j] / by for row, by in zip(on_data, scales[1:], strict=True)),
        )
        for j in rejected
    ]


def own(value, permuted, least):
    """Excess of a value over its mean under permutation, in standard deviations, `least` at least.

    0 if neither varies.
    """
    spread = max(pstdev(permuted), least)
    return round((value - fmean(permuted)) / spread, 9) if spread else 0.0


def largest(tables):
    """The largest of some tables, cell by cell."""
    return [[max(cells) for cells in zip(*rows, strict=True)] for rows in zip(*tables, strict=True)]
