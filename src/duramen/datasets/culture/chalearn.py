"""Wiring of the networks of the ChaLearn connectomics challenge, from a folder of the user."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from duramen.datasets.culture.wiring import Wiring
from duramen.support import checks
from duramen.support.arrow import pq

_FUNCTION = "load_chalearn_topology"


def load_chalearn_topology(i: int, folder: str | PathLike[str]) -> Wiring:
    """Load the wiring of a network *normal* of the ChaLearn connectomics challenge.

    The wiring was published by the organizers (MIT license) at
    https://github.com/orlandi/connectomicsPCV; it does not ship with this package. The fluorescence
    can be simulated: ``calcium_culture(wiring=load_chalearn_topology(1, folder))``.

    Parameters
    ----------
    i : int
        Number of the network, 1 to 4.
    folder : path
        Folder that holds ``normal-1/connections.parquet`` with columns `source`, `target` and
        `weight`, and ``normal-1/positions.parquet`` with columns `x`, `y` (mm) and `subset`.

    Returns
    -------
    Wiring
        1000 neurons in 10 modules; inhibitory links have weight -1.

    Raises
    ------
    FileNotFoundError
        If a file is not there, naming it.
    ValueError
        If `i` is another number.

    References
    ----------
    J. G. Orlandi et al. (2014). First connectomics challenge: from imaging to connectivity. JMLR
    W&CP 46.

    Examples
    --------
    Where the files are in the folder ``chalearn``:

    >>> import duramen as dm
    >>> from pathlib import Path
    >>> if Path("chalearn").is_dir():
    ...     wiring = dm.datasets.load_chalearn_topology(1, "chalearn")
    """
    number = checks.check_integer(_FUNCTION, "i", i, 1, most=4)
    tables = {}
    for name in ("connections", "positions"):
        file = Path(folder) / f"normal-{number}" / f"{name}.parquet"
        if not file.is_file():
            raise FileNotFoundError(
                f"{_FUNCTION}: folder must hold {file.relative_to(folder)}, got {folder}. Hint: "
                "convert the file normal-*.yaml of the organizers."
            )
        tables[name] = pq.read_table(file).to_pydict()
    links, places = tables["connections"], tables["positions"]
    return Wiring(
        links["source"],
        links["target"],
        links["weight"],
        positions=list(zip(places["x"], places["y"], strict=True)),
        modules=places["subset"],
    )
