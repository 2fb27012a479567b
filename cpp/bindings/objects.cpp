// Tables, targets and forests, as Python lends them.
#include "bindings/objects.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "data/digest.hpp"
#include "grow/bag.hpp"
#include "large_pages.hpp"

namespace duramen::python {

Schema::Schema(Vector<double> cut_values, Vector<std::int64_t> value_offsets,
               Vector<std::uint8_t> kinds, Vector<std::uint8_t> missing)
    : cut_values(std::move(cut_values)),
      value_offsets(std::move(value_offsets)),
      kinds(std::move(kinds)),
      missing(std::move(missing)) {
  const std::size_t p = n_columns();
  need(this->value_offsets.shape(0) == p + 1 && this->missing.shape(0) == p,
       "the fields of the table differ in their number of columns");
  const std::int64_t* ends = this->value_offsets.data();
  need(std::is_sorted(ends, ends + p + 1) && ends[0] >= 0 &&
           static_cast<std::size_t>(ends[p]) <= this->cut_values.shape(0),
       "value_offsets does not divide cut_values");
}

Rows::Rows(const Schema& schema) : schema_(schema) {
  view.n_columns = schema.n_columns();
  view.cut_values = schema.cut_values.data();
  view.value_offsets = schema.value_offsets.data();
  view.kinds = schema.kinds.data();
  view.missing = schema.missing.data();
}

SparseColumns::SparseColumns(std::size_t n_rows, Matrix<std::uint64_t> bits,
                             Vector<std::uint32_t> frequent, Vector<std::uint8_t> width,
                             Vector<std::int64_t> begin, Vector<std::uint8_t> entries8,
                             Vector<std::uint16_t> entries16, Vector<std::uint32_t> entries32)
    : n_rows(n_rows),
      n_columns(bits.shape(0)),
      bits_(std::move(bits)),
      frequent_(std::move(frequent)),
      width_(std::move(width)),
      begin_(std::move(begin)),
      entries8_(std::move(entries8)),
      entries16_(std::move(entries16)),
      entries32_(std::move(entries32)) {
  constexpr std::size_t kWord = duramen::SparseColumns::kWord;
  const std::size_t n_words = (n_rows + kWord - 1) / kWord;
  need(bits_.shape(1) == n_words && frequent_.shape(0) == n_columns &&
           width_.shape(0) == n_columns && begin_.shape(0) == n_columns,
       "the fields of the sparse columns differ in their size");
  const std::size_t sizes[3] = {entries8_.shape(0), entries16_.shape(0), entries32_.shape(0)};
  auto before = std::make_shared<std::vector<std::uint32_t>>();
  fill_large(*before, n_columns * n_words);
  const std::uint64_t beyond = n_rows % kWord == 0 ? 0 : ~std::uint64_t{0} << (n_rows % kWord);
  for (std::size_t k = 0; k < n_columns; ++k) {
    const std::uint64_t* words = bits_.data() + k * n_words;
    std::uint32_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
      (*before)[k * n_words + w] = count;
      count += static_cast<std::uint32_t>(std::popcount(words[w]));
    }
    need(n_words == 0 || (words[n_words - 1] & beyond) == 0, "an entry lies beyond the rows");
    const std::int64_t first = begin_.data()[k];
    need(width_.data()[k] < 3 && first >= 0 &&
             static_cast<std::size_t>(first) + count <= sizes[width_.data()[k]],
         "the entries of a sparse column are not there");
  }
  before_ = std::move(before);
  view = {n_words,       bits_.data(),     before_->data(),   frequent_.data(), width_.data(),
          begin_.data(), entries8_.data(), entries16_.data(), entries32_.data()};
}

