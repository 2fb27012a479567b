"""The stub of the kernel: the compiled module says the same."""

import ast
import re
from pathlib import Path

import pytest

from duramen import _kernel

STUB = Path(__file__).resolve().parents[2] / "src" / "duramen" / "_kernel.pyi"
TREE = ast.parse(STUB.read_text(encoding="utf-8"))

CLASSES = [node for node in TREE.body if isinstance(node, ast.ClassDef)]
# Functions by (class or "", name).
FUNCTIONS = {
    (owner, node.name): node
    for owner, body in [
        ("", TREE.body),
        *((definition.name, definition.body) for definition in CLASSES),
    ]
    for node in body
    if isinstance(node, ast.FunctionDef)
}
# Read-only attributes by class.
ATTRIBUTES = {
    (definition.name, node.target.id): node.annotation.slice
    for definition in CLASSES
    for node in definition.body
    if isinstance(node, ast.AnnAssign)
    and isinstance(node.target, ast.Name)
    and isinstance(node.annotation, ast.Subscript)
}
ALIASES = {
    node.target.id: node.value
    for node in TREE.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
}


class Expanded(ast.NodeTransformer):
    """Types without the aliases of the stub."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.visit(ALIASES[node.id]) if node.id in ALIASES else node


def stub_type(node: ast.expr | None) -> str:
    """A type of the stub, spelled out."""
    assert node is not None
    text = ast.unparse(Expanded().visit(ast.parse(ast.unparse(node), mode="eval").body))
    text = text.replace("Callable[[int], object]", "object").replace("np.bool_", "np.bool")
    return text.replace("list[NDArray[np.generic]]", "list").replace("np.generic", "*")


def kernel_type(text: str) -> str:
    """A type as nanobind writes it, in the terms of the stub."""
    text = re.sub(r"(?:numpy\.)?ndarray\[dtype=(\w+)[^\]]*\]", r"NDArray[np.\1]", text)
    text = re.sub(r"(?:numpy\.)?ndarray\[[^\]]*\]", "NDArray[*]", text)
    return re.sub(r"duramen\._kernel_\w+?\.", "", text)


def stub_signature(function: ast.FunctionDef) -> list[str]:
    """Parameters, with the keyword-only ones behind a *, and the result."""
    options = function.args
    optional = {arg.arg for arg in options.args[len(options.args) - len(options.defaults) :]}
    optional |= {
        argument.arg
        for argument, value in zip(options.kwonlyargs, options.kw_defaults, strict=True)
        if value
    }

    def shown(argument: ast.arg) -> str:
        mark = " = ..." if argument.arg in optional else ""
        return f"{argument.arg}: {stub_type(argument.annotation)}{mark}"

    parameters = [shown(arg) for arg in options.args if arg.arg != "self"]
    star = ["*"] if options.kwonlyargs else []
    keywords = [shown(kwonlyarg) for kwonlyarg in options.kwonlyargs]
    return [*parameters, *star, *keywords, stub_type(function.returns)]


def kernel_signature(bound: object) -> list[str]:
    ((text, *_),) = bound.__nb_signature__  # type: ignore[attr-defined]
    inside, result = re.fullmatch(r"def \w* ?\((.*)\) -> (.*)", text).groups()  # type: ignore[union-attr]
    parts = [part for part in split(kernel_type(inside)) if part != "self"]
    return [*(re.sub(r" = .*", " = ...", part) for part in parts), kernel_type(result)]


def split(parameters: str) -> list[str]:
    """Parts between the commas outside of brackets."""
    return [part for part in re.split(r", (?![^\[]*\])", parameters) if part]


def bound(owner: str, name: str) -> object:
    if not owner:
        return getattr(_kernel, name)
    result = vars(getattr(_kernel, owner))[name]
    return result.fget if isinstance(result, property) else result


@pytest.mark.parametrize("owner, name", FUNCTIONS, ids=lambda owner: owner or "module")
def test_the_kernel_has_the_signatures_of_the_stub(owner: str, name: str) -> None:
    assert kernel_signature(bound(owner, name)) == stub_signature(FUNCTIONS[owner, name])


@pytest.mark.parametrize("owner, name", ATTRIBUTES)
def test_the_kernel_has_the_attributes_of_the_stub(owner: str, name: str) -> None:
    assert kernel_signature(bound(owner, name)) == [stub_type(ATTRIBUTES[owner, name])]


def test_the_stub_has_all_of_the_kernel() -> None:
    constants = {name for name in ALIASES if name.isupper()}
    declared = {
        node.target.id
        for node in TREE.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    } - set(ALIASES)
    public = {name for name in vars(_kernel) if not name.startswith("_")}
    functions = {name for owner, name in FUNCTIONS if not owner}
    assert public == functions | {definition.name for definition in CLASSES} | declared | constants
    for definition in CLASSES:
        kind = getattr(_kernel, definition.name)
        own = {name for name in vars(kind) if not name.startswith("_") or name == "__init__"}
        stubbed = {name for owner, name in [*FUNCTIONS, *ATTRIBUTES] if owner == definition.name}
        assert own - {"__init__"} == stubbed - {"__init__"}
        assert [base.__name__ for base in kind.__bases__ if base is not object] == [
            base.id for base in definition.bases if isinstance(base, ast.Name)
        ]
