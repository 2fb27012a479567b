"""The file of pins: the digest of each case, with a few of its values for the reader."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.contracts.digests import digest, head
from tests.contracts.registry import Case

PINNED = Path(__file__).with_name("pinned.json")


def computed(case: Case) -> dict[str, Any]:
    """Compute a case: its digest and its first values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words, which may change
        result = case.compute()
    return {"digest": digest(result), "head": head(result)}


def pinned() -> dict[str, dict[str, Any]]:
    """Read the pins."""
    if not PINNED.is_file():
        return {}
    read: dict[str, dict[str, Any]] = json.loads(PINNED.read_text(encoding="utf-8"))
    return read


def write(pins: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the pins, one a line, in the order of their keys."""
    lines = [f"  {json.dumps(key)}: {json.dumps(pins[key])}" for key in sorted(pins)]
    PINNED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def difference(case: Case, pin: Mapping[str, Any] | None) -> str | None:
    """Say how a case differs from its pin; None where it does not."""
    now = computed(case)
    if pin is None:
        return f"{case.key}: not pinned, is {now['digest']} {now['head']}"
    if now["digest"] == pin["digest"]:
        return None
    return (
        f"{case.key}: was {pin['digest']} {pin['head']}, is {now['digest']} {now['head']}. "
        f"Where the change is meant: python -m tests.contracts --pin {case.key}"
    )


def pin(chosen: Iterable[Case], keys: Iterable[str]) -> None:
    """Pin these cases anew, and forget the pins of cases that are no longer known."""
    pins = {key: value for key, value in pinned().items() if key in set(keys)}
    pins.update({case.key: computed(case) for case in chosen})
    write(pins)
