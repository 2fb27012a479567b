"""Files as native libraries read them, for `NativeReader`: each in a process of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 22  # bytes of a part of an array
_CELLS = 1 << 16  # of a workbook, in a part
_LINES = 1 << 10  # variants that are described together
_ATTRIBUTES = ("encoding-type", "shape", "_index", "column-order", "ordered")  # of AnnData files


class Hdf5File:
    """Groups and arrays of an HDF5 file that refers to no other, as h5py reads them."""

    def __init__(self, path: str) -> None:
        self._h5py: Any = import_module("h5py")
        self._file = self._h5py.File(path, "r")

    def check_links(self) -> Iterator[None]:
        """Check that every array lies in this file; yield after each link.

        Raises
        ------
        ValueError
            If a link or the storage of an array leads to another file.
        """
        h5py = self._h5py
        groups, seen = [self._file], set()
        while groups:
            group = groups.pop()
            address = h5py.h5o.get_info(group.id).addr
            if address in seen:
                continue
            seen.add(address)
            for name in group:
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.ExternalLink):
                    raise ValueError(f"{name} of {group.name} is a link to another file")
                if not isinstance(link, h5py.HardLink):
                    continue  # a soft link: what it leads to is checked where it lies
                node = group[name]
                if isinstance(node, h5py.Group):
                    groups.append(node)
                elif isinstance(node, h5py.Dataset) and (node.external or node.is_virtual):
                    raise ValueError(f"{node.name} keeps its values in another file")
                yield None

    def node(self, name: str) -> Iterator[dict[str, Any] | None]:
        """Yield the description of a group or an array; None if there is none."""
        if name not in self._file:
            yield None
            return
        node = self._file[name]
        # References and values of other types of h5py do not reach the other process.
        attributes = {key: node.attrs[key] for key in _ATTRIBUTES if key in node.attrs}
        plain = (str, bytes, np.ndarray, np.generic)
        described: dict[str, Any] = {
            "attrs": {key: of for key, of in attributes.items() if isinstance(of, plain)}
        }
        if isinstance(node, self._h5py.Dataset):
            described["shape"], described["chunks"] = node.shape or (), node.chunks
            described["dtype"] = _plain_type(node.dtype)
        else:
            described["names"] = list(node)
        yield described

    def matrices(self) -> Iterator[list[str]]:
        """Yield the list of arrays of two dimensions."""
        names: list[str] = []
        self._file.visititems(
            lambda name, node: names.append(name) if getattr(node, "ndim", 0) == 2 else None
        )
        yield names

    def read(self, name: str, bounds: Sequence[tuple[int, int]]) -> Iterator[NDArray[Any]]:
        """Yield a block of an array, some of its rows at a time; a row of chunks is read once."""
        array = self._file[name]
        (begin, end), *others = bounds
        inner = tuple(slice(*bound) for bound in others)
        tall = array.chunks[0] if array.chunks else 1
        row = array.dtype.itemsize * prod(last - first for first, last in others)
        height = max(_PART // max(1, row) // tall, 1) * tall
        kind = _plain_type(array.dtype)
        for top in range(begin - begin % tall, end, height):
            part = array[max(top, begin) : min(top + height, end), *inner]
            yield part.astype(kind, copy=kind.hasobject)


def _plain_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type without what h5py notes in it."""
    if kind.names is None:
        return np.dtype(kind.str) if kind.subdtype is None else kind
    fields = [_plain_type(kind[name]) for name in kind.names]
    return np.dtype(list(zip(kind.names, fields, strict=True)))


class Workbook:
    """Sheets of a workbook, as python-calamine reads them."""

    def __init__(self, path: str) -> None:
        _check_parts(path)
        self._book: Any = import_module("python_calamine").load_workbook(path)

    def sheets(self) -> Iterator[list[str]]:
        """Yield the list of names."""
        yield self._book.sheet_names

    def rows(self, name: str, skipped: int) -> Iterator[list[list[Any]]]:
        """Yield the rows of a sheet that have a cell, but for the first `skipped` rows."""
        sheet = self._book.get_sheet_by_name(name)
        width = sheet.width  # of the columns that are used; some versions give those before, too
        first = sheet.start[0] if sheet.start else 0
        at = -1  # number of the row; some versions begin with the first that is used
        rows: list[list[Any]] = []
        cells = 0
        for row in sheet.iter_rows() if sheet.start else ():
            used = any(cell != "" for cell in row)
            at = at + 1 if at >= 0 else first if used else at
            if used and at >= skipped:
                rows.append(row[-width:])
                cells += len(row)
            if cells > _CELLS:
                yield rows
                rows, cells = [], 0
        yield rows


