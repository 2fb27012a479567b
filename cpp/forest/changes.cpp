#include "forest/changes.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "forest/packed.hpp"
#include "grow/bag.hpp"
#include "parallel.hpp"

namespace duramen {
namespace {

// How much rows count in one tree after another; 0 leaves a row out.
class RowWeights {
 public:
  using Kind = PathWeights::Kind;

  RowWeights(const ForestView& forest, const PathWeights& weights, std::size_t n_rows)
      : forest_(forest), from_(weights), n_rows_(n_rows) {}

  void start(std::size_t tree) {
    if (from_.kind == Kind::equal) return;
    draw_bag(from_.settings, n_rows_, from_.seed, from_.first_tree + tree, bag_);
    if (from_.kind != Kind::in_bag) return;
    const std::size_t root = static_cast<std::size_t>(forest_.offsets[tree]);
    total_ = forest_.weight == nullptr ? forest_.rows[root] : forest_.weight[root];
  }

  double weight(std::size_t row) const {
    if (from_.kind == Kind::equal) return 1.0;
    if (from_.kind == Kind::out_of_bag) return bag_[row] == 0 ? 1.0 : 0.0;
    const double own = from_.weights == nullptr ? 1.0 : from_.weights[row];
    return static_cast<double>(bag_[row]) * own / total_;
  }

 private:
  const ForestView& forest_;
  const PathWeights& from_;
  std::size_t n_rows_;
  std::vector<std::uint32_t> bag_;
  double total_ = 1.0;
};

// Walks of some rows down one tree, side by side if their codes are in memory.
template <class Rows>
class Paths {
 public:
  explicit Paths(const Rows& rows) : rows_(rows) {}
  void start(const TreeView& tree) { tree_ = &tree; }

  // Calls arrive(i, column, node) for each node below the root that rows[i] comes to.
  template <class Arrive>
  void follow(const std::uint32_t* rows, std::size_t n, Arrive&& arrive) const {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t node = 0; tree_->feature[node] >= 0;) {
        const std::size_t column = static_cast<std::size_t>(tree_->feature[node]);
        node = static_cast<std::size_t>(tree_->child[node]) + tree_->side(node, rows_, rows[i]);
        arrive(i, column, node);
      }
    }
  }

 private:
  const Rows& rows_;
  const TreeView* tree_ = nullptr;
};

template <>
class Paths<CodeRows> {
 public:
  explicit Paths(const CodeRows& rows) : rows_(rows), packed_(rows.table) {}
  void start(const TreeView& tree) {
    packed_.start(tree, [](std::size_t column) { return column; });
  }

  template <class Arrive>
  void follow(const std::uint32_t* rows, std::size_t n, Arrive&& arrive) const {
    std::array<std::uint32_t, PackedTree::kLanes> at;
    for (std::size_t first = 0; first < n; first += PackedTree::kLanes) {
      const std::size_t some = std::min(n - first, PackedTree::kLanes);
      at.fill(0);
      packed_.descend(
          at.data(), some,
          [&](std::size_t lane, std::size_t column) {
            return rows_.code(column, rows[first + lane]);
          },
          [&](std::size_t lane, std::size_t column, std::size_t node) {
            arrive(first + lane, column, node);
          });
    }
  }

 private:
  const CodeRows& rows_;
  PackedTree packed_;
};

// Adds the trees to the sums of rows `begin` .. `end` - 1: row by column, from `sums` on.
template <class Rows>
void add_changes(const ForestView& forest, const Rows& rows, std::size_t n_columns,
                 const NodeNumbers& numbers, RowWeights& weights, const Monitor& monitor,
                 std::size_t begin, std::size_t end, double* sums, PathChanges& result) {
  Paths<Rows> paths(rows);
  std::array<std::uint32_t, kRowsAtATime> some;
  std::array<double, kRowsAtATime> weight, value;
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    if (monitor.stop.load(std::memory_order_relaxed)) return;
    const TreeView tree(forest, t);
    paths.start(tree);
    weights.start(t);
    const double* own =
        numbers.values + static_cast<std::size_t>(forest.offsets[t]) * numbers.width;
    for (std::size_t first = begin; first < end; first += kRowsAtATime) {
      std::size_t n = 0;
      for (std::size_t row = first; row < std::min(end, first + kRowsAtATime); ++row) {
        const double amount = weights.weight(row);
        if (amount == 0.0) continue;
        some[n] = static_cast<std::uint32_t>(row);
        weight[n] = amount;
        value[n] = own[numbers.place(row)];
        result.weight[row] += amount;
        result.start[row] += amount * value[n];
        ++n;
      }
      paths.follow(some.data(), n, [&](std::size_t i, std::size_t column, std::size_t node) {
        const std::size_t row = some[i];
        const double next = own[node * numbers.width + numbers.place(row)];
        sums[(row - begin) * n_columns + column] += weight[i] * (next - value[i]);
        value[i] = next;
      });
    }
  }
}

