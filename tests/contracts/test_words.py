"""Words: docstrings and help texts, prose of docs, comments of the kernel, names of variables."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "duramen"
PACKAGES = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")})

# A first line says what a thing is or does, and does not point at something unnamed.
OPENINGS = re.compile(
    r"(What|How|Which|Whether|Why|Where|Whose|Who|These|Those|This|That|The same|It|Its|They)\b"
)
TERMS = re.compile(
    r"\bshares? of\b|\bdear(er|est)?\b|\bdeal(t|s|ing)? out\b|\bfrom nothing\b|\bof chance\b"
    r"|\bgo(es)? along with\b|\bsays? (no|any|some)thing\b|\b(null )?laws?\b",
    re.IGNORECASE,
)
# In papers' own words: a power law; features share information; a matter of chance.
PROSE = re.compile(
    r"\bshares? of\b|\bdear(er|est)?\b|\bdeal(t|s|ing)? out\b|\bfrom nothing\b"
    r"|\bgo(es)? along with\b|\bsays? (no|any|some)thing\b|(?<!power )\blaws?\b",
    re.IGNORECASE,
)
BRITISH = re.compile(
    r"\b\w*(behaviour|colour|neighbour|favour|centre[ds]?\b|modell(ed|ing)|labell(ed|ing)"
    r"|(character|emphas|general|initial|maxim|minim|normal|optim|organ|random|recogn|standard"
    r"|summar|util|visual)is(e|ed|es|ing|ation)\b|analys(e|ed|ing)\b)\w*",
    re.IGNORECASE,
)
# Beside those, words that prose and comments are free of.
FIGURES_OF_SPEECH = re.compile(r"\btold\b|\brooms\b|\bwhere there is nothing\b", re.IGNORECASE)
# Names that say nothing of what they hold.
VAGUE = {"one", "found", "given", "known", "told", "kept"}
# Words that docs/ and docstrings replace by others, as parts of names.
REPLACED = {"law", "laws", "share", "shares", "rooms", "told"}
# In information theory `given` is a term: the variables that a probability is conditioned on.
CONDITIONED = (
    "src/duramen/theory",
    "src/duramen/cli/commands/exact.py",
    "tests/theory",
    "tests/oracles",
)
VAGUE_IN_KERNEL = re.compile(rf"(?<![.:>\w])({'|'.join(sorted(VAGUE))})_?\b(?!\()")
REFERENCES = re.compile(r"\nReferences\n-+\n.*?(?=\n\n\S+\n-+\n|\Z)", re.DOTALL)
CHECKS = ("openings", "terms", "spelling")


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Docstrings of a file without their references, as place and text."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                place = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)}"
                yield place, REFERENCES.sub("", text)


def help_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Texts of the options and commands of a file of the command line."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "help" and isinstance(keyword.value, ast.Constant):
                    place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                    yield place, str(keyword.value.value)


@cache
def texts(package: str) -> list[tuple[str, str]]:
    place = SOURCE / package
    pairs = []
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        pairs += docstrings(path)
        if package == "cli":
            pairs += help_texts(path)
    return pairs


def violations(check: str, package: str) -> list[str]:
    if check == "openings":
        return [
            f"{place}: {text.splitlines()[0]}"
            for place, text in texts(package)
            if OPENINGS.match(text)
        ]
    words = TERMS if check == "terms" else BRITISH
    return [
        f"{place}: {match[0]!r}" for place, text in texts(package) for match in words.finditer(text)
    ]


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("check", CHECKS)
def test_words(check: str, package: str) -> None:
    assert violations(check, package) == []


def test_words_are_found() -> None:
    assert OPENINGS.match("What a thing is.")
    assert not OPENINGS.match("Whatever.")
    assert TERMS.search("the share of rows")
    assert not TERMS.search("they share information")
    assert BRITISH.search("randomised")
    assert BRITISH.search("Analysed")
    assert not BRITISH.search("analyses, advise, otherwise, precise, randomized")


# --- prose of docs, comments of the kernel --------------------------------------------------------

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks/README.md"])
EXAMPLES = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
KERNEL = sorted([*(ROOT / "cpp").rglob("*.hpp"), *(ROOT / "cpp").rglob("*.cpp")])


def prose(path: Path) -> str:
    """Return a page without its code, with as many lines."""
    text = path.read_text(encoding="utf-8")
    groups = r"^```.*?^```|`[^`\n]*`"
    return re.sub(groups, lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def comments(path: Path) -> str:
    """Return the comments of a file of the kernel, each on its line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.partition("//")[2] for line in lines)


def marked(text: str, *patterns: re.Pattern[str]) -> list[str]:
    """Return the words of a text that a pattern refuses, with their lines."""
    return [
        f"{number}: {match[0]!r}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern in patterns
        for match in pattern.finditer(line)
    ]


def test_pages_use_plain_terms() -> None:
    refused = {path.name: marked(prose(path), PROSE, FIGURES_OF_SPEECH) for path in PAGES}
    assert {name: words for name, words in refused.items() if words} == {}


def test_comments_of_the_kernel_use_plain_terms() -> None:
    refused = {path.name: marked(comments(path), TERMS, FIGURES_OF_SPEECH) for path in KERNEL}
    assert {name: words for name, words in refused.items() if words} == {}


# --- names of variables --------------------------------------------------------------------------


def vague_names(source: str, place: str = "") -> Iterator[int]:
    """Yield the lines on which a name that says nothing, or has another word, is bound."""
    vague = VAGUE - {"given"} if place.startswith(CONDITIONED) else VAGUE
    for node in ast.walk(ast.parse(source)):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = node.name
        if name and (name in vague or REPLACED & set(name.lower().split("_"))):
            yield node.lineno


def vague_in_kernel(line: str) -> bool:
    """Whether a line of the kernel has a variable of such a name; a method or enumerator may."""
    code = re.sub(r'"(\\.|[^"\\])*"', "", line.partition("//")[0])
    return "enum class" not in code and VAGUE_IN_KERNEL.search(code) is not None


@pytest.mark.slow
def test_variables_say_what_they_hold() -> None:
    sources = [
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for top in ("src", "tests", "benchmarks", "tools", "docs")
        for path in sorted((ROOT / top).rglob("*.py"))
    ]
    sources += [
        (page.name, code) for page in PAGES for code in EXAMPLES.findall(page.read_text("utf-8"))
    ]
    vague = {place: list(vague_names(source, place)) for place, source in sources}
    assert {place: lines for place, lines in vague.items() if lines} == {}, "names: see VAGUE above"


def test_variables_of_the_kernel_say_what_they_hold() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in KERNEL
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if vague_in_kernel(line)
    ] == []


def test_vague_names_are_seen() -> None:
    assert list(vague_names("for one in names:\n    found = f(one)")) == [1, 2]
    assert list(vague_names("def f(given): return given.found")) == [1]
    assert list(vague_names("result.found(one_vs_rest, known=1)")) == []
    assert list(vague_names("_LARGE_SHARE = 2", "src/a.py")) == [1]
    assert list(vague_names("def test_importances_in_law(): ...", "tests/a.py")) == [1]
    assert list(vague_names("fractions = law.shares", "tests/a.py")) == []
    assert vague_in_kernel("const int found = settle(v, n_);")
    assert vague_in_kernel("for (auto& one : counts_) one = 0;  // each")
    assert not vague_in_kernel("if (best.found()) return Condition::given;  // one found")
    assert marked("a law of numbers", TERMS) == ["1: 'law'"]
