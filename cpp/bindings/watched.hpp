// Long calls that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "grow/problem.hpp"

namespace duramen::python {

namespace nb = nanobind;

// Work of so few steps ends before the first look at Ctrl-C would be due.
constexpr std::size_t kFewSteps = std::size_t{1} << 16;

// Runs `work` with the lock released: where it may take longer than a moment, on another thread,
// while this one looks out for Ctrl-C and reports progress; a signal stops the work cleanly. Where
// the system refuses to start a thread, the work runs on this one, and Ctrl-C takes effect at its
// end.
template <class Work>
void run_watched(duramen::Monitor& monitor, const nb::object& progress, Work&& work,
                 std::size_t n_steps = kFewSteps) {
  if (n_steps < kFewSteps) {
    {
      nb::gil_scoped_release unlocked;
      work();
    }
    if (!progress.is_none()) progress(monitor.done.load());
    return;
  }
  std::mutex guard;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;
  bool interrupted = false;
  {
    nb::gil_scoped_release unlocked;
    const auto run = [&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(guard);
      ended = true;
      changed.notify_one();
    };
    std::thread worker;
    try {
      worker = std::thread(run);
    } catch (...) {  // a limit on processes or memory
      run();
    }
    std::unique_lock<std::mutex> lock(guard);
    std::int64_t reported = 0;
    while (!changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended; })) {
      if (interrupted) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire locked;
        interrupted = PyErr_CheckSignals() != 0;
        if (!interrupted && !progress.is_none() && monitor.done != reported) {
          reported = monitor.done;
          try {
            progress(reported);
          } catch (nb::python_error& raised) {
            raised.restore();
            interrupted = true;
          }
        }
      }
      if (interrupted) monitor.stop = true;
      lock.lock();
    }
    lock.unlock();
    if (worker.joinable()) worker.join();
  }
  if (interrupted) throw nb::python_error();
  if (error) std::rethrow_exception(error);
  if (!progress.is_none()) progress(monitor.done.load());
}

}  // namespace duramen::python
