"""The multifactorial networks of the DREAM4 challenge, from a folder of the user."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from duramen.datasets.gene_networks import GeneNetwork
from duramen.support import checks
from duramen.support.arrow import pq

_FUNCTION = "load_dream4"
# Names of the files: as the challenge gave them, and as tables.
_EXPRESSION = ("insilico_size{size}_{i}_multifactorial.tsv", "net{i}/expression.parquet")
_GOLD = (
    "DREAM4_GoldStandard_InSilico_Size{size}_multifactorial_{i}.tsv",
    "net{i}/gold.parquet",
)


def load_dream4(i: int, folder: str | PathLike[str], *, size: int = 100) -> GeneNetwork:
    """Load one of the five DREAM4 in silico networks with its multifactorial expression.

    The data do not ship with this package, since their license is not stated; they can be had
    from the DREAM challenges at Synapse (syn3049712).

    Parameters
    ----------
    i : int
        Number of the network, 1 to 5.
    folder : path
        Folder that holds, at any depth, the files of the challenge, such as
        ``insilico_size100_1_multifactorial.tsv`` and
        ``DREAM4_GoldStandard_InSilico_Size100_multifactorial_1.tsv``; or the same columns as
        ``net1/expression.parquet`` and ``net1/gold.parquet``.
    size : {10, 100}
        Number of genes.

    Returns
    -------
    GeneNetwork
        Expression of `size` genes in as many samples, and the true links; whether they activate is
        not known.

    Raises
    ------
    FileNotFoundError
        If a file is not there, naming it.
    ValueError
        If `i` or `size` is another number.

    References
    ----------
    D. Marbach et al. (2010). Revealing strengths and weaknesses of methods for gene network
    inference. PNAS 107.

    Examples
    --------
    Where the two files are in the folder ``dream4``:

    >>> import duramen as dm
    >>> from pathlib import Path
    >>> if Path("dream4").is_dir():
    ...     made = dm.datasets.load_dream4(1, "dream4")
    ...     dm.genie3(made.expression, names=made.names).score(made.links)
    """
    checks.check_integer(_FUNCTION, "i", i, 1, most=5)
    if size not in (10, 100):
        raise checks.refuse(_FUNCTION, "size", "10 or 100", size)
    expression = _read(Path(folder), _EXPRESSION, i, size)
    names = tuple(expression)
    place = {name: j for j, name in enumerate(names)}
    links = np.zeros((len(names), len(names)), dtype=np.bool_)
    for source, target, is_link in zip(*_read(Path(folder), _GOLD, i, size).values(), strict=True):
        links[place[source], place[target]] = bool(int(is_link))
    values = np.column_stack(
        [np.asarray(column, dtype=np.float64) for column in expression.values()]
    )
    return GeneNetwork(values, names, links, None)


def _read(folder: Path, forms: tuple[str, str], i: int, size: int) -> dict[str, list[Any]]:
    """Return the columns of the first file that is there, by name."""
    wanted = [form.format(i=i, size=size) for form in forms]
    for name in wanted:
        found = sorted(folder.rglob(name)) if folder.is_dir() else []
        if found and name.endswith(".parquet"):
            columns: dict[str, list[Any]] = pq.read_table(found[0]).to_pydict()
            return columns
        if found:
            lines = found[0].read_text().split("\n")
            rows = [line.replace('"', "").split("\t") for line in lines if line.strip()]
            header = [] if forms is _GOLD else rows.pop(0)
            names = header or [str(k) for k in range(len(rows[0]))]
            return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    raise FileNotFoundError(
        f"{_FUNCTION}: {folder} must hold {wanted[0]}, at any depth. Hint: unpack the archives of "
        "the DREAM4 in silico challenge there."
    )
