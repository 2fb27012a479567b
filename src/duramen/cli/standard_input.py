"""Standard input in place of a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from duramen.cli.console import unseen

STANDARD_INPUT = "/dev/stdin"
_NAME = "standard-input"
_BLOCK = 1 << 20


@contextmanager
def received(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the values of options with a file in place of standard input, if that is FILE.

    The file lies in a folder that is removed in the end; its ending is that of the format which its
    first bytes tell.

    Raises
    ------
    ValueError
        If nothing comes.
    """
    file = values.get("file")
    if str(file) != STANDARD_INPUT:
        yield dict(values)
        return
    from duramen.io.formats import suffix_of

    stream = sys.stdin.buffer
    head = stream.read(_BLOCK)
    if not head:
        raise ValueError("FILE is -, standard input, and nothing came from there")
    with TemporaryDirectory(prefix="duramen-") as folder:
        path = Path(folder) / f"{_NAME}{suffix_of(head)}"
        with open(path, "wb") as copy:
            while head:
                copy.write(head)
                head = stream.read(_BLOCK)
        unseen.add(f"{folder}{os.sep}")
        yield {**values, "file": str(path) if isinstance(file, str) else path}
