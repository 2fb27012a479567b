"""Table of which two features matter."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_sum(path, n, p, more=None):
    """Write n rows of p normal features and the sign of x2 + x4, "a" or "b", and other columns."""
    X = np.random.default_rng(5).normal(size=(n, p)).round(2)
    columns = {f"x{j}": X[:, j] for j in range(p)} | (more or {})
    y = np.where(X[:, 2] + X[:, 4] > 0, "a", "b")
    pq.write_table(pa.table({**columns, "y": y}), path)
    return path
