// What every way to draw candidates works with: the node, its columns, their splits and the best of
// them so far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grow/bag.hpp"
#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/evaluator.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

// A node: a range of the rows of the tree.
struct Range {
  std::uint32_t start, end, depth, id;
  std::uint32_t n_constant;  // number of columns at the front of the pool that are constant here
  std::uint32_t degree;      // columns conditioned on so far
};

template <class T, class Node>
struct NodeSearch {
  // Without `scoring`, for nodes with one candidate, splits are drawn and not scored.
  NodeSearch(const Problem& problem_, const Working<T>& working_, const Node& node_, bool scoring)
      : problem(problem_),
        settings(problem_.settings),
        working(working_),
        node(node_),
        pool(problem_.table.n_columns),
        splits(problem_, working_, scoring),
        ordered(splits.ordered()),
        grouped(splits.grouped()) {}
  NodeSearch(const NodeSearch&) = delete;

  void start_tree(std::uint64_t number, double weight) {
    key = Random::key(problem.seed, number);
    total_weight = weight;
    ordered.start_tree();
    universe = pool.start_tree(settings, problem.seed, number);
  }
  void start_node(const std::uint32_t* rows) {
    best.feature = -1;
    best.score = kNone;
    n_scored = 0;
    splits.start_node(node, rows);
  }

  // Scores the splits of a column against the best so far, or groups the rows of the node by its
  // codes; false where the column is constant. Not compiled into their callers, for draws where
  // speed matters less: the more calls a long function has, the less of it is compiled into the
  // ones that count.
  [[gnu::noinline]] bool evaluate(std::uint32_t column, const std::uint32_t* rows, Random& random,
                                  Split& best_so_far) {
    return splits.evaluate(node, column, rows, random, best_so_far, n_scored);
  }
  [[gnu::noinline]] bool group(std::uint32_t column, const std::uint32_t* rows) {
    return splits.group(node, column, rows);
  }

  const Problem& problem;
  const Settings& settings;
  const Working<T>& working;
  const Node& node;  // the current node
  ColumnPool pool;
  Evaluator<T, Node> splits;
  OrderedSplits<T, Node>& ordered;
  GroupedSplits<Node>& grouped;
  std::uint64_t key = 0;      // of the random numbers of the tree
  double total_weight = 0.0;  // of the tree
  std::size_t universe = 0;   // columns of the tree, at the front of the pool
  Split best;
  std::uint64_t n_scored = 0;  // splits of the node that were compared
};

}  // namespace duramen
