// Permutation importances, as Python calls them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/objects.hpp"
#include "bindings/watched.hpp"
#include "permute/permute.hpp"
#include "permute/project.hpp"

namespace duramen::python {

namespace {

// How columns, or groups of columns, are permuted; nothing conditional without `level`.
struct Permutations {
  duramen::Permutations view;
  std::optional<Vector<std::int64_t>> group_offsets;
  std::optional<Vector<std::uint32_t>> group_columns;
  std::optional<Matrix<std::uint8_t>> associated;
  std::optional<Matrix<std::uint32_t>> donors;  // group by row, of the wanted groups

  duramen::Groups groups(std::size_t n_columns) const {
    if (!group_offsets) return {n_columns};
    return {group_offsets->shape(0) - 1, group_offsets->data(), group_columns->data()};
  }

  // For the rows, of a bag's trees where one is given.
  duramen::Permutations with(const Forest& forest, const Rows& rows, const Bag* bag) const {
    const std::size_t p = rows.view.n_columns;
    need(!associated || (associated->shape(0) == p && associated->shape(1) == p),
         "associated is not a square of the columns");
    for (std::size_t i = 0; group_columns && i < group_columns->shape(0); ++i) {
      need(group_columns->data()[i] < p, "a group holds no column of the table");
    }
    need(!donors || (bag == nullptr && donors->shape(1) == rows.n_rows),
         "donors are for all rows, without bags");
    duramen::Permutations permutations = view;
    permutations.out_of_bag = bag != nullptr;
    if (bag == nullptr) return permutations;
    permutations.bags = bag->settings(forest.view.n_trees, rows.n_rows);
    permutations.bag_seed = bag->seed;
    permutations.first_tree = bag->first_tree;
    if (bag->originals) {
      need(bag->originals->shape(0) == rows.n_rows, "originals has not one entry a row");
      permutations.originals = bag->originals->data();
    }
    return permutations;
  }
};

// How trees are projected: masses and steps of a forest's predictions.
struct Projections {
  Matrix<double> masses;
  double scale;
  std::uint32_t min_rows;
};

void bind_projecting(nb::module_& module) {
  nb::class_<Projections>(module, "Projections", "How trees are projected.")
      .def(
          "__init__",
          [](Projections* self, Matrix<double> masses, double scale, std::uint32_t min_rows) {
            new (self) Projections{std::move(masses), scale, min_rows};
          },
          nb::kw_only(), lent("masses"), nb::arg("scale"), nb::arg("min_rows"));
}

void bind_permuting(nb::module_& module) {
  nb::class_<Permutations>(module, "Permutations", "How columns are permuted.")
      .def(
          "__init__",
          [](Permutations* self, std::uint64_t seed, std::uint32_t first_repeat,
             std::uint32_t n_repeats, bool every, std::optional<Vector<std::int64_t>> group_offsets,
             std::optional<Vector<std::uint32_t>> group_columns,
             std::optional<Matrix<std::uint8_t>> associated, std::optional<double> level,
             std::optional<Matrix<std::uint32_t>> donors) {
            need(group_offsets.has_value() == group_columns.has_value(),
                 "groups need both offsets and columns");
            need(!group_offsets || (group_offsets->shape(0) > 0 &&
                                    group_offsets->data()[group_offsets->shape(0) - 1] ==
                                        static_cast<std::int64_t>(group_columns->shape(0))),
                 "the offsets do not fit the columns of the groups");
            duramen::Permutations view;
            view.first_repeat = first_repeat;
            view.n_repeats = n_repeats;
            view.every = every;
            view.seed = seed;
            view.level = level.value_or(0.0);
            if (associated) {
              view.condition = duramen::Condition::given;
              view.associated = associated->data();
            } else if (level) {
              view.condition = duramen::Condition::chi_square;
            }
            if (donors) {
              const std::uint32_t* first = donors->data();
              need(std::all_of(first, first + donors->size(),
                               [&](std::uint32_t row) { return row < donors->shape(1); }),
                   "donors must be numbers of rows");
              view.donors = first;
            }
            new (self) Permutations{view, std::move(group_offsets), std::move(group_columns),
                                    std::move(associated), std::move(donors)};
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("first_repeat"), nb::arg("n_repeats"),
          nb::arg("every"), lent("group_offsets"), lent("group_columns"), lent("associated"),
          nb::arg("level").none(), lent("donors"));
  nb::class_<duramen::Counted>(module, "Counted", "What is counted of permuted rows.")
      .def(
          "__init__",
          [](duramen::Counted* self, unsigned score, bool by_class, bool votes) {
            need(score <= static_cast<unsigned>(duramen::Score::concordance), "no such score");
            new (self) duramen::Counted{
                .score = static_cast<duramen::Score>(score), .by_class = by_class, .votes = votes};
          },
          nb::kw_only(), nb::arg("score"), nb::arg("by_class"), nb::arg("votes"));
}

std::tuple<Array<std::uint32_t>, Array<double>, std::uint64_t, Array<std::int64_t>,
           Array<std::int64_t>>
permutation_losses(const Forest& forest, const Rows& rows, const Target& target, const Bag* bag,
                   const Permutations& permutations, const duramen::Counted& counted,
                   unsigned n_threads, const nb::object& progress) {
  need_fit(forest, rows, target);
  need((target.view.outcomes.codes != nullptr) == (counted.score == duramen::Score::concordance),
       "the concordance is for survival");
  need(!permutations.donors, "donors are for ballots");
  const duramen::Groups groups = permutations.groups(rows.view.n_columns);
  const duramen::Permutations asked = permutations.with(forest, rows, bag);
  duramen::Losses result;
  duramen::Monitor monitor;
  run_watched(monitor, progress, [&] {
    rows.visit([&](const auto& source) {
      result = duramen::permutation_losses(forest.view, source, target.view, groups, asked, counted,
                                           n_threads, monitor);
    });
  });
  const std::size_t c = counted.votes ? target.view.n_classes : 0;
  const std::size_t n_losses = result.groups.size();
  return {to_array(std::move(result.groups)),
          to_array(std::move(result.losses), n_losses, result.width), result.n_trees,
          to_array(std::move(result.votes), c, c),
          to_array(std::move(result.changed_votes), {c > 0 ? groups.count : 0, c, c})};
}

std::tuple<Array<std::uint32_t>, Array<std::int64_t>, Array<std::int64_t>> permuted_ballots(
    const Forest& forest, const Rows& rows, const Target& target, const Bag* bag,
    const Permutations& permutations, const Vector<std::uint32_t>& wanted, double scale,
    unsigned n_threads) {
  need_fit(forest, rows, target);
  const duramen::Groups groups = permutations.groups(rows.view.n_columns);
  const duramen::Permutations asked = permutations.with(forest, rows, bag);
  const std::vector<std::uint32_t> chosen(wanted.data(), wanted.data() + wanted.shape(0));
  need(std::all_of(chosen.begin(), chosen.end(), [&](auto g) { return g < groups.count; }),
       "wanted holds no number of a group");
  need(!asked.every, "ballots are of permutations that are drawn");
  need(!permutations.donors ||
           permutations.donors->shape(0) == chosen.size() * permutations.view.n_repeats,
       "donors has not one row for each wanted group and repeat");
  duramen::Ballots result;
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    rows.visit([&](const auto& source) {
      result = duramen::permuted_ballots(forest.view, source, target.view, groups, asked, chosen,
                                         scale, n_threads, monitor);
    });
  });
  const std::size_t width = forest.view.n_values;
  return {
      to_array(std::move(result.trees)), to_array(std::move(result.votes), rows.n_rows, width),
      to_array(std::move(result.changes), {asked.n_repeats, chosen.size(), rows.n_rows, width})};
}

// Groups of the columns of a table.
duramen::Groups groups_of(const Vector<std::int64_t>& offsets, const Vector<std::uint32_t>& columns,
                          std::size_t n_columns) {
  need(offsets.shape(0) > 0 &&
           offsets.data()[offsets.shape(0) - 1] == static_cast<std::int64_t>(columns.shape(0)),
       "the offsets do not fit the columns of the groups");
  need(std::all_of(columns.data(), columns.data() + columns.size(),
                   [&](auto column) { return column < n_columns; }),
       "a group holds no column of the table");
  return {offsets.shape(0) - 1, offsets.data(), columns.data()};
}

std::tuple<Array<std::int64_t>, Array<std::int64_t>> replaced_values(
    const Forest& forest, const Rows& rows, const Vector<std::uint32_t>& chosen,
    const Vector<std::int64_t>& group_offsets, const Vector<std::uint32_t>& group_columns,
    const Matrix<std::uint32_t>& donors, double scale, unsigned n_threads) {
  need_fit(forest, rows);
  const std::size_t p = rows.view.n_columns;
  const auto below = [](const auto& numbers, std::size_t end) {
    return std::all_of(numbers.data(), numbers.data() + numbers.size(),
                       [&](auto number) { return number < end; });
  };
  const duramen::Groups groups = groups_of(group_offsets, group_columns, p);
  need(below(chosen, rows.n_rows) && below(donors, rows.n_rows), "a row is not in the table");
  const std::size_t n_members = group_columns.shape(0);
  need(n_members > 0 && donors.shape(0) % n_members == 0 && donors.shape(1) == chosen.shape(0),
       "donors is not one row number a column of a group, draw and row");
  const duramen::Replacements replacements{.n_rows = chosen.shape(0),
                                           .rows = chosen.data(),
                                           .n_draws = donors.shape(0) / n_members,
                                           .donors = donors.data()};
  duramen::Replaced result;
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    rows.visit([&](const auto& source) {
      result = duramen::replaced_values(forest.view, source, p, groups, replacements, scale,
                                        n_threads, monitor);
    });
  });
  const std::size_t width = forest.view.n_values;
  const std::size_t n = chosen.shape(0);
  return {to_array(std::move(result.sums), n, width),
          to_array(std::move(result.changes), {groups.count, n, width})};
}

