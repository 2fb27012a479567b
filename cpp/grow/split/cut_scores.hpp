// The score of a drawn cut, from the sums of the rows of its first child.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/code_sums.hpp"
#include "grow/split/drawn_cuts.hpp"
#include "grow/split/gathered.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"

namespace duramen {

// The score of a split whose child 0 has the weight count_of(k) of each class k.
template <class Node, class Terms, class Count>
[[gnu::always_inline]] inline double score_by_terms(const Node& node, Terms terms,
                                                    Count&& count_of) {
  using Weight = typename Node::Weight;
  double first_terms = 0.0;
  double second_terms = 0.0;
  Weight first{0};
  for (std::size_t k = 0; k < node.totals().size(); ++k) {
    const Weight count = count_of(k);
    first += count;
    first_terms += terms.term(count);
    second_terms += terms.term(node.totals()[k] - count);
  }
  return terms.join(first_terms, first) + terms.join(second_terms, node.whole() - first);
}
template <class Node, class Count>
double score_of_counts(const Node& node, Count&& count_of) {
  return node.with_terms([&](auto terms) { return score_by_terms(node, terms, count_of); });
}

// The score of a split whose child 0 has this weight and this sum of moments.
template <class Node>
double score_of_moments(const Node& node, typename Node::Weight first, double sum) {
  return node.join(sum, first) + node.join(node.sum() - sum, node.whole() - first);
}

template <class T, class Node>
class CutScores {
 public:
  using Weight = typename Node::Weight;

  // Without `scoring`, every allowed cut has the score 0.
  CutScores(const Problem& problem, const Working<T>& working, bool scoring)
      : scoring_(scoring),
        settings_(problem.settings),
        working_(working),
        words_(problem.table.n_rows / 64 + 2) {}

  bool large_enough(std::uint32_t n_first, std::uint32_t n) const {
    return n_first >= settings_.min_samples_leaf && n - n_first >= settings_.min_samples_leaf;
  }

  // Whether min_samples_leaf allows a cut of a gathered column.
  bool allowed(const T* codes, const Split& cut, std::uint32_t n) const {
    if (settings_.min_samples_leaf <= 1) return true;
    const T limit = limit_of<T>(cut);
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < n; ++i) n_first += codes[i] <= limit ? 1 : 0;
    return large_enough(n_first, n);
  }

  // Without a branch for a row's side: cuts are as good as random.
  template <class Code, class GoesFirst>
  double score_of(const Node& node, const Code* codes, GoesFirst&& goes_first) const {
    if constexpr (ScoresRows<Node>) {
      return node.score_rows([&](std::uint32_t i) { return goes_first(codes[i]); });
    } else if constexpr (Node::kClasses) {
      return score_of_counts(node, [&](std::size_t k) {
        Weight count{0};
        for (std::uint32_t i = node.starts()[k]; i < node.starts()[k + 1]; ++i) {
          count += goes_first(codes[i]) ? node.weights()[i] : Weight{0};
        }
        return count;
      });
    } else {
      Weight first{0};
      double sum = 0.0;
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
        const bool in = goes_first(codes[i]);
        first += in ? node.weights()[i] : Weight{0};
        sum += in ? node.moments()[i] : 0.0;
      }
      return score_of_moments(node, first, sum);
    }
  }

  // Scores a drawn cut of a sparse column: the rows that are on the other side than those of the
  // most frequent code, and the rest.
  Draw score_entries(const Node& node, const typename Gathered<T>::Entries& entries, Split& cut) {
    if constexpr (CodeSums<T, Node>::kExact) {
      const auto last =
          working_.code_up_to(static_cast<std::size_t>(cut.feature), limit_of<T>(cut));
      const bool rest_first = entries.frequent <= last;
      const auto other_side = [&](std::uint32_t e) {
        return (entries.codes[e] <= last) != rest_first;
      };
      if (settings_.min_samples_leaf > 1) {
        std::uint32_t count = 0;
        for (std::uint32_t e = 0; e < entries.size; ++e) count += other_side(e) ? 1 : 0;
        if (!large_enough(count, node.n_rows())) return Draw::forbidden;
      }
      cut.score = 0.0;
      if (!scoring_) return Draw::scored;
      if constexpr (Node::kClasses) {
        const auto& totals = node.totals();
        const auto score = [&](auto&& count_of) {
          cut.score = score_of_counts(node, [&](std::size_t k) {
            return rest_first ? totals[k] - count_of(k) : count_of(k);
          });
        };
        if (node.n_groups() == 2) {
          const auto count = [&](auto&& weight_of) {
            const std::uint32_t second = node.starts()[1];
            Weight of_first{0};
            Weight of_both{0};
            for (std::uint32_t e = 0; e < entries.size; ++e) {
              const Weight weight = other_side(e) ? weight_of(entries.at[e]) : Weight{0};
              of_both += weight;
              of_first += entries.at[e] < second ? weight : Weight{0};
            }
            score([&](std::size_t k) { return k == 0 ? of_first : of_both - of_first; });
          };
          if (node.unit_weights()) {
            count([](std::uint32_t) { return Weight{1}; });
          } else {
            count([weights = node.weights()](std::uint32_t i) { return weights[i]; });
          }
        } else {
          counts_.assign(totals.size(), Weight{0});
          for (std::uint32_t e = 0; e < entries.size; ++e) {
            const std::uint32_t i = entries.at[e];
            counts_[node.groups()[i]] += other_side(e) ? node.weights()[i] : Weight{0};
          }
          score([&](std::size_t k) { return counts_[k]; });
        }
      } else {
        Weight first{0};
        double sum = 0.0;
        for (std::uint32_t e = 0; e < entries.size; ++e) {
          const std::uint32_t i = entries.at[e];
          const bool in = other_side(e);
          first += in ? node.weights()[i] : Weight{0};
          sum += in ? node.moments()[i] : 0.0;
        }
        if (rest_first) {
          first = node.whole() - first;
          sum = node.sum() - sum;
        }
        cut.score = score_of_moments(node, first, sum);
      }
    }
    return Draw::scored;
  }

  // Scores a drawn cut of a gathered column.
  Draw score_cut(const Node& node, const T* codes, Split& cut) {
    const std::uint32_t n = node.n_rows();
    const T limit = limit_of<T>(cut);
    if (!allowed(codes, cut, n)) return Draw::forbidden;
    cut.score = 0.0;
    if (!scoring_) return Draw::scored;
    if constexpr (Node::kClasses) {
      if (!node.unit_weights()) {
        cut.score = score_of(node, codes, [limit](T code) { return code <= limit; });
        return Draw::scored;
      }
      const auto& starts = node.starts();
      bits_up_to(codes, limit, n, words_.data());
      cut.score = score_of_counts(node, [&](std::size_t k) {
        return static_cast<Weight>(count_bits(words_.data(), starts[k], starts[k + 1]));
      });
    } else if constexpr (std::is_same_v<T, float> && Node::kWhole) {
      const auto [first, sum] = sums_up_to(codes, limit, node.weights(), node.moments(), n);
      cut.score = score_of_moments(node, first, sum);
    } else {
      cut.score = score_of(node, codes, [limit](T code) { return code <= limit; });
    }
    return Draw::scored;
  }

 private:
  bool scoring_;
  const Settings& settings_;
  const Working<T>& working_;
  std::vector<Weight> counts_;
  std::vector<std::uint64_t> words_;  // a bit for every row of the node
};

}  // namespace duramen