Table::Table(const Schema& schema, Matrix<std::uint8_t> block8, Matrix<std::uint16_t> block16,
             Matrix<std::uint32_t> block32, Vector<std::uint8_t> block_of,
             Vector<std::int64_t> slot, const SparseColumns* sparse)
    : Rows(schema),
      sparse_(sparse ? std::optional(*sparse) : std::nullopt),
      block8_(std::move(block8)),
      block16_(std::move(block16)),
      block32_(std::move(block32)),
      block_of_(std::move(block_of)),
      slot_(std::move(slot)) {
  const std::size_t p = view.n_columns;
  view.n_rows = n_rows = block8_.shape(1);
  need(block_of_.shape(0) == p && slot_.shape(0) == p,
       "the fields of the table differ in their number of columns");
  need(block16_.shape(1) == n_rows && block32_.shape(1) == n_rows,
       "the blocks of the table differ in their number of rows");
  need(sparse == nullptr || sparse->n_rows == n_rows,
       "the sparse columns differ from the others in their number of rows");
  const std::size_t sizes[4] = {block8_.shape(0), block16_.shape(0), block32_.shape(0),
                                sparse ? sparse->n_columns : 0};
  for (std::size_t j = 0; j < p; ++j) {
    const std::uint8_t block = block_of_.data()[j];
    need(block < 4 && static_cast<std::size_t>(slot_.data()[j]) < sizes[block],
         "a column of the table lies in none of its blocks");
  }
  view.block8 = block8_.data();
  view.block16 = block16_.data();
  view.block32 = block32_.data();
  if (sparse_) {
    view.sparse = sparse_->view;
    view.sparse.derived = std::make_shared<duramen::SparseColumns::Derived>();
  }
  view.block_of = block_of_.data();
  view.slot = slot_.data();
}

Values::Values(const Schema& schema, Matrix<double> matrix)
    : Rows(schema), values_(std::move(matrix)) {
  need(values_.shape(1) == view.n_columns,
       "the values and the table differ in their number of columns");
  n_rows = values_.shape(0);
  values = values_.data();
}

Target::Target(Numbers values, std::uint32_t n_classes, std::uint32_t n_times)
    : values_(std::move(values)) {
  view.n_classes = n_classes;
  const auto* classes = std::get_if<Vector<std::uint32_t>>(&values_);
  const auto* intervals = std::get_if<Vector<std::uint64_t>>(&values_);
  if (n_times > 0) {
    need(n_classes == 0 && (classes != nullptr || intervals != nullptr),
         "survival needs codes, and no classes");
    view.outcomes.n_times = n_times;
    if (intervals != nullptr) {
      view.n_rows = intervals->shape(0);
      Codes codes(view.n_rows), first(view.n_rows);
      for (std::size_t i = 0; i < view.n_rows; ++i) {
        codes[i] = static_cast<std::uint32_t>(intervals->data()[i]);
        first[i] = static_cast<std::uint32_t>(intervals->data()[i] >> 32);
        need(first[i] <= codes[i] / 2, "a row is not at risk at its time");
      }
      codes_ = std::make_shared<const Codes>(std::move(codes));
      first_ = std::make_shared<const Codes>(std::move(first));
      view.outcomes.codes = codes_->data();
      view.outcomes.first = first_->data();
    } else {
      view.n_rows = classes->shape(0);
      view.outcomes.codes = classes->data();
    }
    const std::uint32_t* codes = view.outcomes.codes;
    const bool met = std::all_of(codes, codes + view.n_rows,
                                 [n_times](std::uint32_t code) { return code / 2 < n_times; });
    need(met, "a code is not of one of n_times times");
  } else if (classes != nullptr) {
    need(n_classes > 0, "n_classes must be at least 1 for class codes");
    view.n_rows = classes->shape(0);
    view.classes = classes->data();
    const bool met =
        view.n_rows == 0 || *std::max_element(view.classes, view.classes + view.n_rows) < n_classes;
    need(met, "a class code is not below n_classes");
  } else {
    need(n_classes == 0 && intervals == nullptr, "n_classes must be 0 for numbers");
    view.n_rows = std::get<Vector<double>>(values_).shape(0);
    view.response = std::get<Vector<double>>(values_).data();
  }
}

