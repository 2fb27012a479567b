"""Sources of the data of a command: a file, standard input, or the data set of ``--demo``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duramen.cli.console import unseen
from duramen.cli.parameters import FILE, shown_name

STANDARD_INPUT = "/dev/stdin"
_NAME = "standard-input"
_BLOCK = 1 << 20


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


_LEUKEMIA = Demo("the leukemia set that ships with duramen", _shipped("LEUKEMIA"))
_TUMOR = "the primary tumor set that ships with duramen"
DEMOS = {
    "rank": _LEUKEMIA,
    "select": _LEUKEMIA,
    "compare": _LEUKEMIA,
    "context": Demo(_TUMOR, _shipped("PRIMARY_TUMOR", missing="drop", context="sex")),
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


def with_data(
    name: str, taken: Mapping[str, Any], values: Mapping[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Return the arguments of `duramen.read` and of an analysis, with a file or a demo as data.

    `taken` has the parameters of the analysis.

    Raises
    ------
    ValueError
        If the user named no table or target, or one beside the demo.
    """
    arguments, demo = {**FIXED.get(name, {}), **values}, DEMOS.get(name)
    if arguments.pop("demo", False) and demo is not None:
        beside = [shown_name(key) for key in demo.instead if arguments.get(key) is not None]
        if beside:
            raise ValueError(f"--demo brings its own data; leave out {' and '.join(beside)}")
        data = demo.data(stack)
        drop = (*data.pop("drop", ()), *arguments.pop("drop", ()))
        return {**data, **arguments, **({"drop": drop} if drop else {})}
    file = next((key for key in FILE if key in taken), "source" if "data" in taken else None)
    if file is None:
        return arguments
    targeted = "y" in taken
    source = arguments.get(file)
    if source is None:
        alone = "" if demo is None else f", or --demo for {demo.name}"
        raise ValueError(f"give a FILE{' and --target NAME' if targeted else ''}{alone}")
    if source == "":
        raise ValueError("FILE: the name is empty; name a file or a store")
    if targeted and arguments.get("target") is None:
        raise ValueError(f"target is missing: which column of {source} is the target?")
    return {**arguments, file: _received(stack) if str(source) == STANDARD_INPUT else source}


def _received(stack: ExitStack) -> str:
    """Copy standard input to a file, which is removed with the stack.

    The ending of its name is that of the format which the first bytes tell.
    """
    from duramen.io.formats import suffix_of

    stream = sys.stdin.buffer
    head = stream.read(_BLOCK)
    if not head:
        raise ValueError("FILE is -, standard input, and nothing came from there")
    folder = stack.enter_context(TemporaryDirectory(prefix="duramen-"))
    path = Path(folder) / f"{_NAME}{suffix_of(head)}"
    with open(path, "wb") as copy:
        while head:
            copy.write(head)
            head = stream.read(_BLOCK)
    unseen.add(f"{folder}{os.sep}")
    return str(path)
