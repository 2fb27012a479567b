"""Time of permutation tests on text labels.

``python -m benchmarks.speed.labels --dir DIR --against SRC`` runs `altmann` with 20 permutations
and forests of 20 trees of depth 6 on 50,000 rows of 5 columns, the target as whole numbers, as
NumPy text, as Python strings, as a pandas series and as an Arrow array, in this version and in the
one whose folder ``src`` is SRC.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import pairs

ROWS, COLUMNS, PERMUTATIONS = 50_000, 5, 20
CLASSES = ("adenoma", "benign", "carcinoma", "dysplasia")


def operations(inputs: Path, own: Path) -> dict[str, pairs.Operation]:
    """Return the timed operations: a test for each kind of target."""
    import pandas as pd
    import pyarrow as pa

    import duramen as dm

    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, COLUMNS)).round(2)
    codes = (X[:, 0] + random.normal(size=ROWS) > 0) + 2 * (X[:, 1] > 0)
    text = np.array(CLASSES)[codes]
    targets: dict[str, Any] = {
        "whole numbers": codes.astype(np.int64),
        "NumPy text": text,
        "Python strings": text.astype(object),
        "list": text.tolist(),
        "pandas series": pd.Series(text),
        "Arrow array": pa.array(text.tolist()),
    }
    forest = dm.ExtraTreesClassifier(20, max_depth=6, random_state=0, n_jobs=1)
    test = partial(dm.significance.altmann, forest, X, n_permutations=PERMUTATIONS, random_state=0)
    return {f"altmann, {name}": partial(test, y) for name, y in targets.items()}


if __name__ == "__main__":
    sys.exit(pairs.run("benchmarks.speed.labels", __doc__ or "", operations))
