"""PLINK 2 and BGEN files as pgenlib and bgen read them, for `NativeReader`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 22  # bytes of a part of an array
_LINES = 1 << 10  # variants that are described together


class Pgen:
    """Dosages of a .pgen file."""

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
    """Variants and expected copies of a .bgen file."""

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
