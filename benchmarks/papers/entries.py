"""Entries: a table or a number of a paper, and the verdicts on its values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

# Largest rounding error: a value that is a multiple of a unit but for it is not cut below it.
ROUNDING = 1e-9
# Documents by name, and the number that begins the name of the file with their text.
DOCUMENTS = {"slides": "000", "Louppe": "001", "Paul": "002", "SRS": "003", "thesis": "004"}
# Folder of a data set, and its source. A folder holds data.parquet with a column y, as GitHub's
# ramhiser/datamicroarray and jundongl/scikit-feature have the values.
DATA = {
    "shipp-dlbcl": "Shipp et al. (2002), GitHub ramhiser/datamicroarray",
    "golub-leukemia": "Golub et al. (1999), GitHub ramhiser/datamicroarray",
    "lymphoma": "Alizadeh et al. (2000), 22 and 23 samples of 4026 genes",
    "prostate": "Singh et al. (2002), 52 and 50 samples of 6033 genes",
    "arcene": "NIPS 2003 challenge, UCI; GitHub jundongl/scikit-feature",
    "madelon": "NIPS 2003 challenge, UCI; GitHub jundongl/scikit-feature",
    "tcga-gbm-verhaak840": "Verhaak et al. (2010), supplement of TCGA",
    "tcga-gbm-tcr": "32 genes of T-cell receptor signaling (Reactome) of TCGA's glioblastomas",
    "chalearn-fluorescence": "connectomics challenge 2014, Kaggle",
    "chalearn-topology": "connectomics challenge 2014, GitHub orlandi/connectomicsPCV",
}


def decimals(printed: str) -> int:
    """Return the number of digits after the decimal point, without an exponent."""
    return len(printed.partition("e")[0].partition(".")[2])


@dataclass(frozen=True)
class Value:
    """A printed value and ours.

    Attributes
    ----------
    what : str
        What it is of, such as a feature.
    printed : str
        As in the paper; no other number of these modules is typed in.
    ours : float
        The same, computed here.
    how : {"rounded", "cut", "above"}
        How the digits were printed; "above" for the largest power of ten that is exceeded.
    error : float
        Largest difference by chance, where the printed value is of a finite forest or sample.
    tolerance : float
        Largest difference that is allowed, where data or settings are not those of the paper; a
        larger one is by chance if it is within `error`.
    erratum : str
        Anchor in docs/errata.md, where the printed value is wrong.
    corrected : str
        The value that is right there, printed in the same way.
    exception : str
        Anchor of the documentation that explains why the value is not the printed one; then it has
        to differ.
    needs : str
        Folder of the data set that the value is of, if it is absent; then nothing is compared.
    """

    what: str
    printed: str
    ours: float
    how: Literal["rounded", "cut", "above"] = "rounded"
    error: float = 0.0
    tolerance: float = 0.0
    erratum: str = ""
    corrected: str = ""
    exception: str = ""
    needs: str = ""

    def agrees(self, printed: str | None = None) -> bool:
        """Tell whether our value agrees with a printed value, by default the corrected one.

        Where an exception is documented, it has to be another one.
        """
        if self.needs:
            return True
        return math.isfinite(self.ours) and self.matches(printed) is not bool(self.exception)

    def matches(self, printed: str | None) -> bool:
        """Tell whether our value is a printed one."""
        wanted = printed or self.corrected or self.printed
        number, digits = float(wanted), decimals(wanted)
        if self.how == "above":
            return number < self.ours < 10 * number
        if self.error or self.tolerance:
            return self.within(number) or abs(self.ours - number) <= self.error + 10.0**-digits
        unit = 10.0 ** int(wanted.partition("e")[2] or 0)
        return self.shown(digits, unit) == f"{number / unit:.{digits}f}"

    def within(self, printed: float) -> bool:
        """Tell whether our value is within the tolerance of a printed one."""
        return abs(self.ours - printed) <= self.tolerance + ROUNDING

    def shown(self, digits: int, unit: float = 1.0) -> str:
        """Return our value with a number of digits, cut or rounded as in the paper."""
        value = self.ours / unit
        if self.how == "cut":
            value = math.trunc(value * 10**digits + math.copysign(ROUNDING, value)) / 10**digits
        return f"{value + 0.0:.{digits}f}"

    def verdict(self) -> str:
        """Return the word in the table."""
        if not self.agrees():
            return "DIFFERS"
        if self.exception:
            return f"differs: [why]({self.exception})"
        if self.erratum:
            return f"as [corrected](errata.md#{self.erratum}): {self.corrected}"
        if self.tolerance and self.within(float(self.printed)):
            return f"within {self.tolerance:g}"
        if self.error:
            return "within chance"
        return "as printed" if "e" in self.printed else "equal"


@dataclass(frozen=True)
class Claim:
    """A statement of the text or of a drawing, where no value is printed.

    Attributes
    ----------
    what : str
        Quantity, such as a difference of two scores.
    ours : float
        Its value, computed here.
    relation : {">", "<"}
        How it is to compare with `bound`.
    bound : float
        Bound, read off the drawing or the text.
    exception : str
        Anchor of the documentation that explains why the statement does not hold here; then its
        opposite has to.
    """

    what: str
    ours: float
    relation: Literal[">", "<"]
    bound: float
    exception: str = ""

    def agrees(self) -> bool:
        """Tell whether the statement holds, or its opposite where an exception is documented."""
        above, below = self.ours > self.bound, self.ours < self.bound
        return above if (self.relation == ">") is not bool(self.exception) else below

    def verdict(self) -> str:
        """Return the word in the table."""
        if not self.agrees():
            return "DIFFERS"
        return f"does not hold: [why]({self.exception})" if self.exception else "holds"


@dataclass(frozen=True)
class Scale:
    """Size at which entries that take long are computed.

    Attributes
    ----------
    data : Path
        Folder of the data sets.
    size : {"tiny", "default", "full"}
        Tiny for tests, default for a run of minutes, full for the sizes of the paper.
    n_jobs : int
        Threads.
    """

    data: Path
    size: Literal["tiny", "default", "full"] = "default"
    n_jobs: int = 1

    def of(self, tiny: Any, default: Any, full: Any = None) -> Any:
        """Return the value for the size; the default value also for the full size unless given."""
        return {"tiny": tiny, "default": default, "full": default if full is None else full}[
            self.size
        ]


@dataclass(frozen=True)
class Entry:
    """A table or number of a paper.

    Attributes
    ----------
    name : str
        For the command line.
    title : str
        What it shows.
    source : str
        Paper, table or equation.
    lines : tuple of (str, int, int), optional
        Document (of `DOCUMENTS`), first and last line of its text between which each printed value
        stands; of those whose values are printed.
    values : callable
        Computes the values; of entries that take long, from what `compute` returned.
    exact : bool
        Whether every printed digit is compared: a change of the last one would be noticed.
    compute : callable, optional
        Of entries that take long: computes a result that JSON can hold, at a `Scale`.
    draw : callable, optional
        Draws the figure from the same result, or without one, on a matplotlib figure.
    figure : tuple
        Width and height of the figure in inches.
    note : str
        Settings, and what differs from the paper.
    tolerance : str
        Why printed values are not compared digit by digit.
    needs : tuple of str
        Folders of the data sets (of `DATA`) that `compute` reads.
    full_needs : tuple of str
        Folders that it reads besides at full size.
    """

    name: str
    title: str
    source: str
    values: Callable[..., Iterable[Value | Claim]]
    exact: bool = True
    compute: Callable[[Scale], Any] | None = None
    draw: Callable[..., None] | None = None
    figure: tuple[float, float] = (9.0, 3.2)
    note: str = ""
    lines: tuple[str, int, int] | None = None
    tolerance: str = ""
    needs: tuple[str, ...] = ()
    full_needs: tuple[str, ...] = ()

    def absent(self, scale: Scale, results: Path | None = None) -> tuple[str, ...]:
        """Return the folders of data without which the entry cannot be computed."""
        if results is not None and (results / f"{self.name}.json").exists():
            return ()
        needs = (*self.needs, *(self.full_needs if scale.size == "full" else ()))
        return tuple(name for name in needs if not (scale.data / name).exists())

    def outcome(self, scale: Scale, results: Path | None = None) -> tuple[Any, ...]:
        """Return the arguments of `values` and `draw`, read from the folder if present."""
        if self.compute is None:
            return ()
        file = None if results is None else results / f"{self.name}.json"
        if file is not None and file.exists():
            return (json.loads(file.read_text(encoding="utf-8")),)
        text = json.dumps(self.compute(scale), indent=None, separators=(",", ":"))
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        return (json.loads(text),)


def row(
    what: str,
    printed: str,
    ours: Sequence[float],
    labels: Sequence[str],
    how: Literal["rounded", "cut"] = "rounded",
) -> list[Value]:
    """Return the values of a row of a table, printed with spaces between them."""
    texts = printed.split()
    return [
        Value(f"{what}, {label}".strip(", "), text, float(number), how)
        for text, number, label in zip(texts, ours, labels, strict=True)
    ]


def equality(what: str, ours: Any, formula: Any) -> Claim:
    """Return the statement that values equal a formula, up to rounding errors."""
    apart = float(np.abs(np.subtract(ours, formula)).max())
    return Claim(f"{what}, largest difference", apart, "<", ROUNDING)
