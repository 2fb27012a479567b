#include "forest/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "grow/bag.hpp"
#include "parallel.hpp"

namespace duramen {
namespace {

// The columns at a node: the state of each, and its probability to be drawn above the split.
struct Columns {
  std::vector<std::uint8_t> constant;  // at the node, without a split on it above
  std::vector<double> drawn;           // 1 where a node above splits on it
  std::size_t n_constant = 0;
  std::size_t n_drawn = 0;  // constant ones among those drawn
};

constexpr std::int32_t kNotAsked = -1;

// Walks over a tree with the rows of its bag, depth first.
class TreeWalk {
 public:
  TreeWalk(const CodeRows& rows, const std::vector<std::uint32_t>& columns)
      : rows_(rows),
        columns_(columns),
        slot_(rows.table.n_columns, kNotAsked),
        pairs_(columns.size() * columns.size(), 0.0) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      slot_[columns[i]] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<double>& pairs() { return pairs_; }

  // Without `degree` it is the number of columns above a node.
  void walk(const TreeView& tree, const std::vector<std::uint32_t>& bag,
            const std::uint32_t* degree, const std::vector<double>& decrease) {
    order_.clear();
    for (std::size_t row = 0; row < bag.size(); ++row) {
      if (bag[row] > 0) order_.push_back(static_cast<std::uint32_t>(row));
    }
    scratch_.resize(order_.size());
    stack_.assign(1, {0, 0, order_.size(), 0});
    while (!stack_.empty()) {
      const Visit visit = stack_.back();
      stack_.pop_back();
      if (tree.feature[visit.node] >= 0) enter(tree, visit, degree, decrease[visit.node]);
    }
  }

 private:
  struct Visit {
    std::size_t node, begin, end, depth;
  };

  void enter(const TreeView& tree, const Visit& visit, const std::uint32_t* degree,
             double decrease) {
    const std::size_t depth = visit.depth;
    if (at_.size() <= depth) at_.resize(depth + 1);
    if (path_.size() <= depth) path_.resize(depth + 1);
    Columns& here = at_[depth];
    if (depth == 0) {
      here.constant.assign(slot_.size(), 0);
      here.drawn.assign(slot_.size(), 0.0);
      here.n_constant = here.n_drawn = 0;
    } else {
      here = at_[depth - 1];
      here.drawn[path_[depth - 1]] = 1.0;
    }
    const std::size_t m = static_cast<std::size_t>(tree.feature[visit.node]);
    path_[depth] = static_cast<std::uint32_t>(m);
    std::size_t above = 0;
    if (degree != nullptr) {
      above = degree[visit.node];
      draw_constants(visit, above, here);
    } else {
      above = distinct_above(depth);
    }
    if (slot_[m] != kNotAsked && decrease != 0.0) {
      credit(static_cast<std::size_t>(slot_[m]), here.drawn, above, decrease);
    }
    divide(tree, visit);
  }

  // Of the columns above a split, those beyond the splits on the path were drawn while they were
  // constant. Which they are is not recorded: at each node, any of those that are left.
  void draw_constants(const Visit& visit, std::size_t above, Columns& here) const {
    for (std::size_t j = 0; j < slot_.size(); ++j) {
      if (here.constant[j] != 0 || here.drawn[j] == 1.0) continue;
      if (!is_constant(static_cast<std::uint32_t>(j), visit)) continue;
      here.constant[j] = 1;
      ++here.n_constant;
    }
    const std::size_t n_drawn = above - visit.depth;
    if (n_drawn == here.n_drawn) return;
    const double fraction = static_cast<double>(n_drawn - here.n_drawn) /
                            static_cast<double>(here.n_constant - here.n_drawn);
    for (std::size_t j = 0; j < slot_.size(); ++j) {
      if (here.constant[j] != 0) here.drawn[j] += (1.0 - here.drawn[j]) * fraction;
    }
    here.n_drawn = n_drawn;
  }

  bool is_constant(std::uint32_t column, const Visit& visit) const {
    const std::uint32_t first = rows_.code(column, order_[visit.begin]);
    for (std::size_t i = visit.begin + 1; i < visit.end; ++i) {
      if (rows_.code(column, order_[i]) != first) return false;
    }
    return true;
  }

  // Columns above the node, without its own.
  std::size_t distinct_above(std::size_t depth) {
    sorted_.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(depth));
    std::sort(sorted_.begin(), sorted_.end());
    const auto last = std::unique(sorted_.begin(), sorted_.end());
    const std::size_t n = static_cast<std::size_t>(last - sorted_.begin());
    return n - (std::binary_search(sorted_.begin(), last, path_[depth]) ? 1 : 0);
  }

