"""Uniqueness of very many names, in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

_SHOWN = 5


class Repeats:
    """Notices names that come twice: eight bytes for each of them.

    Only those whose hashes agree are compared, which takes a second look at all of them.
    """

    def __init__(self) -> None:
        self._hashes = array("q")

    def see(self, names: Iterable[bytes]) -> None:
        """Take note of names."""
        self._hashes.extend(map(hash, names))

    def among(self, names: Iterable[bytes]) -> list[bytes]:
        """Return the names that came more than once, `names` being all of them once more."""
        hashes = np.sort(np.frombuffer(self._hashes, dtype=np.int64)) if self._hashes else None
        if hashes is None or not (suspects := set(hashes[1:][np.diff(hashes) == 0].tolist())):
            return []
        seen: set[bytes] = set()
        repeated: dict[bytes, None] = {}
        for name in names:
            if hash(name) in suspects:
                if name in seen:
                    repeated[name] = None
                seen.add(name)
        return list(repeated)


def repetition(repeated: list[bytes], where: str, function: str, hint: str) -> ValueError:
    """Return the error for names that came more than once."""
    shown = ", ".join(repr(name.decode("utf-8", "replace")) for name in repeated[:_SHOWN])
    more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
    return ValueError(
        f"{function}: {where} has more than one column named {shown}{more}; column names must "
        f"be unique. Hint: {hint}"
    )
