#include "grow/tree_grower.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

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
  visit(&Trees::excess);
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
    for (auto finished = waiting_.find(next_); finished != waiting_.end();
         finished = waiting_.find(next_)) {
      append(finished->second);
      waiting_.erase(finished);
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

}  // namespace

// Threads take blocks of consecutive trees; each block is written by one thread alone.
Trees grow_on_threads(const GrowthOrder& order,
                      const std::function<std::unique_ptr<TreeGrower>()>& make_grower) {
  const Problem& problem = order.problem;
  const std::uint64_t n_trees = order.n_trees;
  const std::uint64_t rows = std::max<std::uint64_t>(problem.table.n_rows, 1);
  const std::uint64_t portion = (n_trees + 4 * order.n_threads - 1) / (4 * order.n_threads);
  const std::uint64_t block_size =
      std::max<std::uint64_t>(1, std::min({portion, 4000 / rows + 1, std::uint64_t{64}}));
  const std::uint64_t n_blocks = (n_trees + block_size - 1) / block_size;
  Assembly assembly(n_blocks);
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](unsigned) {
    const std::unique_ptr<TreeGrower> grower = make_grower();
    Trees block;
    for (std::uint64_t b = next++; b < n_blocks; b = next++) {
      const std::uint64_t end = std::min(n_trees, (b + 1) * block_size);
      for (std::uint64_t t = b * block_size; t < end; ++t) {
        if (problem.stopped()) return;
        if (!grower->grow(order.first_tree + t, block)) return;
        if (problem.monitor != nullptr) ++problem.monitor->done;
      }
      assembly.add(b, block);
    }
  };
  run_threads(static_cast<unsigned>(std::clamp<std::uint64_t>(n_blocks, 1, order.n_threads)), work);
  return std::move(assembly.trees());
}

}  // namespace duramen
