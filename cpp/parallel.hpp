// Running the same work on several threads, errors brought home.
#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace duramen {

// Calls work(0) .. work(n_threads - 1), each on a thread of its own; the first exception is
// rethrown here once all have ended. Where the system refuses to start a thread, the calling one
// does its work too, after its own.
template <class Work>
void run_threads(unsigned n_threads, Work&& work) {
  std::exception_ptr error;
  std::mutex guard;
  const auto guarded = [&](unsigned thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads);
  unsigned started = 1;
  try {
    for (; started < n_threads; ++started) threads.emplace_back(guarded, started);
  } catch (...) {  // a limit on processes or memory
  }
  guarded(0);
  for (unsigned i = started; i < n_threads; ++i) guarded(i);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace duramen
