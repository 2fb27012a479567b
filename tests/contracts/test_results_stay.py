"""Results stay what they are: every path through the kernel against its pinned digest.

A redesign keeps these digests; where one must change, ``python -m tests.contracts --pin KEY`` pins
it anew, and the commit says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from tests.contracts import pins
from tests.contracts.registry import cases

CASES = cases()


def subjects() -> list[str]:
    """Return the subjects of the cases: classes or functions."""
    return sorted({subject(key) for key in CASES})


def subject(key: str) -> str:
    first, second = f"{key}/".split("/")[:2]
    return f"{first}/{second.split()[0]}" if first in {"forest", "theory"} else first


@pytest.mark.parametrize("about", subjects())
def test_results_are_as_pinned(about: str) -> None:
    pinned = pins.pinned()
    chosen = [case for key, case in CASES.items() if subject(key) == about]
    differences = [pins.difference(case, pinned.get(case.key)) for case in chosen]
    assert not any(differences), "\n".join(filter(None, differences))


def test_every_pin_has_its_case() -> None:
    assert sorted(pins.pinned()) == sorted(CASES)


# Files and figures, and what calls functions that have cases of their own.
BUILT_ON_OTHERS = {"encode", "evaluate_selection", "plots"}


@pytest.mark.slow
def test_result_is_the_same_on_other_processors(root: Any) -> None:
    """The generic kernel, two threads, plain NumPy loops, another BLAS kernel and hash seed.

    Of the functions that call every routine of the kernel.

    Workers of pytest-xdist have one thread of OpenBLAS, this process two.
    """
    elsewhere = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(optional_features()),
        "OPENBLAS_CORETYPE": "Prescott",
        "OPENBLAS_NUM_THREADS": "2",
        "PYTHONHASHSEED": "12345",
    }
    keys = [key for key in CASES if key.split("/")[0] not in BUILT_ON_OTHERS]
    # An editable installation has the kernel of this processor alone, but for that of .ci/run.
    generic = ["--generic"] if find_spec("duramen._kernel_generic") else []
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts", *generic, "--jobs", "2", *keys],
        cwd=root,
        env={**os.environ, **elsewhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def optional_features() -> list[str]:
    """The processor's features that NumPy has loops for, and can do without."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
