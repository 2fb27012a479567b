#include "context/context.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "context/layout.hpp"
#include "context/tally.hpp"
#include "impurity.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace duramen {
namespace {

// Trees that are laid out at a time, in rows at nodes.
constexpr std::size_t kLargestLayout = std::size_t{1} << 22;

// The value of every row under permutation r of the requested permutations.
void permute(const Contexts& contexts, std::size_t r, std::vector<std::uint32_t>& codes,
             std::size_t n_rows) {
  const std::uint32_t* from = contexts.codes + (contexts.drawn ? r * n_rows : 0);
  codes.assign(from, from + n_rows);
  const std::uint64_t number = contexts.first + r;
  if (contexts.drawn || number == 0) return;
  Random random(contexts.seed, number, 0, Purpose::context);
  for (std::size_t i = n_rows; i > 1; --i) {
    std::swap(codes[i - 1], codes[random.below(static_cast<std::uint32_t>(i))]);
  }
}

// Sums over nodes for the permutations of one batch, lane by lane.
struct Batch {
  std::vector<Lanes<double>> absolute, difference, conditional, overall;
  Lanes<double> relevance{};

  Batch(std::size_t n_contexts, std::size_t n_columns) {
    for (auto* sums : {&absolute, &difference, &conditional}) {
      sums->resize(n_contexts * n_columns, Lanes<double>{});
    }
    overall.resize(n_columns, Lanes<double>{});
  }
};

// What all rows at a node give, once for all permutations: its decrease, and `own` of NodeTally.
struct Whole {
  double decrease, own;
};

template <class Count>
std::vector<Whole> whole_nodes(const Layout& layout, const Truth& truth, std::size_t n_rows,
                               Impurity criterion, const std::vector<double>& n_log_n) {
  // No row in the first of two contexts: all rows together in the second.
  const Membership<Count> in(n_rows, 2);
  NodeTally<Count> tally(truth, criterion, 2, n_log_n);
  std::vector<Whole> whole(layout.nodes.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    tally.count(layout, layout.nodes[i], in);
    whole[i] = {tally.decrease(1)[0], tally.own(1)[0]};
  }
  return whole;
}

// Sums the terms of the nodes for the permutations, batch by batch.
template <class Count>
class Walk {
 public:
  Walk(const Layout& layout, const std::vector<Whole>& whole, std::size_t n_rows,
       std::size_t n_columns, const Truth& truth, const Contexts& contexts, Impurity criterion,
       const std::vector<double>& n_log_n)
      : layout_(layout),
        whole_(whole),
        contexts_(contexts),
        n_rows_(n_rows),
        n_columns_(n_columns),
        tally_(truth, criterion, contexts.count, n_log_n) {}

  void add(const Membership<Count>& in, Batch& batch, const Monitor& monitor) {
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) {
      if (i % 256 == 0 && monitor.stop.load(std::memory_order_relaxed)) return;
      const LaidNode& node = layout_.nodes[i];
      tally_.count(layout_, node, in);
      const double fraction = static_cast<double>(node.n_rows) / static_cast<double>(n_rows_);
      if (node.column >= 0) add_effects(node, fraction, whole_[i].decrease, batch);
      for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
        double parts = 0.0;
        for (std::size_t c = 0; c < contexts_.count; ++c) parts += tally_.own(c)[lane];
        batch.relevance[lane] += node.levels * (parts - whole_[i].own);
      }
    }
  }

 private:
  void add_effects(const LaidNode& node, double fraction, double whole_sum, Batch& batch) {
    const double n = static_cast<double>(node.n_rows);
    const double whole = whole_sum / n;
    Lanes<double> inside{};
    for (std::size_t c = 0; c < contexts_.count; ++c) {
      const std::size_t at = c * n_columns_ + static_cast<std::size_t>(node.column);
      const Lanes<double>& decrease = tally_.decrease(c);
      const Lanes<Count>& rows = tally_.rows(c);
      Lanes<double>& absolute = batch.absolute[at];
      Lanes<double>& difference = batch.difference[at];
      Lanes<double>& conditional = batch.conditional[at];
      for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
        inside[lane] += decrease[lane];
        const double count = static_cast<double>(rows[lane]);
        const double here = count > 0.0 ? decrease[lane] / count : 0.0;
        const double weight = count > 0.0 || contexts_.empty_is_zero ? fraction : 0.0;
        absolute[lane] += weight * std::fabs(whole - here);
        difference[lane] += weight * (whole - here);
        conditional[lane] += weight * here;
      }
    }
    Lanes<double>& overall = batch.overall[static_cast<std::size_t>(node.column)];
    for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
      overall[lane] += fraction * (whole - inside[lane] / n);
    }
  }

  const Layout& layout_;
  const std::vector<Whole>& whole_;
  const Contexts& contexts_;
  std::size_t n_rows_, n_columns_;
  NodeTally<Count> tally_;
};

