// Effects of a context on importances, as Python calls them.
#include "../context.hpp"
#include "arrays.hpp"
#include "bind.hpp"
#include "truth.hpp"

namespace duramen::python {

void bind_contexts(nb::module_& module) {
  module.def(
      "context_effects",
      [](DURAMEN_FOREST, DURAMEN_TABLE, const nb::object& target,
         const Matrix<std::uint32_t>& context, std::uint32_t n_contexts, bool empty_is_zero,
         const Vector<double>& levels, int criterion, std::uint64_t seed, std::uint64_t first,
         std::size_t n_permutations, unsigned n_threads) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        const duramen::Table table = DURAMEN_TABLE_OF;
        const std::size_t n = table.n_rows;
        // One row: the context, of which permutations are drawn. Several: the permutations.
        const bool drawn = context.shape(0) > 1;
        need(context.shape(1) == n, "the context has not one entry a row");
        need(context.shape(0) == (drawn ? n_permutations : 1),
             "the context is given neither once nor for every permutation");
        need(n_contexts >= 2, "there are fewer than two contexts");
        for (std::size_t i = 0; i < context.shape(0) * n; ++i) {
          need(context.data()[i] < n_contexts, "a code of the context is not below n_contexts");
        }
        need(levels.shape(0) == static_cast<std::size_t>(forest.offsets[forest.n_trees]),
             "levels has not one entry a node");
        need(n_permutations > 0, "there are no permutations");
        const GivenTruth given(forest, n, target);
        const duramen::Contexts contexts{context.data(), n_contexts, empty_is_zero,  levels.data(),
                                         seed,           first,      n_permutations, drawn};
        duramen::ContextEffects result;
        duramen::Monitor monitor;
        run_watched(monitor, nb::none(), [&] {
          result = duramen::context_effects(forest, table, given.truth, contexts,
                                            static_cast<duramen::Criterion>(criterion), n_threads,
                                            monitor);
        });
        const std::size_t p = table.n_columns;
        return nb::make_tuple(
            to_array(std::move(result.absolute), {n_permutations, n_contexts, p}),
            to_array(std::move(result.difference), {n_permutations, n_contexts, p}),
            to_array(std::move(result.conditional), {n_permutations, n_contexts, p}),
            to_array(std::move(result.overall), n_permutations, p),
            to_array(std::move(result.relevance)));
      },
      "Absolute, signed, conditional and overall effects, and the context's own relevance.");
}

}  // namespace duramen::python
