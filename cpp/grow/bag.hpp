// The rows and columns a tree is grown on. The one place where a bag is drawn: growth and
// out-of-bag estimates both ask here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "grow/settings.hpp"
#include "random.hpp"

namespace duramen {

// Multiplicity of every row, or group of rows, in the bag of a tree.
inline void draw_units(const Settings& settings, std::size_t n_units, std::uint64_t seed,
                       std::uint64_t tree, std::vector<std::uint32_t>& multiplicity) {
  const std::uint32_t n = static_cast<std::uint32_t>(n_units);
  const std::uint32_t size = settings.row_samples == 0 ? n : settings.row_samples;
  if (!settings.bootstrap && size >= n) {
    multiplicity.assign(n_units, 1);
    return;
  }
  multiplicity.assign(n_units, 0);
  Random random(seed, tree, 0, Purpose::bag);
  if (settings.bootstrap) {
    for (std::uint32_t i = 0; i < size; ++i) ++multiplicity[random.below(n)];
    return;
  }
  // Floyd's sampling without replacement: O(size) draws, no permutation of all the rows.
  for (std::uint32_t last = n - size; last < n; ++last) {
    const std::uint32_t pick = random.below(last + 1);
    multiplicity[multiplicity[pick] ? last : pick] = 1;
  }
}

// Multiplicity of every row in the bag of a tree: as often as it was drawn, if the draws are known,
// or that of its group, if there are groups.
inline void draw_bag(const Settings& settings, std::size_t n_rows, std::uint64_t seed,
                     std::uint64_t tree, std::vector<std::uint32_t>& multiplicity) {
  if (settings.drawn != nullptr) {
    multiplicity.assign(n_rows, 0);
    const std::uint32_t* rows = settings.drawn + tree * settings.n_drawn;
    for (std::size_t i = 0; i < settings.n_drawn; ++i) ++multiplicity[rows[i]];
    return;
  }
  if (settings.group_of == nullptr) {
    draw_units(settings, n_rows, seed, tree, multiplicity);
    return;
  }
  std::vector<std::uint32_t> of_groups;
  draw_units(settings, settings.n_groups, seed, tree, of_groups);
  multiplicity.resize(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    multiplicity[row] = of_groups[settings.group_of[row]];
  }
}

// A permutation of the columns that is the identity before every tree, without O(p) work a tree.
class ColumnPool {
 public:
  explicit ColumnPool(std::size_t n_columns) : columns_(n_columns) { refill(); }

  std::uint32_t operator[](std::size_t position) const { return columns_[position]; }

  void swap(std::size_t a, std::size_t b) {
    if (a == b) return;
    std::swap(columns_[a], columns_[b]);
    if (touched_.size() >= columns_.size()) return;  // all will be refilled
    touched_.push_back(static_cast<std::uint32_t>(a));
    touched_.push_back(static_cast<std::uint32_t>(b));
  }

  // Columns drawn one after another lie behind `high`, the first of them farthest. Those that turn
  // out to be constant go to the front, behind the `low` that are known to be; the columns that
  // they displace fill the gaps.
  template <class IsConstant>
  void set_constants_aside(std::size_t& low, std::size_t& high, std::size_t n_drawn,
                           IsConstant&& is_constant) {
    const std::size_t first = high;
    for (std::size_t c = n_drawn; c-- > 0;) {
      if (!is_constant(c)) continue;
      swap(first + (n_drawn - 1 - c), high);
      swap(high++, low++);
    }
  }

  // Identity again, with the columns of a tree's subspace at the front; returns their number.
  std::size_t start_tree(const Settings& settings, std::uint64_t seed, std::uint64_t tree) {
    if (touched_.size() >= columns_.size()) {
      refill();
    } else {
      for (const std::uint32_t position : touched_) columns_[position] = position;
    }
    touched_.clear();
    const std::size_t p = columns_.size();
    const std::size_t size = settings.column_samples;
    if (size == 0 || size >= p) return p;
    Random random(seed, tree, 0, Purpose::columns);
    for (std::size_t i = 0; i < size; ++i) {
      swap(i, i + random.below(static_cast<std::uint32_t>(p - i)));
    }
    return size;
  }

 private:
  void refill() { std::iota(columns_.begin(), columns_.end(), 0U); }

  std::vector<std::uint32_t> columns_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace duramen
