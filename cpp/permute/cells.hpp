// Cells within which values may change places: all rows, or those that the tree's cuts of the
// associated columns do not tell apart (Strobl et al. 2008).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "impurity.hpp"
#include "permute/paths.hpp"
#include "permute/permute.hpp"

namespace duramen {

// A partition of the positions 0 .. n-1, cell by cell.
struct Cells {
  std::vector<std::uint32_t> of;         // cell of every position
  std::vector<std::uint32_t> starts;     // of each cell in `positions`, and the end
  std::vector<std::uint32_t> positions;  // sorted by cell

  std::uint32_t count() const { return static_cast<std::uint32_t>(starts.size()) - 1; }

  void whole(std::uint32_t n) {
    of.assign(n, 0);
    starts.assign({0, n});
    positions.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) positions[i] = i;
  }

  void sort(std::uint32_t n_cells) {
    starts.assign(std::size_t{n_cells} + 1, 0);
    for (const std::uint32_t cell : of) ++starts[cell + 1];
    for (std::uint32_t c = 0; c < n_cells; ++c) starts[c + 1] += starts[c];
    positions.resize(of.size());
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::uint32_t i = 0; i < of.size(); ++i) positions[next[of[i]]++] = i;
  }
};

// The positions distinguished by pairs of labels: labels[i] becomes the number of the pair
// (labels[i], second[i]) in the order of first sight. Returns how many there are.
class Crossing {
 public:
  template <class Second>
  std::uint32_t operator()(std::vector<std::uint32_t>& labels, std::uint32_t n_labels,
                           std::uint32_t n_second, Second&& second) {
    const std::size_t n_pairs = std::size_t{n_labels} * n_second;
    if (n_labels == labels.size()) return n_labels;  // each has a label of its own
    if (n_pairs > kLargestTable) {
      numbers_.clear();
      return number(labels, n_second, second, [&](std::size_t pair) -> std::uint32_t& {
        return numbers_.try_emplace(pair, kNone).first->second;
      });
    }
    table_.assign(n_pairs, kNone);
    return number(labels, n_second, second,
                  [&](std::size_t pair) -> std::uint32_t& { return table_[pair]; });
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr std::size_t kLargestTable = std::size_t{1} << 20;

  template <class Second, class NumberOf>
  static std::uint32_t number(std::vector<std::uint32_t>& labels, std::uint32_t n_second,
                              Second&& second, NumberOf&& number_of) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      std::uint32_t& number = number_of(std::size_t{labels[i]} * n_second + second(i));
      if (number == kNone) number = count++;
      labels[i] = number;
    }
    return count;
  }

  std::vector<std::uint32_t> table_;
  std::unordered_map<std::size_t, std::uint32_t> numbers_;
};

template <class Rows>
class ConditionalCells {
 public:
  ConditionalCells(const Permutations& permutations, std::size_t n_columns)
      : permutations_(permutations), n_columns_(n_columns), slot_(n_columns, kNone) {}

  void start(const Paths<Rows>& paths) {
    paths_ = &paths;
    for (const std::uint32_t column : columns_) slot_[column] = kNone;
    columns_.clear();
    if (permutations_.condition == Condition::none) {
      cells_.whole(paths.size());
      return;
    }
    const TreeView& tree = paths.tree();
    for (std::size_t node = 0; node < tree.n_nodes; ++node) {
      if (tree.feature[node] < 0) continue;
      const std::uint32_t column = static_cast<std::uint32_t>(tree.feature[node]);
      std::uint32_t& slot = slot_[column];
      if (slot == kNone) {
        slot = static_cast<std::uint32_t>(columns_.size());
        columns_.push_back(column);
        if (bins_.size() < columns_.size()) bins_.emplace_back();
        bins_[slot].assign(paths.size(), 0);
        counts_.resize(columns_.size());
        counts_[slot] = 1;
      }
      counts_[slot] = cross_(bins_[slot], counts_[slot], tree.n_children(node),
                             [&](std::uint32_t i) { return paths.side(node, i); });
    }
  }

  // The cells for permuting a column.
  const Cells& of(std::uint32_t column) {
    if (permutations_.condition == Condition::none) return cells_;
    cells_.of.assign(paths_->size(), 0);
    std::uint32_t count = 1;
    for (std::uint32_t slot = 0; slot < columns_.size(); ++slot) {
      if (columns_[slot] == column || !associated(column, slot)) continue;
      count =
          cross_(cells_.of, count, counts_[slot], [&](std::uint32_t i) { return bins_[slot][i]; });
    }
    cells_.sort(count);
    return cells_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  bool associated(std::uint32_t column, std::uint32_t slot) {
    if (permutations_.condition == Condition::given) {
      return permutations_.associated[column * n_columns_ + columns_[slot]] != 0;
    }
    return 1.0 - chi_square_p(slot_[column], slot) > permutations_.level;
  }

  // Pearson's test of independence of two columns' bins.
  double chi_square_p(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t n_a = counts_[a];
    const std::uint32_t n_b = counts_[b];
    if (n_a < 2 || n_b < 2) return 1.0;
    const std::size_t n = paths_->size();
    pairs_ = bins_[a];
    pair_counts_.assign(cross_(pairs_, n_a, n_b, [&](std::uint32_t i) { return bins_[b][i]; }), 0);
    first_counts_.assign(n_a, 0);
    second_counts_.assign(n_b, 0);
    for (std::size_t i = 0; i < n; ++i) {
      ++pair_counts_[pairs_[i]];
      ++first_counts_[bins_[a][i]];
      ++second_counts_[bins_[b][i]];
    }
    // sum (o - e)^2 / e = n (sum o^2 / (r c) - 1), and every row of a cell brings o / (r c).
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += static_cast<double>(pair_counts_[pairs_[i]]) /
             (static_cast<double>(first_counts_[bins_[a][i]]) *
              static_cast<double>(second_counts_[bins_[b][i]]));
    }
    const double statistic = static_cast<double>(n) * (sum - 1.0);
    return chi_square_tail(statistic, static_cast<double>(n_a - 1) * (n_b - 1));
  }

  const Permutations& permutations_;
  std::size_t n_columns_;
  const Paths<Rows>* paths_ = nullptr;
  std::vector<std::uint32_t> slot_, columns_, counts_;  // columns that the tree splits on
  std::vector<std::vector<std::uint32_t>> bins_;        // of each of them: interval of every row
  Crossing cross_;
  std::vector<std::uint32_t> pairs_, pair_counts_, first_counts_, second_counts_;
  Cells cells_;
};

}  // namespace duramen
