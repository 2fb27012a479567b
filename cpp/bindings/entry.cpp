// Where Python enters the module. This file is compiled for any processor, and refuses the kernel
// to those that lack the instructions which the rest of it may use.
#include <Python.h>

#include "processor.hpp"

extern "C" PyObject* DURAMEN_BODY_INIT();

PyMODINIT_FUNC DURAMEN_INIT() {
#ifdef DURAMEN_NEEDS_AVX2
  if (!duramen::has_avx2()) {
    PyErr_SetString(PyExc_ImportError,
                    "duramen: this kernel needs a processor with AVX2, BMI2 and FMA, and this one "
                    "lacks them. Hint: install again on this machine.");
    return nullptr;
  }
#endif
  return DURAMEN_BODY_INIT();
}
