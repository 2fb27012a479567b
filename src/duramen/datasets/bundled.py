"""The small real data sets that ship with the package."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from duramen.datasets.dataset import Dataset
from duramen.support.arrow import pq

LEUKEMIA = "leukemia.parquet"
LEUKEMIA_CITATION = (
    "T. R. Golub, D. K. Slonim, P. Tamayo et al. (1999). Molecular classification of cancer: class "
    "discovery and class prediction by gene expression monitoring. Science 286, 531-537."
)
PRIMARY_TUMOR = "primary_tumor.parquet"
PRIMARY_TUMOR_CITATION = (
    "This primary tumor domain was obtained from the University Medical Centre, Institute of "
    "Oncology, Ljubljana, Yugoslavia. Thanks go to M. Zwitter and M. Soklic for providing the data."
)


def load_leukemia() -> Dataset:
    """Load the leukemia set of Golub et al.: 72 patients, 7129 probe sets, ALL against AML.

    Returns
    -------
    Dataset
        X float64 of shape (72, 7129), y of ``"ALL"`` (47) and ``"AML"`` (25).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.load_leukemia()
    Dataset(leukemia: 72 rows x 7129 features)
    """
    table = _read(LEUKEMIA)
    names = tuple(table.column_names[1:])
    return Dataset(
        name="leukemia",
        X=np.column_stack([column.to_numpy() for column in table.columns[1:]]).astype(np.float64),
        y=np.array(table.column("y").to_pylist()),
        names=names,
        description="Expression of 7129 probe sets in 72 acute leukemias, of the type ALL or AML.",
        citation=LEUKEMIA_CITATION,
    )


def load_primary_tumor() -> Dataset:
    """Load the primary tumor set (UCI, Ljubljana): 339 patients, 17 categorical attributes.

    Returns
    -------
    Dataset
        X a pyarrow table of dictionary columns with missing values, y the site of the primary
        tumor (21 sites).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.load_primary_tumor().names[:3]
    ('age', 'sex', 'histologic-type')
    """
    table = _read(PRIMARY_TUMOR)
    return Dataset(
        name="primary_tumor",
        X=table.drop_columns("y"),
        y=np.array(table.column("y").to_pylist()),
        names=tuple(name for name in table.column_names if name != "y"),
        description="Findings in 339 patients with metastases, and the site of the primary tumor.",
        citation=PRIMARY_TUMOR_CITATION,
    )


def bundled_file(name: str) -> AbstractContextManager[Path]:
    """Return a context that gives the path of a file that ships with the package."""
    return as_file(files("duramen.datasets") / "data" / name)


def _read(name: str) -> Any:
    with bundled_file(name) as path:
        return pq.read_table(path)
