// Independent pieces of work on all cores.
#include "compiler/program/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace firn {

void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next{0};
    std::atomic<bool> failed{false};
    std::vector<std::exception_ptr> failures(count);
    auto run = [&] {
        // Taken in order: all before the first failure have been started, so that it is the same in
        // every run.
        for (size_t k = next++; k < count && !failed; k = next++) {
            try {
                work(k);
            } catch (...) {
                failures[k] = std::current_exception();
                failed = true;
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        const size_t cores = std::max(1u, std::thread::hardware_concurrency());
        for (size_t t = 1; t < std::min(count, cores); ++t) threads.emplace_back(run);
        run();
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace firn
