// Trees in blocks for whichever thread is free, and sums that do not depend on their order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "grow/problem.hpp"
#include "parallel.hpp"

namespace duramen {

// Trees that a thread takes at a time, at most.
constexpr std::size_t kLargestBlock = 8;

inline std::size_t block_size(std::size_t n_trees, unsigned n_threads) {
  const std::size_t portion = n_trees / (4 * std::size_t{n_threads});
  return std::clamp<std::size_t>(portion, 1, kLargestBlock);
}

// Takes a tree of a block.
using TakeTree = std::function<void(std::size_t block, std::size_t tree)>;

// Hands out the trees in blocks, whichever thread is free; start() makes what takes them on a
// thread.
inline void over_blocks(std::size_t n_trees, unsigned n_threads, Monitor& monitor,
                        const std::function<TakeTree()>& start) {
  std::atomic<std::size_t> next{0};
  const std::size_t size = block_size(n_trees, n_threads);
  const std::size_t n_blocks = (n_trees + size - 1) / size;
  run_threads(n_threads, [&](unsigned) {
    const TakeTree take = start();
    for (std::size_t block = next++; block < n_blocks; block = next++) {
      const std::size_t last = std::min(n_trees, (block + 1) * size);
      for (std::size_t tree = block * size; tree < last; ++tree) {
        if (monitor.stop.load(std::memory_order_relaxed)) return;
        take(block, tree);
      }
      monitor.done += static_cast<std::int64_t>(last - block * size);
    }
  });
}

// Whole numbers add up to the same in any order, and so for any number of threads.
inline void add(std::int64_t& total, std::int64_t amount, bool alone = false) {
  if (alone) {
    total += amount;
  } else {
    std::atomic_ref<std::int64_t>(total).fetch_add(amount, std::memory_order_relaxed);
  }
}

}  // namespace duramen
