// Trees that are grown one by one, each on a table of the rows of its bag and the columns of its
// subspace alone: the same trees as on the whole table, which need not be in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/table.hpp"
#include "forest/forest.hpp"
#include "grow/bag.hpp"
#include "grow/grow.hpp"
#include "grow/problem.hpp"

namespace duramen {

class Patches {
 public:
  // Of the table the problem has the number of rows alone, and no columns.
  Patches(Problem whole, std::size_t n_columns) : whole_(std::move(whole)), n_columns_(n_columns) {
    whole_.prepare();
  }

  std::size_t n_rows() const { return whole_.table.n_rows; }

  // The different rows of the bag of a tree, ascending, and how often each was drawn.
  void rows(std::uint64_t tree, std::vector<std::uint32_t>& chosen,
            std::vector<std::uint32_t>& multiplicity) const {
    std::vector<std::uint32_t> of_all;
    draw_bag(whole_.settings, n_rows(), whole_.seed, tree, of_all);
    for (std::size_t row = 0; row < of_all.size(); ++row) {
      if (of_all[row] == 0) continue;
      chosen.push_back(static_cast<std::uint32_t>(row));
      multiplicity.push_back(of_all[row]);
    }
  }

  // The columns of a tree, in the order in which its nodes draw among them.
  std::vector<std::uint32_t> columns(std::uint64_t tree) const {
    ColumnPool pool(n_columns_);
    std::vector<std::uint32_t> chosen(pool.start_tree(whole_.settings, whole_.seed, tree));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = pool[i];
    return chosen;
  }

  // Grows a tree on a table of these rows, and of its columns in this order. What depends on the
  // target of all rows, such as the grid of numbers, is that of the whole problem, and so are the
  // random numbers; rows keep their order.
  Trees grow(const Table& table, std::uint64_t tree, const std::uint32_t* rows,
             const std::uint32_t* multiplicity, Monitor& monitor) const {
    Problem patch;
    patch.table = table;
    patch.settings = whole_.settings;
    patch.seed = whole_.seed;
    patch.n_classes = whole_.n_classes;
    patch.whole_weights = whole_.whole_weights;
    patch.grid_shift = whole_.grid_shift;
    patch.response_error = whole_.response_error;
    patch.multiplicity = multiplicity;
    patch.monitor = &monitor;
    const std::size_t n = table.n_rows;
    const auto taken = [&](const auto* of_all) {
      std::vector<std::remove_cvref_t<decltype(*of_all)>> own(of_all == nullptr ? 0 : n);
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = of_all[rows[i]];
      return own;
    };
    const auto classes = taken(whole_.classes);
    const auto response = taken(whole_.response);
    const auto weights = taken(whole_.weights);
    if (whole_.classes != nullptr) patch.classes = classes.data();
    if (whole_.response != nullptr) patch.response = response.data();
    if (whole_.weights != nullptr) patch.weights = weights.data();
    if (!whole_.grid_response.empty()) patch.grid_response = taken(whole_.grid_response.data());
    if (!whole_.logs.empty()) {
      double mass = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        mass += multiplicity[i] * (weights.empty() ? 1.0 : weights[i]);
      }
      patch.logs = whole_.logs.up_to(static_cast<std::size_t>(mass));
    }
    patch.note_codes();
    patch.order_rows();
    return grow_trees(patch, tree, 1, 1);
  }

 private:
  Problem whole_;
  std::size_t n_columns_;
};

}  // namespace duramen
