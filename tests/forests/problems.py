"""Problems that the tests of the forests share."""

import numpy as np
import pandas as pd


def mixed_table(n_rows=120, seed=0):
    """Numbers with and without missing values, an ordered and two unordered kinds of labels."""
    random = np.random.default_rng(seed)
    depth = random.normal(size=n_rows).round(1)
    holed = random.normal(size=n_rows)
    holed[random.random(n_rows) < 0.2] = np.nan
    size = pd.Categorical.from_codes(
        random.integers(0, 4, n_rows), ["S", "M", "L", "XL"], ordered=True
    )
    colour = pd.Series(random.choice(["red", "green", "blue", "grey"], n_rows), dtype="object")
    colour[random.random(n_rows) < 0.15] = None
    X = pd.DataFrame(
        {
            "depth": depth,
            "holed": holed,
            "size": size,
            "colour": colour,
            "count": random.integers(0, 50, n_rows),
            "same": np.ones(n_rows),
        }
    )
    score = depth + np.where(np.isnan(holed), 1.0, holed) + (colour == "red") * 1.5 + size.codes
    return X, score.to_numpy()


def two_classes(classes):
    """The problem with fewer classes, for which the best bipartition is found by sorting."""
    return np.where(classes == "high", "high", "not high")
