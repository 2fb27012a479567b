"""The compiled kernel in the build for the processor; all builds give the same results.

A wheel holds a build for processors with AVX2 and one for any; an installation for development
(``pip install --editable``) holds the one for the processor at hand.
"""

try:
    # Raises ImportError on a processor without AVX2.
    from duramen._kernel_avx2 import *  # noqa: F403
except ImportError:
    from duramen._kernel_generic import *  # noqa: F403
