"""The compiled kernel, in the build that suits the processor; both builds compute the same."""

from duramen import _kernel_generic

if _kernel_generic.has_avx2():
    from duramen._kernel_avx2 import *  # noqa: F403
else:
    from duramen._kernel_generic import *  # noqa: F403
