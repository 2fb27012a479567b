"""Files that keep what is done of a long run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from duramen.analyses.execution import Execution
from duramen.cli.console import notes
from duramen.cli.wording import OPTIONS


def writable(checkpoint: Path | None) -> Path | None:
    """Return the path of ``--checkpoint`` once a file can be written there, else raise OSError."""
    if checkpoint is None:
        return None
    from duramen.support.files import expanded

    checkpoint = expanded(checkpoint)
    if checkpoint.is_dir():
        raise IsADirectoryError(f"--checkpoint {checkpoint} is a folder; name a file")
    check_parent(f"--checkpoint {checkpoint}", checkpoint.absolute().parent, checkpoint.parent)
    if checkpoint.exists() and not os.access(checkpoint, os.R_OK):
        raise PermissionError(f"--checkpoint {checkpoint} cannot be read; name another file")
    return checkpoint


def check_parent(owner: str, parent: Path, shown: Path) -> None:
    """Check that a file or folder can be made in a folder, which the user wrote as `shown`."""
    if not parent.is_dir():
        raise FileNotFoundError(f"{owner} is in {shown}, which does not exist; create that folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{owner} lies in {parent}, which is not writable; choose another folder"
        )


@contextmanager
def keeping(files: Callable[[], Sequence[Path]], quiet: bool) -> Iterator[None]:
    """Say which files keep what is done, where a stop ends the work."""

    def tell(text: str) -> None:
        notes([text], quiet)

    with Execution(tell=tell, wording=OPTIONS).keeping(files):
        yield
