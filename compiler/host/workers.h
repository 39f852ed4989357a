// Threads that take parts of one piece of work after another.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace firn {

/// Returns the number of threads that FIRN_THREADS asks for, else that of the cores which this
/// process may use. UserError where FIRN_THREADS is no number from 1 to 1024.
size_t wanted_threads();

/// A pool of threads, which are made when they are first needed and end with it. One thread at a
/// time has work for it; the work of another one, and of a part itself, runs on its own thread.
class Workers {
  public:
    /// Does [first, last) of the work. `worker` is less than size(), and no other part runs with
    /// the same at that time; 0 is the thread that called run().
    using Part = std::function<void(uint64_t first, uint64_t last, size_t worker)>;

    explicit Workers(size_t threads = wanted_threads());
    /// Not while work runs.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// The threads, the one that calls run() among them.
    size_t size() const { return threads_; }
    /// Does [0, count) in parts on at most `most_at_once` threads, and returns when all is done.
    /// Throws the first exception of a part; parts that had not begun are then left out. In a child
    /// of fork() it makes threads anew.
    void run(uint64_t count, uint64_t most_at_once, const Part& part);

  private:
    struct Pool;
    Pool& pool_here();
    size_t threads_;
    std::atomic<pid_t> process_;  // in which the pool's threads are
    std::mutex moving_;           // to another process
    std::unique_ptr<Pool> pool_;
};

}  // namespace firn
