"""Tables to codes, targets, and files of tables."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
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
from duramen import data, findings, io
from duramen.data import target
from duramen.io import files


@case("encode/numbers", dm.EncodedTable, X=features())
@case("encode/missing values", X=missing())
@case("encode/data frame", X=mixed())
@case("encode/kinds", X=mixed(), kinds={"count": "nominal", "flag": "numeric"})
@case("encode/one kind, names", X=features(), kinds="nominal", names=NAMES)
def _encoded(X: Any, **options: Any) -> Any:
    result = dm.encode(X, n_jobs=jobs(), **options)
    return (extracts.encoded(result), result.n_codes(), result.constant())


@case("findings/of all kinds")
def _findings() -> Any:
    import pandas as pd

    n = np.arange(40)
    table = pd.DataFrame({"id": n, "site": 1, "age": n % 7, "years": n % 7, "Unnamed: 0": n % 9})
    table["dose"] = np.where(n == 5, -999.0, np.sqrt(n % 8))
    result = findings.findings(table, ["ill"] + ["well"] * 39)
    return [(outcome.kind, outcome.columns, outcome.refused, outcome.values) for outcome in result]


@case("EncodedTable/methods", data.Schema)
def _methods() -> Any:
    result = dm.encode(mixed())
    return (
        extracts.encoded(result.take_rows([3, 1, 5])),
        extracts.encoded(result.take_columns([2, 0])),
        result.shape,
        result.schema.n_columns,
    )


@case("EncodedTable/fingerprint", dm.LearningSet)
def _fingerprints() -> Any:
    return [
        table().fingerprint(),
        dm.encode(mixed()).fingerprint(),
        dm.learning_set(table(), classes()).fingerprint,
        dm.learning_set(table(), numbers(), sample_weight=weights()).fingerprint,
    ]


@case("learning_set/derived", data.Exchangeability)
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


@case("StrayValuesWarning")
def _stray() -> Any:
    import warnings

    column = np.array(["1.5", "2", "n/a", *(str(i) for i in range(60))], dtype=object)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dm.encode(column[:, None], names=["almost"])
    results = [result for result in caught if issubclass(result.category, data.StrayValuesWarning)]
    return [len(results), [str(name) for result in results for name in result.message.columns]]


@case(
    "encode_target",
    *(target.encode_target, target.target_array, data.Target),
    *(data.ClassTarget, data.NumberTarget, data.SurvivalTarget),
)
def _targets() -> Any:
    options = (
        classes(),
        numbers(),
        np.array([True, False, True, True]),
        np.array([3, 1, 2, 3]),
        pa.array(["b", "a", "b"]),
    )
    tasks = [str(target.encode_target(y).task) for y in options]
    coded = [target.encode_target(y, "classification") for y in (options[0], *options[2:])]
    return (
        tasks,
        [([str(label) for label in result.classes], result.values) for result in coded],
        target.encode_target(numbers(), "regression").values,
        [target.target_array(y).tolist() for y in options],
    )


TEXT = "name;size;kind;y\na;1,5;x;no\nb;?;y;yes\nc;-2;;no\n"


@case("read_table/csv with choices")
def _read() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(TEXT.replace(";", "\t").replace("t.csv", ""), encoding="utf-8")
        path = path.rename(path.with_suffix(".tsv"))
        result = io.read_table(path, na_values=("?",), decimal=",")
    return {name: result[name].to_pylist() for name in result.column_names}


@case("numbers_in_text", data.NumbersInTextWarning)
def _units() -> Any:
    doses = [f"{i % 7 + 0.5} mg/l" for i in range(20)]
    incomes = [f"{900 + 17 * i:,}" for i in range(20)]
    table, result = data.numbers_in_text(pa.table({"a": doses, "b": incomes}))
    warning = data.NumbersInTextWarning("text")
    warning.findings = result
    return (
        table["a"].to_pylist(),
        table["b"].to_pylist(),
        [finding.kind for finding in warning.findings],
    )


@case("write_table and read_table")
def _written() -> Any:
    results = []
    for ending in ("csv", "tsv", "parquet"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"t.{ending}"
            io.write_table(pa.Table.from_pandas(mixed()), path)
            rest, column = files.target_column(io.read_table(path), "count")
            results.append(
                (column.to_pylist(), {n: rest[n].to_pylist() for n in rest.column_names})
            )
    return results


@case("read_gmt")
def _gene_sets() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.gmt"
        path.write_text("first\t\ta\tb\nsecond\t\tc\n", encoding="utf-8")
        return io.read_gmt(path)


@case("feature_groups")
def _feature_groups() -> Any:
    names = ["x0", "x1", "x2"]
    variants = {"name": names, "chromosome": ["1", "1", "2"], "position": [5, 9, 9]}
    return [
        io.feature_groups({"a": ["x0", 2]}, names),
        io.feature_groups(["a", None, "a"], names),
        io.feature_groups(pa.table(variants), distance=4),
    ]


@case("transformed_groups")
def _transformed_groups() -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return io.transformed_groups(OneHotEncoder().fit(np.array([["a", "u"], ["b", "v"]])))


@case("read_recording/text", io.Recording, missing="interpolate")
@case("read_recording/rows", neurons="rows", missing="drop")
@case("read_recording/suite2p", suite2p=True, neuropil=0.7)
def _recorded(suite2p: bool = False, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "light.txt"
        path.write_text("0.5,1.5\n,2.5\n0.25,3.5\n")
        if suite2p:
            path = Path(folder)
            for name, values in (("F", features().T), ("Fneu", 0.1 * features().T)):
                np.save(path / f"{name}.npy", values)
            np.save(path / "iscell.npy", np.arange(2 * features().shape[1]).reshape(-1, 2) % 3)
        result = io.read_recording(path, **options)
        return (np.array(result.fluorescence), result.names)
