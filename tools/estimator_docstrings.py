"""Compare the parameters in the docstrings of the estimators with the catalogue, or write them.

    python tools/estimator_docstrings.py [--write]

The texts are those of ``duramen.estimators.parameters``, the defaults those of the signatures.
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path

from duramen.estimators.catalogue import FORESTS
from duramen.estimators.parameters import PARAMETERS

HEADING = "    Parameters\n    ----------\n"
BLOCK = re.compile(re.escape(HEADING) + r"(?:    \S.*\n(?:        \S.*\n)+)+")
TEXTS = {one.name: one for one in PARAMETERS}


def parameter_block(kind: type) -> str:
    """Return the section of parameters that the docstring of an estimator must have."""
    lines = []
    for name, given in inspect.signature(kind).parameters.items():
        default = f'"{given.default}"' if isinstance(given.default, str) else given.default
        lines.append(f"    {name} : {TEXTS[name].allowed_for(kind.task)}, default={default}\n")
        text = textwrap.fill(
            TEXTS[name].text_for(kind.task),
            100,
            initial_indent=" " * 8,
            subsequent_indent=" " * 8,
            break_on_hyphens=False,
        )
        lines.append(text + "\n")
    return HEADING + "".join(lines)


def rewritten(kind: type, source: str) -> str:
    """Return the source of a module with the section of one of its classes replaced."""
    start = source.index(f"class {kind.__name__}(")
    return source[:start] + BLOCK.sub(lambda _: parameter_block(kind), source[start:], count=1)


def main(write: bool) -> int:
    """Compare all classes with the catalogue; return the number of files that differ."""
    wrong = 0
    for forest in FORESTS:
        path = Path(inspect.getfile(forest.classifier))
        source = new = path.read_text(encoding="utf-8")
        for kind in forest.estimators:
            new = rewritten(kind, new)
        if new != source:
            wrong += 1
            print(f"{path}: docstrings differ from duramen.estimators.parameters")
            if write:
                path.write_text(new, encoding="utf-8")
    return 0 if write else wrong


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
