// Decreases of impurity at one node among the rows of every context, for several assignments of
// contexts to rows ("lanes") at a time: counts are taken lane by lane side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "context/layout.hpp"
#include "impurity.hpp"
#include "permute/permute.hpp"

namespace duramen {

constexpr std::size_t kContextLanes = 32;

template <class T>
using Lanes = std::array<T, kContextLanes>;

// Whether a row is in a context, lane by lane, for all contexts but the last, which has the rest.
// Count holds the rows of any node.
template <class Count>
class Membership {
 public:
  Membership(std::size_t n_rows, std::uint32_t n_contexts)
      : width_(n_contexts - 1), in_(n_rows * width_) {}

  std::size_t width() const { return width_; }
  const Lanes<Count>* row(std::size_t row) const { return in_.data() + row * width_; }

  void set_lane(std::size_t lane, const std::vector<std::uint32_t>& contexts) {
    for (std::size_t row = 0; row < contexts.size(); ++row) {
      if (contexts[row] < width_) in_[row * width_ + contexts[row]][lane] = 1;
    }
  }

 private:
  std::size_t width_;
  std::vector<Lanes<Count>> in_;
};

// Sums over the rows of a node from which decreases follow. With n rows, of which n_y are of class
// y, n_k in child k and n_yk both: f(n) = n log2 n for the entropy, and
//   entropy   sum f(n_yk) - sum f(n_k) - sum f(n_y) + f(n)
//   Gini      sum n_yk^2 / n_k - sum n_y^2 / n
//   variance  sum S_k^2 / n_k - S^2 / n      (S sums of the response)
// is the decrease times n.
template <class Count>
class NodeTally {
 public:
  NodeTally(const Truth& truth, Impurity criterion, std::uint32_t n_contexts,
            const std::vector<double>& n_log_n)
      : truth_(truth),
        criterion_(criterion),
        n_contexts_(n_contexts),
        last_(n_contexts - 1),
        n_log_n_(n_log_n),
        zero_up_to_(criterion == Impurity::entropy ? 1 : 0) {
    for (auto* values : {&decrease_, &own_, &inner_, &total_}) values->resize(n_contexts);
    for (auto* counts : {&rows_, &cell_, &child_}) counts->resize(n_contexts);
  }

  // Decrease times rows among the rows of context c, and those rows.
  const Lanes<double>& decrease(std::size_t c) const { return decrease_[c]; }
  const Lanes<Count>& rows(std::size_t c) const { return rows_[c]; }
  // What the node itself takes from its decrease: sum f(n_y) - f(n), sum n_y^2 / n, or S^2 / n.
  const Lanes<double>& own(std::size_t c) const { return own_[c]; }

  void count(const Layout& layout, const LaidNode& node, const Membership<Count>& in) {
    const std::size_t n_groups = node.last_group - node.first_group;
    clear(rows_);
    clear(decrease_);
    clear(own_);
    if (criterion_ == Impurity::variance) {
      clear(total_);
    } else {
      classes_.resize(n_groups * n_contexts_);
      clear(classes_);
    }
    for (std::uint32_t k = node.first_child; k < node.last_child; ++k) {
      count_child(layout, layout.children[k], in);
    }
    rest_of(node.n_rows, rows_.data());
    if (criterion_ != Impurity::variance) {
      for (std::size_t g = 0; g < n_groups; ++g) {
        const std::uint32_t size = layout.groups[node.first_group + g];
        rest_of(size, &classes_[g * n_contexts_]);
        add_terms(&classes_[g * n_contexts_], size, own_);
      }
    }
    for (std::size_t c = 0; c < n_contexts_; ++c) end_node(c);
  }

 private:
  template <class T>
  static void clear(std::vector<Lanes<T>>& all) {
    for (auto& lanes : all) lanes.fill(T{0});
  }

  static void add(Lanes<Count>& sums, const Lanes<Count>& counts) {
    for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
      sums[lane] = static_cast<Count>(sums[lane] + counts[lane]);
    }
  }

