"""Attempts of all families that run commands, in turns, so that one process does with one start."""

from __future__ import annotations

from pathlib import Path

from tests.faults import (
    altered_leftovers,
    cut_operations,
    limited_commands,
    refused_places,
    stopped_commands,
)

FAMILIES = (cut_operations, altered_leftovers, limited_commands, refused_places, stopped_commands)


def attempt(number: int, folder: Path) -> str:
    """Run an attempt of one of the families."""
    return FAMILIES[number % len(FAMILIES)].attempt(number // len(FAMILIES), folder)
