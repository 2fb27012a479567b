// Effects of a context on importances, as Python calls them.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "bindings/bind.hpp"
#include "bindings/objects.hpp"
#include "bindings/watched.hpp"
#include "context/context.hpp"

namespace duramen::python {

namespace {

// The context of every row, of which permutations are drawn; or, in several rows of `codes`, the
// permutations.
struct Contexts {
  Matrix<std::uint32_t> codes;
  Vector<double> levels;
  duramen::Contexts view;

  Contexts(Matrix<std::uint32_t> assigned, std::uint32_t count, bool empty_is_zero,
           Vector<double> of_nodes, std::uint64_t seed, std::uint64_t first,
           std::size_t n_permutations, std::int32_t column)
      : codes(std::move(assigned)), levels(std::move(of_nodes)) {
    const bool drawn = codes.shape(0) > 1;
    const std::size_t size = codes.shape(0) * codes.shape(1);
    need(n_permutations > 0, "there are no permutations");
    need(codes.shape(0) == (drawn ? n_permutations : 1),
         "the context is given neither once nor for every permutation");
    need(count >= 2, "there are fewer than two contexts");
    need(size == 0 || *std::max_element(codes.data(), codes.data() + size) < count,
         "a code of the context is not below the number of contexts");
    view = {.codes = codes.data(),
            .count = count,
            .empty_is_zero = empty_is_zero,
            .levels = levels.data(),
            .seed = seed,
            .first = first,
            .n_permutations = n_permutations,
            .drawn = drawn,
            .column = column};
  }
};

using Effects =
    std::tuple<Array<double>, Array<double>, Array<double>, Array<double>, Array<double>>;

Effects context_effects(const Forest& forest, const Table& table, const Target& target,
                        const Contexts& contexts, unsigned criterion, unsigned n_threads) {
  need_fit(forest, table, target);
  need_no_survival(target);
  need(criterion <= 2, "no such criterion");
  need(contexts.codes.shape(1) == table.n_rows, "the context has not one entry a row");
  need(contexts.levels.shape(0) ==
           static_cast<std::size_t>(forest.view.offsets[forest.view.n_trees]),
       "levels has not one entry a node");
  duramen::ContextEffects result;
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    result =
        duramen::context_effects(forest.view, table.view, target.view, contexts.view,
                                 static_cast<duramen::Impurity>(criterion), n_threads, monitor);
  });
  const std::size_t p = table.view.n_columns;
  const std::size_t r = contexts.view.n_permutations;
  const std::size_t c = contexts.view.count;
  return {to_array(std::move(result.absolute), {r, c, p}),
          to_array(std::move(result.difference), {r, c, p}),
          to_array(std::move(result.conditional), {r, c, p}),
          to_array(std::move(result.overall), r, p), to_array(std::move(result.relevance))};
}

}  // namespace

void bind_contexts(nb::module_& module) {
  nb::class_<Contexts>(module, "Contexts", "Contexts of the rows, and how they are permuted.")
      .def(nb::init<Matrix<std::uint32_t>, std::uint32_t, bool, Vector<double>, std::uint64_t,
                    std::uint64_t, std::size_t, std::int32_t>(),
           nb::kw_only(), lent("codes"), nb::arg("count"), nb::arg("empty_is_zero"), lent("levels"),
           nb::arg("seed"), nb::arg("first"), nb::arg("n_permutations"), nb::arg("column") = -1);
  module.def("context_effects", &context_effects, nb::arg("forest"), nb::arg("table"),
             nb::arg("target"), nb::arg("contexts"), nb::arg("criterion"), nb::arg("n_threads"),
             "Absolute, signed, conditional and overall effects, and the context's own relevance.");
}

}  // namespace duramen::python
