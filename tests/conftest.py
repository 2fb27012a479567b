"""Common setup of tests: profiles, the folder of shared data, matplotlib without a screen."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import numpy as np
import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Workers of pytest-xdist keep all processors busy; threads of OpenBLAS would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Property tests draw the same examples in every run; `make test-random` draws others.
EXAMPLES = 40  # of each property; those that need more say so
settings.register_profile("same", max_examples=EXAMPLES, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=EXAMPLES, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Collecting the tests makes millions of objects that stay: looking through them for cycles, again
# and again, takes a third of the time. They are left out afterwards too; what tests make is not.
gc.disable()

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the shared data sets where they do not lie beside the repository."""
    if SHARED_DATA.is_dir():
        return
    skip = pytest.mark.skip(reason="the shared data sets are not beside this repository")
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(skip)


STATES: dict[int, Any] = {}  # of the generators that modules hold, after their import


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set random numbers back: a test draws the same ones whatever ran before it.

    They are those of NumPy's global state, from which estimators without a random_state draw, and
    of the generators that the module of the test holds.
    """
    np.random.seed(0)  # noqa: NPY002
    for value in vars(getattr(item, "module", item)).values():
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            bits.state = STATES.setdefault(id(value), bits.state)


def pytest_collection_finish() -> None:
    """Let the collector of cycles look at what the tests make, and at nothing from before."""
    gc.collect()
    gc.freeze()
    gc.enable()


class Templates(jinja2.BytecodeCache):
    """Compiled templates, kept in memory.

    Each page of a report compiles its templates, which takes longer than many a command.
    """

    def __init__(self) -> None:
        self.compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        if bucket.key in self.compiled:  # refused by jinja2 where the source is another one
            bucket.bytecode_from_string(self.compiled[bucket.key])

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self.compiled[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(scope="session", autouse=True)
def _templates() -> Iterator[None]:
    """Compile the templates of pages once in a session."""
    with pytest.MonkeyPatch.context() as patch:
        environment = partial(jinja2.Environment, bytecode_cache=Templates())
        patch.setattr(jinja2, "Environment", environment)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_fsync() -> Iterator[None]:
    """Do not wait for the disk: files of tests need not outlast a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture
def both_kernels() -> tuple[ModuleType, ModuleType]:
    """The kernel's builds for any processor and for AVX2; skips where only one can be imported.

    With DURAMEN_BOTH_KERNELS set, which `make both-kernels` does, a missing build is an error.
    """
    try:
        from duramen import _kernel_avx2, _kernel_generic
    except ImportError as error:
        if os.environ.get("DURAMEN_BOTH_KERNELS"):
            raise
        pytest.skip(f"one build of the kernel only; `make both-kernels` compares two ({error})")
    return _kernel_generic, _kernel_avx2


@pytest.fixture
def use_build(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType], None]:
    """Have the package call another build of the kernel, with tables and forests yet to be made."""

    def use(build: ModuleType) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("duramen.") and "_kernel" in vars(module):
                monkeypatch.setattr(module, "_kernel", build)

    return use


@pytest.fixture
def leave_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have the package find so many bytes left, and look before it takes however few."""

    def leave(n_bytes: int) -> None:
        for module in ("duramen.data.memory", "duramen.forests.memory"):
            monkeypatch.setattr(f"{module}.SELDOM_LACKING", 0)
            monkeypatch.setattr(f"{module}.available_bytes", lambda: n_bytes)

    return leave


@pytest.fixture
def shared_data() -> Path:
    """The folder of the shared data sets; for tests marked ``shared``."""
    return SHARED_DATA
