// The walk over the lattice, in parts that threads take in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <vector>

#include "lattice/lattice.hpp"

namespace duramen::lattice {

inline constexpr double kLeastTasks = 500.0;
inline constexpr double kMostTasks = 300'000.0;
inline constexpr double kLongestTask = 0.2;  // seconds

// A part of the walk: the sets that begin with some features, or just the set of these.
struct Task {
  std::vector<std::uint32_t> prefix;
  bool alone = false;
};

// C(n, k), as far as a double tells.
inline double choose(std::size_t n, std::size_t k) {
  if (k > n) return 0.0;
  double result = 1.0;
  for (std::size_t i = 0; i < k; ++i) {
    result *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return result;
}

// The fraction of the walk in a task: its fraction of the sets of each size.
inline double fraction_of(const Task& task, std::size_t p, const std::vector<double>& costs) {
  const std::size_t b = task.prefix.size();
  const std::size_t later = b == 0 ? p : p - 1 - task.prefix.back();
  double fraction = 0.0;
  for (std::size_t k = b; k < (task.alone ? b + 1 : costs.size()); ++k) {
    if (costs[k] > 0.0) fraction += costs[k] * choose(later, k - b) / choose(p, k);
  }
  return fraction;
}

inline std::vector<std::uint32_t> first_features(std::size_t size) {
  std::vector<std::uint32_t> features(size);
  std::iota(features.begin(), features.end(), 0U);
  return features;
}

// How many features the tasks begin with: enough for many tasks, none of them long. It does not
// change the result.
inline std::size_t prefix_size(const LatticeTable& table, const std::vector<double>& costs) {
  const std::size_t p = table.n_features;
  std::size_t size = 0;
  while (size + 1 < table.depth && choose(p, size) < kMostTasks) {
    const bool many = choose(p, size) >= kLeastTasks;
    if (many && fraction_of({first_features(size), false}, p, costs) <= kLongestTask) break;
    ++size;
  }
  return size;
}

// Hands out the tasks: the sets of `size` features in order, the longest tasks about first, then
// the smaller sets for themselves.
class TaskList {
 public:
  TaskList(std::size_t n_features, std::size_t size)
      : n_features_(n_features), smaller_(0), size_(size) {
    next_.prefix = first_features(size);
  }

  bool take(Task& task) {
    const std::lock_guard<std::mutex> lock(guard_);
    if (ended_) return false;
    task = next_;
    advance();
    return true;
  }

 private:
  void advance() {
    std::vector<std::uint32_t>& prefix = next_.prefix;
    const std::size_t b = prefix.size();
    std::size_t i = b;
    while (i > 0 && prefix[i - 1] == n_features_ - b + i - 1) --i;
    if (i > 0) {
      ++prefix[i - 1];
      for (; i < b; ++i) prefix[i] = prefix[i - 1] + 1;
    } else if (smaller_ < size_) {
      next_ = {first_features(smaller_++), true};
    } else {
      ended_ = true;
    }
  }

  const std::size_t n_features_;
  std::size_t smaller_;
  const std::size_t size_;
  std::mutex guard_;
  Task next_;
  bool ended_ = false;
};

}  // namespace duramen::lattice
