// Something of each row of a node, looked up by its number in the table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/problem.hpp"

namespace duramen {

template <class Value>
class NodeRows {
 public:
  explicit NodeRows(const Problem& problem)
      : permutes_rows_(problem.settings.tests_by_permutation()), n_all_(problem.table.n_rows) {}

  void start_tree() { forget(); }
  // A permutation test starts a node again with its rows in another order.
  void start_node() {
    if (permutes_rows_) forget();
  }

  // value_of(i) of the rows of a node, and 0 of all others. Where the node lies within the one
  // asked for before, rows that do not belong to it are set to 0, and no more: growth moves rows
  // within nodes alone.
  template <class ValueOf>
  const Value* of(const std::uint32_t* rows, std::uint32_t n, ValueOf&& value_of) {
    values_.resize(n_all_);
    const std::uint32_t* end = rows + n;
    if (begin_ <= rows && end <= end_) {
      clear(begin_, rows);
      clear(end, end_);
    } else {
      clear(begin_, end_);
      for (std::uint32_t i = 0; i < n; ++i) values_[rows[i]] = value_of(i);
    }
    begin_ = rows;
    end_ = end;
    return values_.data();
  }

 private:
  void clear(const std::uint32_t* from, const std::uint32_t* to) {
    for (; from < to; ++from) values_[*from] = Value{};
  }
  void forget() {
    if (begin_ != end_) std::fill(values_.begin(), values_.end(), Value{});
    begin_ = end_ = nullptr;
  }

  bool permutes_rows_;
  std::size_t n_all_;
  std::vector<Value> values_;
  const std::uint32_t* begin_ = nullptr;  // of the rows that have values
  const std::uint32_t* end_ = nullptr;
};

}  // namespace duramen
