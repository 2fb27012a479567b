// The module. It and what lies in bindings/ are all that knows Python.
#include <nanobind/nanobind.h>

#include "bindings/arrays.hpp"
#include "bindings/contexts.hpp"
#include "bindings/encode.hpp"
#include "bindings/forests.hpp"
#include "bindings/permutations.hpp"
#include "bindings/theory.hpp"
#include "digest.hpp"

NB_MODULE(DURAMEN_MODULE, module) {
  module.doc() = "The compiled kernel of duramen.";
  module.def(
      "digest",
      [](const Vector<std::uint8_t>& bytes) {
        const auto [first, second] =
            duramen::digest(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        return nb::make_tuple(first, second);
      },
      nb::arg("bytes"), "Two words that change when the bytes do.");
  module.def(
      "has_avx2",
      [] {
#if defined(__x86_64__) && !defined(DURAMEN_ONE_BUILD)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("fma");
#else
        return false;
#endif
      },
      "Whether there is a build for AVX2 that this processor runs.");
  bind_contexts(module);
  bind_encode(module);
  bind_forests(module);
  bind_permutations(module);
  bind_theory(module);
}
