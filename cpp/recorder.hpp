// The tree at hand: its nodes one by one, appended array by array once it is whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "forest.hpp"
#include "problem.hpp"
#include "split/candidate.hpp"
#include "table.hpp"

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

// T is what the cuts were drawn among: codes, or values in single precision.
template <class T>
class Recorder {
 public:
  explicit Recorder(const Problem& problem)
      : table_(problem.table),
        keeps_weight_(!problem.unit_weights()),
        keeps_degree_(problem.settings.splits == Family::multiway) {}

  void start_tree(Trees& out) {
    out_ = &out;
    nodes_.clear();
    first_pool_ = out.pool.size();
    n_leaves_ = 0;
  }

  NodeRecord& operator[](std::uint32_t id) { return nodes_[id]; }

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
    } else if (!std::is_integral_v<T> && !split.by_code) {
      record.cut = 0;
      length = n_values;
    }
    if (length > 1 || (split.real_cut && !split.placed)) pending_.push_back({id, length});
  }

  void finish_tree() {
    place_cuts();
    append_nodes();
    out_->n_nodes.push_back(static_cast<std::int64_t>(nodes_.size()));
    out_->n_leaves.push_back(n_leaves_);
    out_->pool_sizes.push_back(static_cast<std::int64_t>(out_->pool.size() - first_pool_));
  }

 private:
  // An ordered split whose code is yet to be found among `length` codes from the recorded one on.
  struct Pending {
    std::uint32_t id, length;
  };

  // Finds the codes of the cuts that are known by their thresholds, several searches side by side,
  // so that they wait for memory together.
  void place_cuts() {
    constexpr std::size_t kLanes = 16;
    for (std::size_t begin = 0; begin < pending_.size(); begin += kLanes) {
      const std::size_t count = std::min(kLanes, pending_.size() - begin);
      const double* values[kLanes];
      // What was drawn among rounded values is looked up among them.
      using Real = std::conditional_t<std::is_integral_v<T>, double, float>;
      Real cut[kLanes];
      std::uint32_t length[kLanes];
      std::uint32_t low[kLanes];
      std::uint32_t longest = 1;
      for (std::size_t lane = 0; lane < count; ++lane) {
        const NodeRecord& record = nodes_[pending_[begin + lane].id];
        values[lane] = table_.values(static_cast<std::size_t>(record.feature));
        cut[lane] = static_cast<Real>(record.threshold);
        length[lane] = pending_[begin + lane].length;
        low[lane] = record.cut;
        longest = std::max(longest, length[lane]);
      }
      for (; longest > 1; longest -= longest / 2) {
        for (std::size_t lane = 0; lane < count; ++lane) {
          const std::uint32_t half = length[lane] / 2;
          const Real middle = static_cast<Real>(values[lane][low[lane] + half]);
          low[lane] += middle <= cut[lane] ? half : 0;
          length[lane] -= half;
        }
      }
      for (std::size_t lane = 0; lane < count; ++lane) {
        NodeRecord& record = nodes_[pending_[begin + lane].id];
        record.cut = low[lane];
        // A cut drawn among rounded values may lie beside the true ones.
        const double* value = values[lane] + low[lane];
        const bool between = record.threshold >= value[0] && record.threshold < value[1];
        record.threshold = between ? record.threshold : value[0];
      }
    }
    pending_.clear();
  }

  // The finished nodes, array by array.
  void append_nodes() {
    const auto append = [this](auto& to, auto field) {
      const std::size_t at = to.size();
      to.resize(at + nodes_.size());
      for (std::size_t i = 0; i < nodes_.size(); ++i) to[at + i] = nodes_[i].*field;
    };
    append(out_->feature, &NodeRecord::feature);
    append(out_->child, &NodeRecord::child);
    append(out_->cut, &NodeRecord::cut);
    append(out_->threshold, &NodeRecord::threshold);
    append(out_->split, &NodeRecord::split);
    append(out_->rows, &NodeRecord::rows);
    if (keeps_degree_) append(out_->degree, &NodeRecord::degree);
    if (keeps_weight_) append(out_->weight, &NodeRecord::weight);
    append(out_->impurity, &NodeRecord::impurity);
  }

  const Table& table_;
  bool keeps_weight_, keeps_degree_;
  Trees* out_ = nullptr;
  std::size_t first_pool_ = 0;
  std::int32_t n_leaves_ = 0;
  std::vector<NodeRecord> nodes_;
  std::vector<Pending> pending_;
};

}  // namespace duramen
