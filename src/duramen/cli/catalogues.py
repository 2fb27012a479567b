"""Measures and significance tests of the catalogues, imported when a command needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duramen.catalogue import Catalogue
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest

# Parameters of significance tests that options of `duramen rank` set.
PARAMETERS = {
    "--distribution": "distribution",
    "--stop-after": "stop_after",
    "--rank-based": "rank_based",
    "--groups": "groups",
    "--group-score": "how",
    "--strata": "strata",
    "--blocks": "blocks",
}
# Those that few tests take.
_SOME = ("--distribution", "--stop-after", "--rank-based", "--groups", "--group-score")


def measures() -> Catalogue[Measure]:
    """Return the importance measures."""
    from duramen.importances import catalogue  # a slow import that most commands need not

    return catalogue


def tests() -> Catalogue[SignificanceTest]:
    """Return the significance tests."""
    from duramen.significance import catalogue

    return catalogue


def measure_names() -> tuple[str, ...]:
    """Return the names of the measures on the command line."""
    return tuple(one.option for one in measures())


def test_names() -> tuple[str, ...]:
    """Return the names of the significance tests on the command line."""
    return tuple(one.option for one in tests())


def described_measure(name: str) -> str:
    """Return the name of a measure, and whether it is computed by default."""
    return f"{name} (default)" if measures()[name.replace("-", "_")].default else name


def described_test(name: str) -> str:
    """Return the name of a test, whether it is the default, and options that few others take."""
    test = tests()[name.replace("-", "_")]
    own = ["default"] if test.default else []
    own += [option for option in _SOME if test.takes(PARAMETERS[option])]
    return f"{name} ({', '.join(own)})" if own else name