std::tuple<Array<std::uint32_t>, Array<std::int64_t>, Array<std::int64_t>> projected_values(
    const Forest& forest, const Table& rows, const Bag& bag, const Projections& projections,
    const Vector<std::int64_t>& group_offsets, const Vector<std::uint32_t>& group_columns,
    unsigned n_threads) {
  need_fit(forest, rows);
  const std::size_t p = rows.view.n_columns;
  const std::size_t width = forest.view.n_values;
  const duramen::Groups groups = groups_of(group_offsets, group_columns, p);
  need(projections.masses.shape(0) == rows.n_rows && projections.masses.shape(1) == width + 1,
       "masses has not a weight and the values of a leaf for each row");
  need(!bag.originals, "rows that are copies of others are not projected");
  const duramen::Projections asked{.bags = bag.settings(forest.view.n_trees, rows.n_rows),
                                   .bag_seed = bag.seed,
                                   .first_tree = bag.first_tree,
                                   .n_rows = rows.n_rows,
                                   .masses = projections.masses.data(),
                                   .scale = projections.scale,
                                   .min_rows = projections.min_rows};
  duramen::Projected result;
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    result = duramen::projected_values(forest.view, duramen::CodeRows{rows.view}, p, groups, asked,
                                       n_threads, monitor);
  });
  return {to_array(std::move(result.trees)), to_array(std::move(result.sums), rows.n_rows, width),
          to_array(std::move(result.changes), {groups.count, rows.n_rows, width})};
}

}  // namespace

