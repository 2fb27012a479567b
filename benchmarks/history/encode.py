"""For asv: encoding from the containers, with few and many rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from duramen.data import encode
from duramen.data.encoding import routing_values

CONTAINERS = {
    "rows together": np.ascontiguousarray,
    "columns together": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "whole numbers": lambda X: np.round(X * 20),
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X),
    "pyarrow": lambda X: pa.table(list(X.T.copy()), names=[str(j) for j in range(X.shape[1])]),
    "sparse": lambda X: sp.csr_array(np.where(X > 1, X, 0)),
}


class FewRows:
    """72 x 7129, as a table of genes."""

    params = list(CONTAINERS)
    param_names = ["container"]
    shape = (72, 7129)
    timeout = 300

    def setup(self, container: str) -> None:
        X = np.random.default_rng(0).normal(size=self.shape)
        self.table = CONTAINERS[container](X)
        self.encoded = encode(self.table)

    def time_encode(self, container: str) -> None:
        encode(self.table)

    def time_routing_values(self, container: str) -> None:
        routing_values(self.encoded, self.table)

    def peakmem_encode(self, container: str) -> None:
        encode(self.table)


class ManyRows(FewRows):
    """1,000,000 x 50."""

    shape = (1_000_000, 50)


class ManyCategories:
    """A column of a million strings, all different."""

    timeout = 300

    def setup(self) -> None:
        order = np.random.default_rng(0).permutation(1_000_000)
        self.table = pa.table({"id": pa.array([f"id{i}" for i in order])})

    def time_encode(self) -> None:
        encode(self.table)

    def peakmem_encode(self) -> None:
        encode(self.table)
