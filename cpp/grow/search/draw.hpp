// The contract of the ways to draw the candidates of a node.
//
// A draw D is made once a grower from a NodeSearch, on top of the kind of node (TargetNode,
// node.hpp) and, in classification, the terms of the criterion (ClassTerms, criteria/criteria.hpp).
//
//   find(range, rows, random)  leaves the best split of the node in the search, the splits that it
//                              compared in search.n_scored and, of a bipartition of categories, the
//                              codes of child 0 in search.grouped; false where the node is to stay
//                              a leaf, or growth was stopped. The node is loaded, the search
//                              started. The draw takes its numbers from `random`, which is that of
//                              the node, so that a tree depends on its number alone. It may sort
//                              constant columns to the front of the pool and count them in
//                              range.n_constant.
//
// A draw that remembers more than a node has, beyond that,
//   start_tree(tree)                  before the first node of a tree
//   add_children(range, first, count) after a node was split by the best split; its children have
//                                     numbers from `first` on
// one whose best split can be tested by permutations of the target,
//   passes_permutations(id, rows)     whether it is significant
// and one that compares columns with their decoys,
//   excess()                          importance of each column less its decoy, in the tree.
// What a draw finds out belongs to it: the problem is read-only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/search/node_search.hpp"
#include "random.hpp"

namespace duramen {

template <class D, class T, class Node>
concept CandidateDraw = std::constructible_from<D, NodeSearch<T, Node>&> &&
                        requires(D draw, Range& range, const std::uint32_t* rows, Random random) {
                          { draw.find(range, rows, random) } -> std::same_as<bool>;
                        };

template <class D>
concept FollowsTrees = requires(D draw, std::uint64_t tree) { draw.start_tree(tree); };

template <class D>
concept FollowsNodes = requires(D draw, const Range& range, std::uint32_t first,
                                std::size_t count) { draw.add_children(range, first, count); };

template <class D>
concept TestsByPermutation = requires(D draw, std::uint32_t id, const std::uint32_t* rows) {
  { draw.passes_permutations(id, rows) } -> std::same_as<bool>;
};

template <class D>
concept ComparesDecoys = requires(const D draw) {
  { draw.excess() } -> std::convertible_to<const std::vector<double>*>;
};

}  // namespace duramen
