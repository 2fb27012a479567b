"""Files that appear whole or not at all."""

import errno
import io
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[io.BufferedWriter]:
    """Open a file beside `path` for writing bytes; at the end it takes the place of `path`.

    Where anything goes wrong on the way, Ctrl-C included, it is removed and `path` left as it was.

    Raises
    ------
    OSError
        With the name of `path`, if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with naming(path):
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


@contextmanager
def naming(path: Path, work: Path | None = None) -> Iterator[None]:
    """Name `path` in the system's errors about writing there, some of which name no file.

    Parameters
    ----------
    path : Path
        What is written, as the user knows it.
    work : Path, optional
        Folder in which it is made; errors about files elsewhere stay as they are.
    """
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        elsewhere = error.filename is not None and not str(error.filename).startswith(str(work))
        if error.errno is None or (work is not None and elsewhere):
            raise
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some space, or name another place" if full else "name another place"
        raise type(error)(
            f"{path} cannot be written ({os.strerror(error.errno)}); {hint}"
        ) from None


def unfinished(path: Path, suffix: str = "part") -> list[Path]:
    """Return what writers of `path` that were killed left beside it: ``.NAME.8digits.SUFFIX``."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.{suffix}")
    parent = path.absolute().parent
    return sorted(entry for entry in parent.iterdir() if pattern.fullmatch(entry.name))
