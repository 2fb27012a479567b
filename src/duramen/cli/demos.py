"""Data of ``--demo``, and what of `duramen.read` a command does not leave to the user."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Demo:
    """Data set that ships, or that is simulated, for ``--demo``."""

    name: str  # with its article
    data: Callable[[ExitStack], dict[str, Any]]
    """Returns arguments of `duramen.read` and of the analysis; files are removed with the stack."""
    instead: tuple[str, ...] = ("source", "target")  # parameters that must not be given beside it


def _shipped(constant: str, **more: Any) -> Callable[[ExitStack], dict[str, Any]]:
    """Return the arguments for a data set that ships, by its name in `duramen.datasets.dataset`."""

    def data(stack: ExitStack) -> dict[str, Any]:
        from duramen.datasets import dataset

        path = stack.enter_context(dataset.bundled_file(getattr(dataset, constant)))
        citation = getattr(dataset, f"{constant}_CITATION")
        return {"source": path, "target": "y", "citation": citation, **more}

    return data


def _gene_network(_: ExitStack) -> dict[str, Any]:
    """Simulate the expression of 50 genes, with the links between them."""
    from duramen.datasets import gene_network
    from duramen.support.arrow import pa

    made = gene_network(n_samples=100, n_genes=50, random_state=0)
    columns = dict(zip(made.names, made.expression.T, strict=True))
    return {"source": pa.table(columns), "gold": made.links}


def _culture(_: ExitStack) -> dict[str, Any]:
    """Simulate a culture of 40 neurons, with their positions and links."""
    from duramen.datasets import calcium_culture, culture_wiring

    wiring = culture_wiring(40, n_links=160, random_state=0)
    made = calcium_culture(10_000, wiring=wiring, strength=20.0, random_state=0)
    return {"recording": made, "positions": made.positions, "gold": made.links}


_LEUKEMIA = "the leukemia set that ships with duramen"
_TUMOR = "the primary tumor set that ships with duramen"
DEMOS = {
    "rank": Demo(_LEUKEMIA, _shipped("LEUKEMIA")),
    "select": Demo(_LEUKEMIA, _shipped("LEUKEMIA", n_estimators=200)),
    "compare": Demo(_LEUKEMIA, _shipped("LEUKEMIA")),
    "context": Demo(_TUMOR, _shipped("PRIMARY_TUMOR", missing="drop", context=("sex",))),
    "network": Demo("a simulated network of 50 genes", _gene_network, ("source", "gold")),
    "connectome": Demo(
        "a simulated culture of 40 neurons", _culture, ("recording", "positions", "gold")
    ),
    # The papers leave the sex out of this set.
    "exact": Demo(_TUMOR, _shipped("PRIMARY_TUMOR", missing="drop", drop=("sex",))),
}
FIXED: dict[str, dict[str, Any]] = {"exact": {"keep_identifiers": True}}
"""Arguments of `duramen.read` that a command does not leave to the user."""
_OF_TARGET = (
    *("target", "task", "event", "strata", "groups", "covariates", "sample_weight"),
    *("drop_missing_target", "positive"),
    *("samples", "samples_id", "samples_match", "samples_features"),
)
UNUSED = {
    "select": ("event", "sample_weight", "positive"),
    "compare": ("strata", "covariates", "event", "sample_weight", "positive"),
    "context": ("event", "positive", "sample_weight"),
    "network": _OF_TARGET,
    "exact": ("strata", "groups", "covariates", "event", "max_rows", "positive"),
}
"""Parameters of `duramen.read` that have no effect on an analysis."""
