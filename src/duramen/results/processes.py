"""Processes that end with the one that started them."""

from __future__ import annotations

import os
import threading
import time

_SECONDS = 1.0  # between two looks


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a chance to say so."""
    if hasattr(os, "getppid"):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)
