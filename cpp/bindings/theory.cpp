// Exact importances, as Python calls them.
#include "../lattice.hpp"
#include "arrays.hpp"
#include "bind.hpp"

namespace duramen::python {

namespace {

// Codes come feature by row; weights are None where every row counts 1, numbers where they do not
// matter.
duramen::LatticeTable lattice_table(const Matrix<std::uint32_t>& codes,
                                    const Vector<std::uint32_t>& classes, std::uint32_t n_classes,
                                    const nb::object& weights, const nb::object& numbers,
                                    int criterion, std::size_t depth) {
  duramen::LatticeTable table;
  table.n_features = codes.shape(0);
  table.n_rows = codes.shape(1);
  table.n_classes = n_classes;
  table.codes = codes.data();
  table.classes = classes.data();
  table.criterion = static_cast<duramen::Criterion>(criterion);
  table.depth = depth;
  need(table.n_rows > 0 && table.n_rows < UINT32_MAX, "the table has no rows, or too many");
  need(classes.shape(0) == table.n_rows, "the target has not one entry a row");
  need(depth >= 1 && depth <= table.n_features, "the depth is not within 1..n_features");
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    need(table.classes[i] < n_classes, "a class code is not below n_classes");
  }
  if (!weights.is_none()) {
    const auto array = nb::cast<Vector<double>>(weights);
    need(array.shape(0) == table.n_rows, "weights has not one entry a row");
    table.weights = array.data();
  }
  if (!numbers.is_none()) {
    const auto array = nb::cast<Vector<double>>(numbers);
    need(array.shape(0) == n_classes, "numbers has not one entry a class");
    table.numbers = array.data();
  }
  need(table.criterion != duramen::Criterion::variance || table.numbers != nullptr,
       "the variance needs numbers");
  return table;
}

nb::object lattice(const Matrix<std::uint32_t>& codes, const Vector<std::uint32_t>& classes,
                   std::uint32_t n_classes, const nb::object& weights, const nb::object& numbers,
                   int criterion, std::size_t depth, const Vector<double>& seconds,
                   unsigned n_threads, const nb::object& progress) {
  const duramen::LatticeTable table =
      lattice_table(codes, classes, n_classes, weights, numbers, criterion, depth);
  const std::vector<double> costs(seconds.data(), seconds.data() + seconds.shape(0));
  need(costs.size() == depth, "costs has not one entry a size");
  duramen::Monitor monitor;
  std::vector<double> result;
  run_watched(monitor, progress,
              [&] { result = duramen::lattice_importances(table, costs, n_threads, monitor); });
  return to_array(std::move(result), table.n_features, depth);
}

nb::tuple probe_lattice(const Matrix<std::uint32_t>& codes, const Vector<std::uint32_t>& classes,
                        std::uint32_t n_classes, const nb::object& weights,
                        const nb::object& numbers, int criterion, std::size_t depth,
                        const Matrix<std::uint32_t>& sets) {
  const duramen::LatticeTable table =
      lattice_table(codes, classes, n_classes, weights, numbers, criterion, depth);
  need(sets.shape(1) < depth, "sets are not smaller than the depth");
  duramen::Monitor monitor;
  duramen::LatticeProbe probe;
  run_watched(monitor, nb::none(), [&] {
    probe = duramen::probe_lattice(table, sets.data(), sets.shape(0), sets.shape(1), monitor);
  });
  return nb::make_tuple(to_array(std::move(probe.work)), probe.all_work, probe.seconds);
}

}  // namespace

void bind_theory(nb::module_& module) {
  module.attr("LATTICE_DONE") = duramen::kLatticeDone;
  module.def("lattice", &lattice, nb::arg("codes"), nb::arg("classes"), nb::arg("n_classes"),
             nb::arg("weights").none(), nb::arg("numbers").none(), nb::arg("criterion"),
             nb::arg("depth"), nb::arg("costs"), nb::arg("n_threads"), nb::arg("progress").none(),
             "Population importances, feature by size of the conditioning set.");
  module.def("probe_lattice", &probe_lattice, nb::arg("codes"), nb::arg("classes"),
             nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("numbers").none(),
             nb::arg("criterion"), nb::arg("depth"), nb::arg("sets"),
             "Work at some sets of features, all work, and the seconds it took.");
}

}  // namespace duramen::python
