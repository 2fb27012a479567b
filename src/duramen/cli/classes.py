"""Options made from the parameters of several classes, one of which an analysis uses by its name.

An analysis with ``**parameters`` passes these on to the class, such as that of a selector.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_FEW = 5  # names of classes that stand beside an option, at most
_PARSED = (str, int, float, bool)


@dataclass(frozen=True)
class SharedOption:
    """Option for a parameter that some of the classes have."""

    name: str
    hint: Any  # all annotations together
    text: str
    is_flag: bool

    @property
    def parameter(self) -> Parameter:
        """Parameter of a command; if it is not given, the class has its default."""
        default = False if self.is_flag else None
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=default)


def shared_options(
    classes: Mapping[str, type[Any]],
    without: Collection[str],
    described: Callable[[type[Any]], Mapping[str, str]],
) -> list[SharedOption]:
    """Return the options for the parameters of classes, in the order in which these come to them.

    Parameters
    ----------
    classes : mapping
        Classes by their names.
    without : collection of str
        Parameters without an option.
    described : callable
        Descriptions of the parameters of a class.
    """
    texts: dict[str, dict[str, dict[str, list[str]]]] = {}
    hints: dict[str, list[Any]] = {}
    for class_name, kind in classes.items():
        own = _hints(kind)
        for name, parameter in signature(kind).parameters.items():
            if name in without or not _is_parsed(own[name]):
                continue
            hints.setdefault(name, []).append(own[name])
            by_default = texts.setdefault(name, {}).setdefault(described(kind)[name], {})
            by_default.setdefault(_shown(parameter.default), []).append(class_name)
    options = []
    for name, by_text in texts.items():
        hint: Any = Union[tuple(hints[name])]  # noqa: UP007
        text = _joined(by_text, len(classes))
        options.append(SharedOption(name, hint, text, is_flag=hint is bool))
    return options


_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def _is_parsed(hint: Any) -> bool:
    """Tell whether words of a command line can stand for values of a parameter."""
    parts = get_args(hint) or (hint,)
    return get_origin(hint) is Literal or any(
        part in _PARSED or get_origin(part) is Literal for part in parts
    )


def _shown(default: Any) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _joined(by_text: Mapping[str, Mapping[str, list[str]]], n_classes: int) -> str:
    """Return the descriptions of a parameter, each with its defaults and classes."""
    parts = []
    for text, by_default in by_text.items():
        words, count = text.removesuffix("."), sum(map(len, by_default.values()))
        few = len(by_text) > 1 or len(by_default) > 1 or count <= _FEW
        named = [", ".join(names) for names in by_default.values()]
        default = next(iter(by_default))
        if len(by_default) > 1:
            pairs = zip(named, by_default, strict=True)
            named = [f"{names}: {default} by default" for names, default in pairs]
        elif default and "default" not in words:
            words = f"{words}; {default} by default"
        parts.append(f"{words} ({'; '.join(named)})." if few and count < n_classes else f"{words}.")
    return " ".join(parts)
