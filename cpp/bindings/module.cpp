// The module. What lies in bindings/ is all that knows Python.
#include "../digest.hpp"
#include "arrays.hpp"
#include "bind.hpp"

using namespace duramen::python;

NB_MODULE(DURAMEN_BODY, module) {
  module.doc() = "The compiled kernel of duramen.";
  module.def(
      "digest",
      [](const Vector<std::uint8_t>& bytes) {
        const auto [first, second] =
            duramen::digest(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        return nb::make_tuple(first, second);
      },
      nb::arg("bytes"), "Two words that change when the bytes do.");
  bind_contexts(module);
  bind_encode(module);
  bind_forests(module);
  bind_permutations(module);
  bind_theory(module);
}
