#include "grow.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "bit_grower.hpp"
#include "grower.hpp"
#include "parallel.hpp"

namespace duramen {
namespace {

template <class Visitor>
void visit_arrays(Visitor&& visit) {
  visit(&Trees::n_nodes);
  visit(&Trees::n_leaves);
  visit(&Trees::pool_sizes);
  visit(&Trees::feature);
  visit(&Trees::child);
  visit(&Trees::cut);
  visit(&Trees::threshold);
  visit(&Trees::split);
  visit(&Trees::rows);
  visit(&Trees::degree);
  visit(&Trees::weight);
  visit(&Trees::impurity);
  visit(&Trees::pool);
  visit(&Trees::leaf_values);
}

// Puts blocks of trees together in order, whichever is finished first.
class Assembly {
 public:
  explicit Assembly(std::uint64_t n_blocks) : n_blocks_(n_blocks) {}

  // Takes a block; leaves it empty, with its memory where the block could be copied at once.
  void add(std::uint64_t number, Trees& block) {
    const std::lock_guard<std::mutex> lock(guard_);
    if (number != next_) {
      waiting_.emplace(number, std::move(block));
      block = Trees{};
      return;
    }
    append(block);
    visit_arrays([&](auto array) { (block.*array).clear(); });
    for (auto found = waiting_.find(next_); found != waiting_.end(); found = waiting_.find(next_)) {
      append(found->second);
      waiting_.erase(found);
    }
  }

  Trees& trees() { return trees_; }

 private:
  void append(const Trees& block) {
    visit_arrays([&](auto array) {
      auto& to = trees_.*array;
      const auto& from = block.*array;
      // Memory that is reserved but never written costs nothing.
      if (next_ == 0) to.reserve(from.size() * n_blocks_ + from.size() * n_blocks_ / 8);
      to.insert(to.end(), from.begin(), from.end());
    });
    ++next_;
  }

  std::uint64_t n_blocks_;
  std::uint64_t next_ = 0;
  std::mutex guard_;
  std::map<std::uint64_t, Trees> waiting_;
  Trees trees_;
};

// Threads take blocks of consecutive trees; each block is written by one thread alone.
template <class Grow, class T>
Trees grow_on(const Problem& problem, const Working<T>& working, std::uint64_t first_tree,
              std::uint64_t n_trees, unsigned n_threads) {
  const std::uint64_t rows = std::max<std::uint64_t>(problem.table.n_rows, 1);
  const std::uint64_t share = (n_trees + 4 * n_threads - 1) / (4 * n_threads);
  const std::uint64_t block_size =
      std::max<std::uint64_t>(1, std::min({share, 4000 / rows + 1, std::uint64_t{64}}));
  const std::uint64_t n_blocks = (n_trees + block_size - 1) / block_size;
  Assembly assembly(n_blocks);
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](unsigned) {
    Grow grower(problem, working);
    Trees block;
    for (std::uint64_t b = next++; b < n_blocks; b = next++) {
      const std::uint64_t end = std::min(n_trees, (b + 1) * block_size);
      for (std::uint64_t t = b * block_size; t < end; ++t) {
        if (problem.stopped()) return;
        if (!grower.grow(first_tree + t, block)) return;
        if (problem.monitor != nullptr) ++problem.monitor->done;
      }
      assembly.add(b, block);
    }
  };
  run_threads(static_cast<unsigned>(std::clamp<std::uint64_t>(n_blocks, 1, n_threads)), work);
  return std::move(assembly.trees());
}

template <class T, class Node>
Trees grow_with(const Problem& problem, std::uint64_t first_tree, std::uint64_t n_trees,
                unsigned n_threads) {
  const Working<T> working(problem.table);
  if constexpr (std::is_same_v<T, std::uint8_t> && Node::kClasses && Node::kWhole) {
    const auto grow_bits = [&]<class Bits>(std::type_identity<Bits>) {
      return grow_on<Bits>(problem, working, first_tree, n_trees, n_threads);
    };
    if (BitGrower<Node, 2>::suits(problem)) {
      return grow_bits(std::type_identity<BitGrower<Node, 2>>{});
    }
    if (BitGrower<Node, 4>::suits(problem)) {
      return grow_bits(std::type_identity<BitGrower<Node, 4>>{});
    }
  }
  return grow_on<Grower<T, Node>>(problem, working, first_tree, n_trees, n_threads);
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
