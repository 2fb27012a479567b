"""Weight of one call of `duramen.rank`: functions, files, kinds of dataclass, frames.

``python tools/weight.py`` runs `duramen.rank` on 200 rows of 6 features and prints how many
functions of the package it enters, of how many files, how many kinds of dataclass it builds, and
how many frames of the package lie between the call and the kernel, at the most.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import duramen as dm

PACKAGE = str(Path(dm.__file__).parent)


def weigh() -> dict[str, int]:
    """Return the weight of the call, by the kind of its parts."""
    data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    dm.rank(data.X, data.y, n_jobs=1)  # imports are not counted
    entered: set[tuple[str, int]] = set()
    built: set[type] = set()
    deepest = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        code = frame.f_code
        if code.co_name not in ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>"):
            entered.add((code.co_filename, code.co_firstlineno))
        if "_kernel" in code.co_names:
            depth, above = 0, frame
            while above is not None:
                depth += above.f_code.co_filename.startswith(PACKAGE)
                above = above.f_back  # type: ignore[assignment]
            deepest = max(deepest, depth)

    kinds = {
        cls
        for module in [*sys.modules.values()]
        for cls in vars(module).values()
        if getattr(module, "__name__", "").startswith("duramen")
        and isinstance(cls, type)
        and dataclasses.is_dataclass(cls)
    }
    before = {cls: cls.__init__ for cls in kinds if "__init__" in vars(cls)}
    for cls, init in before.items():

        def counted(self: Any, *words: Any, _of: Any = (cls, init), **values: Any) -> None:
            built.add(_of[0])
            _of[1](self, *words, **values)

        cls.__init__ = counted  # type: ignore[method-assign]
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        dm.rank(data.X, data.y, n_jobs=1)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        for cls, init in before.items():
            cls.__init__ = init  # type: ignore[method-assign]
    return {
        "functions": len(entered),
        "files": len({file for file, _ in entered}),
        "kinds of dataclass": len(built),
        "frames above the kernel": deepest,
    }


if __name__ == "__main__":
    for what, number in weigh().items():
        print(f"{number:6}  {what}")