Forest::Forest(Vector<std::int64_t> offsets, Vector<std::int64_t> leaf_offsets,
               Vector<std::int64_t> pool_offsets, Vector<std::int32_t> feature,
               Vector<std::int32_t> child, Vector<std::uint32_t> cut, Vector<double> threshold,
               Vector<std::uint8_t> split, Vector<std::uint32_t> pool, Vector<std::uint32_t> rows,
               Vector<std::uint32_t> node_degree, Vector<double> node_weight,
               Vector<double> impurity, Matrix<double> leaf_values)
    : offsets_(std::move(offsets)),
      leaf_offsets_(std::move(leaf_offsets)),
      pool_offsets_(std::move(pool_offsets)),
      feature_(std::move(feature)),
      child_(std::move(child)),
      cut_(std::move(cut)),
      threshold_(std::move(threshold)),
      split_(std::move(split)),
      pool_(std::move(pool)),
      rows_(std::move(rows)),
      degree_(std::move(node_degree)),
      weight_(std::move(node_weight)),
      impurity_(std::move(impurity)),
      leaf_values_(std::move(leaf_values)) {
  need(offsets_.shape(0) > 0 && leaf_offsets_.shape(0) == offsets_.shape(0) &&
           pool_offsets_.shape(0) == offsets_.shape(0),
       "the offsets of the forest differ in length");
  const std::size_t n_trees = offsets_.shape(0) - 1;
  const auto n_nodes = static_cast<std::size_t>(offsets_.data()[n_trees]);
  const auto one_a_node = [n_nodes](const auto& array) { return array.shape(0) == n_nodes; };
  need(one_a_node(feature_) && one_a_node(child_) && one_a_node(cut_) && one_a_node(threshold_) &&
           one_a_node(split_) && one_a_node(rows_) && one_a_node(impurity_) &&
           (one_a_node(degree_) || degree_.shape(0) == 0) &&
           (one_a_node(weight_) || weight_.shape(0) == 0) &&
           leaf_values_.shape(0) == static_cast<std::size_t>(leaf_offsets_.data()[n_trees]) &&
           pool_.shape(0) == static_cast<std::size_t>(pool_offsets_.data()[n_trees]),
       "the arrays of the forest differ in length");
  std::int32_t last = -1;  // column
  for (std::size_t i = 0; i < n_nodes; ++i) last = std::max(last, feature_.data()[i]);
  n_columns = static_cast<std::size_t>(last + 1);
  view.n_trees = n_trees;
  view.n_values = leaf_values_.shape(1);
  view.offsets = offsets_.data();
  view.leaf_offsets = leaf_offsets_.data();
  view.pool_offsets = pool_offsets_.data();
  view.feature = feature_.data();
  view.child = child_.data();
  view.cut = cut_.data();
  view.threshold = threshold_.data();
  view.split = split_.data();
  view.pool = pool_.data();
  view.rows = rows_.data();
  view.degree = degree_.shape(0) > 0 ? degree_.data() : nullptr;
  view.weight = weight_.shape(0) > 0 ? weight_.data() : nullptr;
  view.impurity = impurity_.data();
  view.leaf_values = leaf_values_.data();
}

namespace {

void bind_bag(nb::module_& module) {
  nb::class_<Bag>(module, "Bag",
                  "What gives the bags of a forest's trees: a seed, or the rows that were drawn.")
      .def(
          "__init__",
          [](Bag* self, std::uint32_t row_samples, bool bootstrap, std::uint64_t seed,
             std::uint64_t first_tree, std::optional<Vector<std::uint32_t>> originals,
             std::optional<Vector<std::uint32_t>> groups,
             std::optional<Matrix<std::uint32_t>> drawn) {
            if (originals) {
              const std::uint32_t* first = originals->data();
              const std::size_t n = originals->shape(0);
              need(n == 0 || *std::max_element(first, first + n) < n,
                   "originals must be numbers of rows");
            }
            new (self) Bag{row_samples,
                           bootstrap,
                           seed,
                           first_tree,
                           std::move(originals),
                           BagGroups(std::move(groups)),
                           std::move(drawn)};
          },
          nb::kw_only(), nb::arg("row_samples"), nb::arg("bootstrap"), nb::arg("seed"),
          nb::arg("first_tree"), lent("originals") = nb::none(), lent("groups") = nb::none(),
          lent("drawn") = nb::none())
      .def(
          "draw",
          [](const Bag& self, std::size_t n_rows, std::uint64_t tree) {
            std::vector<std::uint32_t> multiplicity;
            duramen::draw_bag(self.settings(1, n_rows, tree), n_rows, self.seed,
                              self.first_tree + tree, multiplicity);
            return to_array(std::move(multiplicity));
          },
          nb::arg("n_rows"), nb::arg("tree"), "How often every row is drawn for a tree.");
}

}  // namespace

