"""HDF5 files, read with h5py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


@contextmanager
def opened(path: Path, function: str, what: str) -> Iterator[Any]:
    """Open a file that refers to no other, and close it.

    Raises
    ------
    ValueError
        If it is no such file, is damaged, or refers to another file.
    ModuleNotFoundError
        If h5py is not installed.
    """
    with explained(path, function, what), h5py_for(path, function).File(path, "r") as file:
        check_links(file)
        yield file


def h5py_for(path: Path, function: str) -> Any:
    """Return h5py.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with the extra that installs it.
    """
    try:
        return import_module("h5py")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{function}: reading {path.name} needs the package h5py; pip install duramen[anndata]"
        ) from None


@contextmanager
def explained(path: Path, function: str, what: str) -> Iterator[None]:
    """Turn whatever h5py raises about a file into a ValueError that names the file.

    A damaged file can raise errors of nearly any kind, from h5py and from what it returns.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise
    except (Exception, RecursionError, MemoryError) as error:
        text = " ".join(str(error).split())
        if isinstance(error, ValueError) and text.startswith(f"{function}: "):
            raise
        raise ValueError(
            f"{function}: {path} is not {what} file, or is damaged ({text[:300]})"
        ) from None


def check_links(group: Any) -> None:
    """Check that everything in a group lies in its own file.

    Raises
    ------
    ValueError
        If a link or the storage of an array leads to another file.
    """
    h5py: Any = import_module("h5py")
    for name in group:
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise ValueError(f"{name} of {group.name} is a link to another file")
        if not isinstance(link, h5py.HardLink):
            continue  # a soft link: what it leads to is checked where it lies
        node = group[name]
        if isinstance(node, h5py.Group):
            check_links(node)
        elif isinstance(node, h5py.Dataset) and (node.external or node.is_virtual):
            raise ValueError(f"{node.name} keeps its values in another file")
