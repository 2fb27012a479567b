#include "forest/accumulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "forest/packed.hpp"
#include "parallel.hpp"

namespace duramen {

void DecreaseSums::add(const ForestView& forest) {
  const std::size_t n_columns = sums_.size();
  std::vector<double> tree_sum(n_columns, 0.0);
  std::vector<std::uint32_t> used;
  std::vector<std::uint8_t> seen(n_columns, 0);
  std::vector<std::uint32_t> inner;   // nodes of a tree that are split
  std::vector<double> weights;        // of the nodes of a tree
  std::vector<std::uint32_t> depths;  // of the nodes of a tree
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    const TreeView tree(forest, t);
    const std::uint32_t* rows = forest.rows + forest.offsets[t];
    const double* weight = forest.weight == nullptr ? nullptr : forest.weight + forest.offsets[t];
    if (weight == nullptr) {
      weights.assign(rows, rows + tree.n_nodes);
      weight = weights.data();
    }
    const double* impurity = forest.impurity + forest.offsets[t];
    // Which nodes are leaves cannot be foreseen: they are sorted out without a branch.
    inner.resize(tree.n_nodes + 1);
    std::size_t n_inner = 0;
    for (std::size_t node = 0; node < tree.n_nodes; ++node) {
      inner[n_inner] = static_cast<std::uint32_t>(node);
      n_inner += tree.feature[node] >= 0 ? 1 : 0;
    }
    const std::uint32_t* degree =
        forest.degree == nullptr ? nullptr : forest.degree + forest.offsets[t];
    if (degree == nullptr && by_degree_) {
      depths.assign(tree.n_nodes, 0);
      for (std::size_t i = 0; i < n_inner; ++i) {
        const std::size_t first = static_cast<std::size_t>(tree.child[inner[i]]);
        std::fill_n(depths.begin() + static_cast<std::ptrdiff_t>(first), tree.n_children(inner[i]),
                    depths[inner[i]] + 1);
      }
      degree = depths.data();
    }
    for (std::size_t i = 0; i < n_inner; ++i) {
      const std::size_t node = inner[i];
      const std::size_t j = static_cast<std::size_t>(tree.feature[node]);
      const std::size_t first = static_cast<std::size_t>(tree.child[node]);
      double decrease = impurity[node];
      if (!scored_) {
        decrease *= weight[node];
        for (std::uint32_t c = 0; c < tree.n_children(node); ++c) {
          decrease -= weight[first + c] * impurity[first + c];
        }
        decrease /= weight[0];
      }
      if (!seen[j]) {
        seen[j] = 1;
        used.push_back(static_cast<std::uint32_t>(j));
      }
      tree_sum[j] += decrease;
      if (by_degree_) {
        if (degrees_.size() <= degree[node]) {
          degrees_.resize(degree[node] + 1, std::vector<double>(n_columns, 0.0));
        }
        degrees_[degree[node]][j] += decrease;
      }
    }
    for (const std::uint32_t j : used) {
      sums_[j] += tree_sum[j];
      squares_[j] += tree_sum[j] * tree_sum[j];
      tree_sum[j] = 0.0;
      seen[j] = 0;
    }
    used.clear();
  }
  n_trees_ += forest.n_trees;
}

Decreases DecreaseSums::means() const {
  const std::size_t n_columns = sums_.size();
  const double n_trees = static_cast<double>(n_trees_);
  Decreases result;
  result.mean.resize(n_columns);
  result.standard_error.resize(n_columns);
  for (std::size_t j = 0; j < n_columns; ++j) {
    result.mean[j] = sums_[j] / n_trees;
    const double variance = squares_[j] / n_trees - result.mean[j] * result.mean[j];
    result.standard_error[j] = n_trees_ > 1 ? std::sqrt(std::max(0.0, variance) / (n_trees - 1.0))
                                            : std::numeric_limits<double>::quiet_NaN();
  }
  result.n_degrees = degrees_.size();
  result.by_degree.resize(n_columns * degrees_.size());
  for (std::size_t d = 0; d < degrees_.size(); ++d) {
    for (std::size_t j = 0; j < n_columns; ++j) {
      result.by_degree[j * degrees_.size() + d] = degrees_[d][j] / n_trees;
    }
  }
  return result;
}

namespace {

// Leaves of the rows out of the bag of each tree, which are sent down the trees.
class SentDown {
 public:
  SentDown(const Problem& problem, std::uint64_t first_tree)
      : is_out_(problem.settings, problem.table.n_rows, problem.seed, first_tree),
        rows_{problem.table},
        descent_(rows_) {}
  SentDown(const SentDown& other) : is_out_(other.is_out_), rows_(other.rows_), descent_(rows_) {}
  void start(const TreeView& tree, std::size_t t) {
    is_out_.start(t);
    descent_.start(tree);
  }
  std::size_t find(std::size_t first, std::size_t last, std::uint32_t* out, std::uint32_t* leaves) {
    std::size_t n_out = 0;
    for (std::size_t row = first; row < last; ++row) {
      out[n_out] = static_cast<std::uint32_t>(row);
      n_out += is_out_(row) ? 1 : 0;
    }
    descent_.leaves(out, n_out, leaves);
    return n_out;
  }

 private:
  OutOfBagRows is_out_;
  CodeRows rows_;
  Descent<CodeRows> descent_;
};

// Leaves that are known, row by tree; -1 in the bag.
class Known {
 public:
  Known(const std::int32_t* leaves, std::size_t n_trees) : leaves_(leaves), n_trees_(n_trees) {}
  void start(const TreeView&, std::size_t t) { tree_ = t; }
  std::size_t find(std::size_t first, std::size_t last, std::uint32_t* out, std::uint32_t* leaves) {
    std::size_t n_out = 0;
    for (std::size_t row = first; row < last; ++row) {
      const std::int32_t leaf = leaves_[row * n_trees_ + tree_];
      if (leaf < 0) continue;
      out[n_out] = static_cast<std::uint32_t>(row);
      leaves[n_out++] = static_cast<std::uint32_t>(leaf);
    }
    return n_out;
  }

