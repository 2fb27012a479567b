"""Tables to codes, targets, and files of tables."""

from __future__ import annotations

from typing import Any

from tests.contracts import extracts
from tests.contracts.inputs import (
    classes,
    jobs,
    missing,
    mixed,
    numbers,
    table,
    weights,
)
from tests.contracts.registry import case

import duramen as dm


@case("encode/missing values", X=missing())
@case("encode/data frame", X=mixed())
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
