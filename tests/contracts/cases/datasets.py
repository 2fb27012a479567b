"""Data sets."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from tests.contracts.registry import case

from duramen import datasets


@case("datasets/digits7", datasets.digits7, datasets.Dataset, make=datasets.digits7)
@case("datasets/xor", datasets.xor, make=datasets.xor)
@case(
    "datasets/linear_sign",
    datasets.linear_sign,
    make=datasets.linear_sign,
    n_samples=20,
    n_features=8,
    n_relevant=3,
    random_state=1,
)
@case(
    "datasets/madelon_like",
    datasets.madelon_like,
    make=datasets.madelon_like,
    n_samples=30,
    n_informative=3,
    n_redundant=2,
    n_repeated=2,
    n_probes=3,
    random_state=1,
)
def _made(make: Any, **given: Any) -> Any:
    found = make(**given)
    return (np.asarray(found.X), found.y, found.names, found.relevant, found.n_rows)


@case("datasets/load_leukemia", datasets.load_leukemia)
def _leukemia() -> Any:
    found = datasets.load_leukemia()
    names = hashlib.sha256("\n".join(found.names).encode()).hexdigest()
    return (found.X[:, ::500], found.X.sum(axis=1), found.y.tolist(), names, found.n_features)


@case("datasets/load_primary_tumor", datasets.load_primary_tumor)
def _tumor() -> Any:
    found = datasets.load_primary_tumor()
    columns = [[str(x) for x in found.X[name].to_pylist()] for name in found.names]
    return (columns, found.y.tolist(), found.names)
