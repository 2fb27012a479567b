// Long calls that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>

#include "grow/problem.hpp"

namespace duramen::python {

namespace nb = nanobind;

// Work of so few steps ends before the first look at Ctrl-C would be due.
constexpr std::size_t kFewSteps = std::size_t{1} << 16;

// Runs `work` with the lock released: where it may take longer than a moment, on another thread,
// while this one looks out for Ctrl-C and reports progress; a signal stops the work cleanly. Where
// the system refuses to start a thread, the work runs on this one, and Ctrl-C takes effect at its
// end.
void run_watched(duramen::Monitor& monitor, const nb::object& progress,
                 const std::function<void()>& work, std::size_t n_steps = kFewSteps);

}  // namespace duramen::python