void bind_objects(nb::module_& module) {
  nb::class_<Schema>(module, "Schema", "The columns of a table without its rows.")
      .def(nb::init<Vector<double>, Vector<std::int64_t>, Vector<std::uint8_t>,
                    Vector<std::uint8_t>>(),
           lent("cut_values"), lent("value_offsets"), lent("kinds"), lent("missing"));
  nb::class_<Rows>(module, "Rows", "Rows that go down trees: a Table, or Values.");
  nb::class_<SparseColumns>(module, "SparseColumns", "Columns that are stored by their entries.")
      .def(nb::init<std::size_t, Matrix<std::uint64_t>, Vector<std::uint32_t>, Vector<std::uint8_t>,
                    Vector<std::int64_t>, Vector<std::uint8_t>, Vector<std::uint16_t>,
                    Vector<std::uint32_t>>(),
           nb::arg("n_rows"), lent("bits"), lent("frequent"), lent("width"), lent("begin"),
           lent("entries8"), lent("entries16"), lent("entries32"));
  nb::class_<Table, Rows>(module, "Table", "Rows by their codes.")
      .def(nb::init<const Schema&, Matrix<std::uint8_t>, Matrix<std::uint16_t>,
                    Matrix<std::uint32_t>, Vector<std::uint8_t>, Vector<std::int64_t>,
                    const SparseColumns*>(),
           nb::arg("schema"), lent("block8"), lent("block16"), lent("block32"), lent("block_of"),
           lent("slot"), nb::arg("sparse").none() = nb::none())
      .def(
          "digest",
          [](const Table& self, unsigned width) {
            duramen::Digest digest;
            std::size_t n_columns = 0;
            for (std::size_t j = 0; j < self.view.n_columns; ++j) {
              const std::uint32_t n_codes = self.view.n_codes(j);
              if (width != (n_codes <= 0x100 ? 0U : n_codes <= 0x10000 ? 1U : 2U)) continue;
              ++n_columns;
              self.view.visit_column(j, [&](auto codes) {
                const auto add = [&]<class Code>(Code) {
                  std::vector<Code> dense(self.n_rows);
                  if constexpr (std::is_pointer_v<decltype(codes)>) {
                    for (std::size_t i = 0; i < dense.size(); ++i) {
                      dense[i] = static_cast<Code>(codes[i]);
                    }
                  } else {
                    codes.unpack(dense.size(), dense.data());
                  }
                  digest.add(reinterpret_cast<const char*>(dense.data()),
                             dense.size() * sizeof(Code));
                };
                if (width == 0) add(std::uint8_t{});
                if (width == 1) add(std::uint16_t{});
                if (width == 2) add(std::uint32_t{});
              });
            }
            const auto result = digest.finish();
            return std::tuple{n_columns, result[0], result[1]};
          },
          nb::arg("width"),
          "Columns whose codes need 8 (width 0), 16 (1) or 32 bits (2), and the digest of them.");
  nb::class_<Values, Rows>(module, "Values", "Rows by their values, in the terms of a schema.")
      .def(nb::init<const Schema&, Matrix<double>>(), nb::arg("schema"), lent("values"));
  nb::class_<Target>(module, "Target",
                     "Class codes, or numbers, or codes of survival where n_times is not 0.")
      .def(nb::init<Target::Numbers, std::uint32_t, std::uint32_t>(), lent("values"),
           nb::arg("n_classes"), nb::arg("n_times") = 0);
  nb::class_<Forest>(module, "Forest", "Grown trees.")
      .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int64_t>,
                    Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::uint32_t>,
                    Vector<double>, Vector<std::uint8_t>, Vector<std::uint32_t>,
                    Vector<std::uint32_t>, Vector<std::uint32_t>, Vector<double>, Vector<double>,
                    Matrix<double>>(),
           nb::kw_only(), lent("offsets"), lent("leaf_offsets"), lent("pool_offsets"),
           lent("feature"), lent("child"), lent("cut"), lent("threshold"), lent("split"),
           lent("pool"), lent("rows"), lent("node_degree"), lent("node_weight"), lent("impurity"),
           lent("leaf_values"));
  bind_bag(module);
}

}  // namespace duramen::python