def _check_parts(path: str) -> None:
    """Check the checksums of the parts of a workbook; its reader stops before those of some.

    Raises
    ------
    ValueError
        If the content of a part is not what was written.
    """
    if not zipfile.is_zipfile(path):  # as an .xls file
        return
    with suppress(NotImplementedError, RuntimeError), zipfile.ZipFile(path) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"the content of its part {name} does not fit its checksum")


class Pgen:
    """Dosages of a .pgen file, as pgenlib reads them."""

    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, n_samples: int, allele_offsets: NDArray[np.uintp] | None) -> Iterator[int]:
        """Open the file, and yield its number of variants."""
        pgenlib: Any = import_module("pgenlib")
        several = {} if allele_offsets is None else {"allele_idx_offsets": allele_offsets}
        self._n_samples = n_samples
        self._reader = pgenlib.PgenReader(self._path.encode(), raw_sample_ct=n_samples, **several)
        yield int(self._reader.get_variant_ct())

    def copies(self, begin: int, end: int) -> Iterator[NDArray[Any]]:
        """Yield the copies of the reference allele, negative where missing, by variant.

        Whole numbers come in a byte each, which takes a quarter of the time to send.
        """
        height = max(1, _PART // (4 * self._n_samples))
        for first in range(begin, end, height):
            last = min(first + height, end)
            part = np.empty((last - first, self._n_samples), dtype=np.float32)
            self._reader.read_dosages_range(first, last, part, allele_idx=0)
            whole = part.astype(np.int8)
            yield whole if np.array_equal(whole, part) else part


class Bgen:
    """Variants and expected copies of a .bgen file, as bgen reads them."""

    def __init__(self, path: str) -> None:
        self._reader: Any = import_module("bgen").BgenReader(path)
        self._n_samples = int(self._reader.header.nsamples)

    def size(self) -> Iterator[tuple[int, int]]:
        """Yield the numbers of variants and samples."""
        yield len(self._reader), self._n_samples

    def samples(self) -> Iterator[list[str] | None]:
        """Yield the list of names of samples; None if the file has none."""
        yield list(self._reader.samples) if self._reader.header.has_sample_ids else None

    def variants(self) -> Iterator[list[tuple[str, str, int, list[str]]]]:
        """Yield lists of name, chromosome, position and alleles."""
        variants = map(self._reader.__getitem__, range(len(self._reader)))
        while some := list(islice(variants, _LINES)):
            yield [(v.rsid or v.varid, v.chrom, v.pos, list(v.alleles)) for v in some]

    def copies(self, begin: int, end: int) -> Iterator[NDArray[np.float64]]:
        """Yield the expected copies of other alleles than the first, by variant."""
        height = max(1, _PART // (8 * self._n_samples))
        for first in range(begin, end, height):
            numbers = range(first, min(first + height, end))
            part = np.empty((len(numbers), self._n_samples))
            for row, number in zip(part, numbers, strict=True):
                variant = self._reader[number]
                two = len(variant.alleles) == 2
                row[:] = variant.alt_dosage if two else self._others(variant)
            yield part

    def _others(self, variant: Any) -> NDArray[np.float64]:
        """Return the expected copies of other alleles than the first, of a variant of several."""
        chances, count = variant.probabilities, len(variant.alleles)
        if np.any(variant.ploidy != 2):
            raise ValueError(
                f"variant {variant.rsid} has {count} alleles and samples that are not diploid; "
                "split it, for example with bcftools norm -m -"
            )
        if variant.is_phased:
            of_haplotypes = chances.reshape(self._n_samples, 2, count)
            return np.asarray(2.0 - of_haplotypes[:, :, 0].sum(axis=1))
        # The genotypes are in the order (0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2), ...
        others = [(a > 0) + (b > 0) for b in range(count) for a in range(b + 1)]
        return np.asarray(chances @ np.array(others, dtype=float))
