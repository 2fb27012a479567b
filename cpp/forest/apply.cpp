#include "forest/apply.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "parallel.hpp"

namespace duramen {
namespace {

// Calls visit(tree, rows, leaves, n) for runs of rows: all of them, or those out of the bag of each
// tree.
template <class Rows, class Visit>
void over_leaves(const ForestView& forest, const Rows& rows, std::size_t n_rows, unsigned n_threads,
                 const Monitor& monitor, const OutOfBagRows* out_of_bag, Visit&& visit) {
  run_threads(n_threads, [&](unsigned thread) {
    const std::size_t begin = n_rows * thread / n_threads;
    const std::size_t end = n_rows * (thread + 1) / n_threads;
    if (begin == end) return;
    Descent<Rows> descent(rows);
    std::optional<OutOfBagRows> is_out;
    if (out_of_bag != nullptr) is_out = *out_of_bag;
    std::array<std::uint32_t, kRowsAtATime> some, leaves;
    for (std::size_t t = 0; t < forest.n_trees; ++t) {
      if (monitor.stop.load(std::memory_order_relaxed)) return;
      const TreeView tree(forest, t);
      descent.start(tree);
      if (is_out) is_out->start(t);
      for (std::size_t first = begin; first < end; first += kRowsAtATime) {
        const std::size_t last = std::min(end, first + kRowsAtATime);
        std::size_t n = 0;
        for (std::size_t row = first; row < last; ++row) {
          some[n] = static_cast<std::uint32_t>(row);
          n += !is_out || (*is_out)(row) ? 1 : 0;
        }
        descent.leaves(some.data(), n, leaves.data());
        visit(tree, t, some.data(), leaves.data(), n);
      }
    }
  });
}

}  // namespace

template <class Rows>
void apply(const ForestView& forest, const Rows& rows, std::size_t n_rows, unsigned n_threads,
           const Monitor& monitor, const OutOfBagRows* out_of_bag, std::int32_t* leaves) {
  over_leaves(forest, rows, n_rows, n_threads, monitor, out_of_bag,
              [&](const TreeView&, std::size_t t, const std::uint32_t* some,
                  const std::uint32_t* leaf, std::size_t n) {
                for (std::size_t i = 0; i < n; ++i) {
                  leaves[some[i] * forest.n_trees + t] = static_cast<std::int32_t>(leaf[i]);
                }
              });
}

template <class Rows>
void predict(const ForestView& forest, const Rows& rows, std::size_t n_rows, unsigned n_threads,
             const Monitor& monitor, double* out) {
  const std::size_t width = forest.n_values;
  std::fill_n(out, n_rows * width, 0.0);
  over_leaves(forest, rows, n_rows, n_threads, monitor, nullptr,
              [&](const TreeView& tree, std::size_t t, const std::uint32_t* some,
                  const std::uint32_t* leaves, std::size_t n) {
                const double* values = forest.leaf_values + forest.leaf_offsets[t] * width;
                for (std::size_t i = 0; i < n; ++i) {
                  const std::size_t leaf = static_cast<std::size_t>(tree.child[leaves[i]]);
                  double* sums = out + some[i] * width;
                  for (std::size_t k = 0; k < width; ++k) sums[k] += values[leaf * width + k];
                }
              });
  for (std::size_t i = 0; i < n_rows * width; ++i) out[i] /= static_cast<double>(forest.n_trees);
}

#define DURAMEN_APPLY(Rows)                                                                    \
  template void apply(const ForestView&, const Rows&, std::size_t, unsigned, const Monitor&,   \
                      const OutOfBagRows*, std::int32_t*);                                     \
  template void predict(const ForestView&, const Rows&, std::size_t, unsigned, const Monitor&, \
                        double*);
DURAMEN_APPLY(CodeRows)
DURAMEN_APPLY(ValueRows)

}  // namespace duramen