constexpr std::size_t kSumsAtATime = std::size_t{1} << 17;  // numbers that stay in a cache
constexpr std::size_t kMostDraws = 16;                      // times that a bag is drawn

}  // namespace

template <class Rows>
PathChanges path_changes(const ForestView& forest, const Rows& rows, std::size_t n_rows,
                         const NodeNumbers& numbers, const PathWeights& weights, bool sparse,
                         unsigned n_threads, const Monitor& monitor) {
  const std::size_t p = rows.table.n_columns;
  PathChanges result;
  result.weight.assign(n_rows, 0.0);
  result.start.assign(n_rows, 0.0);
  if (!sparse) result.dense.assign(n_rows * p, 0.0);
  std::size_t size = std::max<std::size_t>(PackedTree::kLanes, kSumsAtATime / p);
  if (weights.kind != PathWeights::Kind::equal) {
    size = std::max(size, (n_rows + kMostDraws - 1) / kMostDraws);
  }
  size = std::min(size, std::max<std::size_t>(1, (n_rows + n_threads - 1) / n_threads));
  const std::size_t n_blocks = (n_rows + size - 1) / size;
  struct Entries {
    std::vector<std::int64_t> counts;  // per row
    std::vector<std::int32_t> columns;
    std::vector<double> values;
  };
  std::vector<Entries> entries(sparse ? n_blocks : 0);
  std::atomic<std::size_t> next{0};
  run_threads(n_threads, [&](unsigned) {
    RowWeights own(forest, weights, n_rows);
    std::vector<double> some;
    for (std::size_t block = next++; block < n_blocks; block = next++) {
      const std::size_t begin = block * size;
      const std::size_t end = std::min(n_rows, begin + size);
      if (sparse) some.assign((end - begin) * p, 0.0);
      double* sums = sparse ? some.data() : result.dense.data() + begin * p;
      add_changes(forest, rows, p, numbers, own, monitor, begin, end, sums, result);
      for (std::size_t row = begin; row < end; ++row) {
        const double total = result.weight[row];
        if (total > 0.0) result.start[row] /= total;
        double* changes = sums + (row - begin) * p;
        for (std::size_t j = 0; j < p; ++j) {
          if (changes[j] != 0.0) changes[j] /= total;
        }
        if (!sparse) continue;
        const std::size_t before = entries[block].values.size();
        for (std::size_t j = 0; j < p; ++j) {
          if (changes[j] == 0.0) continue;
          entries[block].columns.push_back(static_cast<std::int32_t>(j));
          entries[block].values.push_back(changes[j]);
        }
        entries[block].counts.push_back(
            static_cast<std::int64_t>(entries[block].values.size() - before));
      }
    }
  });
  if (!sparse) return result;
  result.offsets.assign(1, 0);
  for (const Entries& block : entries) {
    for (const std::int64_t count : block.counts) {
      result.offsets.push_back(result.offsets.back() + count);
    }
    result.columns.insert(result.columns.end(), block.columns.begin(), block.columns.end());
    result.entries.insert(result.entries.end(), block.values.begin(), block.values.end());
  }
  return result;
}

#define DURAMEN_CHANGES(Rows)                                                               \
  template PathChanges path_changes(const ForestView&, const Rows&, std::size_t,            \
                                    const NodeNumbers&, const PathWeights&, bool, unsigned, \
                                    const Monitor&);
DURAMEN_CHANGES(CodeRows)
DURAMEN_CHANGES(ValueRows)

}  // namespace duramen
