// The current tree: its nodes one by one, appended array by array when it is complete.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "data/table.hpp"
#include "forest/forest.hpp"
#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/value_samples.hpp"

namespace duramen {

// forest.hpp says what the fields mean.
struct NodeRecord {
  std::int32_t feature = -1;
  std::int32_t child = 0;
  std::uint32_t cut = 0;
  std::uint32_t rows = 0;
  std::uint32_t degree = 0;
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double weight = 0.0;
  double impurity = 0.0;
  std::uint8_t split = 0;
};

class Recorder {
 public:
  // samples: where cuts are drawn among values in single precision, not among codes; null
  // elsewhere.
  Recorder(const Problem& problem, const ValueSamples* samples)
      : table_(problem.table),
        samples_(samples),
        keeps_weight_(!problem.unit_weights()),
        keeps_degree_(problem.settings.splits == Family::multiway) {}

  void start_tree(Trees& out) {
    out_ = &out;
    nodes_.clear();
    first_pool_ = out.pool.size();
    n_leaves_ = 0;
  }

  NodeRecord& operator[](std::uint32_t id) { return nodes_[id]; }
  const NodeRecord& operator[](std::uint32_t id) const { return nodes_[id]; }

  // Room for some more nodes; the number of the first.
  std::uint32_t add_nodes(std::size_t count) {
    nodes_.resize(nodes_.size() + count);
    return static_cast<std::uint32_t>(nodes_.size() - count);
  }

  // A node is a leaf; the caller appends its values to leaf_values().
  std::vector<double>& add_leaf(std::uint32_t id) {
    nodes_[id].child = n_leaves_++;
    return out_->leaf_values;
  }

  std::vector<std::uint32_t>& pool() { return out_->pool; }
  std::uint32_t pool_offset() const {
    return static_cast<std::uint32_t>(out_->pool.size() - first_pool_);
  }

  // The cut in codes of the whole table and, for numeric columns, in real values: the two agree on
  // every value of the table, and the real cut lies in [value of low, value of high).
  void record_ordered(std::uint32_t id, const Split& split) {
    NodeRecord& record = nodes_[id];
    const std::size_t column = static_cast<std::size_t>(split.feature);
    const std::uint32_t n_values = table_.n_values(column);
    if (table_.kind(column) != Kind::numeric) {
      record.cut = split.high >= n_values ? n_values - 1 : (split.low + split.high - 1) / 2;
      return;
    }
    if (split.high >= n_values && !split.real_cut) {  // missing against the rest
      record.cut = n_values - 1;
      record.threshold = std::numeric_limits<double>::infinity();
      return;
    }
    record.cut = split.low;
    record.threshold = split.threshold;
    std::uint32_t length = 1;  // of the codes from split.low on among which the cut lies
    if (!split.real_cut) {
      const double* values = table_.values(column);
      const double a = values[split.low];
      const double b = values[split.high];
      const double middle = a / 2 + b / 2;
      record.threshold = middle >= a && middle < b ? middle : a;
      length = split.high - split.low;
    } else if (samples_ != nullptr && !split.by_code) {
      record.cut = 0;
      length = n_values;
    }
    if (length > 1 || (split.real_cut && !split.placed)) pending_.push_back({id, length});
  }

  // Appends the tree to the arrays passed to start_tree.
  void finish_tree();

 private:
  // An ordered split whose code is yet to be found among `length` codes from the recorded one on.
  struct Pending {
    std::uint32_t id, length;
  };

  void place_cuts();
  void place_rounded_cuts();
  void place_cut(std::uint32_t id, std::uint32_t low);
  void append_nodes();

  const Table& table_;
  const ValueSamples* samples_;
  bool keeps_weight_, keeps_degree_;
  Trees* out_ = nullptr;
  std::size_t first_pool_ = 0;
  std::int32_t n_leaves_ = 0;
  std::vector<NodeRecord> nodes_;
  std::vector<Pending> pending_;
};

}  // namespace duramen
