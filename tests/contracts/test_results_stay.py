"""Results stay what they are: every public function and command against its pinned digest.

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


@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=pytest.mark.slow if case.slow else ()) for key, case in CASES.items()],
)
def test_result_is_as_pinned(key: str) -> None:
    told = pins.difference(CASES[key], pins.pinned().get(key))
    assert told is None, told


def test_every_pin_has_its_case() -> None:
    assert sorted(pins.pinned()) == sorted(CASES)


@pytest.mark.slow
def test_result_is_the_same_on_other_processors(root: Any) -> None:
    """The generic kernel, two threads, plain NumPy loops, another BLAS kernel and hash seed."""
    elsewhere = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(optional_features()),
        "OPENBLAS_CORETYPE": "Prescott",
        "PYTHONHASHSEED": "12345",
    }
    # An editable installation has the kernel of this processor alone.
    generic = ["--generic"] if find_spec("duramen._kernel_generic") else []
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts", *generic, "--jobs", "2"],
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
