"""Speed, error rates, power and accuracy of duramen: see README.md in this folder."""

import os

# One thread a side. NumPy's libraries read this at their start: it must stand before they load.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
