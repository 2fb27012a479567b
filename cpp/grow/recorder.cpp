#include "grow/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "processor.hpp"

namespace duramen {

void Recorder::finish_tree() {
  if (samples_ != nullptr) {
    place_rounded_cuts();
  } else {
    place_cuts();
  }
  append_nodes();
  out_->n_nodes.push_back(static_cast<std::int64_t>(nodes_.size()));
  out_->n_leaves.push_back(n_leaves_);
  out_->pool_sizes.push_back(static_cast<std::int64_t>(out_->pool.size() - first_pool_));
}

namespace {

constexpr std::size_t kLanes = 16;  // searches side by side, so that they wait for memory together

// A search for the last of some values, not above a cut; the first of them is not.
template <class Real>
struct CutSearch {
  const Real* values;
  Real cut;
  std::uint32_t low, length;
};

template <class Real>
void search_side_by_side(CutSearch<Real>* searches, std::size_t count) {
  std::uint32_t longest = 1;
  for (std::size_t lane = 0; lane < count; ++lane) {
    longest = std::max(longest, searches[lane].length);
  }
  for (; longest > 1; longest -= longest / 2) {
    for (std::size_t lane = 0; lane < count; ++lane) {
      CutSearch<Real>& search = searches[lane];
      const std::uint32_t half = search.length / 2;
      search.low += search.values[search.low + half] <= search.cut ? half : 0;
      search.length -= half;
    }
  }
}

}  // namespace

// Finds the codes of the cuts that are known by their thresholds.
void Recorder::place_cuts() {
  CutSearch<double> searches[kLanes];
  for (std::size_t begin = 0; begin < pending_.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, pending_.size() - begin);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const NodeRecord& record = nodes_[pending_[begin + lane].id];
      searches[lane] = {table_.values(static_cast<std::size_t>(record.feature)), record.threshold,
                        record.cut, pending_[begin + lane].length};
    }
    search_side_by_side(searches, count);
    for (std::size_t lane = 0; lane < count; ++lane) {
      place_cut(pending_[begin + lane].id, searches[lane].low);
    }
  }
  pending_.clear();
}

// The same of cuts that were drawn among rounded values, which are looked up among these: first
// among the samples, which stay in the cache, then from one of them to the next.
void Recorder::place_rounded_cuts() {
  constexpr std::uint32_t kStep = ValueSamples::kStep;
  CutSearch<float> searches[kLanes];
  const double* values[kLanes];
  for (std::size_t begin = 0; begin < pending_.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, pending_.size() - begin);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const NodeRecord& record = nodes_[pending_[begin + lane].id];
      const std::size_t column = static_cast<std::size_t>(record.feature);
      searches[lane] = {samples_->of(column), static_cast<float>(record.threshold), 0,
                        samples_->count(column)};
    }
    search_side_by_side(searches, count);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const NodeRecord& record = nodes_[pending_[begin + lane].id];
      searches[lane].low *= kStep;
      values[lane] = table_.values(static_cast<std::size_t>(record.feature)) + searches[lane].low;
      for (std::uint32_t v = 0; v < kStep; v += 8) prefetch_line(values[lane] + v);
    }
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::uint32_t id = pending_[begin + lane].id;
      const std::size_t column = static_cast<std::size_t>(nodes_[id].feature);
      const std::uint32_t end = std::min(kStep, table_.n_values(column) - searches[lane].low);
      std::uint32_t low = searches[lane].low;
      for (std::uint32_t v = 1; v < end; ++v) {
        low += static_cast<float>(values[lane][v]) <= searches[lane].cut ? 1 : 0;
      }
      place_cut(id, low);
    }
  }
  pending_.clear();
}

void Recorder::place_cut(std::uint32_t id, std::uint32_t low) {
  NodeRecord& record = nodes_[id];
  record.cut = low;
  // A cut drawn among rounded values may lie beside the true ones.
  const double* value = table_.values(static_cast<std::size_t>(record.feature)) + low;
  const bool between = record.threshold >= value[0] && record.threshold < value[1];
  record.threshold = between ? record.threshold : value[0];
}

// The finished nodes, array by array.
void Recorder::append_nodes() {
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

}  // namespace duramen
