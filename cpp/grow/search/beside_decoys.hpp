// Candidates one after another beside their decoys (decoys.hpp): every column is drawn with its
// decoy, so that none that is constant further up is left out. Where a perfect split ends the
// search, it is taken up again if the winner's decoy is less than perfect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/decoys.hpp"
#include "grow/node.hpp"
#include "grow/search/node_search.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
constexpr bool kDecoysSuit = !ScoresRows<Node>;

template <class T, class Node>
class BesideDecoys {
 public:
  explicit BesideDecoys(NodeSearch<T, Node>& search)
      : search_(search), decoys_(search.problem, search.working) {}

  void start_tree(std::uint64_t tree) { decoys_.start_tree(tree); }
  void add_children(const Range& range, std::uint32_t first, std::size_t count) {
    decoys_.add_children(range.id, search_.best.feature, first, count);
  }
  const std::vector<double>* excess() const { return &decoys_.excess(); }

  [[gnu::noinline]] bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    const std::uint32_t max_features = search.settings.max_features;
    decoys_.start_node(range.id, search.node, rows);
    const double bound = search.node.largest_score(search.settings);
    std::size_t high = search.universe;
    std::size_t drawn_at = 0;
    std::uint32_t column = 0;
    Split cut;
    const auto draw = [&](Random& from) {
      drawn_at = from.below(static_cast<std::uint32_t>(high));
      column = search.pool[drawn_at];
      search.pool.swap(drawn_at, --high);
      cut = Split{};
      return search.evaluate(column, rows, from, cut);
    };
    while (high > 0 && decoys_.n_varying() < max_features && search.best.score < bound) {
      const bool varies = draw(random);
      decoys_.note(column, varies, cut.score);
      if (cut.found() && decoys_.beats(cut.score, search.best.score)) {
        search.best = cut;
        if (cut.family == Family::any) first_codes_ = search.grouped.chosen();
      }
      if ((high & 63U) == 0 && search.problem.stopped()) return false;
    }
    decoys_.settle(max_features, bound, search.total_weight, [&](double score) {
      std::size_t wanted = max_features - decoys_.n_varying();
      bool beaten = false;
      later_.clear();
      while (wanted > 0 && high > 0 && !beaten) {
        if (draw(decoys_.random())) --wanted;
        later_.push_back(drawn_at);
        beaten = cut.found() && decoys_.beats(cut.score, score);
      }
      // The tree must not depend on it.
      for (std::size_t k = later_.size(); k-- > 0;) search.pool.swap(later_[k], high++);
      return beaten;
    });
    if (search.best.family == Family::any) search.grouped.choose(first_codes_);
    return search.best.found();
  }

 private:
  NodeSearch<T, Node>& search_;
  DecoyContest<T, Node> decoys_;
  std::vector<std::uint32_t> first_codes_;
  std::vector<std::size_t> later_;
};

}  // namespace duramen