  // The count of the last context is the number of rows less the other counts.
  void rest_of(std::uint32_t n_rows, Lanes<Count>* counts) const {
    Lanes<Count>& last = counts[last_];
    last.fill(static_cast<Count>(n_rows));
    for (std::size_t c = 0; c < last_; ++c) {
      for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
        last[lane] = static_cast<Count>(last[lane] - counts[c][lane]);
      }
    }
  }

  void count_child(const Layout& layout, const Child& child, const Membership<Count>& in) {
    clear(child_);
    clear(inner_);
    for (std::uint32_t r = child.first_run; r < child.last_run; ++r) {
      const Run& run = layout.runs[r];
      const std::uint32_t size = run.end - run.begin;
      count_run(layout, run, in);
      for (std::size_t c = 0; c < last_; ++c) add(child_[c], cell_[c]);
      if (criterion_ == Impurity::variance) {
        add_numbers(layout, run, in);
        continue;
      }
      for (std::size_t c = 0; c < last_; ++c) {
        add(classes_[run.group * n_contexts_ + c], cell_[c]);
      }
      if (needed(size)) {
        rest_of(size, cell_.data());
        add_terms(cell_.data(), size, inner_);
      }
    }
    for (std::size_t c = 0; c < last_; ++c) add(rows_[c], child_[c]);
    if (!needed(child.n_rows)) return;
    rest_of(child.n_rows, child_.data());
    for (std::size_t c = 0; c < n_contexts_; ++c) end_child(c);
  }

  // Whether counts of a number of rows have terms other than 0.
  bool needed(std::uint32_t n_rows) const { return n_rows > zero_up_to_; }

  // Counts of a run into cell_, but for the last context.
  void count_run(const Layout& layout, const Run& run, const Membership<Count>& in) {
    for (std::size_t c = 0; c < last_; ++c) {
      Lanes<Count> sums = in.row(layout.rows[run.begin])[c];
      for (std::uint32_t i = run.begin + 1; i < run.end; ++i) {
        add(sums, in.row(layout.rows[i])[c]);
      }
      cell_[c] = sums;
    }
  }

  // f(n) for the entropy, n^2 for Gini, by context, of counts of a number of rows.
  void add_terms(const Lanes<Count>* counts, std::uint32_t n_rows,
                 std::vector<Lanes<double>>& sums) const {
    if (!needed(n_rows)) return;
    for (std::size_t c = 0; c < n_contexts_; ++c) {
      switch (criterion_) {
        case Impurity::entropy:
          for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
            sums[c][lane] += n_log_n_[counts[c][lane]];
          }
          break;
        case Impurity::gini:
          for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
            const double n = static_cast<double>(counts[c][lane]);
            sums[c][lane] += n * n;
          }
          break;
        case Impurity::variance:  // of sums, not of counts
          break;
      }
    }
  }

  // Sums of the response into inner_.
  void add_numbers(const Layout& layout, const Run& run, const Membership<Count>& in) {
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t row = layout.rows[i];
      const double response = truth_.response[row];
      const Lanes<Count>* member = in.row(row);
      Lanes<double> left;
      left.fill(response);
      for (std::size_t c = 0; c < last_; ++c) {
        for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
          const double part = response * static_cast<double>(member[c][lane]);
          inner_[c][lane] += part;
          left[lane] -= part;
        }
      }
      for (std::size_t lane = 0; lane < kContextLanes; ++lane) inner_[last_][lane] += left[lane];
    }
  }

  static double over(double numerator, double n) { return n > 0.0 ? numerator / n : 0.0; }

  void end_child(std::size_t c) {
    switch (criterion_) {
      case Impurity::entropy:
        for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
          decrease_[c][lane] += inner_[c][lane] - n_log_n_[child_[c][lane]];
        }
        break;
      case Impurity::gini:
        for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
          decrease_[c][lane] += over(inner_[c][lane], child_[c][lane]);
        }
        break;
      case Impurity::variance:
        for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
          const double sum = inner_[c][lane];
          decrease_[c][lane] += over(sum * sum, child_[c][lane]);
          total_[c][lane] += sum;
        }
        break;
    }
  }

  void end_node(std::size_t c) {
    for (std::size_t lane = 0; lane < kContextLanes; ++lane) {
      const double n = static_cast<double>(rows_[c][lane]);
      switch (criterion_) {
        case Impurity::entropy:
          own_[c][lane] -= n_log_n_[rows_[c][lane]];
          break;
        case Impurity::gini:
          own_[c][lane] = over(own_[c][lane], n);
          break;
        case Impurity::variance:
          own_[c][lane] = over(total_[c][lane] * total_[c][lane], n);
          break;
      }
      decrease_[c][lane] -= own_[c][lane];
    }
  }

  const Truth& truth_;
  Impurity criterion_;
  std::size_t n_contexts_, last_;
  const std::vector<double>& n_log_n_;
  std::vector<Lanes<Count>> rows_, cell_, child_, classes_;
  std::vector<Lanes<double>> decrease_, own_, inner_, total_;
  std::uint32_t zero_up_to_;  // rows whose counts have no term: f(0) = f(1) = 0 of whole rows
};

}  // namespace duramen
