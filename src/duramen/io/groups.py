"""Groups of features, from a mapping, labels, a file, clusters or positions on a genome."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from duramen.io.files import read_table
from duramen.io.store.column_store import ColumnStore
from duramen.io.store.row_ids import as_arrow
from duramen.results.result import checked_names
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrays import BoolArray, IntArray, TableLike
from duramen.support.arrow import pa
from duramen.support.text import quoted, read_utf8

DISTANCE = 250_000
"""Most base pairs between the variants of a block, as between the members of a cluster."""

CLUSTERS = "clusters"


def feature_groups(
    source: Mapping[str, Any] | TableLike,
    names: Sequence[str] | None = None,
    *,
    distance: int = DISTANCE,
) -> dict[str, tuple[str, ...]]:
    """Return groups of features from anything that the parameter `feature_groups` takes.

    Parameters
    ----------
    source : mapping, array-like, path, Clusters, ColumnStore, table or Positions
        mapping
            The features of each group, by name or index, by the name of the group.
        array-like of shape (p,)
            A label for each feature, text or a whole number; None or NaN for none.
        path
            A .gmt file, or a file of a table as below. Of a .gmt file, genes that are not among
            `names` are left out, and sets without any other.
        Clusters
            Of :func:`duramen.importances.clusters`. One of several members is called
            ``cluster of`` and its representative.
        ColumnStore, or table with the columns ``chromosome`` and ``position``
            Blocks of variants on a chromosome that lie within `distance` of the first, called as
            ``1:52238-190512``, or as the variant where it is alone. Rows are those of the column
            ``name``, else those of `names` in order. Variants without a place, and features that
            the table lacks, are in no block.
        table with two columns
            Features, and the group of each; null for none.
    names : sequence of str, optional
        All p features. Indices and labels need them.
    distance : int, default=250_000
        Most base pairs between two variants of a block.

    Returns
    -------
    dict of str to tuple of str
        Features of each group. Groups may overlap; tests that do not allow it say so.

    Raises
    ------
    TypeError
        If `source` is nothing of these.
    ValueError
        If a feature is unknown or twice in one group, a group is empty, or there is none.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.io.feature_groups(["a", "b", "a"], ["x0", "x1", "x2"])
    {'a': ('x0', 'x2'), 'b': ('x1',)}
    >>> import pyarrow as pa
    >>> variants = {"name": ["rs1", "rs2", "rs3"], "chromosome": ["1", "1", "1"]}
    >>> table = pa.table({**variants, "position": [100, 900, 5000]})
    >>> dm.io.feature_groups(table, distance=1000)
    {'1:100-900': ('rs1', 'rs2'), 'rs3': ('rs3',)}
    """
    owner = "feature_groups: source"
    checks.check_integer("feature_groups", "distance", distance, 0)
    if names is None:
        read = _named(source, owner, None, distance)
        groups = {} if read is None else read[0]
        names = list(dict.fromkeys(feature for of_group in groups.values() for feature in of_group))
        if read is None or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{owner} must have names of features where names is None.")
        source = groups
    members = members_of(source, names, owner, distance=distance)
    return {name: tuple(names[j] for j in group) for name, group in members.items()}


def members_of(
    source: Any,
    features: Sequence[str],
    owner: str,
    names: Sequence[str] | None = None,
    *,
    distance: int = DISTANCE,
) -> dict[str, IntArray]:
    """Return the indices of the features of each group, in the order of the source.

    Parameters
    ----------
    source : mapping, array-like, path, ...
        As of `feature_groups`.
    features : sequence of str
        All p features.
    owner : str
        Function and parameter, for errors.
    names : sequence of str, optional
        Names of the groups where labels are whole numbers.
    distance : int
        As of `feature_groups`.
    """
    features, function = tuple(features), owner.split(":")[0]
    read = _named(source, owner, features, distance)
    if read is None:
        members = _of_labels(source, names, len(features), owner)
    elif names is not None:
        raise ValueError(
            f"{function}: names must be None if feature_groups are a mapping or another form that "
            "names its groups."
        )
    else:
        groups, wider = read
        if wider:  # a genome has genes that a table lacks
            there = set(features)
            own = {name: [one for one in of if one in there] for name, of in groups.items()}
            if groups and not any(own.values()):
                n_features = len({feature for of_group in groups.values() for feature in of_group})
                raise ValueError(
                    f"{owner}: it names {counted(n_features, 'feature')}, none of which is a "
                    "column of the table. Hint: both must have the same names, such as gene "
                    "symbols."
                )
            groups = {name: of_group for name, of_group in own.items() if of_group}
        checked_names(function, "names of groups", groups)
        members = {
            name: np.array(checks.places_of(of_group, features, f"{owner}[{name!r}]"), np.int64)
            for name, of_group in groups.items()
        }
    if not members:
        raise ValueError(f"{owner} must hold at least one group, got none.")
    return members


@runtime_checkable
class _Clusters(Protocol):
    """Clusters of features, of the layer above."""

    representatives: IntArray

    def members(self) -> dict[str, tuple[str, ...]]: ...


def _named(
    source: Any, owner: str, features: Sequence[str] | None, distance: int
) -> tuple[Mapping[str, Any], bool] | None:
    """Read groups from a source that names them; None where it is a label for each feature.

    Also returns whether the source covers features that a table may lack, as that of a genome does.
    """
    if isinstance(source, Mapping):
        return source, False
    if isinstance(source, _Clusters):
        clusters = source.members().items()
        return {name if len(of) == 1 else f"cluster of {name}": of for name, of in clusters}, False
    if isinstance(source, Positions):
        return _blocks(source, features or (), distance), False
    if isinstance(source, str | PathLike):
        if str(source) == CLUSTERS and not Path(source).exists():
            raise ValueError(
                f"{owner} can be {CLUSTERS!r} only where clusters are computed too, with a "
                "threshold (clusters=0.8). Hint: give the result of dm.importances.clusters."
            )
        if not Path(source).is_file():
            raise ValueError(
                f"{owner}: there is no file {source}. Hint: groups are a mapping, a label for each "
                "feature, Clusters, positions, or a path."
            )
        if Path(source).suffix.lower() == ".gmt":
            return read_gmt(source), True
        table = read_table(source, function=owner)
    else:
        stored = isinstance(source, ColumnStore)
        table = source.variants if stored else as_arrow(source)
        if table is None and stored:
            raise ValueError(
                f"{owner} is a store without positions of its columns. Hint: a store packed from a "
                "PLINK file has them."
            )
    if table is None:
        return None
    if {"chromosome", "position"} <= set(table.column_names):
        names = features
        if "name" in table.column_names:
            names = tuple(map(str, table.column("name").to_pylist()))
        if names is None:
            raise ValueError(f"{owner} must have a column name.")
        return _blocks(Positions.of(table, names, owner), names, distance), True
    if table.num_columns != 2:
        raise ValueError(
            f"{owner} must have two columns, the features and the group of each; it has "
            f"{table.num_columns}. Hint: of variants, name, chromosome and position make blocks."
        )
    groups: dict[str, list[str]] = {}
    seen: set[str] = set()
    for row, (feature, name) in enumerate(
        zip(*(column.to_pylist() for column in table.columns), strict=True), start=1
    ):
        if feature is None or (name is not None and str(feature) in seen):
            what = f"row {row} names no feature" if feature is None else f"{feature!r} occurs twice"
            raise ValueError(f"{owner}: {what}; each feature must be in one row, with its group.")
        if name is not None:
            seen.add(str(feature))
            groups.setdefault(str(name), []).append(str(feature))
    return groups, False


def _blocks(positions: Positions, names: Sequence[str], distance: int) -> dict[str, list[str]]:
    """Return blocks of features along the genome, none wider than `distance` base pairs."""
    blocks: dict[str, list[str]] = {}
    order = positions.order[positions.placed[positions.order]]
    for code, chromosome in enumerate(positions.chromosomes):
        own = order[positions.chromosome[order] == code]
        places, start = positions.position[own], 0
        while start < len(own):
            end = int(np.searchsorted(places, places[start] + distance, side="right"))
            block = [names[j] for j in own[start:end]]
            title = f"{chromosome}:{places[start]}-{places[end - 1]}"
            blocks[title if len(block) > 1 else block[0]] = block
            start = end
    return blocks


def _of_labels(labels: Any, names: Sequence[str] | None, p: int, owner: str) -> dict[str, IntArray]:
    # As objects: NumPy would make text of a NaN beside text.
    array = np.asarray(labels, dtype=object)
    if array.shape != (p,):
        raise ValueError(
            f"{owner} must be one label per feature, of shape ({p},), or a mapping, a path, "
            f"Clusters or positions, got shape {array.shape}."
        )
    groups: dict[str, list[int]] = {}
    for j, label in enumerate(array.tolist()):
        if label is None or label != label:  # NaN
            continue
        if isinstance(label, np.integer) or (isinstance(label, float) and label.is_integer()):
            label = int(label)  # a float beside NaN
        if not isinstance(label, str | int):
            raise TypeError(f"{owner} must hold text or whole numbers, got {label!r}.")
        if names is not None:
            if isinstance(label, str) or not 0 <= label < len(names):
                raise ValueError(
                    f"{owner}: with names, labels must be numbers from 0 to {len(names) - 1}, got "
                    f"{label!r}."
                )
            label = names[label]
        groups.setdefault(str(label), []).append(j)
    return {name: np.array(members, dtype=np.int64) for name, members in groups.items()}


def read_gmt(path: str | PathLike[str]) -> dict[str, tuple[str, ...]]:
    r"""Read gene sets from a .gmt file: on each line a name, a description, and the genes.

    Parameters
    ----------
    path : path
        Text in UTF-8, fields separated by tabs.

    Returns
    -------
    dict of str to tuple of str
        The genes of each set, without those that occur again.

    Raises
    ------
    ValueError
        If a line has no gene, a name occurs twice, or there is no set.

    Examples
    --------
    >>> import tempfile
    >>> import duramen as dm
    >>> with tempfile.NamedTemporaryFile("w", suffix=".gmt") as file:
    ...     print("first\tof two\ta\tb", file=file, flush=True)
    ...     dm.io.read_gmt(file.name)
    {'first': ('a', 'b')}
    """
    sets: dict[str, tuple[str, ...]] = {}
    text = read_utf8(Path(path), "read_gmt")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = (field.strip() for field in line.split("\t"))
        genes = tuple(dict.fromkeys(gene for gene in rest[1:] if gene))
        if not name or not genes:
            raise ValueError(
                f"read_gmt: line {number} of {Path(path).name} must have a name, a description and "
                f"genes, separated by tabs, got {line[:60]!r}."
            )
        if name in sets:
            raise ValueError(f"read_gmt: {Path(path).name} has the set {name!r} twice.")
        sets[name] = genes
    if not sets:
        raise ValueError(f"read_gmt: {Path(path).name} must have a gene set, got none.")
    return sets


# --- positions on a genome ------------------------------------------------------------------------

UNPLACED = "0"
"""Chromosome of variants whose place is not known, as PLINK writes it."""

# Chromosomes after the numbered ones, in the order of PLINK.
_LETTERS = ("x", "y", "xy", "m", "mt")


@dataclass(frozen=True, eq=False)
class Positions:
    """Chromosome and position of p features.

    Attributes
    ----------
    chromosomes : tuple of str
        The chromosomes, in the order of the genome: numbers, X, Y, XY, MT, others, then features
        without a place.
    chromosome : int64 array of shape (p,)
        Chromosome of each feature, as its index in `chromosomes`.
    position : int64 array of shape (p,)
        Position of each feature in base pairs.

    Examples
    --------
    >>> Positions.of({"chromosome": ["10", "2"], "position": [5, 7]}, ("a", "b"), "example")
    Positions(chromosomes=('2', '10'), chromosome=array([1, 0]), position=array([5, 7]))
    """

    chromosomes: tuple[str, ...]
    chromosome: IntArray
    position: IntArray

    @classmethod
    def of(cls, source: Any, names: Sequence[str], function: str) -> Positions:
        """Read the positions of features from a table.

        Parameters
        ----------
        source : table, mapping, ColumnStore or Positions
            With columns ``chromosome`` and ``position``, one row a feature: by ``name`` if there
            is such a column, else in the order of `names`; null for a feature without a place. Of
            a store, its `variants`.
        names : sequence of str
            The p features.
        function : str
            Who asks, for errors.

        Raises
        ------
        TypeError
            If `source` is no table.
        ValueError
            If a column or a feature is missing, or a position is no whole number.
        """
        if isinstance(source, Positions):
            return source
        if hasattr(source, "variants"):
            source = source.variants
            if source is None:
                raise ValueError(
                    f"{function}: positions of the columns of this store are not known. Hint: a "
                    "store packed from a PLINK file has them."
                )
        table = pa.table(dict(source)) if isinstance(source, dict) else as_arrow(source)
        titles = () if table is None else table.column_names
        if table is None or not {"chromosome", "position"} <= set(titles):
            came = ", ".join(map(quoted, titles[:10])) or type(source).__name__
            raise (TypeError if table is None else ValueError)(
                f"{function}: positions must be a table with columns chromosome and position, got "
                f"{came}."
            )
        index = np.arange(len(names))
        if "name" in titles:
            place = {name: row for row, name in enumerate(table.column("name").to_pylist())}
            lacking = next((name for name in names if name not in place), None)
            if lacking is not None:
                raise ValueError(f"{function}: positions lack the feature {quoted(lacking)}.")
            index = np.array([place[name] for name in names], dtype=np.int64)
        elif len(table) != len(names):
            raise ValueError(
                f"{function}: positions must have a row for each of {len(names)} features, or a "
                f"column name; got {len(table)} rows."
            )
        places = table.column("position").fill_null(0).to_numpy(zero_copy_only=False)
        if not np.issubdtype(places.dtype, np.integer):
            raise ValueError(
                f"{function}: positions must be whole numbers of base pairs, got "
                f"{table.column('position').type}."
            )
        words = [
            UNPLACED if name is None else str(name) for name in table["chromosome"].to_pylist()
        ]
        ordered = sorted({words[row] for row in index.tolist()}, key=_key)
        rank = {name: i for i, name in enumerate(ordered)}
        codes = [rank[words[row]] for row in index.tolist()]
        return cls(tuple(ordered), np.array(codes, np.int64), places[index].astype(np.int64))

    @cached_property
    def placed(self) -> BoolArray:
        """True where the place of a feature is known; shape (p,)."""
        on_chromosome = np.array(
            [chromosome != UNPLACED for chromosome in self.chromosomes], dtype=np.bool_
        )
        return on_chromosome[self.chromosome] & (self.position > 0)

    @cached_property
    def order(self) -> IntArray:
        """Indices of the features along the genome; shape (p,)."""
        return np.lexsort((self.position, self.chromosome))

    def near(self, left: IntArray, right: IntArray, distance: int) -> BoolArray:
        """Return whether features lie within `distance` base pairs on a chromosome.

        `left` and `right` are indices of features; the result has shape (len(left), len(right)).
        """
        same = self.chromosome[left][:, None] == self.chromosome[right]
        apart = np.abs(self.position[left][:, None] - self.position[right])
        placed = self.placed[left][:, None] & self.placed[right]
        near: BoolArray = same & placed & (apart <= distance)
        return near


def _key(chromosome: str) -> tuple[int, int, str]:
    """Return the sort key of a chromosome."""
    if chromosome == UNPLACED:
        return 3, 0, chromosome
    plain = re.sub(r"^chr", "", chromosome, flags=re.IGNORECASE).lower()
    if plain.isdecimal():
        return 0, int(plain), chromosome
    if plain in _LETTERS:
        return 1, _LETTERS.index(plain), chromosome
    return 2, 0, chromosome
