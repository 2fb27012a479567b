// The search for the split of a node, by the draw of candidates (search/draw.hpp) that the settings
// ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <variant>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/search/beside_decoys.hpp"
#include "grow/search/draw.hpp"
#include "grow/search/every_candidate.hpp"
#include "grow/search/guided.hpp"
#include "grow/search/multiway.hpp"
#include "grow/search/node_search.hpp"
#include "grow/search/one_by_one.hpp"
#include "grow/search/pert.hpp"
#include "grow/search/side_by_side.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/evaluator.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

// A variant of the types that are not void.
template <class Variant, class... Rest>
struct VariantOf {
  using type = Variant;
};
template <class... Types, class Next, class... Rest>
struct VariantOf<std::variant<Types...>, Next, Rest...>
    : VariantOf<std::conditional_t<std::is_void_v<Next>, std::variant<Types...>,
                                   std::variant<Types..., Next>>,
                Rest...> {};

// T: the codes, or float for values in single precision. Node: a TargetNode.
template <class T, TargetNode Node>
class Search {
 public:
  Search(const Problem& problem, const Working<T>& working, const Node& node)
      : search_(problem, working, node, needs_scores(problem)),
        draw_(std::in_place_type<OneByOne<T, Node>>, search_) {
    choose(problem);
  }

  void start_tree(std::uint64_t tree, double total_weight) {
    search_.start_tree(tree, total_weight);
    visit([tree]<class D>(D& draw) {
      if constexpr (FollowsTrees<D>) draw.start_tree(tree);
    });
  }

  // Draws candidates and keeps the best split; also counts the constant columns it meets. False
  // where there is none.
  bool find(Range& range, const std::uint32_t* rows) {
    const Random random(search_.key, range.id, Purpose::node);
    search_.start_node(rows);
    return visit([&](auto& draw) { return draw.find(range, rows, random); });
  }

  // The best split of the node that was searched last, and how many were compared.
  const Split& best() const { return search_.best; }
  std::uint64_t n_scored() const { return search_.n_scored; }
  Evaluator<T, Node>& splits() { return search_.splits; }

  // Permutation test of the split that was found last.
  bool passes_permutations(std::uint32_t id, const std::uint32_t* rows) {
    return visit([id, rows]<class D>(D& draw) {
      if constexpr (TestsByPermutation<D>) {
        return draw.passes_permutations(id, rows);
      } else {
        return true;
      }
    });
  }

  // A node was split; its children have numbers from `first` on.
  void add_children(const Range& range, std::uint32_t first, std::size_t count) {
    if (!follows_nodes_) return;
    visit([&]<class D>(D& draw) {
      if constexpr (FollowsNodes<D>) draw.add_children(range, first, count);
    });
  }

  // What each column got beyond its decoy in the tree; null without decoys.
  const std::vector<double>* excess() {
    return visit([]<class D>(D& draw) -> const std::vector<double>* {
      if constexpr (ComparesDecoys<D>) {
        return draw.excess();
      } else {
        return nullptr;
      }
    });
  }

 private:
  template <bool kSuits, class D>
  using If = std::conditional_t<kSuits, D, void>;

  static constexpr bool kSideBySide = RandomCuts<T, Node>::kSideBySide;
  using SideBySideDraw = If<kSideBySide, SideBySide<T, Node>>;
  using SingleCutDraw = If<kSideBySide, SingleCut<T, Node>>;
  using MultiwayDraw = If<kMultiwaySuits<T, Node>, Multiway<T, Node>>;
  using DecoyDraw = If<kDecoysSuit<T, Node>, BesideDecoys<T, Node>>;
  using PertDraw = If<kPertSuits<T, Node>, Pert<T, Node>>;
  using Draws = typename VariantOf<std::variant<OneByOne<T, Node>>, SideBySideDraw, SingleCutDraw,
                                   MultiwayDraw, EveryCandidate<T, Node>, Guided<T, Node>,
                                   DecoyDraw, PertDraw>::type;

  static bool takes_best_of_all(const Settings& settings) {
    return settings.n_best_splits > 1 || settings.tests_by_permutation();
  }
  static bool needs_scores(const Problem& problem) {
    return ScoresRows<Node> || problem.settings.max_features > 1 ||
           takes_best_of_all(problem.settings) || problem.decoys.cycle != nullptr ||
           problem.guidance.given();
  }

  void choose(const Problem& problem) {
    const Settings& settings = problem.settings;
    if (settings.cut == Cut::pert) {
      use<PertDraw>();
    } else if (problem.guidance.given()) {
      use<Guided<T, Node>>();
    } else if (settings.splits == Family::multiway && settings.max_leaf_nodes == 0) {
      use<MultiwayDraw>();
    } else if (takes_best_of_all(settings)) {
      use<EveryCandidate<T, Node>>();
    } else if (problem.decoys.cycle != nullptr) {
      use<DecoyDraw>();
    } else if (kSideBySide && side_by_side_suits(problem)) {
      settings.max_features == 1 ? use<SingleCutDraw>() : use<SideBySideDraw>();
    }
  }
  template <class D>
  void use() {
    if constexpr (std::is_void_v<D>) {
      throw std::logic_error("these candidates are not for this kind of target or codes");
    } else {
      static_assert(CandidateDraw<D, T, Node>);
      draw_.template emplace<D>(search_);
      follows_nodes_ = FollowsNodes<D>;
    }
  }

  template <class Use>
  decltype(auto) visit(Use&& use) {
    return std::visit(use, draw_);
  }

  static_assert(CandidateDraw<OneByOne<T, Node>, T, Node>);

  NodeSearch<T, Node> search_;
  Draws draw_;
  bool follows_nodes_ = false;
};

}  // namespace duramen
