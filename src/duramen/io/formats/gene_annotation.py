"""Columns of matrices with features in rows that describe the features, not samples."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duramen.support.text import quoted
from duramen.support.warning import warn

_SIGNS = re.compile(r"[^a-z0-9]")
# Names without case and signs: of featureCounts, HTSeq, RSEM, GCT files, biomaRt and the like.
_DESCRIBING = frozenset(
    (
        *("chr", "chrom", "chromosome", "seqname", "seqnames", "start", "end"),
        *("stop", "strand", "width", "length", "effectivelength", "genelength", "symbol"),
        *("genesymbol", "hgncsymbol", "name", "genename", "gene", "genes", "geneid"),
        *("genebiotype", "biotype", "genetype", "genedescription", "description", "desc", "entrez"),
        *(
            "entrezid",
            "entrezgeneid",
            "ensembl",
            "ensemblid",
            "ensemblgeneid",
            "transcriptid",
            "transcriptids",
        ),
        *("refseq", "unigene", "probeid", "cytoband", "locus"),
    )
)


def describing(names: Sequence[str]) -> int:
    """Return how many of the first columns, that of the names left out, describe the features.

    Examples
    --------
    >>> from duramen.io.formats.gene_annotation import describing
    >>> describing(["Chr", "Start", "End", "Strand", "Length", "a.bam", "b.bam"])
    5
    """
    count = 0
    while count < len(names) and _SIGNS.sub("", names[count].lower()) in _DESCRIBING:
        count += 1
    return count if count < len(names) else 0


def warn_of(names: Sequence[str], file: str, function: str) -> None:
    """Warn of columns that were left out, if there are any."""
    if names:
        what = "describes the rows and was" if len(names) == 1 else "describe the rows and were"
        warn(f"{function}: {', '.join(map(quoted, names))} of {file} {what} left out")
