"""Tables to codes, targets, and files of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    NAMES,
    classes,
    features,
    jobs,
    missing,
    mixed,
    numbers,
    strata,
    table,
    weights,
)
from tests.contracts.registry import case

import duramen as dm
from duramen import data


@case("encode/numbers", X=features())
@case("encode/missing values", X=missing())
@case("encode/data frame", X=mixed())
@case("encode/kinds", X=mixed(), kinds={"count": "nominal", "flag": "numeric"})
@case("encode/one kind, names", X=features(), kinds="nominal", names=NAMES)
def _encoded(X: Any, **options: Any) -> Any:
    result = dm.encode(X, n_jobs=jobs(), **options)
    return (extracts.encoded(result), result.n_codes(), result.constant())


@case("EncodedTable/fingerprint")
def _fingerprints() -> Any:
    return [
        table().fingerprint(),
        dm.encode(mixed()).fingerprint(),
        dm.learning_set(table(), classes()).fingerprint,
        dm.learning_set(table(), numbers(), sample_weight=weights()).fingerprint,
    ]


@case("learning_set/derived")
def _derived() -> Any:
    rows = dm.learning_set(table(), classes(), strata=strata(), sample_weight=weights())
    some = rows.of_rows(np.arange(0, rows.n_rows, 2))
    random = np.random.default_rng(0)
    order = some.exchangeability.permutation(random, some.target.values)
    return [
        [str(label) for label in some.permuted(order).y],
        some.weights,
        some.exchangeability.strata,
        rows.permuted(np.arange(rows.n_rows)[::-1], key=1).fingerprint,
        data.Exchangeability.checked(4, ["a", "a", "b", "b"], function="case").count(),
    ]
