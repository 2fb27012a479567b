"""Report of versions, processor, kernel, threads and memory, for reports of a fault.

``python -m duramen.doctor`` prints it.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import metadata
from importlib.util import find_spec

from duramen.data.memory import available_bytes
from duramen.support.checks import check_jobs
from duramen.support.provenance import versions

_KERNELS = ("_kernel_avx2", "_kernel_generic")
_MORE = ("joblib", "narwhals", "pyarrow", "matplotlib", "jinja2", "cyclopts", "rich", "tqdm")
_VARIABLES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "DURAMEN_BOTH_KERNELS")
_EXTRAS = {
    "anndata": "h5py",
    "baselines": "skrebate",
    "distributed": "distributed",
    "excel": "openpyxl",
    "genotypes": "bed_reader",
    "networks": "networkx",
}


def kernels() -> dict[str, str]:
    """Return the builds of the kernel by name: "used", "not used", or "not installed"."""
    loaded = next(name for name in _KERNELS if f"duramen.{name}" in sys.modules)
    return {
        name: "used"
        if name == loaded
        else "not used"
        if find_spec(f"duramen.{name}")
        else "not installed"
        for name in _KERNELS
    }


def report() -> str:
    """Return versions, processor, kernels, threads, memory and extras, a line each.

    Examples
    --------
    >>> from duramen.doctor import report
    >>> report().startswith("duramen")
    True
    """
    numbers = versions(*_MORE)
    memory = available_bytes()
    lines = [f"duramen {numbers.pop('duramen')}: {metadata('duramen')['Summary']}"]
    lines += [f"{name} {number}" for name, number in numbers.items()]
    lines += [f"system: {platform.platform()}, {platform.machine()}"]
    lines += [f"kernel {name}: {state}" for name, state in kernels().items()]
    lines += [f"processors: {check_jobs('duramen.doctor', -1)} of {os.cpu_count()}"]
    lines += [f"memory available: {memory / 1e9:.1f} GB" if memory else "memory available: unknown"]
    lines += [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    for extra, module in _EXTRAS.items():
        state = "installed" if find_spec(module) else f"not installed: pip install duramen[{extra}]"
        lines.append(f"extra {extra}: {state}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{report()}\n")
