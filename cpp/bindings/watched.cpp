#include "bindings/watched.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

namespace duramen::python {

void run_watched(duramen::Monitor& monitor, const nb::object& progress,
                 const std::function<void()>& work, std::size_t n_steps) {
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