 private:
  const std::int32_t* leaves_;
  std::size_t n_trees_;
  std::size_t tree_ = 0;
};

}  // namespace

void OutOfBag::add(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
                   unsigned n_threads) {
  add_from(SentDown(problem, first_tree), forest, problem, n_threads);
}

void OutOfBag::add_leaves(const ForestView& forest, const Problem& problem,
                          const std::int32_t* leaves) {
  add_from(Known(leaves, forest.n_trees), forest, problem, 1);
}

template <class Leaves>
void OutOfBag::add_from(const Leaves& of_rows, const ForestView& forest, const Problem& problem,
                        unsigned n_threads) {
  const std::size_t n = problem.table.n_rows;
  const std::size_t width = forest.n_values;
  const auto error_of = [&](std::size_t row) {
    const double* here = sums.data() + row * width;
    if (problem.n_classes > 0) {
      const auto vote = std::max_element(here, here + width) - here;
      return static_cast<std::uint32_t>(vote) == problem.classes[row] ? 0.0 : 1.0;
    }
    const double off = here[0] / counts[row] - problem.response[row];
    return off * off;
  };
  // Errors are kept per block of rows, so that their sum does not depend on the threads.
  const std::size_t n_blocks = (n + kRowsAtATime - 1) / kRowsAtATime;
  std::vector<double> errors(n_blocks * forest.n_trees, 0.0);
  std::vector<std::uint64_t> seen(n_blocks * forest.n_trees, 0);
  run_threads(n_threads, [&](unsigned thread) {
    const std::size_t first_block = n_blocks * thread / n_threads;
    const std::size_t last_block = n_blocks * (thread + 1) / n_threads;
    if (first_block == last_block) return;
    const std::size_t begin = first_block * kRowsAtATime;
    const std::size_t end = std::min(n, last_block * kRowsAtATime);
    std::vector<double> row_error(end - begin, 0.0);
    for (std::size_t row = begin; row < end; ++row) {
      if (counts[row] > 0) row_error[row - begin] = error_of(row);
    }
    Leaves own = of_rows;
    std::array<std::uint32_t, kRowsAtATime> out, leaves;
    for (std::size_t t = 0; t < forest.n_trees; ++t) {
      if (problem.monitor->stop.load(std::memory_order_relaxed)) return;
      const TreeView tree(forest, t);
      own.start(tree, t);
      const double* values = forest.leaf_values + forest.leaf_offsets[t] * width;
      for (std::size_t b = first_block; b < last_block; ++b) {
        const std::size_t first = b * kRowsAtATime;
        const std::size_t last = std::min(n, first + kRowsAtATime);
        const std::size_t n_out = own.find(first, last, out.data(), leaves.data());
        for (std::size_t i = 0; i < n_out; ++i) {
          const std::size_t leaf = static_cast<std::size_t>(tree.child[leaves[i]]);
          double* here = sums.data() + out[i] * width;
          for (std::size_t k = 0; k < width; ++k) here[k] += values[leaf * width + k];
          ++counts[out[i]];
          row_error[out[i] - begin] = error_of(out[i]);
        }
        double total = 0.0;
        std::uint64_t count = 0;
        for (std::size_t row = first; row < last; ++row) {
          if (counts[row] == 0) continue;
          total += row_error[row - begin];
          ++count;
        }
        errors[b * forest.n_trees + t] = total;
        seen[b * forest.n_trees + t] = count;
      }
    }
  });
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    double total = 0.0;
    std::uint64_t count = 0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
      total += errors[b * forest.n_trees + t];
      count += seen[b * forest.n_trees + t];
    }
    error.push_back(count > 0 ? total / static_cast<double>(count)
                              : std::numeric_limits<double>::quiet_NaN());
  }
}

void proximity(const std::int32_t* leaves, const std::uint8_t* out, std::size_t n_rows,
               std::size_t n_trees, unsigned n_threads, const Monitor& monitor, double* result) {
  run_threads(n_threads, [&](unsigned thread) {
    // Rows in turn, since row i has n_rows - i pairs.
    for (std::size_t i = thread; i < n_rows; i += n_threads) {
      if (monitor.stop.load(std::memory_order_relaxed)) return;
      const std::int32_t* a = leaves + i * n_trees;
      for (std::size_t j = i; j < n_rows; ++j) {
        const std::int32_t* b = leaves + j * n_trees;
        std::uint32_t together = 0;
        std::uint32_t trees = 0;
        if (out == nullptr) {
          for (std::size_t t = 0; t < n_trees; ++t) together += a[t] == b[t] ? 1 : 0;
          trees = static_cast<std::uint32_t>(n_trees);
        } else {
          const std::uint8_t* out_a = out + i * n_trees;
          const std::uint8_t* out_b = out + j * n_trees;
          for (std::size_t t = 0; t < n_trees; ++t) {
            const std::uint32_t both = out_a[t] & out_b[t];
            trees += both;
            together += both & (a[t] == b[t] ? 1U : 0U);
          }
        }
        const double fraction = trees > 0 ? static_cast<double>(together) / trees
                                          : std::numeric_limits<double>::quiet_NaN();
        result[i * n_rows + j] = fraction;
        result[j * n_rows + i] = fraction;
      }
    }
  });
}

}  // namespace duramen
