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
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, Signature, isfunction
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent, wrap
from types import GenericAlias
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from duramen.catalogue import Entry
from duramen.cli.console import ending_well, option_of, time_estimates, unseen, user_errors
from duramen.cli.examples import EXAMPLES

# Types of the fields of a class, whose texts Python compiles each time it is asked.
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)

_WIDEST = 26  # characters of an option that its description stands beside, not below
_SHORT = 36  # characters of choices that stand beside an option, not below the help


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
    __name__ = "name"  # typer asks for it

    def shown(self) -> dict[str, str]:
        """Return the text in the help by the name in Python."""
        choices = self.reference()[self.field] if isfunction(self.reference) else self.reference
        texts = {choice: _spelled(choice) for choice in self.before}
        for choice in get_args(choices) or choices:
            text = self.describe(choice) if self.describe else ""
            key = choice.name if isinstance(choice, Entry) else getattr(choice, "name", choice)
            texts[key] = text or _spelled(key)
        return texts | {choice: _spelled(choice) for choice in self.after}

    def completed(self, incomplete: str) -> list[str]:
        """Return the names that begin as what was typed, for the completion of a shell."""
        return [name for name in map(_spelled, self.shown()) if name.startswith(incomplete)]

    def __call__(self, value: str) -> str:
        """Return the name in Python of a value of the option."""
        names = {_spelled(name): name for name in self.shown()}
        if value not in names:
            close = get_close_matches(value, names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise typer.BadParameter(
                f"{value!r} is not one of {', '.join(map(repr, names))}.{hint}"
            )
        return names[value]


@dataclass(frozen=True)
class FileFormats:
    """File formats that have one of some functions, listed where the help is written."""

    uses: tuple[str, ...]

    def __str__(self) -> str:
        from duramen.io import formats  # a slow import that most commands need not

        return formats.listed(*self.uses)


def _path(value: str | Path) -> Path:
    """Return the path that an option names; an empty name would stand for the folder of work."""
    if value == "":
        raise typer.BadParameter("the name is empty; name a file or folder, such as . for this one")
    return Path(value)


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
    more: Mapping[str, Any] = field(default_factory=dict)  # further settings of `typer.Option`
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

    def as_parameter(self, kind: Any) -> Parameter:
        """Return the parameter of a typer command, of a field of a type."""
        default, settings = self.default, {"help": self.help, **self.more}
        settings["rich_help_panel"] = self.section or None
        if get_origin(kind) is tuple:
            kind = GenericAlias(list, get_args(kind)[:1])
            kind, default = (kind, default) if default is MISSING else (kind | None, None)
        if isinstance(settings.get("parser"), Choices) and isinstance(default, str):
            default = _spelled(default)
        if Path in (kind, *get_args(kind)):
            settings["parser"] = _path
        if default is None:
            settings["show_default"] = False
        if isinstance(choices := settings.get("parser"), Choices):
            settings["parser"] = choices = replace(choices, field=self.name)
            settings["autocompletion"] = choices.completed
        info = (
            typer.Argument(**settings) if self.argument else typer.Option(*self.names, **settings)
        )
        return Parameter(
            self.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is MISSING else default,
            annotation=Annotated[kind, info, FileFormats(self.formats)],
        )


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

    Further arguments are those of :class:`Declared` and :class:`typer.Option`.
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
    """Return the options with the values that typer read; empty lists are defaults."""
    made, hints = dict(more), _hints(kind)
    for attribute in fields(kind):
        hint = hints[attribute.name]
        if "group" in attribute.metadata:
            made[attribute.name] = built(hint, values)
        elif "declared" in attribute.metadata:
            value = values[attribute.name]
            if get_origin(hint) is tuple:
                value = attribute.default if not value else tuple(value)
            made[attribute.name] = value
    return kind(**made)


def callback(run: Callable[[Any], None]) -> Callable[..., None]:
    """Return the function of a typer command that calls a function with its options.

    `run` takes the dataclass that its annotation names, with a group ``output``. A field ``typed``,
    if there is one, gets the names of the options that were typed.
    """
    kind = get_type_hints(run)["options"]

    def command(ctx: typer.Context, **values: Any) -> None:
        more = {}
        if any(field.name == "typed" for field in fields(kind)):
            sources = {name: ctx.get_parameter_source(name) for name in values}
            more["typed"] = frozenset(
                name for name, source in sources.items() if source and source.name == "COMMANDLINE"
            )
        output = built(kind, values, **more).output
        option_of.clear()
        option_of.update({option.parameter: option.word for option, _ in reversed(options)})
        with (
            ending_well(run.__name__, output.out),
            time_estimates(output.quiet),
            _received(run.__name__, values) as settled,
        ):
            run(built(kind, settled, **more))

    options = [*declared(kind)]
    declarations = [option.as_parameter(hint) for option, hint in options]
    context = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *declarations, _example(run.__name__)]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    cast("Any", command).__signature__ = Signature(parameters)
    return command


