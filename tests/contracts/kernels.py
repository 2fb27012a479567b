"""Choose the kernel for any processor, whichever this one is."""

from __future__ import annotations

import sys


def use_generic() -> None:
    """Have the package use its generic kernel; call before anything imports a kernel."""
    import duramen
    from duramen import _kernel_generic

    if "duramen._kernel" in sys.modules:
        raise RuntimeError("use_generic: a kernel is in use already. Hint: call it first.")
    sys.modules["duramen._kernel"] = _kernel_generic
    duramen.__dict__["_kernel"] = _kernel_generic