// Spreads the lanes of a batch over the permutations from `first` on.
void spread(const std::vector<Lanes<double>>& lanes, double scale, std::size_t first,
            std::size_t n_lanes, std::vector<double>& out) {
  for (std::size_t lane = 0; lane < n_lanes; ++lane) {
    double* row = out.data() + (first + lane) * lanes.size();
    for (std::size_t i = 0; i < lanes.size(); ++i) row[i] = lanes[i][lane] * scale;
  }
}

template <class Count>
ContextEffects effects_of(const ForestView& forest, const Table& table, const Truth& truth,
                          const Contexts& contexts, Impurity criterion, unsigned n_threads,
                          Monitor& monitor) {
  const std::size_t n_permutations = contexts.n_permutations;
  const std::size_t n_batches = (n_permutations + kContextLanes - 1) / kContextLanes;
  std::vector<double> n_log_n(table.n_rows + std::size_t{1});
  for (std::size_t n = 0; n < n_log_n.size(); ++n) {
    n_log_n[n] = n_log2_n(static_cast<double>(n));
  }

  std::vector<Membership<Count>> members;
  std::vector<Batch> batches;
  std::vector<std::uint32_t> codes;
  for (std::size_t b = 0; b < n_batches; ++b) {
    members.emplace_back(table.n_rows, contexts.count);
    batches.emplace_back(contexts.count, table.n_columns);
    for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
      // Lanes beyond the last permutation repeat it, and are not read.
      const std::size_t r = std::min(b * kContextLanes + lane, n_permutations - 1);
      permute(contexts, r, codes, table.n_rows);
      members.back().set_lane(lane, codes);
    }
  }
  LayoutMaker maker(forest, table, truth, contexts.levels, contexts.column);
  Layout layout;
  for (std::size_t tree = 0; tree < forest.n_trees;) {
    layout.clear();
    const std::size_t first = tree;
    while (tree < forest.n_trees && (tree == first || layout.rows.size() < kLargestLayout)) {
      if (monitor.stop.load(std::memory_order_relaxed)) return {};
      maker.add(tree++, layout);
    }
    const std::vector<Whole> whole =
        whole_nodes<Count>(layout, truth, table.n_rows, criterion, n_log_n);
    std::atomic<std::size_t> next{0};
    run_threads(std::min<unsigned>(n_threads, static_cast<unsigned>(n_batches)), [&](unsigned) {
      Walk<Count> walk(layout, whole, table.n_rows, table.n_columns, truth, contexts, criterion,
                       n_log_n);
      for (std::size_t b = next++; b < n_batches; b = next++) {
        walk.add(members[b], batches[b], monitor);
      }
    });
    if (monitor.stop.load(std::memory_order_relaxed)) return {};
    monitor.done += static_cast<std::int64_t>(tree - first);
  }

  const std::size_t p = table.n_columns;
  ContextEffects effects;
  for (auto* values : {&effects.absolute, &effects.difference, &effects.conditional}) {
    values->resize(n_permutations * contexts.count * p);
  }
  effects.overall.resize(n_permutations * p);
  effects.relevance.resize(n_permutations);
  const double per_tree = 1.0 / static_cast<double>(forest.n_trees);
  for (std::size_t b = 0; b < n_batches; ++b) {
    const std::size_t first = b * kContextLanes;
    const std::size_t n_lanes = std::min(kContextLanes, n_permutations - first);
    const Batch& batch = batches[b];
    spread(batch.absolute, per_tree, first, n_lanes, effects.absolute);
    spread(batch.difference, per_tree, first, n_lanes, effects.difference);
    spread(batch.conditional, per_tree, first, n_lanes, effects.conditional);
    spread(batch.overall, per_tree, first, n_lanes, effects.overall);
    const double n_rows = static_cast<double>(table.n_rows);
    spread({batch.relevance}, per_tree / n_rows, first, n_lanes, effects.relevance);
  }
  return effects;
}

}  // namespace

ContextEffects context_effects(const ForestView& forest, const Table& table, const Truth& truth,
                               const Contexts& contexts, Impurity criterion, unsigned n_threads,
                               Monitor& monitor) {
  if (table.n_rows <= std::numeric_limits<std::uint8_t>::max()) {
    return effects_of<std::uint8_t>(forest, table, truth, contexts, criterion, n_threads, monitor);
  }
  if (table.n_rows <= std::numeric_limits<std::uint16_t>::max()) {
    return effects_of<std::uint16_t>(forest, table, truth, contexts, criterion, n_threads, monitor);
  }
  return effects_of<std::uint32_t>(forest, table, truth, contexts, criterion, n_threads, monitor);
}

}  // namespace duramen
