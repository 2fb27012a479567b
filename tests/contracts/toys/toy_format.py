"""A file format in one file: columns named in the first line, words between spaces."""

from pathlib import Path

import pyarrow as pa

from duramen.io import Format, Request


def read_toy(path: Path, request: Request) -> pa.Table:
    """Read the numbers of a file whole."""
    head, *rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    if any(len(row) != len(head) for row in rows):
        raise ValueError(f"{request.function}: {path} is not a toy file")
    return pa.table(dict(zip(head, map(_numbers, zip(*rows, strict=True)), strict=True)))


def _numbers(words: tuple[str, ...]) -> pa.Array:
    return pa.array([float(word) for word in words])


TOY = Format("toy", "Toy", (".toy", ".plaything"), read=read_toy)
