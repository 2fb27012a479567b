"""Base of the dataclasses that lend their arrays to the kernel."""

from typing import Any


class KernelOwner:
    """Owner of a kernel object: a cached property ``kernel``, which pickles and copies leave out.

    It is made when it is first needed and refers to the arrays of its owner, whose fields are never
    replaced: an owner with other arrays is another owner.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "kernel"}
