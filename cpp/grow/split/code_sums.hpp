// What the rows of a node add up to by the code of a column: sums of whole numbers, which are exact
// in any order, so that rows are not sorted. Saves 12 to 20 % of random forests on sparse counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/gathered.hpp"
#include "grow/split/node_rows.hpp"

namespace duramen {

// What the rows of a code add up to: their number, their whole weight, and their moments, which are
// whole numbers. Two additions for all three.
class MomentSum {
 public:
  MomentSum() = default;
  MomentSum(std::uint32_t n_rows, std::int32_t weight, std::int64_t sum)
      : size_(std::uint64_t{n_rows} << 32 | static_cast<std::uint32_t>(weight)), sum_(sum) {}

  static bool has_room(std::uint32_t /*n_rows*/, std::int64_t /*weight*/) { return true; }
  bool empty() const { return size_ == 0; }
  std::uint32_t n_rows() const { return static_cast<std::uint32_t>(size_ >> 32); }
  std::int32_t weight() const { return static_cast<std::int32_t>(size_); }
  std::int64_t sum() const { return sum_; }
  MomentSum& operator+=(const MomentSum& other) {
    size_ += other.size_;
    sum_ += other.sum_;
    return *this;
  }
  MomentSum& operator-=(const MomentSum& other) {
    size_ -= other.size_;
    sum_ -= other.sum_;
    return *this;
  }

 private:
  std::uint64_t size_ = 0;  // the number of rows times 2^32, and their weight
  std::int64_t sum_ = 0;
};

// The same with two classes: `sum` is the weight of the first. One addition for all three.
class ClassSum {
 public:
  ClassSum() = default;
  ClassSum(std::uint32_t n_rows, std::int32_t weight, std::int64_t sum)
      : all_(std::uint64_t{n_rows} << 2 * kBits | static_cast<std::uint64_t>(weight) << kBits |
             static_cast<std::uint64_t>(sum)) {}

  static bool has_room(std::uint32_t n_rows, std::int64_t weight) {
    return n_rows <= kMost && weight <= kMost;
  }
  bool empty() const { return all_ == 0; }
  std::uint32_t n_rows() const { return static_cast<std::uint32_t>(all_ >> 2 * kBits); }
  std::int32_t weight() const { return static_cast<std::int32_t>(all_ >> kBits & kMost); }
  std::int64_t sum() const { return static_cast<std::int64_t>(all_ & kMost); }
  ClassSum& operator+=(const ClassSum& other) {
    all_ += other.all_;
    return *this;
  }
  ClassSum& operator-=(const ClassSum& other) {
    all_ -= other.all_;
    return *this;
  }

 private:
  static constexpr int kBits = 21;  // of each of the three
  static constexpr std::int64_t kMost = (std::int64_t{1} << kBits) - 1;
  std::uint64_t all_ = 0;
};

template <class T, class Node>
class CodeSums {
 public:
  using Sum = std::conditional_t<Node::kClasses, ClassSum, MomentSum>;
  // Whether sums over rows are exact.
  static constexpr bool kExact = Node::kWhole && !ScoresRows<Node>;

  explicit CodeSums(const Problem& problem) : of_rows_(problem) {}

  void start_tree() { of_rows_.start_tree(); }

  // Where entries are sought among all rows, `by_row`.
  void start_node(bool by_row) {
    by_row_ = by_row;
    n_added_ = 0;
    of_rows_.start_node();
  }

  // Whether the rows of a column may be added up by code.
  static bool suits(const Node& node, std::uint32_t n_codes) {
    const auto weight = static_cast<std::int64_t>(node.whole());
    return two_sums(node) && Sum::has_room(node.n_rows(), weight) &&
           n_codes <= std::min(kFewCodes, kFewCodes / 8 + node.n_rows() / 8);
  }

  // Whether a dense column whose codes at the node span `n_codes` codes may use sums. Saves a tenth
  // of the time of random forests on columns of 600 values.
  static bool suits_span(const Node& node, std::uint32_t n_codes) {
    const auto weight = static_cast<std::int64_t>(node.whole());
    return two_sums(node) && Sum::has_room(node.n_rows(), weight) &&
           n_codes <= std::min(kMostCodes, node.n_rows());
  }

