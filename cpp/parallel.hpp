// Work on several threads; errors are rethrown in the calling thread.
#pragma once

#include <functional>

namespace duramen {

// Calls work(0) .. work(n_threads - 1), each on a thread of its own; the first exception is
// rethrown here once all have ended. Where the system refuses to start a thread, the calling one
// does its work too, after its own.
void run_threads(unsigned n_threads, const std::function<void(unsigned)>& work);

}  // namespace duramen
