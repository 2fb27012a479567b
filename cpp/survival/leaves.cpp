#include "survival/leaves.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "grow/bag.hpp"
#include "parallel.hpp"
#include "survival/concordance.hpp"

namespace duramen {
namespace {

// Number of every distinct time among those with an event, and how many of these there are.
std::uint32_t number_event_times(const Problem& problem, std::vector<std::uint32_t>& number) {
  const Outcomes& outcomes = problem.outcomes;
  number.assign(outcomes.n_times, 0);
  for (std::size_t i = 0; i < problem.table.n_rows; ++i) {
    if (outcomes.event(i)) number[outcomes.time(i)] = 1;
  }
  std::uint32_t count = 0;
  for (std::uint32_t& count_of_leaf : number) {
    const std::uint32_t here = count;
    count += count_of_leaf;
    count_of_leaf = here;
  }
  return count;
}

struct Entry {
  std::uint32_t leaf, time, events, at_risk;
};

// The events of one tree after another.
class TreeEvents {
 public:
  TreeEvents(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
             const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& numbers)
      : forest_(forest),
        problem_(problem),
        first_tree_(first_tree),
        rows_(rows),
        by_entry_(rows_by_entry(problem.outcomes, rows)),
        numbers_(numbers),
        leaf_of_(problem.table.n_rows) {}

  // By leaf, and ascending by time within it.
  void gather(std::size_t t, std::vector<Entry>& sorted) {
    const TreeView tree(forest_, t);
    const std::size_t n_leaves =
        static_cast<std::size_t>(forest_.leaf_offsets[t + 1] - forest_.leaf_offsets[t]);
    draw_weights(t);
    const CodeRows table{problem_.table};
    at_risk_.assign(n_leaves, 0);
    events_.assign(n_leaves, 0);
    entries_.clear();
    std::size_t n_left = 0;  // rows that were not yet at risk
    for (std::size_t end = rows_.size(); end > 0;) {
      const std::uint32_t time = problem_.outcomes.time(rows_[end - 1]);
      for (; n_left < by_entry_.size() && problem_.outcomes.first[by_entry_[n_left]] > time;
           ++n_left) {
        const std::uint32_t row = by_entry_[n_left];
        if (weights_[row] > 0) at_risk_[leaf_of_[row]] -= weights_[row];
      }
      std::size_t begin = end;
      for (; begin > 0 && problem_.outcomes.time(rows_[begin - 1]) == time; --begin) {
        const std::uint32_t row = rows_[begin - 1];
        if (weights_[row] == 0) continue;
        const auto leaf = static_cast<std::uint32_t>(tree.child[tree.leaf(table, row)]);
        leaf_of_[row] = leaf;
        at_risk_[leaf] += weights_[row];
        if (problem_.outcomes.event(row)) events_[leaf] += weights_[row];
      }
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t row = rows_[i];
        if (weights_[row] == 0 || events_[leaf_of_[row]] == 0) continue;
        const std::uint32_t leaf = leaf_of_[row];
        entries_.push_back({leaf, numbers_[time], events_[leaf], at_risk_[leaf]});
        events_[leaf] = 0;
      }
      end = begin;
    }
    sort_by_leaf(n_leaves, sorted);
  }

 private:
  void draw_weights(std::size_t t) {
    const std::size_t n = problem_.table.n_rows;
    draw_bag(problem_.settings, n, problem_.seed, first_tree_ + t, weights_);
    if (problem_.weights == nullptr) return;
    const auto times = [this](std::size_t i) {
      return static_cast<std::uint32_t>(problem_.weights[i]);
    };
    bool empty = true;
    for (std::size_t i = 0; i < n; ++i) {
      weights_[i] *= times(i);
      empty &= weights_[i] == 0;
    }
    for (std::size_t i = 0; empty && i < n; ++i) weights_[i] = times(i);
  }

  // The entries come by descending time.
  void sort_by_leaf(std::size_t n_leaves, std::vector<Entry>& sorted) {
    ends_.assign(n_leaves, 0);
    for (const Entry& entry : entries_) ++ends_[entry.leaf];
    std::uint32_t end = 0;
    for (std::uint32_t& end_of_leaf : ends_) end_of_leaf = end += end_of_leaf;
    sorted.resize(entries_.size());
    for (const Entry& entry : entries_) sorted[--ends_[entry.leaf]] = entry;
  }

  const ForestView& forest_;
  const Problem& problem_;
  std::uint64_t first_tree_;
  const std::vector<std::uint32_t>& rows_;
  const std::vector<std::uint32_t> by_entry_;
  const std::vector<std::uint32_t>& numbers_;
  std::vector<std::uint32_t> weights_, leaf_of_, at_risk_, events_, ends_;
  std::vector<Entry> entries_;
};

double jump(Curve curve, double hazard, double& survival) {
  if (curve == Curve::cumulative_hazard) return hazard;
  const double before = survival;
  survival *= 1.0 - hazard;
  return survival - before;
}

}  // namespace