def _example(command: str) -> Parameter:
    """Return the parameter ``--example`` of a command, which prints its examples and ends."""

    def printed(asked: bool) -> None:
        if asked:
            typer.echo(EXAMPLES[command], nl=False)
            raise typer.Exit

    info = typer.Option(
        "--example", callback=printed, is_eager=True, expose_value=False, help="Print examples."
    )
    return Parameter(
        "example", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, info]
    )


@contextmanager
def _received(command: str, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the values of options, with a file in place of standard input."""
    with ExitStack() as stack:
        with user_errors(command):
            settled = stack.enter_context(received(values))
        yield settled


class ChoiceCommand(TyperCommand):
    """Command whose help has sections, and the names that its options take."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; of what no parameter takes, say what may have been meant."""
        ctx.allow_extra_args = True
        extra = super().parse_args(ctx, args)
        if extra and not ctx.resilient_parsing:
            ctx.fail(self._unexpected(ctx, extra))
        return extra

    def _unexpected(self, ctx: Any, extra: list[str]) -> str:
        """Return the message about words that stand without an option."""
        taken = [str(param.metavar) for param in self.params if param.param_type_name == "argument"]
        came = shlex.join(extra)
        if len(extra) == 1 and ctx.params.get("target", "") is None:
            hint = f"the target is given by --target {came}"
        else:
            hint = "write the option before each value, and a value with spaces in quotes"
        alone = f"{' '.join(taken)} alone is" if taken else "nothing is"
        return f"{alone} given without an option, got also {came}; {hint}"

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options under the headings of their sections."""
        for heading, records in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records, col_max=_WIDEST)

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Return the arguments and the options with their descriptions, by heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                heading = getattr(param, "rich_help_panel", None) or "Options"
                name = record[0] if param.param_type_name == "option" else str(param.metavar)
                sections.setdefault(heading, []).append((name, record[1]))
        return sections

    def name_lists(self) -> list[str]:
        """Return the long lists of names that options take; short ones go beside the option."""
        listed = []
        hints = self.callback.__annotations__ if self.callback else {}
        for param in self.params:
            for info in getattr(hints.get(str(param.name)), "__metadata__", ()):
                if isinstance(info, FileFormats):
                    if info.uses:
                        listed.append(f"{param.metavar}: {info}.")
                elif isinstance(info.parser, Choices):
                    shown = tuple(info.parser.shown().values())
                    if len(brief := "|".join(shown)) <= _SHORT and " " not in brief:
                        param.metavar = f"<{brief}>"
                    else:
                        listed.append(f"{param.opts[0]}: {', '.join(shown)}.")
        return listed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; long lists of names stand below it."""
        listed = self.name_lists()
        super().format_help(ctx, formatter)
        for text in listed:  # wrapped here: the formatter breaks names at hyphens
            lines = wrap(text, formatter.width - 2, break_on_hyphens=False)
            formatter.write("\n" + indent("\n".join(lines), "  ") + "\n")


SIGN = "-"
_NAME = "standard-input"
_BLOCK = 1 << 20


@contextmanager
def received(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the values of options with a file in place of standard input, if FILE is ``-``.

    The file lies in a folder that is removed in the end; its ending is that of the format which its
    first bytes tell.

    Raises
    ------
    ValueError
        If nothing comes.
    """
    file = values.get("file")
    if str(file) != SIGN:
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