  // Adds up the rows of a column; take() must be called for each of its codes before the next.
  void add(const Node& node, std::size_t column, const std::uint32_t* rows, std::uint32_t n_codes,
           Gathered<T>& gathered) {
    // A sum of a code for even and for odd rows: one need not wait for the other.
    const auto add_row = [this](std::uint32_t i, const Sum& row, std::uint32_t code) {
      by_code_[i % 2][code] += row;
    };
    if (by_row_) {
      // Of two classes both are left in nodes that are asked for.
      const Sum* of_rows =
          of_rows_.of(rows, node.n_rows(), [&](std::uint32_t i) { return sum_of(node, i); });
      gathered.visit_rows(column, node.n_rows(), [&](std::uint32_t row, std::uint32_t code) {
        add_row(row, of_rows[row], code);
      });
    } else {
      gathered.visit_entries(column, rows, node.n_rows(), [&](std::uint32_t i, std::uint32_t code) {
        add_row(i, sum_of(node, i), code);
      });
    }
    Sum others = sum_of(node);
    for (std::uint32_t code = 0; code < n_codes; ++code) {
      by_code_[0][code] += by_code_[1][code];
      by_code_[1][code] = {};
      others -= by_code_[0][code];
    }
    by_code_[0][gathered.frequent_code(column)] += others;
  }

  // The same of a dense column; read(i) is the code of row i.
  template <class Read>
  void add_dense(const Node& node, std::uint32_t n_codes, Read&& read) {
    const std::uint32_t n = node.n_rows();
    if (n_added_ != n) {  // the first column of the node
      sums_.resize(n);
      for (std::uint32_t i = 0; i < n; ++i) sums_[i] = sum_of(node, i);
      n_added_ = n;
    }
    std::uint32_t i = 0;
    for (; i + kWays <= n; i += kWays) {
      for (std::uint32_t way = 0; way < kWays; ++way)
        by_code_[way][read(i + way)] += sums_[i + way];
    }
    for (; i < n; ++i) by_code_[0][read(i)] += sums_[i];
    for (std::uint32_t code = 0; code < n_codes; ++code) {
      for (std::uint32_t way = 1; way < kWays; ++way) {
        by_code_[0][code] += by_code_[way][code];
        by_code_[way][code] = {};
      }
    }
  }

  // Whether any row of the node has a code.
  bool occurs(std::uint32_t code) const { return !by_code_[0][code].empty(); }
  // The sum of a code, which is 0 from then on.
  Sum take(std::uint32_t code) {
    const Sum sum = by_code_[0][code];
    by_code_[0][code] = {};
    return sum;
  }

 private:
  static constexpr std::uint32_t kFewCodes = 256;
  static constexpr std::uint32_t kMostCodes = 1024;

  // Whether a child's number of rows, its weight and one more sum give its score.
  static bool two_sums(const Node& node) {
    if constexpr (Node::kClasses) {
      return node.n_groups() == 2;
    } else {
      return true;
    }
  }

  // Of a row, and of the node.
  static Sum sum_of(const Node& node, std::uint32_t i) {
    const auto weight = node.weights()[i];
    if constexpr (Node::kClasses) {
      return {1, weight, i < node.starts()[1] ? weight : 0};
    } else {
      return {1, weight, static_cast<std::int64_t>(node.moments()[i])};
    }
  }
  static Sum sum_of(const Node& node) {
    if constexpr (Node::kClasses) {
      return {node.n_rows(), node.whole(), node.totals()[0]};
    } else {
      return {node.n_rows(), node.whole(), static_cast<std::int64_t>(node.sum())};
    }
  }

  static constexpr std::uint32_t kWays = 4;  // sums of a code that need not wait for each other

  Sum by_code_[kWays][kMostCodes];  // 0 but while a column is looked at
  bool by_row_ = false;             // entries are sought among all rows
  std::vector<Sum> sums_;           // of the rows of the node, if any column was added up densely
  std::uint32_t n_added_ = 0;       // how many these are
  NodeRows<Sum> of_rows_;
};

}  // namespace duramen
