"""Program that reads a workbook in a process of its own: ``python -P workbook_process.py``.

The native reader ends its process where a damaged or huge workbook asks for more memory than there
is. This file imports nothing of the package, so that the process starts at once. Arguments: the
paths of modules and the path of the workbook, as JSON, and the bytes of memory that it may take.
Standard input and output hold pickles: the names of the sheets go out, the name of one comes in,
then its rows go out, some at a time, until an empty list; in place of any of them, the text of an
error.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import signal
import sys
from typing import IO, Any

_CELLS = 1 << 16  # that are sent at a time


def main() -> None:
    """Answer on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    modules, path, memory = json.loads(sys.argv[1])
    out = sys.stdout.buffer
    try:
        _limit(memory)
        sys.path[:] = modules
        _send(path, sys.stdin.buffer, out)
    except BaseException as error:  # a panic of the reader is no Exception
        _dump(f"{error}" or type(error).__name__, out)


def _limit(memory: int | None) -> None:
    """Limit the memory of this process; some systems cannot."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if memory is not None and (hard == resource.RLIM_INFINITY or memory < hard):
            resource.setrlimit(resource.RLIMIT_AS, (memory, hard))


def _send(path: str, asked: IO[bytes], out: IO[bytes]) -> None:
    import python_calamine

    book = python_calamine.load_workbook(path)
    _dump(book.sheet_names, out)
    name, skipped = pickle.load(asked)
    sheet = book.get_sheet_by_name(name)
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
            _dump(rows, out)
            rows, cells = [], 0
    if rows:
        _dump(rows, out)
    _dump([], out)


def _dump(value: object, out: IO[bytes]) -> None:
    pickle.dump(value, out, protocol=pickle.HIGHEST_PROTOCOL)
    out.flush()


if __name__ == "__main__":
    main()
