"""Base of the dataclasses that lend their arrays to the kernel."""

from typing import Any

_LENT = ("kernel", "bags")


class KernelOwner:
    """Owner of kernel objects: cached properties that pickles and copies leave out.

    They are made when they are first needed and refer to the arrays of their owner, whose fields
    are never replaced: an owner with other arrays is another owner.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _LENT}
