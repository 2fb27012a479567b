"""Monte Carlo tests, one draw at a time. Nothing from duramen is used."""


def p_value(score, draws, planned, stop_after=None):
    """P-value of a score against draws, stopped at the h-th that is as large (Besag, Clifford)."""
    count = 0
    for number, draw in enumerate(draws, 1):
        if draw >= score:
            count += 1
        if stop_after is not None and count == stop_after:
            return stop_after / number
    return (1 + count) / (planned + 1)


def false_discovery_curve(scores, null):
    """min(1, mean over draws of the number of values as large as the i-th score, over i)."""
    ranked = sorted(scores, reverse=True)
    curve = []
    for i, score in enumerate(ranked, 1):
        counts = [sum(1 for value in draw if value >= score) for draw in null]
        curve.append(min(1.0, sum(counts) / len(counts) / i))
    return curve
