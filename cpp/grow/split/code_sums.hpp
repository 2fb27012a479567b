// What the rows of a node add up to by the code of a sparse column: sums of whole numbers, which
// are exact in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/gathered.hpp"
#include "grow/split/node_rows.hpp"

namespace duramen {

// What the rows of a code add up to: their number, their whole weight, and their moments, which are
// whole numbers, or with two classes the weight of the first.
struct CodeSum {
  std::uint64_t size = 0;  // the number of rows times 2^32, and their weight: one addition for both
  std::int64_t sum = 0;

  static std::uint64_t size_of(std::uint32_t n_rows, std::int32_t weight) {
    return std::uint64_t{n_rows} << 32 | static_cast<std::uint32_t>(weight);
  }
  std::uint32_t n_rows() const { return static_cast<std::uint32_t>(size >> 32); }
  std::int32_t weight() const { return static_cast<std::int32_t>(size); }
  CodeSum& operator+=(const CodeSum& other) {
    size += other.size;
    sum += other.sum;
    return *this;
  }
  CodeSum& operator-=(const CodeSum& other) {
    size -= other.size;
    sum -= other.sum;
    return *this;
  }
};

template <class T, class Node>
class CodeSums {
 public:
  // Whether sums over rows are exact.
  static constexpr bool kExact = Node::kWhole && !ScoresRows<Node>;

  explicit CodeSums(const Problem& problem) : of_rows_(problem) {}

  void start_tree() { of_rows_.start_tree(); }

  // Where entries are sought among all rows, `by_row`.
  void start_node(bool by_row) {
    by_row_ = by_row;
    of_rows_.start_node();
  }

  // Whether the entries of a sparse column may be added up by code.
  static bool suits(const Node& node, std::uint32_t n_codes) {
    return two_sums(node) && n_codes <= std::min(kFewCodes, kFewCodes / 8 + node.n_rows() / 8);
  }

  // Adds up the rows of a column; take() must be called for each of its codes before the next.
  void add(const Node& node, std::size_t column, const std::uint32_t* rows, std::uint32_t n_codes,
           Gathered<T>& gathered) {
    std::uint32_t way = 0;  // two sums of a code in turn: one need not wait for the other
    const auto add_row = [&](const CodeSum& row, std::uint32_t code) {
      by_code_[way][code] += row;
      way ^= 1;
    };
    if (by_row_) {
      // Of two classes both are left in nodes that are asked for.
      const CodeSum* of_rows =
          of_rows_.of(rows, node.n_rows(), [&](std::uint32_t i) { return sum_of(node, i); });
      gathered.visit_rows(column, node.n_rows(), [&](std::uint32_t row, std::uint32_t code) {
        add_row(of_rows[row], code);
      });
    } else {
      gathered.visit_entries(column, rows, node.n_rows(), [&](std::uint32_t i, T code) {
        add_row(sum_of(node, i), static_cast<std::uint32_t>(code));
      });
    }
    CodeSum others = sum_of(node);
    for (std::uint32_t code = 0; code < n_codes; ++code) {
      by_code_[0][code] += by_code_[1][code];
      by_code_[1][code] = {};
      others -= by_code_[0][code];
    }
    by_code_[0][gathered.frequent_code(column)] += others;
  }

  const CodeSum& operator[](std::uint32_t code) const { return by_code_[0][code]; }
  // The sum of a code, which is 0 from then on.
  CodeSum take(std::uint32_t code) {
    const CodeSum sum = by_code_[0][code];
    by_code_[0][code] = {};
    return sum;
  }

 private:
  static constexpr std::uint32_t kFewCodes = 256;

  // Whether a child's number of rows, its weight and one more sum give its score.
  static bool two_sums(const Node& node) {
    if constexpr (Node::kClasses) {
      return node.n_groups() == 2;
    } else {
      return true;
    }
  }

  // Of a row, and of the node.
  static CodeSum sum_of(const Node& node, std::uint32_t i) {
    const auto weight = node.weights()[i];
    if constexpr (Node::kClasses) {
      return {CodeSum::size_of(1, weight), i < node.starts()[1] ? weight : 0};
    } else {
      return {CodeSum::size_of(1, weight), static_cast<std::int64_t>(node.moments()[i])};
    }
  }
  static CodeSum sum_of(const Node& node) {
    const std::uint64_t size = CodeSum::size_of(node.n_rows(), node.whole());
    if constexpr (Node::kClasses) {
      return {size, node.totals()[0]};
    } else {
      return {size, static_cast<std::int64_t>(node.sum())};
    }
  }

  CodeSum by_code_[2][kFewCodes];  // 0 but while a column is looked at
  bool by_row_ = false;            // entries are sought among all rows
  NodeRows<CodeSum> of_rows_;
};

}  // namespace duramen
