"""The table of recorded cases: commands, refused commands, and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

# Numbers that come from matrix products and decompositions differ between processors from about
# the ninth digit on.
LINEAR_ALGEBRA = 7


@dataclass(frozen=True)
class Case:
    """One recorded result.

    Parameters
    ----------
    name : str
        Folder and file of its record, such as ``rank/strata``.
    outcome : callable
        Returns the result as plain values: mappings, lists, texts and numbers.
    digits : int
        Number of significant digits to which numbers are compared.
    words : sequence of str
        Command line, without ``duramen``; empty for a call.
    """

    name: str
    outcome: Callable[[], dict[str, Any]]
    digits: int = 12
    words: Sequence[str] = ()


_CASES: dict[str, Case] = {}


def add(case: Case) -> None:
    """Add a case to the table."""
    if case.name in _CASES:
        raise ValueError(f"case: name must be new, got {case.name!r}")
    _CASES[case.name] = case


def command(
    name: str,
    line: str,
    *,
    before: Iterable[str] = (),
    without: Sequence[str] = (),
    digits: int = 12,
) -> None:
    """Add a command that succeeds.

    Parameters
    ----------
    name : str
        Name among the records of the command.
    line : str
        Words after ``duramen``, without ``--out``, ``--jobs`` and ``--quiet``.
    before : iterable of str
        Command lines that run first in the same folder, with their ``--out``.
    without : sequence of str
        Parts of ``run.json`` that are not recorded, if they differ between processors.
    digits : int
        Number of significant digits to which numbers are compared.
    """
    from tests.record import outcomes

    words = line.split()
    firsts = [first.split() for first in before]
    outcome = partial(outcomes.of_command, words, before=firsts, without=without)
    add(Case(f"{words[0]}/{name}", outcome, digits, words))


def refusal(name: str, line: str, *names: str, before: Iterable[str] = ()) -> None:
    """Add a command that is refused, with words that its message names."""
    from tests.record import outcomes

    words = line.split()
    firsts = [first.split() for first in before]
    outcome = partial(outcomes.of_refusal, words, names=names, before=firsts)
    add(Case(f"refused/{words[0]}-{name}", outcome, words=words))


def call(
    name: str, *, digits: int = 12, error: Sequence[str] = ()
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Return a decorator that adds a call; with `error`, one whose message names these words."""

    def register(function: Callable[[], Any]) -> Callable[[], Any]:
        from tests.record import outcomes

        if error:
            add(Case(f"calls/{name}", partial(outcomes.of_error, function, error)))
        else:
            add(Case(f"calls/{name}", partial(outcomes.of_call, function), digits))
        return function

    return register


@cache
def cases() -> dict[str, Case]:
    """Return all cases by name."""
    for module in ("commands", "refusals", "calls"):
        import_module(f"tests.record.{module}")
    return dict(_CASES)
