// Threads that take parts of one piece of work after another.
#include "compiler/host/workers.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/own_process.h"

namespace firn {
namespace {

constexpr int kMostThreads = 1024;
/// Parts for each thread: more even out threads that are late, and cost more.
constexpr uint64_t kPartsOfAThread = 8;
/// Looks at whether there is more work before a thread sleeps, some tens of microseconds: to wake
/// it takes as long.
constexpr int kLooks = 1000;

/// The cores that this process may use.
size_t cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return static_cast<size_t>(CPU_COUNT(&set));
    return std::max(1u, std::thread::hardware_concurrency());
}

void rest() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

size_t wanted_threads() {
    const char* text = std::getenv("FIRN_THREADS");
    if (!text || !*text) return cores();
    int number = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, number);
    if (error != std::errc{} || stop != end || number < 1 || number > kMostThreads)
        throw UserError("FIRN_THREADS=" + std::string(text) +
                        " is no number of threads from 1 to " + std::to_string(kMostThreads) +
                        "; leave it out to use every core that the process may use");
    return static_cast<size_t>(number);
}

/// The threads of a process, and the work that they share.
struct Workers::Pool {
    explicit Pool(bool may_spin) : spins(may_spin) {}
    ~Pool() {
        {
            const std::lock_guard lock(mutex);
            stopped = true;
            ++number;
        }
        wake.notify_all();
        for (std::thread& thread : threads) thread.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Has `wanted` threads if the system makes so many.
    void grow(size_t wanted) {
        try {
            while (threads.size() < wanted)
                threads.emplace_back([this, worker = threads.size() + 1] { serve(worker); });
        } catch (const std::system_error&) {
            // The others do the work.
        }
    }

    void share(uint64_t of, uint64_t at_once, const Part& how) {
        {
            const std::lock_guard lock(mutex);
            part = &how, count = of;
            chunk = std::max<uint64_t>(1, of / (at_once * kPartsOfAThread));
            next = 0;
            places = std::min<size_t>(at_once - 1, threads.size());
            ++number;
            if (const size_t woken = std::min(places, sleeping); woken == sleeping)
                wake.notify_all();
            else
                for (size_t k = 0; k < woken; ++k) wake.notify_one();
        }
        take(0);
        for (int k = 0; spins && k < kLooks && working.load() > 0; ++k) rest();
        std::unique_lock lock(mutex);
        places = 0;  // no thread begins another part
        done.wait(lock, [&] { return working.load() == 0; });
        if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    }

    /// Takes parts until none is left.
    void take(size_t worker) {
        try {
            for (uint64_t first = next.fetch_add(chunk); first < count;
                 first = next.fetch_add(chunk))
                (*part)(first, std::min(count, first + chunk), worker);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    }

    void serve(size_t worker) {
        uint64_t seen = 0;
        while (true) {
            for (int k = 0; spins && k < kLooks && number.load() == seen; ++k) rest();
            {
                std::unique_lock lock(mutex);
                while (number.load() == seen) {
                    ++sleeping;
                    wake.wait(lock);
                    --sleeping;
                }
                if (stopped) return;
                seen = number.load();
                if (places == 0) continue;
                --places;
                ++working;
            }
            take(worker);
            if (working.fetch_sub(1) == 1) {
                const std::lock_guard lock(mutex);
                done.notify_one();
            }
        }
    }

    const bool spins;
    std::mutex user;  // who has work
    std::mutex mutex;
    std::condition_variable wake, done;
    std::vector<std::thread> threads;
    std::atomic<uint64_t> number{0};  // of the work, from 1
    bool stopped = false;
    size_t sleeping = 0;
    // The work changes only while no thread takes part in it.
    const Part* part = nullptr;
    uint64_t count = 0, chunk = 1;
    std::atomic<uint64_t> next{0};
    size_t places = 0;  // for threads that have not begun
    std::atomic<size_t> working{0};
    std::exception_ptr failure;
};

Workers::Workers(size_t threads)
    : threads_(std::max<size_t>(1, threads)),
      process_(this_process()),
      pool_(std::make_unique<Pool>(threads_ <= cores())) {}

Workers::~Workers() {
    // The threads of another process cannot be joined.
    if (process_ != this_process()) (void)pool_.release();
}

/// A child of fork() has a copy of the pool, none of its threads, and locks that may be held by
/// these.
Workers::Pool& Workers::pool_here() {
    if (process_ != this_process()) {
        const std::lock_guard lock(moving_);
        if (process_ != this_process()) {
            (void)pool_.release();
            pool_ = std::make_unique<Pool>(threads_ <= cores());
            process_ = this_process();
        }
    }
    return *pool_;
}

void Workers::run(uint64_t count, uint64_t most_at_once, const Part& part) {
    if (count == 0) return;
    const uint64_t at_once = std::min({count, most_at_once, static_cast<uint64_t>(threads_)});
    if (at_once <= 1) return part(0, count, 0);
    Pool& pool = pool_here();
    const std::unique_lock user(pool.user, std::try_to_lock);
    if (!user.owns_lock()) return part(0, count, 0);
    pool.grow(threads_ - 1);
    pool.share(count, at_once, part);
}

}  // namespace firn
