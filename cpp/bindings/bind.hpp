// The areas of the module, each bound in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace duramen::python {

namespace nb = nanobind;

void bind_contexts(nb::module_& module);
void bind_cultures(nb::module_& module);
void bind_encode(nb::module_& module);
void bind_forests(nb::module_& module);
void bind_growth(nb::module_& module);
void bind_objects(nb::module_& module);
void bind_permutations(nb::module_& module);
void bind_survival(nb::module_& module);
void bind_theory(nb::module_& module);

}  // namespace duramen::python
