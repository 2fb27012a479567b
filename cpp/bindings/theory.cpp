// Exact importances, as Python calls them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/watched.hpp"
#include "lattice/lattice.hpp"

namespace duramen::python {

namespace {

// Codes come feature by row; without weights every row counts 1; numbers are for the variance.
struct LatticeTable {
  Matrix<std::uint32_t> codes;
  Vector<std::uint32_t> classes;
  std::optional<Vector<double>> weights, numbers;
  duramen::LatticeTable view;

  LatticeTable(Matrix<std::uint32_t> features, Vector<std::uint32_t> targets,
               std::uint32_t n_classes, std::optional<Vector<double>> masses,
               std::optional<Vector<double>> values, unsigned criterion)
      : codes(std::move(features)),
        classes(std::move(targets)),
        weights(std::move(masses)),
        numbers(std::move(values)) {
    view.n_features = codes.shape(0);
    view.n_rows = codes.shape(1);
    view.n_classes = n_classes;
    view.codes = codes.data();
    view.classes = classes.data();
    need(view.n_rows > 0 && view.n_rows < UINT32_MAX, "the table has no rows, or too many");
    need(classes.shape(0) == view.n_rows, "the target has not one entry a row");
    need(*std::max_element(view.classes, view.classes + view.n_rows) < n_classes,
         "a class code is not below n_classes");
    need(!weights || weights->shape(0) == view.n_rows, "weights has not one entry a row");
    need(!numbers || numbers->shape(0) == n_classes, "numbers has not one entry a class");
    need(criterion <= 2, "no such criterion");
    view.criterion = static_cast<duramen::Impurity>(criterion);
    need(view.criterion != duramen::Impurity::variance || numbers, "the variance needs numbers");
    if (weights) view.weights = weights->data();
    if (numbers) view.numbers = numbers->data();
  }

  duramen::LatticeTable to(std::size_t depth) const {
    need(depth >= 1 && depth <= view.n_features, "the depth is not within 1..n_features");
    duramen::LatticeTable table = view;
    table.depth = depth;
    return table;
  }
};

Array<double> lattice(const LatticeTable& stored, std::size_t depth, const Vector<double>& costs,
                      unsigned n_threads, const nb::object& progress) {
  const duramen::LatticeTable table = stored.to(depth);
  const std::vector<double> seconds(costs.data(), costs.data() + costs.shape(0));
  need(seconds.size() == depth, "costs has not one entry a size");
  duramen::Monitor monitor;
  std::vector<double> result;
  run_watched(monitor, progress,
              [&] { result = duramen::lattice_importances(table, seconds, n_threads, monitor); });
  return to_array(std::move(result), table.n_features, depth);
}

std::tuple<Array<double>, double, double> probe_lattice(const LatticeTable& stored,
                                                        std::size_t depth,
                                                        const Matrix<std::uint32_t>& sets) {
  const duramen::LatticeTable table = stored.to(depth);
  need(sets.shape(1) < depth, "sets are not smaller than the depth");
  duramen::Monitor monitor;
  duramen::LatticeProbe probe;
  run_watched(monitor, nb::none(), [&] {
    probe = duramen::probe_lattice(table, sets.data(), sets.shape(0), sets.shape(1), monitor);
  });
  return {to_array(std::move(probe.work)), probe.all_work, probe.seconds};
}

}  // namespace

void bind_theory(nb::module_& module) {
  module.attr("LATTICE_DONE") = duramen::kLatticeDone;
  nb::class_<LatticeTable>(module, "LatticeTable", "A table of classes, feature by row.")
      .def(nb::init<Matrix<std::uint32_t>, Vector<std::uint32_t>, std::uint32_t,
                    std::optional<Vector<double>>, std::optional<Vector<double>>, unsigned>(),
           lent("codes"), lent("classes"), nb::arg("n_classes"), lent("weights"), lent("numbers"),
           nb::arg("criterion"))
      .def_prop_ro("n_rows", [](const LatticeTable& self) { return self.view.n_rows; });
  module.def("lattice", &lattice, nb::arg("table"), nb::arg("depth"), nb::arg("costs"),
             nb::arg("n_threads"), nb::arg("progress").none(),
             "Population importances, feature by size of the conditioning set.");
  module.def("probe_lattice", &probe_lattice, nb::arg("table"), nb::arg("depth"), nb::arg("sets"),
             "Work at some sets of features, all work, and the seconds it took.");
}

}  // namespace duramen::python
