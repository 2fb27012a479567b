// The module. What lies in bindings/ is all that knows Python.
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "data/digest.hpp"

using namespace duramen::python;

NB_MODULE(DURAMEN_BODY, module) {
  module.doc() = "The compiled kernel of duramen.";
  nb::set_leak_warnings(false);  // users' variables may hold tables and forests up to the end
  module.def(
      "digest",
      [](const Vector<std::uint8_t>& bytes) {
        const auto [first, second] =
            duramen::digest(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        return std::pair{first, second};
      },
      nb::arg("bytes"), "Two words that change when the bytes do.");
  bind_objects(module);  // first: the others take them
  bind_contexts(module);
  bind_cultures(module);
  bind_encode(module);
  bind_forests(module);
  bind_growth(module);
  bind_permutations(module);
  bind_survival(module);
  bind_theory(module);
}