void bind_permutations(nb::module_& module) {
  bind_permuting(module);
  bind_projecting(module);
  module.def(
      "permutation_losses", &permutation_losses, nb::arg("forest"), nb::arg("rows"),
      nb::arg("target"), nb::arg("bag").none(), nb::arg("permutations"), nb::arg("counted"),
      nb::arg("n_threads"), nb::arg("progress").none(),
      "Groups by which trees lose, tree after tree, and their losses; number of trees, votes "
      "and changed votes; of the rows out of each tree's bag, or of all.");
  module.def("permuted_ballots", &permuted_ballots, nb::arg("forest"), nb::arg("rows"),
             nb::arg("target"), nb::arg("bag").none(), nb::arg("permutations"), nb::arg("wanted"),
             nb::arg("scale"), nb::arg("n_threads"),
             "Trees of every row, its votes, and how the permutations of the wanted groups "
             "change them, of shape (repeats, groups, rows, values).");
  module.def("replaced_values", &replaced_values, nb::arg("forest"), nb::arg("rows"),
             nb::arg("chosen"), nb::arg("group_offsets"), nb::arg("group_columns"),
             nb::arg("donors"), nb::arg("scale"), nb::arg("n_threads"),
             "Sums of the leaves' values of the chosen rows in steps of 1 / scale, and how values "
             "of each group of columns that donors lend change them.");
  module.def("projected_values", &projected_values, nb::arg("forest"), nb::arg("rows"),
             nb::arg("bag"), nb::arg("projections"), nb::arg("group_offsets"),
             nb::arg("group_columns"), nb::arg("n_threads"),
             "Trees that each row is out of bag of, sums of their predictions in steps of 1 / "
             "scale, and how ignoring the splits on each group of columns changes them.");
}

}  // namespace duramen::python
