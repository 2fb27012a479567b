// What the leaves of survival trees hold: their event times, from the rows of each tree's bag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/problem.hpp"

namespace duramen {

// Event times of leaf after leaf, ascending: events and rows at risk, weighted as in the bag.
struct LeafEvents {
  std::vector<std::int64_t> offsets;  // of each leaf, and the end
  std::vector<std::uint32_t> time;    // number among the distinct event times of the table
  std::vector<std::uint32_t> events, at_risk;
  std::vector<double> mortality;  // of each leaf: its cumulative hazards at all of these, added up
};

// Of the trees of a forest on its training rows, whose bags are drawn again. A tree whose bag has
// no row of positive weight takes all rows.
LeafEvents leaf_events(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
                       unsigned n_threads);

// Leaf events in Python's arrays.
struct LeafEventsView {
  const std::int64_t* offsets = nullptr;
  const std::uint32_t* time = nullptr;
  const std::uint32_t* events = nullptr;
  const std::uint32_t* at_risk = nullptr;
  std::size_t n_times = 0;
};

enum class Curve : std::uint8_t { cumulative_hazard, survival };

// Mean over the trees of the Nelson-Aalen cumulative hazards, or of the Kaplan-Meier survival
// functions, of the leaves of rows at the event times of the table: row by time.
template <class Rows>
void mean_curves(const ForestView& forest, const LeafEventsView& leaves, Curve curve,
                 const Rows& rows, std::size_t n_rows, unsigned n_threads, const Monitor& monitor,
                 double* out);

struct OutOfBagRisks {
  std::vector<double> sums;           // per row: sum of mortalities over trees it is out of bag of
  std::vector<std::uint32_t> counts;  // per row: number of those trees
  std::vector<double> error;          // 1 - concordance of the means after 1, 2, ... trees, or NaN
};

OutOfBagRisks out_of_bag_risks(const ForestView& forest, const Problem& problem,
                               std::uint64_t first_tree);

}  // namespace duramen
