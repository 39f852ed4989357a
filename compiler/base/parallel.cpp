// Independent pieces of work on all cores.
#include "compiler/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace firn {

namespace {

constexpr std::chrono::milliseconds kBetweenWatches{33};  // a person sees a window that answers

/// Pieces of work that threads take one after the other.
class Pieces {
  public:
    Pieces(size_t count, const std::function<void(size_t)>& work)
        : count_(count), work_(work), failures_(count) {}

    /// Takes pieces until none is left. They are taken in order, so that all before the first
    /// failure have been started, and it is the same in every run.
    void take() {
        for (size_t k = next_++; k < count_ && !failed_; k = next_++) {
            try {
                work_(k);
            } catch (...) {
                failures_[k] = std::current_exception();
                failed_ = true;
            }
            const std::lock_guard lock(mutex_);
            ++done_;
            changed_.notify_one();
        }
    }
    void watch(const std::function<void(size_t)>& tell) {
        std::unique_lock lock(mutex_);
        while (
            !changed_.wait_for(lock, kBetweenWatches, [&] { return done_ == count_ || failed_; })) {
            const size_t done = done_;
            lock.unlock();
            tell(done);
            lock.lock();
        }
    }
    void give_up() { failed_ = true; }
    void rethrow() const {
        for (const std::exception_ptr& failure : failures_)
            if (failure) std::rethrow_exception(failure);
    }

  private:
    size_t count_;
    const std::function<void(size_t)>& work_;
    std::vector<std::exception_ptr> failures_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t done_ = 0;
};

}  // namespace

void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work) {
    for_each_in_parallel(count, work, {});
}

void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work,
                          const std::function<void(size_t)>& watch) {
    Pieces pieces(count, work);
    {
        std::vector<std::jthread> threads;
        const size_t cores = std::max(1u, std::thread::hardware_concurrency());
        for (size_t t = watch ? 0 : 1; t < std::min(count, cores); ++t)
            threads.emplace_back([&] { pieces.take(); });
        if (!watch) {
            pieces.take();
        } else {
            try {
                pieces.watch(watch);
            } catch (...) {
                pieces.give_up();
                throw;
            }
        }
    }
    pieces.rethrow();
}

}  // namespace firn
