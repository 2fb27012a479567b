"""Paths as users write them."""

import os
from pathlib import Path


def expanded(path: str | os.PathLike[str], function: str | None = None) -> Path:
    """Return a path with its ``~`` or ``~user`` replaced by the home of that user.

    Raises
    ------
    FileNotFoundError
        If there is no such user; it begins with the name of the function.

    Examples
    --------
    >>> from duramen.results.paths import expanded
    >>> expanded("tables/ages.csv").name
    'ages.csv'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = Path(path).parts[0]
        before = "" if function is None else f"{function}: "
        raise FileNotFoundError(
            f"{before}{path}: the home of {user} is not known; write the path without {user}"
        ) from None
