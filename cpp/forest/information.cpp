#include "forest/information.hpp"

#include <algorithm>

#include "forest/route.hpp"
#include "impurity.hpp"

namespace duramen {
namespace {

// Means of x log2 x over hypergeometric distributions: of the marked rows among some that are drawn
// without replacement.
class MeanTerms {
 public:
  double term(std::int64_t x) {
    for (std::int64_t n = static_cast<std::int64_t>(terms_.size()); n <= x; ++n) {
      terms_.push_back(n_log2_n(static_cast<double>(n)));
    }
    return terms_[static_cast<std::size_t>(x)];
  }

  // Probabilities come from that of the mode, one by the ratio to the next, until they no longer
  // count.
  double mean(std::int64_t total, std::int64_t drawn, std::int64_t marked) {
    const std::int64_t low = std::max<std::int64_t>(0, drawn + marked - total);
    const std::int64_t high = std::min(drawn, marked);
    term(high);
    const double a = static_cast<double>(drawn);
    const double b = static_cast<double>(marked);
    const double rest = static_cast<double>(total) - a - b;
    const auto mode =
        static_cast<std::int64_t>((a + 1) * (b + 1) / (static_cast<double>(total) + 2));
    const std::int64_t middle = std::clamp(mode, low, high);
    double all = 1.0;
    double sum = term(middle);
    double probability = 1.0;
    for (std::int64_t x = middle; x < high && probability > kLeast; ++x) {
      const double at = static_cast<double>(x);
      probability *= (a - at) * (b - at) / ((at + 1) * (rest + at + 1));
      all += probability;
      sum += probability * terms_[static_cast<std::size_t>(x + 1)];
    }
    probability = 1.0;
    for (std::int64_t x = middle; x > low && probability > kLeast; --x) {
      const double at = static_cast<double>(x);
      probability *= at * (rest + at) / ((a - at + 1) * (b - at + 1));
      all += probability;
      sum += probability * terms_[static_cast<std::size_t>(x - 1)];
    }
    return sum / all;
  }

 private:
  static constexpr double kLeast = 1e-20;  // of the probability of the mode
  std::vector<double> terms_;
};

}  // namespace

std::vector<double> excess_information(const ForestView& forest, const std::int64_t* counts,
                                       std::size_t n_classes) {
  std::vector<double> excess(static_cast<std::size_t>(forest.offsets[forest.n_trees]), 0.0);
  std::vector<std::int64_t> at, rows;  // rows of each class at each node, and all of them
  MeanTerms terms;
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    const TreeView tree(forest, t);
    const std::int64_t* of_leaves =
        counts + static_cast<std::size_t>(forest.leaf_offsets[t]) * n_classes;
    double* of_tree = excess.data() + forest.offsets[t];
    at.assign(tree.n_nodes * n_classes, 0);
    rows.assign(tree.n_nodes, 0);
    for (std::size_t node = tree.n_nodes; node-- > 0;) {  // children come after their parent
      std::int64_t* here = at.data() + node * n_classes;
      const auto first = static_cast<std::size_t>(tree.child[node]);
      if (tree.feature[node] < 0) {
        for (std::size_t k = 0; k < n_classes; ++k) {
          here[k] = of_leaves[first * n_classes + k];
          rows[node] += here[k];
        }
        continue;
      }
      const std::size_t end = first + tree.n_children(node);
      for (std::size_t child = first; child < end; ++child) {
        rows[node] += rows[child];
        for (std::size_t k = 0; k < n_classes; ++k) here[k] += at[child * n_classes + k];
      }
      for (std::size_t child = first; child < end; ++child) {
        if (rows[child] < 2) continue;  // one row alone has no information
        for (std::size_t k = 0; k < n_classes; ++k) {
          if (here[k] < 2) continue;
          of_tree[node] +=
              terms.term(at[child * n_classes + k]) - terms.mean(rows[node], rows[child], here[k]);
        }
      }
    }
  }
  return excess;
}

}  // namespace duramen