  void credit(std::size_t m, const std::vector<double>& drawn, std::size_t n_above,
              double decrease) {
    const std::size_t n_others = slot_.size() - 1;
    const double scaled = static_cast<double>(slot_.size()) * decrease;
    const double gain = n_above > 0 ? scaled / static_cast<double>(n_above) : 0.0;
    const double loss = n_others > n_above ? scaled / static_cast<double>(n_others - n_above) : 0.0;
    double* row = pairs_.data() + m * columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i == m) continue;
      const double above = drawn[columns_[i]];
      row[i] += above * gain - (1.0 - above) * loss;
    }
  }

  // Moves the rows of each child together, in their order.
  void divide(const TreeView& tree, const Visit& visit) {
    const std::size_t n_children = tree.n_children(visit.node);
    starts_.assign(n_children + 1, 0);
    sides_.resize(visit.end - visit.begin);
    for (std::size_t i = visit.begin; i < visit.end; ++i) {
      const std::uint32_t side = tree.side(visit.node, rows_, order_[i]);
      sides_[i - visit.begin] = side;
      ++starts_[side + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    places_.assign(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = visit.begin; i < visit.end; ++i) {
      scratch_[places_[sides_[i - visit.begin]]++] = order_[i];
    }
    std::copy_n(scratch_.begin(), visit.end - visit.begin,
                order_.begin() + static_cast<std::ptrdiff_t>(visit.begin));
    const std::size_t first = static_cast<std::size_t>(tree.child[visit.node]);
    for (std::size_t c = 0; c < n_children; ++c) {
      if (starts_[c] == starts_[c + 1]) continue;
      stack_.push_back(
          {first + c, visit.begin + starts_[c], visit.begin + starts_[c + 1], visit.depth + 1});
    }
  }

  const CodeRows& rows_;
  const std::vector<std::uint32_t>& columns_;
  std::vector<std::int32_t> slot_;  // of a column among the requested ones
  std::vector<double> pairs_;       // of this tree: column of the node, other column
  std::vector<std::uint32_t> order_, scratch_, sides_, path_, sorted_;
  std::vector<std::size_t> starts_, places_;
  std::vector<Columns> at_;  // by depth
  std::vector<Visit> stack_;
};

// Decreases of impurity by the splits, times the fraction of the weight of the tree.
void find_decreases(const ForestView& forest, const TreeView& tree, std::size_t t,
                    std::vector<double>& decrease) {
  const std::size_t begin = static_cast<std::size_t>(forest.offsets[t]);
  const auto weight = [&](std::size_t node) {
    return forest.weight != nullptr ? forest.weight[begin + node]
                                    : static_cast<double>(forest.rows[begin + node]);
  };
  decrease.assign(tree.n_nodes, 0.0);
  for (std::size_t node = 0; node < tree.n_nodes; ++node) {
    if (tree.feature[node] < 0) continue;
    const std::size_t first = static_cast<std::size_t>(tree.child[node]);
    double sum = weight(node) * forest.impurity[begin + node];
    for (std::size_t c = 0; c < tree.n_children(node); ++c) {
      sum -= weight(first + c) * forest.impurity[begin + first + c];
    }
    decrease[node] = sum / weight(0);
  }
}

}  // namespace

PairMeans pair_interactions(const ForestView& forest, const CodeRows& rows,
                            const Settings& settings, std::uint64_t seed, std::uint64_t first_tree,
                            const std::vector<std::uint32_t>& columns, unsigned n_threads,
                            const Monitor& monitor) {
  const std::size_t k = columns.size();
  const double n_trees = static_cast<double>(forest.n_trees);
  n_threads = static_cast<unsigned>(
      std::clamp<std::size_t>(n_threads, 1, std::max<std::size_t>(forest.n_trees, 1)));
  PairMeans result;
  result.mean.assign(k * k, 0.0);
  result.standard_error.assign(k * k, 0.0);
  std::vector<TreeWalk> walks(n_threads, TreeWalk(rows, columns));
  const auto tally = [&](std::size_t t, TreeWalk& walk) {
    std::vector<std::uint32_t> bag;
    std::vector<double> decrease;
    const TreeView tree(forest, t);
    draw_bag(settings, rows.table.n_rows, seed, first_tree + t, bag);
    find_decreases(forest, tree, t, decrease);
    const std::uint32_t* degree =
        forest.degree == nullptr ? nullptr : forest.degree + forest.offsets[t];
    walk.walk(tree, bag, degree, decrease);
  };
  // Trees are tallied side by side, and added in their order: pairs are what threads divide then.
  const auto add = [&](std::size_t n_walks, std::size_t begin, std::size_t end) {
    for (std::size_t w = 0; w < n_walks; ++w) {
      const std::vector<double>& pairs = walks[w].pairs();
      for (std::size_t a = begin; a < end; ++a) {
        for (std::size_t b = a + 1; b < k; ++b) {
          const double value = (pairs[a * k + b] + pairs[b * k + a]) / 2.0;
          result.mean[a * k + b] += value;
          result.standard_error[a * k + b] += value * value;
        }
      }
    }
  };
  for (std::size_t first = 0; first < forest.n_trees; first += n_threads) {
    if (monitor.stop.load(std::memory_order_relaxed)) return result;
    const std::size_t n_walks = std::min<std::size_t>(n_threads, forest.n_trees - first);
    run_threads(static_cast<unsigned>(n_walks), [&](unsigned w) { tally(first + w, walks[w]); });
    run_threads(static_cast<unsigned>(n_walks),
                [&](unsigned w) { add(n_walks, k * w / n_walks, k * (w + 1) / n_walks); });
    for (std::size_t w = 0; w < n_walks; ++w) {
      std::fill(walks[w].pairs().begin(), walks[w].pairs().end(), 0.0);
    }
  }
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = a + 1; b < k; ++b) {
      const double mean = result.mean[a * k + b] / n_trees;
      const double variance = result.standard_error[a * k + b] / n_trees - mean * mean;
      result.mean[a * k + b] = result.mean[b * k + a] = mean;
      result.standard_error[a * k + b] = result.standard_error[b * k + a] =
          std::sqrt(std::max(0.0, variance) / std::max(1.0, n_trees - 1.0));
    }
  }
  return result;
}

