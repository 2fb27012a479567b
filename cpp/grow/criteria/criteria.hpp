// The impurity criteria: their enumeration, in the order of CRITERIA in Python, and the one switch
// that leads from a value of it to the criterion's own file.
//
// A criterion is a class of static members.
//   kTarget      the kind of target that it is for
//   kReadsLogs   whether its scores of whole weights need a table of n log2 n
// For classes it has Terms<W>, W being the type of the weights, made from that table. Of a child
// with the weights c_1, ..., c_K of the classes and c in sum,
//   join(term(c_1) + ... + term(c_K), c)   is the score; the best split has the largest sum of the
//                                          scores of its children
//   impurity({c_1, ..., c_K}, c)           is the impurity
//   score_of_two_classes(l_1, l, c_1, c)   is the score of a split of two classes, of which l_1 and
//                                          l go to child 0; left out where terms do as well
// Of a node,
//   gain(difference)       is how much a difference of scores is in impurity times weight
//   score_of_pure(weight)  is the score of a split into pure children, kPureIsExact if no rounding
//                          can change it
//   tolerance(size)        is how far apart scores that are equal can be, in units of the score if
//                          kRelative (rounding.hpp)
// Scores of numbers come from sums (MomentNode), those of survival from rows (SurvivalNode).
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/criteria/entropy.hpp"
#include "grow/criteria/gini.hpp"
#include "grow/criteria/log_rank.hpp"
#include "grow/criteria/target_kind.hpp"
#include "grow/criteria/variance.hpp"
#include "grow/rounding.hpp"
#include "impurity.hpp"

namespace duramen {

enum class Criterion : int { gini = 0, entropy = 1, variance = 2, log_rank = 3 };
constexpr Criterion kLastCriterion = Criterion::log_rank;

// Calls use(criterion) with the class of a criterion. Without a default, so that a value without a
// case does not compile.
template <class Use>
[[gnu::always_inline]] inline decltype(auto) with_criterion(Criterion criterion, Use&& use) {
  switch (criterion) {
    case Criterion::gini:
      return use(Gini{});
    case Criterion::entropy:
      return use(Entropy{});
    case Criterion::variance:
      return use(Variance{});
    case Criterion::log_rank:
      return use(LogRank{});
  }
  __builtin_unreachable();  // the bindings let no other value in
}

template <class Terms, class W>
concept ClassTerms = std::constructible_from<Terms, const LogTable&> &&
                     requires(const Terms terms, W count, double value,
                              const std::vector<W>& counts, const NodeSize& size) {
                       { terms.term(count) } -> std::same_as<double>;
                       { terms.join(value, count) } -> std::same_as<double>;
                       { terms.impurity(counts, count) } -> std::same_as<double>;
                       { terms.gain(value) } -> std::same_as<double>;
                       { Terms::score_of_pure(value) } -> std::same_as<double>;
                       { Terms::tolerance(size) } -> std::same_as<double>;
                       { Terms::kPureIsExact } -> std::convertible_to<bool>;
                       { Terms::kRelative } -> std::convertible_to<bool>;
                     };

// Calls use(terms) with the terms of a criterion for classes. Short loops do best to be inside
// `use`: which criterion it is was then found out before them.
template <class W, class Use>
[[gnu::always_inline]] inline auto with_class_terms(Criterion criterion, const LogTable& logs,
                                                    Use&& use) {
  using Result = std::invoke_result_t<Use, Gini::Terms<W>>;
  return with_criterion(criterion, [&](auto its) __attribute__((always_inline)) -> Result {
    using Its = decltype(its);
    if constexpr (Its::kTarget == TargetKind::classes) {
      using Terms = typename Its::template Terms<W>;
      static_assert(ClassTerms<Terms, W>);
      return use(Terms(logs));
    } else {
      __builtin_unreachable();
    }
  });
}

inline TargetKind target_of(Criterion criterion) {
  return with_criterion(criterion, [](auto its) { return decltype(its)::kTarget; });
}
inline bool reads_logs(Criterion criterion) {
  return with_criterion(criterion, [](auto its) { return decltype(its)::kReadsLogs; });
}

}  // namespace duramen
