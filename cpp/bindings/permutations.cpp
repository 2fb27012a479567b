// Permutation importances, as Python calls them.
#include "../permute.hpp"
#include "arrays.hpp"
#include "bind.hpp"
#include "truth.hpp"

namespace duramen::python {

namespace {

// How rows are permuted, and the arrays that this points to.
struct Permuting : GivenTruth {
  duramen::Permutations permutations;
  duramen::Groups groups;
  duramen::Counted counted;
  Vector<std::int64_t> group_offsets;
  Vector<std::uint32_t> group_columns;
  Matrix<std::uint8_t> associated;
  Vector<std::uint32_t> originals;
  nb::object progress;

  Permuting(const duramen::ForestView& forest, std::size_t n_rows, std::size_t n_columns,
            const nb::object& target, const nb::dict& given)
      : GivenTruth(forest, n_rows, target) {
    const auto option = [&](const char* name) { return nb::object(given[name]); };
    permutations.out_of_bag = nb::cast<bool>(option("out_of_bag"));
    permutations.bags = bag_settings(nb::cast<std::uint32_t>(option("row_samples")),
                                     nb::cast<bool>(option("bootstrap")));
    permutations.bag_seed = nb::cast<std::uint64_t>(option("bag_seed"));
    permutations.first_tree = nb::cast<std::uint64_t>(option("first_tree"));
    permutations.first_repeat = nb::cast<std::uint32_t>(option("first_repeat"));
    permutations.n_repeats = nb::cast<std::uint32_t>(option("n_repeats"));
    permutations.every = nb::cast<bool>(option("every"));
    permutations.seed = nb::cast<std::uint64_t>(option("seed"));
    permutations.condition = static_cast<duramen::Condition>(nb::cast<int>(option("condition")));
    permutations.level = nb::cast<double>(option("level"));
    if (!option("associated").is_none()) {
      associated = nb::cast<Matrix<std::uint8_t>>(option("associated"));
      need(associated.shape(0) == n_columns && associated.shape(1) == n_columns,
           "associated is not a square of the columns");
      permutations.associated = associated.data();
    }
    progress = option("progress");
    if (!option("originals").is_none()) {
      originals = nb::cast<Vector<std::uint32_t>>(option("originals"));
      need(originals.shape(0) == n_rows, "originals has not one entry a row");
      for (std::size_t i = 0; i < n_rows; ++i) {
        need(originals.data()[i] < n_rows, "originals must be numbers of rows");
      }
      permutations.originals = originals.data();
    }
    groups.count = n_columns;
    if (!option("group_offsets").is_none()) {
      group_offsets = nb::cast<Vector<std::int64_t>>(option("group_offsets"));
      group_columns = nb::cast<Vector<std::uint32_t>>(option("group_columns"));
      need(group_offsets.shape(0) > 0 && group_offsets.data()[group_offsets.shape(0) - 1] ==
                                             static_cast<std::int64_t>(group_columns.shape(0)),
           "the offsets do not fit the columns of the groups");
      for (std::size_t i = 0; i < group_columns.shape(0); ++i) {
        need(group_columns.data()[i] < n_columns, "a group holds no column of the table");
      }
      groups = {group_offsets.shape(0) - 1, group_offsets.data(), group_columns.data()};
    }
    counted.score = static_cast<duramen::Score>(nb::cast<int>(option("score")));
    counted.by_class = nb::cast<bool>(option("by_class"));
    counted.votes = nb::cast<bool>(option("votes"));
  }
};

template <class Rows>
nb::tuple permutation_losses(const duramen::ForestView& forest, const Rows& rows,
                             std::size_t n_rows, const nb::object& target, const nb::dict& given,
                             unsigned n_threads) {
  const Permuting asked(forest, n_rows, rows.table.n_columns, target, given);
  duramen::Losses result;
  duramen::Monitor monitor;
  run_watched(monitor, asked.progress, [&] {
    result = duramen::permutation_losses(forest, rows, asked.truth, asked.groups,
                                         asked.permutations, asked.counted, n_threads, monitor);
  });
  const std::size_t c = asked.counted.votes ? asked.truth.n_classes : 0;
  const std::size_t n_groups = asked.groups.count;
  return nb::make_tuple(to_array(std::move(result.sum), n_groups, result.width),
                        to_array(std::move(result.squares), n_groups, result.width), result.n_trees,
                        to_array(std::move(result.votes), c, c),
                        to_array(std::move(result.changed_votes), {c > 0 ? n_groups : 0, c, c}));
}

template <class Rows>
nb::tuple permuted_ballots(const duramen::ForestView& forest, const Rows& rows, std::size_t n_rows,
                           const nb::object& target, const nb::dict& given,
                           const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
  const Permuting asked(forest, n_rows, rows.table.n_columns, target, given);
  const std::vector<std::uint32_t> groups(wanted.data(), wanted.data() + wanted.shape(0));
  duramen::Ballots result;
  duramen::Monitor monitor;
  run_watched(monitor, asked.progress, [&] {
    result = duramen::permuted_ballots(forest, rows, asked.truth, asked.groups, asked.permutations,
                                       groups, scale, n_threads, monitor);
  });
  return nb::make_tuple(
      to_array(std::move(result.trees)), to_array(std::move(result.votes), n_rows, forest.n_values),
      to_array(std::move(result.changes), {groups.size(), n_rows, forest.n_values}));
}

}  // namespace

void bind_permutations(nb::module_& module) {
  module.def(
      "permutation_losses_codes",
      [](DURAMEN_FOREST, DURAMEN_TABLE, const nb::object& target, const nb::dict& permutations,
         unsigned n_threads) {
        const duramen::Table table = DURAMEN_TABLE_OF;
        return permutation_losses(DURAMEN_FOREST_OF, duramen::CodeRows{table}, table.n_rows, target,
                                  permutations, n_threads);
      },
      "Sums and squares over trees of what permutations lose; votes and changed votes.");
  module.def(
      "permutation_losses_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, const nb::object& target, const nb::dict& permutations,
         unsigned n_threads) {
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        return permutation_losses(DURAMEN_FOREST_OF, duramen::ValueRows{table, values.data()},
                                  values.shape(0), target, permutations, n_threads);
      },
      "The same for rows given by their values.");
  module.def(
      "permuted_ballots_codes",
      [](DURAMEN_FOREST, DURAMEN_TABLE, const nb::object& target, const nb::dict& permutations,
         const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
        const duramen::Table table = DURAMEN_TABLE_OF;
        return permuted_ballots(DURAMEN_FOREST_OF, duramen::CodeRows{table}, table.n_rows, target,
                                permutations, wanted, scale, n_threads);
      },
      "Trees of every row, its votes, and how permutations of the wanted groups change them.");
  module.def(
      "permuted_ballots_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, const nb::object& target, const nb::dict& permutations,
         const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        return permuted_ballots(DURAMEN_FOREST_OF, duramen::ValueRows{table, values.data()},
                                values.shape(0), target, permutations, wanted, scale, n_threads);
      },
      "The same for rows given by their values.");
}

}  // namespace duramen::python
