// The entries of sparse columns in the order of their codes, so that the best cut of a node is
// found without sorting them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "grow/problem.hpp"

namespace duramen {

// The entries of a column by ascending code, and how many lie below the most frequent code.
template <class T>
struct OrderedEntries {
  const std::uint32_t* rows;
  const T* codes;
  std::size_t size, n_below;
};

template <class T>
class EntryOrders {
 public:
  EntryOrders() = default;  // none: nodes sort entries
  explicit EntryOrders(const Problem& problem) {
    note_targets(problem);
    const Table& table = problem.table;
    std::vector<std::uint32_t> next;  // place of the next entry of each code
    for (std::size_t j = 0; j < table.n_columns; ++j) {
      begin_.push_back(rows_.size());
      below_.push_back(0);
      table.visit_sparse(j, [&](auto codes) {
        const std::size_t begin = rows_.size();
        const std::size_t size = table.sparse.n_entries(static_cast<std::size_t>(table.slot[j]));
        next.assign(std::size_t{table.n_codes(j)} + 1, 0);
        for (std::size_t e = 0; e < size; ++e) ++next[std::size_t{codes.entries[e]} + 1];
        for (std::size_t code = 1; code < next.size(); ++code) next[code] += next[code - 1];
        below_.back() = next[codes.frequent];
        most_ = std::max(most_, size);
        rows_.resize(begin + size);
        codes_.resize(begin + size);
        const auto* entry = codes.entries;
        for (std::size_t w = 0; w < table.sparse.n_words; ++w) {
          for (std::uint64_t word = codes.bits[w]; word != 0; word &= word - 1) {
            const std::size_t at = begin + next[*entry]++;
            rows_[at] = static_cast<std::uint32_t>(
                SparseColumns::kWord * w + static_cast<std::size_t>(std::countr_zero(word)));
            codes_[at] = static_cast<T>(*entry++);
          }
        }
      });
    }
    begin_.push_back(rows_.size());
  }

  bool empty() const { return begin_.empty(); }
  std::size_t most() const { return most_; }  // entries of a column
  OrderedEntries<T> of(std::size_t column) const {
    const std::size_t begin = begin_[column];
    return {rows_.data() + begin, codes_.data() + begin, begin_[column + 1] - begin,
            below_[column]};
  }

  // The weight of a row in a tree and the target of the row in one number, which is not 0.
  std::uint32_t weighted_target(std::size_t row, std::int32_t weight) const {
    return static_cast<std::uint32_t>(weight) << kBits | target_codes_[row];
  }
  static std::int64_t weight_of(std::uint32_t weighted_target) { return weighted_target >> kBits; }
  // The number of the row, or with two classes 1 of the first.
  std::int64_t target_of(std::uint32_t weighted_target) const {
    return targets_[weighted_target & ((1U << kBits) - 1)];
  }

 private:
  static constexpr std::uint32_t kBits = 16;

  void note_targets(const Problem& problem) {
    if (problem.n_classes > 0) {
      target_codes_.assign(problem.classes, problem.classes + problem.table.n_rows);
      targets_ = {1, 0};
      return;
    }
    target_codes_ = problem.target_codes;
    for (const GridTarget& target : problem.coded_targets) {
      targets_.push_back(static_cast<std::int64_t>(target.grid));
    }
  }

  std::vector<std::size_t> begin_, below_;  // by column
  std::size_t most_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<T> codes_;
  std::vector<std::uint16_t> target_codes_;  // by row
  std::vector<std::int64_t> targets_;        // by code
};

// Whether the order is worth its time and of use in every column: enough trees look at enough
// columns, and most entries have too many codes to be added up by code. Decoys, and more than the
// best cut, take all rows; permutation tests exchange the targets of rows; weights other than those
// of a bag may be large.
inline bool orders_pay(const Problem& problem, std::uint64_t n_trees, std::uint32_t few_codes) {
  constexpr std::uint64_t kLargeNodes = 2;                    // of a tree, about
  constexpr std::size_t kMostEntries = std::size_t{1} << 24;  // more take too much memory
  constexpr std::size_t kMostDraws = 16;                      // of a row, in the mean
  const Settings& settings = problem.settings;
  const Table& table = problem.table;
  if (settings.cut != Cut::best || settings.splits != Family::ordered ||
      settings.n_best_splits > 1 || settings.tests_by_permutation() ||
      problem.decoys.cycle != nullptr || problem.weights != nullptr || !problem.whole_weights ||
      settings.row_samples > kMostDraws * settings.n_units(table.n_rows) || problem.n_classes > 2 ||
      problem.outcomes.codes != nullptr) {
    return false;
  }
  if (problem.n_classes == 0 && problem.target_codes.empty()) return false;
  if (kLargeNodes * n_trees * settings.max_features < table.n_columns) return false;
  std::size_t n_entries = 0;
  std::size_t n_many = 0;  // of columns with many codes
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    const bool ordered = table.missing[j] == 0 && table.kind(j) != Kind::nominal;
    if (!table.is_sparse(j) || !ordered) return false;
    const std::size_t size = table.sparse.n_entries(static_cast<std::size_t>(table.slot[j]));
    n_entries += size;
    n_many += table.n_codes(j) > few_codes ? size : 0;
  }
  return n_entries <= kMostEntries && n_many > 0 && 2 * n_many >= n_entries;
}

}  // namespace duramen
