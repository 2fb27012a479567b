#include "grow.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "grower.hpp"
#include "parallel.hpp"

namespace duramen {
namespace {

template <class Value>
void append_and_free(std::vector<Value>& to, std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::vector<Value>().swap(from);
}

// Room for so many trees like the one that is there.
void reserve_for(Trees& block, std::uint64_t n_trees) {
  const auto reserve = [n_trees](auto& array) {
    array.reserve(array.size() * n_trees + array.size() * n_trees / 8);
  };
  reserve(block.feature);
  reserve(block.child);
  reserve(block.cut);
  reserve(block.threshold);
  reserve(block.split);
  reserve(block.rows);
  reserve(block.degree);
  reserve(block.weight);
  reserve(block.impurity);
  reserve(block.pool);
  reserve(block.leaf_values);
}

// One array after another, so that at most one is ever held twice.
Trees concatenate(std::vector<Trees>& blocks) {
  if (blocks.size() == 1) return std::move(blocks[0]);
  Trees all;
  const auto join = [&](auto field) {
    std::size_t size = 0;
    for (const Trees& block : blocks) size += (block.*field).size();
    (all.*field).reserve(size);
    for (Trees& block : blocks) append_and_free(all.*field, block.*field);
  };
  join(&Trees::n_nodes);
  join(&Trees::n_leaves);
  join(&Trees::pool_sizes);
  join(&Trees::feature);
  join(&Trees::child);
  join(&Trees::cut);
  join(&Trees::threshold);
  join(&Trees::split);
  join(&Trees::rows);
  join(&Trees::degree);
  join(&Trees::weight);
  join(&Trees::impurity);
  join(&Trees::pool);
  join(&Trees::leaf_values);
  return all;
}

// Threads take blocks of consecutive trees; each block is written by one thread alone.
template <class T, class Node>
Trees grow_with(const Problem& problem, std::uint64_t first_tree, std::uint64_t n_trees,
                unsigned n_threads) {
  const Working<T> working(problem.table);
  const std::uint64_t rows = std::max<std::uint64_t>(problem.table.n_rows, 1);
  const std::uint64_t share = (n_trees + 4 * n_threads - 1) / (4 * n_threads);
  const std::uint64_t block_size =
      std::max<std::uint64_t>(1, std::min({share, 400000 / rows + 1, std::uint64_t{256}}));
  const std::uint64_t n_blocks = (n_trees + block_size - 1) / block_size;
  std::vector<Trees> blocks(n_blocks);
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](unsigned) {
    Grower<T, Node> grower(problem, working);
    for (std::uint64_t b = next++; b < n_blocks; b = next++) {
      const std::uint64_t end = std::min(n_trees, (b + 1) * block_size);
      for (std::uint64_t t = b * block_size; t < end; ++t) {
        if (problem.monitor != nullptr && problem.monitor->stop.load()) return;
        if (!grower.grow(first_tree + t, blocks[b])) return;
        if (problem.monitor != nullptr) ++problem.monitor->done;
        if (t == b * block_size) reserve_for(blocks[b], end - t);
      }
    }
  };
  run_threads(static_cast<unsigned>(std::clamp<std::uint64_t>(n_blocks, 1, n_threads)), work);
  return concatenate(blocks);
}

// Random cuts need values, not codes: single precision halves what is read. (Values that single
// precision cannot tell apart are still split, by their codes, where nothing else differs.)
bool values_suffice(const Problem& problem) {
  const Settings& settings = problem.settings;
  const Table& table = problem.table;
  if (settings.cut != Cut::random || settings.splits != Family::ordered) return false;
  if (table.n_rows <= kDenseRows) return false;
  constexpr double kMost = std::numeric_limits<float>::max();
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    if (table.kind(j) != Kind::numeric || table.missing[j]) return false;
    const double* values = table.values(j);
    if (values[0] < -kMost || values[table.n_values(j) - 1] > kMost) return false;
  }
  return true;
}

template <class Node>
Trees grow_by_width(const Problem& problem, std::uint64_t first_tree, std::uint64_t n_trees,
                    unsigned n_threads) {
  std::uint32_t most = 0;
  for (std::size_t j = 0; j < problem.table.n_columns; ++j) {
    most = std::max(most, problem.table.n_codes(j));
  }
  if constexpr (Node::kWhole) {
    if (values_suffice(problem)) {
      return grow_with<float, Node>(problem, first_tree, n_trees, n_threads);
    }
    if (most <= 0x100) {
      return grow_with<std::uint8_t, Node>(problem, first_tree, n_trees, n_threads);
    }
    if (most <= 0x10000) {
      return grow_with<std::uint16_t, Node>(problem, first_tree, n_trees, n_threads);
    }
  }
  return grow_with<std::uint32_t, Node>(problem, first_tree, n_trees, n_threads);
}

}  // namespace

Trees grow_trees(const Problem& problem, std::uint64_t first_tree, std::uint64_t n_trees,
                 unsigned n_threads) {
  const auto grow = [&]<class Node>(std::type_identity<Node>) {
    return grow_by_width<Node>(problem, first_tree, n_trees, n_threads);
  };
  if (problem.settings.criterion == Criterion::variance) {
    if (problem.whole_weights) return grow(std::type_identity<MomentNode<std::int32_t>>{});
    return grow(std::type_identity<MomentNode<double>>{});
  }
  if (problem.settings.criterion == Criterion::entropy) {
    if (problem.whole_weights) {
      return grow(std::type_identity<ClassNode<std::int32_t, Criterion::entropy>>{});
    }
    return grow(std::type_identity<ClassNode<double, Criterion::entropy>>{});
  }
  if (problem.whole_weights) {
    return grow(std::type_identity<ClassNode<std::int32_t, Criterion::gini>>{});
  }
  return grow(std::type_identity<ClassNode<double, Criterion::gini>>{});
}

}  // namespace duramen