LeafEvents leaf_events(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
                       unsigned n_threads) {
  std::vector<std::uint32_t> numbers;
  const std::uint32_t n_times = number_event_times(problem, numbers);
  const std::vector<std::uint32_t> rows = rows_by_time(problem.outcomes, problem.table.n_rows);
  std::vector<std::vector<Entry>> by_tree(forest.n_trees);
  std::atomic<std::size_t> next{0};
  run_threads(n_threads, [&](unsigned) {
    TreeEvents events(forest, problem, first_tree, rows, numbers);
    for (std::size_t t = next++; t < forest.n_trees; t = next++) {
      if (problem.stopped()) return;
      events.gather(t, by_tree[t]);
    }
  });
  LeafEvents result;
  const std::size_t n_leaves = static_cast<std::size_t>(forest.leaf_offsets[forest.n_trees]);
  result.offsets.assign(n_leaves + 1, 0);
  result.mortality.assign(n_leaves, 0.0);
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    const std::size_t first = static_cast<std::size_t>(forest.leaf_offsets[t]);
    for (const Entry& entry : by_tree[t]) {
      const std::size_t leaf = first + entry.leaf;
      ++result.offsets[leaf + 1];
      result.time.push_back(entry.time);
      result.events.push_back(entry.events);
      result.at_risk.push_back(entry.at_risk);
      result.mortality[leaf] +=
          static_cast<double>(entry.events) / entry.at_risk * (n_times - entry.time);
    }
    std::vector<Entry>().swap(by_tree[t]);
  }
  for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
    result.offsets[leaf + 1] += result.offsets[leaf];
  }
  return result;
}

template <class Rows>
void mean_curves(const ForestView& forest, const LeafEventsView& leaves, Curve curve,
                 const Rows& rows, std::size_t n_rows, unsigned n_threads, const Monitor& monitor,
                 double* out) {
  const std::size_t width = leaves.n_times;
  const double n_trees = static_cast<double>(forest.n_trees);
  run_threads(n_threads, [&](unsigned thread) {
    const std::size_t begin = n_rows * thread / n_threads;
    const std::size_t end = n_rows * (thread + 1) / n_threads;
    std::fill(out + begin * width, out + end * width, 0.0);
    for (std::size_t t = 0; t < forest.n_trees; ++t) {
      if (monitor.stop.load(std::memory_order_relaxed)) return;
      const TreeView tree(forest, t);
      for (std::size_t row = begin; row < end; ++row) {
        const std::int64_t leaf = forest.leaf_offsets[t] + tree.child[tree.leaf(rows, row)];
        double survival = 1.0;
        for (std::int64_t e = leaves.offsets[leaf]; e < leaves.offsets[leaf + 1]; ++e) {
          const double hazard = static_cast<double>(leaves.events[e]) / leaves.at_risk[e];
          out[row * width + leaves.time[e]] += jump(curve, hazard, survival);
        }
      }
    }
    for (std::size_t row = begin; row < end; ++row) {
      double sum = curve == Curve::survival ? n_trees : 0.0;
      for (std::size_t k = 0; k < width; ++k) {
        double& here = out[row * width + k];
        sum += here;
        here = std::max(0.0, sum / n_trees);
      }
    }
  });
}

template void mean_curves(const ForestView&, const LeafEventsView&, Curve, const CodeRows&,
                          std::size_t, unsigned, const Monitor&, double*);
template void mean_curves(const ForestView&, const LeafEventsView&, Curve, const ValueRows&,
                          std::size_t, unsigned, const Monitor&, double*);

OutOfBagRisks out_of_bag_risks(const ForestView& forest, const Problem& problem,
                               std::uint64_t first_tree) {
  const std::size_t n = problem.table.n_rows;
  const CodeRows rows{problem.table};
  const std::vector<std::uint32_t> by_time = rows_by_time(problem.outcomes, n);
  std::vector<std::uint32_t> bag, seen;
  std::vector<double> means(n, 0.0);
  OutOfBagRisks result;
  result.sums.assign(n, 0.0);
  result.counts.assign(n, 0);
  result.error.assign(forest.n_trees, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    if (problem.stopped()) break;
    draw_bag(problem.settings, n, problem.seed, first_tree + t, bag);
    const TreeView tree(forest, t);
    const double* values = forest.leaf_values + forest.leaf_offsets[t];
    for (std::size_t row = 0; row < n; ++row) {
      if (bag[row] != 0) continue;
      result.sums[row] += values[tree.child[tree.leaf(rows, row)]];
      means[row] = result.sums[row] / ++result.counts[row];
    }
    seen.clear();
    for (const std::uint32_t row : by_time) {
      if (result.counts[row] > 0) seen.push_back(row);
    }
    const Pairs pairs = count_pairs(problem.outcomes, seen, means.data());
    if (pairs.comparable > 0) result.error[t] = 1.0 - pairs.concordance();
  }
  return result;
}

}  // namespace duramen
