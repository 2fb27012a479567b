"""Manual page of the command line, made from the help of the commands, and their examples."""

from __future__ import annotations

from collections.abc import Iterator

from cyclopts import App

from duramen import __version__
from duramen.cli.ending import INTERRUPTED, USER_ERROR

EXAMPLES = {
    "rank": """\
# Genes of a leukemia data set that comes with the package.
duramen rank --demo --out leukemia
# A table: one row for each sample, one column with the outcome.
duramen rank patients.csv --target relapse
# Several samples of a person; a column that was recorded after the outcome.
duramen rank patients.csv --target relapse --groups person --drop followup
# The features that matter given all others.
duramen rank patients.csv --target relapse --direct
# Genotypes, with the diagnosis in a second file.
duramen rank cohort.bed --samples people.csv --target diagnosis --covariates age
# In a script: JSON on standard output.
duramen rank patients.csv --target relapse --seed 1 --json --quiet
""",
    "select": """\
# Few of the genes of a leukemia data set that comes with the package.
duramen select --demo --selector boruta --out few
# More columns than memory holds: a store on disk, trees on some of the columns.
duramen pack cohort.bed --samples people.csv --out cohort.store
duramen select cohort.store --target diagnosis --memory 1GB
""",
    "compare": """\
# Measures and all genes, on splits of a leukemia data set that comes with the package.
duramen compare --demo --n-resamples 10 --n-features 10 --out splits
# Selectors and a ranking by their first 5 and 20 features.
duramen compare patients.csv --target relapse --methods boruta --methods mdi --n-features 5 \\
    --n-features 20
""",
    "context": """\
# Simulated features whose importance depends on a context.
duramen context --demo --trees 100 --permutations 100 --out contexts
# Features of a diagnosis that matter more, or less, in one sex.
duramen context patients.csv --target diagnosis --context sex
# Links between genes that differ between two tissues.
duramen context expression.csv --network --context tissue
""",
    "network": """\
# A simulated network of 50 genes.
duramen network --demo --trees 100 --out genes
# Samples in rows, genes in columns; regulators one a line.
duramen network expression.csv --regulators factors.txt
# Genes in rows; known links to compare with.
duramen network expression.csv --transpose --gold links.csv
""",
    "connectome": """\
# A simulated culture of 40 neurons.
duramen connectome --demo --out culture
# Fluorescence of suite2p, less 0.7 times that of the neuropil.
duramen connectome suite2p/plane0 --neuropil 0.7
# Frames in rows, neurons in columns; positions for the picture.
duramen connectome fluorescence.csv --positions positions.csv
""",
    "exact": """\
# Tumor sites of the data that come with the package, trees of two levels.
duramen exact --demo --max-depth 2 --out tumors
# The rows of a table as the population.
duramen exact survey.csv --target answer --max-depth 3
# Importances by accuracy, where several features are tried at a node.
duramen exact survey.csv --target answer --measure mda --max-features 2
""",
    "plan": """\
# Genotypes of 1,000 people: 10 features that matter alone, and 5 that need another one.
duramen plan --n-rows 1000 --n-features 500000 --memory 512MB --relevant 0:10,1:5
# The same where a tree may take some of the features found before.
duramen plan --n-rows 1000 --n-features 500000 --memory 8MB --relevant 0:10,1:5 --keep 0.25
""",
    "pack": """\
# A table of 3 rows, packed into a folder.
printf 'person,age,marker\\nanna,41,0.2\\nben,37,1.5\\ncleo,58,0.9\\n' > small.csv
duramen pack small.csv --out small.store
# Genotypes with annotations of the people.
duramen pack cohort.bed --samples people.csv --out cohort.store
# Genes in rows, 2 GB of memory.
duramen pack expression.tsv --transpose --memory 2GB --out expression.store
""",
}
"""Examples of the commands, which ``--example`` prints: shell lines with comments.

The first line of each runs as it stands; the others name files of the user.
"""

EXIT_CODES = {
    "0": "The command did what was asked, and the results are in the folder --out.",
    "1": "A fault of duramen: the traceback belongs into an issue. Nothing was written.",
    str(USER_ERROR): "An option, a file or its content is refused, memory ran out, or the system "
    "refuses something, such as space on a disk. One line on standard error says what to do.",
    str(INTERRUPTED): "Stopped by Ctrl-C; the line on standard error says whether the results so "
    "far are in the folder.",
    "143, 129, 152": "Stopped by SIGTERM, SIGHUP or SIGXCPU, the signal of a limit on processor "
    "time; results so far are in the folder with .partial after its name.",
}


def manual(app: App) -> str:
    """Return the manual page of the program as text for ``man``."""
    commands = app.resolved_commands()
    lines = [
        f'.TH DURAMEN 1 "" "duramen {__version__}" "User Commands"',
        ".SH NAME",
        _text(f"duramen - {app.help.rstrip('.')}"),
        ".SH SYNOPSIS",
        ".B duramen",
        _text("COMMAND [OPTIONS] [FILE]"),
        ".SH COMMANDS",
    ]
    named = {name: command for name, command in commands.items() if not name.startswith("-")}
    for name, command in named.items():
        lines += _entry(name, command.help.partition("\n\n")[0])
    for name, command in named.items():
        lines += _section(name, command)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += _entry(code, meaning)
    return "\n".join(lines) + "\n"


def _section(name: str, command: App) -> Iterator[str]:
    """Yield the lines about a command: its description and its options, by heading."""
    yield f".SH {_text('duramen ' + name).upper()}"
    for paragraph in command.help.split("\n\n"):
        yield from (".PP", _text(paragraph))
    arguments = command.assemble_argument_collection()
    for group in arguments.groups:
        yield f".SS {_text(group.name)}"
        for argument in arguments.filter_by(group=group):
            settings = argument.parameter
            choices = argument.get_choices()
            takes = settings.metavar if settings.metavar and argument.index is None else ""
            label = " ".join(filter(None, (", ".join(argument.names), takes)))
            default = argument.field_info.default
            parts = [
                settings.help or "",
                f"Choices: {', '.join(choices)}." if choices else "",
                f"Default: {default}." if settings.show_default else "",
            ]
            yield from _entry(label, " ".join(filter(None, parts)))


def _entry(term: str, description: str) -> list[str]:
    """Return the lines of a term and its description."""
    return [".TP", rf"\fB{_text(term)}\fR", _text(description)]


def _text(text: str) -> str:
    """Return text on one line, without what the language of man would take for its own."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line[:1] in (".", "'") else line
