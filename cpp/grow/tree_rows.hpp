// The rows of a tree: those of its bag with their weights, in one array in which the rows of a node
// lie together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "data/table.hpp"
#include "grow/bag.hpp"
#include "grow/problem.hpp"

namespace duramen {

template <class Weight>
class TreeRows {
 public:
  explicit TreeRows(const Problem& problem)
      : problem_(problem), table_(problem.table), weights_(problem.table.n_rows) {
    index_.reserve(problem.table.n_rows);
  }

  void start_tree(std::uint64_t tree) {
    if (problem_.multiplicity != nullptr) {
      multiplicity_.assign(problem_.multiplicity, problem_.multiplicity + table_.n_rows);
    } else {
      draw_bag(problem_.settings, table_.n_rows, problem_.seed, tree, multiplicity_);
    }
    std::vector<double> balance;
    if (problem_.settings.balanced_subsample) balance = class_balance();
    if (problem_.weights == nullptr && balance.empty()) {
      take_multiplicities();
      return;
    }
    index_.clear();
    total_weight_ = 0.0;
    for (const std::uint32_t row : problem_.row_order) {
      if (multiplicity_[row] == 0) continue;
      double weight = multiplicity_[row];
      if (problem_.weights != nullptr) weight *= problem_.weights[row];
      if (!balance.empty()) weight *= balance[problem_.classes[row]];
      if (weight == 0.0) continue;
      weights_[row] = static_cast<Weight>(weight);
      total_weight_ += weight;
      index_.push_back(row);
    }
    unit_weights_ = total_weight_ == static_cast<double>(index_.size()) &&
                    std::numeric_limits<Weight>::is_integer;
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(index_.size()); }
  double total_weight() const { return total_weight_; }

  std::uint32_t* from(std::uint32_t start) { return index_.data() + start; }
  std::uint32_t operator[](std::uint32_t position) const { return index_[position]; }
  // By the number of the row.
  const Weight* weights() const { return weights_.data(); }

  // Weight of a range of rows.
  double weigh(std::uint32_t begin, std::uint32_t end) const {
    if (unit_weights_) return end - begin;
    using Sum = std::conditional_t<std::numeric_limits<Weight>::is_integer, std::int64_t, Weight>;
    Sum weight{0};
    for (std::uint32_t i = begin; i < end; ++i) weight += weights_[index_[i]];
    return static_cast<double>(weight);
  }

  // Whether the first of two children with all rows of a node, whose weight this is, is not lighter
  // than the second. Whole weights are added up of the smaller one alone.
  bool first_heavier(std::uint32_t begin, std::uint32_t middle, std::uint32_t end,
                     double weight) const {
    if constexpr (std::numeric_limits<Weight>::is_integer) {
      const bool small_first = middle - begin < end - middle;
      const double small = small_first ? weigh(begin, middle) : weigh(middle, end);
      return small_first ? small >= weight - small : weight - small >= small;
    }
    return weigh(begin, middle) >= weigh(middle, end);
  }

  // The code of a column at a position.
  std::uint32_t code(std::size_t column, std::uint32_t position) const {
    return table_.code(column, index_[position]);
  }

  bool any_missing(std::size_t column, std::uint32_t begin, std::uint32_t end) const {
    const std::uint32_t missing = table_.n_values(column);
    for (std::uint32_t i = begin; i < end; ++i) {
      if (code(column, i) == missing) return true;
    }
    return false;
  }

 private:
  // The rows of the bag where their weights are their multiplicities. Without a branch for a row:
  // which ones are in the bag is as good as random.
  void take_multiplicities() {
    index_.resize(table_.n_rows);
    std::size_t size = 0;
    std::uint64_t total = 0;
    for (const std::uint32_t row : problem_.row_order) {
      const std::uint32_t multiplicity = multiplicity_[row];
      weights_[row] = static_cast<Weight>(multiplicity);
      total += multiplicity;
      index_[size] = row;
      size += multiplicity != 0 ? 1 : 0;
    }
    index_.resize(size);
    total_weight_ = static_cast<double>(total);
    unit_weights_ = total == size && std::numeric_limits<Weight>::is_integer;
  }

  // Weights that make the classes of the bag equally heavy.
  std::vector<double> class_balance() const {
    std::vector<double> count(problem_.n_classes, 0.0);
    double total = 0.0;
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      count[problem_.classes[row]] += multiplicity_[row];
      total += multiplicity_[row];
    }
    for (double& c : count) {
      if (c > 0.0) c = total / (c * static_cast<double>(problem_.n_classes));
    }
    return count;
  }

  const Problem& problem_;
  const Table& table_;
  std::vector<Weight> weights_;
  std::vector<std::uint32_t> multiplicity_, index_;
  double total_weight_ = 0.0;
  bool unit_weights_ = false;  // every row of the bag weighs 1
};

}  // namespace duramen
