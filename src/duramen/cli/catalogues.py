"""Options whose values are records of a catalogue, read when the command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

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


def default_test() -> SignificanceTest:
    """Return the test that runs where the user names none."""
    return next(test for test in tests() if test.default)


def known_measures(names: list[str] | None) -> list[str]:
    """Check the values of ``--measure``; return them as in Python."""
    return [_known(name, measures()) for name in names or ()]


def known_test(name: str | None) -> str | None:
    """Check the value of ``--significance``; return it as in Python."""
    return None if name is None else _known(name, tests())


def _known(option: str, catalogue: Catalogue[Any]) -> str:
    names: dict[str, str] = {one.option: one.name for one in catalogue}
    if option not in names:
        listed = ", ".join(map(repr, names))
        raise typer.BadParameter(f"{option!r} is not one of {listed}.")
    return names[option]


class RankCommand(TyperCommand):
    """Command whose help lists the measures and tests of the catalogues."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the names of measures and tests at its end."""
        defaults = " and ".join(one.option for one in measures() if one.default)
        test = default_test()
        listed = (
            f"Measures (--measure): {', '.join(one.option for one in measures())}. By default "
            f"{defaults}, as far as the forest allows.",
            "Tests (--significance), in parentheses the options that only some take: "
            f"{', '.join(map(_with_options, tests()))}. By default {test.option}, with "
            f"{test.rounds()} rounds.",
        )
        self.epilog = "\n\n".join(listed)
        super().format_help(ctx, formatter)


def _with_options(test: SignificanceTest) -> str:
    own = [option for option in _SOME if test.takes(PARAMETERS[option])]
    return f"{test.option} ({', '.join(own)})" if own else test.option
