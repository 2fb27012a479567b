"""Recording, positions and known links, read for `duramen connectome`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.connectome.options import COMMAND, Fluorescence
from duramen.cli.network.reading import read_links

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CALLER = f"duramen {COMMAND}"


@dataclass(frozen=True, eq=False)
class Given:
    """Recording, positions and known links."""

    name: str  # of the file, in sentences
    fluorescence: Any  # as `connectome` takes it
    names: tuple[str, ...]  # of the neurons
    positions: NDArray[np.float64] | None = None  # of shape (p, 2)
    gold: Any = None  # as `Network.score` takes it


def check(options: Fluorescence) -> None:
    """Check that the user named a recording, or asked for the simulated one.

    Raises
    ------
    ValueError
        If something is missing, or too much.
    """
    files = (options.file, options.positions, options.gold)
    if options.demo and any(file is not None for file in files):
        raise ValueError("--demo brings its own data; leave out FILE, --positions and --gold")
    if not options.demo and options.file is None:
        raise ValueError("give a FILE, or --demo for a simulated culture")


def read(options: Fluorescence) -> Given:
    """Read the recording, and positions and known links if they are given.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read.
    """
    if options.demo:
        from duramen.datasets import calcium_culture, culture_wiring

        wiring = culture_wiring(40, n_links=160, clustering=None, random_state=0)
        made = calcium_culture(10_000, wiring=wiring, strength=20.0, random_state=0)
        return Given("simulated culture", made.fluorescence, made.names, made.positions, made.links)
    assert options.file is not None
    fluorescence, names = _recording(options)
    positions = None if options.positions is None else _positions(options.positions, len(names))
    gold = None if options.gold is None else _named(read_links(options.gold, _CALLER), names)
    return Given(options.file.name, fluorescence, names, positions, gold)


def _recording(options: Fluorescence) -> tuple[Any, tuple[str, ...]]:
    """Return the recording and the names of its neurons."""
    from duramen.io import read_recording

    assert options.file is not None
    return read_recording(
        options.file,
        layout=options.layout,
        key=options.key,
        neurons=options.neurons,
        neuropil=options.neuropil,
        missing=options.missing,
        drop=options.drop,
    )


def _positions(path: Path, p: int) -> NDArray[np.float64]:
    """Return the places of the neurons, in their order.

    Raises
    ------
    ValueError
        If there are no columns x and y, or another number of rows.
    """
    import numpy as np

    from duramen.io import read_table

    table = read_table(path, function=_CALLER)
    if not {"x", "y"} <= set(table.column_names) or table.num_rows != p:
        raise ValueError(
            f"--positions: {path.name} must have columns x and y and {p} rows, got "
            f"{', '.join(table.column_names)} and {table.num_rows} rows"
        )
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("x", "y")])


def _named(links: list[tuple[Any, ...]], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return links with names in place of numbers from 0 on, unless numbers are names."""
    places = {str(i): name for i, name in enumerate(names)}
    ends = {str(end) for row in links for end in row[:2]}
    if ends & set(names) or len(ends & set(places)) < len(ends) - 2:  # two words of a header
        return links
    return [(*(places.get(str(end), str(end)) for end in row[:2]), *row[2:]) for row in links]
