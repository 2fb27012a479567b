"""Options of commands, each declared once, as a field of a dataclass.

The options of a command are the fields of a dataclass; a field may be a group of options, a
dataclass again, that several commands share. The parameters of the command, the command line on
record and the recorded settings follow from the fields.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from inspect import Parameter, Signature, isfunction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import cyclopts
from cyclopts.validators import Number

from duramen.catalogue import Entry
from duramen.cli.console import ending_well, option_of, time_estimates, unseen, user_errors

# Types of the fields of a class, whose texts Python compiles each time it is asked.
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
_LARGE = 1e6


@dataclass(frozen=True)
class Choices:
    """Names that an option can take, read where they are needed: imports take long."""

    # A tuple of names, a Literal or a catalogue; where importing these takes long, a function that
    # returns them by the field of each option.
    reference: Any
    before: tuple[str, ...] = ()  # further names
    after: tuple[str, ...] = ()  # further names
    describe: Callable[[Any], str] | None = None  # text for an entry of a catalogue in the help
    field: str = ""  # name of the field

    def shown(self) -> dict[str, str]:
        """Return the text in the help by the name in Python."""
        choices = self.reference()[self.field] if isfunction(self.reference) else self.reference
        texts = {choice: _spelled(choice) for choice in self.before}
        for choice in get_args(choices) or choices:
            text = self.describe(choice) if self.describe else ""
            key = choice.name if isinstance(choice, Entry) else getattr(choice, "name", choice)
            texts[key] = text or _spelled(key)
        return texts | {choice: _spelled(choice) for choice in self.after}

    def names(self) -> dict[str, str]:
        """Return the names in Python by those of the command line."""
        return {_spelled(name): name for name in self.shown()}

    @property
    def described(self) -> str:
        """Sentence about the names, if there is more to say of them than they do."""
        texts = self.shown()
        longer = [text for name, text in texts.items() if text != _spelled(name)]
        return f"Names: {', '.join(longer)}." if longer else ""

    def __call__(self, kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
        """Return the name in Python of the value of an option, or the names of several values."""
        names = self.names()
        values = tuple(names[token.value] for token in tokens)
        return values if get_origin(kind) is tuple else values[0]


@dataclass(frozen=True)
class FileFormats:
    """File formats that have one of some functions, listed where the help is written."""

    uses: tuple[str, ...]

    def __str__(self) -> str:
        from duramen.io import formats  # a slow import that most commands need not

        return formats.listed(*self.uses)


def _path(_: Any, tokens: Sequence[cyclopts.Token]) -> Path:
    """Return the path that an option names; an empty name would stand for the folder of work."""
    if tokens[0].value == "":
        raise ValueError("the name is empty; name a file or folder, such as . for this one")
    return Path(tokens[0].value)


def _limits(least: float | None, most: float | None) -> str:
    """Return a sentence about the limits of a number; those of its type are not worth one."""
    if most is None or most > _LARGE:
        return "" if least is None else f" At least {least:g}."
    return f" At most {most:g}." if least is None else f" From {least:g} to {most:g}."


def _spelled(name: str) -> str:
    return name.replace("_", "-")


@dataclass(frozen=True)
class Declared:
    """Option or argument of a command."""

    help: str  # text of the help
    names: tuple[str, ...] = ()  # on the command line; by default the name of the field
    parameter: str = ""  # parameter in Python that it sets; by default the name of the field
    record: str = ""  # key on record; by default the name of the parameter
    # When the command line on record has it: whenever it has a value; if that is not the default;
    # only if the run settles another value.
    echo: Literal["always", "changed", "never"] = "always"
    argument: bool = False  # whether it is an argument
    # Functions of a `Format`; the help lists the formats that have one.
    formats: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(
        default_factory=dict
    )  # further settings: metavar, min, max, parser
    default: Any = None  # `dataclasses.MISSING` for what must be given
    name: str = ""  # of the field
    section: str = ""  # heading in the help; by default that of its group
    keyword: str = ""  # word that it takes in place of a file

    @property
    def word(self) -> str:
        """Name on the command line."""
        return self.names[0].partition("/")[0]

    def words(self, value: Any) -> list[str]:
        """Return the words of a command line that set a value."""
        if value is None or value is False or value == ():
            negative = self.names[0].partition("/")[2]
            return [negative] if value is False and negative else []
        if value is True:
            return [self.word]
        chosen = isinstance(self.more.get("parser"), Choices)
        texts = [
            _spelled(part) if chosen else part.name if isinstance(part, Path) else str(part)
            for part in (value if isinstance(value, tuple) else (value,))
        ]
        return [
            word for part in texts for word in ((part,) if self.argument else (self.word, part))
        ]

    def as_parameter(self, kind: Any, section: cyclopts.Group) -> Parameter:
        """Return the parameter of a command, of a field of a type, under a heading in the help."""
        more, default = dict(self.more), self.default
        least, most, choices = more.get("min"), more.get("max"), more.get("parser")
        first, *others = self.names
        positive, _, negative = first.partition("/")
        described, names = self.help, (positive, *others)
        if self.argument:
            names, described = (
                (more.get("metavar", self.name.upper()),),
                " ".join(filter(None, (described, self.listed))),
            )
        settings: dict[str, Any] = {}
        if isinstance(choices, Choices):
            choices = replace(choices, field=self.name)
            default = _spelled(default) if isinstance(default, str) else default
            settings = {"converter": choices, "choices": tuple(choices.names())}
            described = " ".join(filter(None, (described, choices.described)))
        elif Path in (kind, *get_args(kind)):
            settings = {"converter": _path}
        if least is not None or most is not None:
            settings["validator"] = Number(gte=least, lte=most)
            described += _limits(least, most)
        return Parameter(
            self.name,
            Parameter.POSITIONAL_ONLY if self.argument else Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is MISSING else default,
            annotation=Annotated[
                kind,
                cyclopts.Parameter(
                    name=names,
                    help=described,
                    negative=negative or (),
                    group=section,
                    metavar=more.get("metavar"),
                    show_default=not isinstance(default, bool | tuple | None),
                    allow_leading_hyphen=bool not in (kind, *get_args(kind)) and not self.argument,
                    allow_repeating=get_origin(kind) is not tuple or None,
                    **settings,
                ),
            ],
        )

    @property
    def listed(self) -> str:
        """Sentence about the formats that an argument can have."""
        return f"Formats: {FileFormats(self.formats)}." if self.formats else ""


def option(
    default: Any,
    help: str,
    *names: str,
    parameter: str = "",
    record: str = "",
    echo: Literal["always", "changed", "never"] = "always",
    section: str = "",
    keyword: str = "",
    **more: Any,
) -> Any:
    """Declare an option as a field of a dataclass; `dataclasses.MISSING` for one without default.

    Further arguments are those of :class:`Declared`, or a metavar, a least and a largest value.
    """
    made = Declared(
        help, names, parameter, record, echo, more=more, section=section, keyword=keyword
    )
    return field(default=default, metadata={"declared": made})


def choice(default: Any, reference: Any, help: str, **more: Any) -> Any:
    """Declare an option that takes one of the names of a catalogue or a tuple of names."""
    own = {name: more.pop(name) for name in ("before", "after", "describe") if name in more}
    parser = Choices(reference, **own)
    return option(default, help, parser=parser, **{"metavar": "NAME", **more})


def argument(
    default: Any, help: str, *, formats: tuple[str, ...] = (), section: str = "", **more: Any
) -> Any:
    """Declare an argument, `formats` and `section` as for :class:`Declared`."""
    made = Declared(help, argument=True, formats=formats, section=section, more=more)
    return field(default=default, metadata={"declared": made})


def group(kind: type[Any], section: str = "", **defaults: Any) -> Any:
    """Declare a group of options, some with other defaults than the group has.

    `section` is the heading of its options in the help; a group within a group has the same unless
    it names its own.
    """
    return field(
        default_factory=lambda: kind(**defaults),
        metadata={"group": defaults, "section": section},
    )


def _named(field: Any, defaults: Mapping[str, Any], section: str = "") -> Declared:
    """Return the declaration of a field with its name, default and section."""
    made: Declared = field.metadata["declared"]
    return replace(
        made,
        name=field.name,
        default=defaults.get(field.name, field.default),
        names=made.names or (f"--{_spelled(field.name)}",),
        parameter=made.parameter or field.name,
        record=made.record or made.parameter or field.name,
        section=made.section or section,
    )


def declared(
    kind: type[Any], defaults: Mapping[str, Any] | None = None, section: str = ""
) -> Iterator[tuple[Declared, Any]]:
    """Yield the options of a dataclass with their types, those of its groups in their place."""
    hints = _hints(kind)
    for attribute in fields(kind):
        if "group" in attribute.metadata:
            own = attribute.metadata["section"] or section
            yield from declared(hints[attribute.name], attribute.metadata["group"], own)
        elif "declared" in attribute.metadata:
            yield _named(attribute, defaults or {}, section), hints[attribute.name]


def option_values(options: Any) -> Iterator[tuple[Declared, Any]]:
    """Yield the options of an instance with their values."""
    for attribute in fields(options):
        value = getattr(options, attribute.name)
        if "group" in attribute.metadata:
            yield from option_values(value)
        elif "declared" in attribute.metadata:
            yield _named(attribute, {}), value


def command_line(command: str, options: Any, **settled: Any) -> str:
    """Return the command line that does the same again, whatever folder it is run in.

    `settled` has values that the run settled, by the name of the field; None leaves the option out.
    """
    words = ["duramen", command]
    for option, value in option_values(options):
        if option.name in settled:
            words += option.words(settled[option.name])
        elif option.echo == "always" or (option.echo == "changed" and value != option.default):
            words += option.words(value)
    return shlex.join(words)


def recorded(options: Any, **settled: Any) -> dict[str, Any]:
    """Return the values of options for the record, by their keys.

    `settled` has the values that the run settled, by the name of the field.
    """
    record = {}
    for option, value in option_values(options):
        value = settled.get(option.name, value)
        if option.echo == "changed" and value == option.default:
            continue
        if isinstance(value, Path):
            value = value.name
        record[option.record] = list(value) if isinstance(value, tuple) else value
    return record


def given_paths(options: Any) -> dict[str, str]:
    """Return the files that options name, as they were given, by the option or argument."""
    return {
        option.name if option.argument else option.word: str(value)
        for option, value in option_values(options)
        if value is not None
        and option.echo != "never"
        and (option.argument or (isinstance(value, Path) and str(value) != option.keyword))
    }


def without_use(words: Sequence[str], why: str) -> ValueError:
    """Return the error about options that have no use, all of them named."""
    *before, last = words
    named = f"{', '.join(before)} and {last} have" if before else f"{last} has"
    return ValueError(f"{named} no effect {why}")


def parameters(options: Any) -> dict[str, Any]:
    """Return the values of options by the parameters in Python that they set."""
    return {option.parameter: value for option, value in option_values(options)}


def built(kind: type[Any], values: Mapping[str, Any], **more: Any) -> Any:
    """Return the options with the values of a command line."""
    made, hints = dict(more), _hints(kind)
    for attribute in fields(kind):
        hint = hints[attribute.name]
        if "group" in attribute.metadata:
            made[attribute.name] = built(hint, values)
        elif "declared" in attribute.metadata:
            made[attribute.name] = values[attribute.name]
    return kind(**made)


def callback(run: Callable[[Any], None]) -> Callable[..., None]:
    """Return the function of a command that calls a function with its options.

    `run` takes the dataclass that its annotation names, with a group ``output``. A field ``typed``,
    if there is one, gets the names of the options that were typed.
    """
    kind = get_type_hints(run)["options"]
    options = [*declared(kind)]
    defaults = {option.name: option.default for option, _ in options}
    positional = [option.name for option, _ in options if option.argument]

    def command(*words: Any, **values: Any) -> None:
        values |= dict(zip(positional, words, strict=False))
        more = {}
        if any(field.name == "typed" for field in fields(kind)):
            more["typed"] = frozenset(values)
        values = defaults | values
        output = built(kind, values, **more).output
        option_of.clear()
        option_of.update({option.parameter: option.word for option, _ in reversed(options)})
        with (
            ending_well(run.__name__, output.out),
            time_estimates(output.quiet),
            _received(run.__name__, values) as settled,
        ):
            run(built(kind, settled, **more))

    headings = dict.fromkeys(option.section for option, _ in options)
    sections = {
        name: cyclopts.Group(name or "Options", sort_key=i) for i, name in enumerate(headings)
    }
    parameters = [option.as_parameter(hint, sections[option.section]) for option, hint in options]
    parameters.sort(key=lambda parameter: parameter.kind)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = run.__doc__
    cast("Any", command).__signature__ = Signature(parameters)
    return command


@contextmanager
def _received(command: str, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the values of options, with a file in place of standard input."""
    with ExitStack() as stack:
        with user_errors(command):
            settled = stack.enter_context(received(values))
        yield settled


STANDARD_INPUT = "/dev/stdin"
_NAME = "standard-input"
_BLOCK = 1 << 20


@contextmanager
def received(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the values of options with a file in place of standard input, if that is FILE.

    The file lies in a folder that is removed in the end; its ending is that of the format which its
    first bytes tell.

    Raises
    ------
    ValueError
        If nothing comes.
    """
    file = values.get("file")
    if str(file) != STANDARD_INPUT:
        yield dict(values)
        return
    from duramen.io.formats import suffix_of

    stream = sys.stdin.buffer
    head = stream.read(_BLOCK)
    if not head:
        raise ValueError("FILE is -, standard input, and nothing came from there")
    with TemporaryDirectory(prefix="duramen-") as folder:
        path = Path(folder) / f"{_NAME}{suffix_of(head)}"
        with open(path, "wb") as copy:
            while head:
                copy.write(head)
                head = stream.read(_BLOCK)
        unseen.add(f"{folder}{os.sep}")
        yield {**values, "file": str(path) if isinstance(file, str) else path}
