"""Options that only commands have: where results go, what is shown, which workers do the work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MOST_WORKERS = 1024


@dataclass(frozen=True, kw_only=True)
class Output:
    """Folder of the results, and what of them is shown.

    Parameters
    ----------
    out : path
        Folder for the results.
    spreadsheet_safe : bool
        Put an apostrophe before text in result.csv that a spreadsheet would evaluate as a formula,
        such as names that begin with =, +, - or @.
    xlsx : bool
        Also write the results to result.xlsx, where no text is evaluated as a formula.
    json : bool
        Print one JSON object in place of the tables: the conclusion, the files, the record of the
        run and the first rows of the results.
    quiet : bool
        Print errors only.
    top : int
        Number of rows to show in the terminal, at most 1000.
    """

    out: Path
    spreadsheet_safe: bool = False
    xlsx: bool = False
    json: bool = False
    quiet: bool = False
    top: int = 20

    def check(self, command: str) -> None:
        """Check the options, and that the package that writes workbooks is there if it is needed.

        Raises
        ------
        ValueError, ModuleNotFoundError
            If not.
        """
        if self.top < 0:
            raise ValueError(f"--top must be 0 or more, got {self.top}")
        if self.xlsx:
            from duramen.io.formats.excel import require_writer

            require_writer(f"duramen {command}: --xlsx")


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Workers of a cluster, in place of the parameter `client` of an analysis.

    Parameters
    ----------
    scheduler : str, optional
        Address of a Dask scheduler, such as tcp://192.0.2.1:8786, or the .json file that it writes:
        its workers grow the forests. The result does not depend on it.
    workers : int, optional
        Number of worker processes to start on this machine, from 1 to 1024, which divide the
        threads of --n-jobs; by default, threads of one process do the work. The result does not
        depend on it.
    """

    scheduler: str | None = None
    workers: int | None = None

    def check(self) -> None:
        """Check that the number of workers is one."""
        if self.workers is not None and not 1 <= self.workers <= _MOST_WORKERS:
            raise ValueError(
                f"--workers must be a number from 1 to {_MOST_WORKERS}, got {self.workers}"
            )