namespace {

constexpr std::size_t kShards = 64;
constexpr std::size_t kTreesAtATime = 16;

// Terms of one tree, divided by the shard of their pair. A column paired with itself stands for
// what its nodes lose in all pairs, were no column above them.
struct TreeTerms {
  std::array<std::vector<std::pair<std::uint64_t, double>>, kShards> of_shard;

  void add(std::uint64_t key, double term) { of_shard[key % kShards].emplace_back(key, term); }
};

void find_terms(const ForestView& forest, std::size_t t, std::uint64_t n_columns,
                TreeTerms& terms) {
  const double p = static_cast<double>(n_columns);
  const TreeView tree(forest, t);
  std::vector<double> decrease;
  find_decreases(forest, tree, t, decrease);
  std::vector<std::size_t> parent(tree.n_nodes, tree.n_nodes);
  std::vector<std::uint64_t> above;
  for (std::size_t node = 0; node < tree.n_nodes; ++node) {
    if (tree.feature[node] < 0) continue;
    const std::size_t child = static_cast<std::size_t>(tree.child[node]);
    std::fill_n(parent.begin() + static_cast<std::ptrdiff_t>(child), tree.n_children(node), node);
    if (decrease[node] == 0.0) continue;
    const std::uint64_t m = static_cast<std::uint64_t>(tree.feature[node]);
    above.clear();
    for (std::size_t at = parent[node]; at < tree.n_nodes; at = parent[at]) {
      const std::uint64_t j = static_cast<std::uint64_t>(tree.feature[at]);
      if (j != m) above.push_back(j);
    }
    std::sort(above.begin(), above.end());
    above.erase(std::unique(above.begin(), above.end()), above.end());
    const double d = static_cast<double>(above.size());
    const double loss = p - 1.0 > d ? p * decrease[node] / (p - 1.0 - d) : 0.0;
    terms.add(m * n_columns + m, loss);
    for (const std::uint64_t j : above) {
      terms.add(std::min(m, j) * n_columns + std::max(m, j), p * decrease[node] / d + loss);
    }
  }
}

}  // namespace

PathPairs path_pairs(const ForestView& forest, std::size_t n_columns, unsigned n_threads,
                     const Monitor& monitor) {
  // Terms are found tree by tree and added shard by shard, in the order of the trees in each: sums
  // do not depend on the number of threads.
  std::array<std::unordered_map<std::uint64_t, double>, kShards> sums;
  std::vector<TreeTerms> terms(kTreesAtATime);
  n_threads = std::clamp<unsigned>(n_threads, 1, kTreesAtATime);
  for (std::size_t first = 0; first < forest.n_trees; first += kTreesAtATime) {
    if (monitor.stop.load(std::memory_order_relaxed)) return {};
    const std::size_t n_here = std::min(kTreesAtATime, forest.n_trees - first);
    run_threads(n_threads, [&](unsigned thread) {
      for (std::size_t i = thread; i < n_here; i += n_threads) {
        for (auto& of_shard : terms[i].of_shard) of_shard.clear();
        find_terms(forest, first + i, n_columns, terms[i]);
      }
    });
    run_threads(n_threads, [&](unsigned thread) {
      for (std::size_t shard = thread; shard < kShards; shard += n_threads) {
        for (std::size_t i = 0; i < n_here; ++i) {
          for (const auto& [key, term] : terms[i].of_shard[shard]) sums[shard][key] += term;
        }
      }
    });
  }
  std::vector<std::pair<std::uint64_t, double>> pairs;
  std::vector<double> lost(n_columns, 0.0);
  for (const auto& shard : sums) {
    for (const auto& entry : shard) {
      if (entry.first % (n_columns + 1) == 0) {
        lost[entry.first / (n_columns + 1)] = entry.second;
      } else {
        pairs.push_back(entry);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  PathPairs result;
  for (const auto& [key, sum] : pairs) {
    const std::size_t m = key / n_columns;
    const std::size_t j = key % n_columns;
    result.first.push_back(static_cast<std::int32_t>(m));
    result.second.push_back(static_cast<std::int32_t>(j));
    result.mean.push_back((sum - lost[m] - lost[j]) / 2.0 / static_cast<double>(forest.n_trees));
  }
  return result;
}

}  // namespace duramen
