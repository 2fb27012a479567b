"""How the variables of a distribution are named."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Literal, TypeAlias


class Role(Enum):
    """A variable that is no feature."""

    TARGET = "target"
    CONTEXT = "context"

    def __repr__(self) -> str:
        return self.name


TARGET: Literal[Role.TARGET] = Role.TARGET
CONTEXT: Literal[Role.CONTEXT] = Role.CONTEXT

Variable: TypeAlias = str | int | Role
Variables: TypeAlias = Variable | Iterable[Variable]


def listed(variables: Variables) -> list[Variable]:
    """Return one variable or several as a list."""
    if isinstance(variables, (str, Role)) or not isinstance(variables, Iterable):
        return [variables]
    return list(variables)
