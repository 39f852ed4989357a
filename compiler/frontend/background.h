// Programs that are compiled on a thread of their own, while others run; internal.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "compiler/base/own_process.h"
#include "compiler/driver/program_cache.h"
#include "compiler/driver/program_source.h"
#include "compiler/program/executor.h"

namespace firn {

/// A program to be compiled, with copies of all its inputs. The caller may read the result once it
/// is done.
struct CompileJob {
    CompileJob(const Graph& copied, const CompileOptions& with, std::shared_ptr<Executor> runs_it);

    std::shared_ptr<const Program>
        program;                           // null: it could not be compiled, or is no longer needed
    std::shared_ptr<const void> prepared;  // see Executor::prepare
    bool refused = false;                  // whether compiling failed
    std::atomic<bool> done{false};

    // Used by the thread that compiles.
    std::shared_ptr<Executor> executor;
    std::map<std::string, std::string> tuned;
    CompileOptions options;
    std::shared_ptr<ProgramSource> source;
};

/// Compiles jobs one after the other, in the order in which they were started.
class BackgroundCompiler {
  public:
    /// The most programs that may wait. Beyond that the oldest are dropped; the next call requests
    /// them again.
    static constexpr size_t kMostWaiting = 16;

    /// Drops the waiting programs, and ends the current compile early.
    ~BackgroundCompiler();
    void start(std::shared_ptr<CompileJob> job);
    /// Waits until the job is done. A job that others precede in the queue is cancelled instead.
    void wait_or_give_up(CompileJob& job);
    /// Waits until all are done.
    void finish();
    /// See OwnProcess.
    std::string why_not_here() const {
        return process_.why_not_here("the thread that compiles in the background was started");
    }

  private:
    void work();

    OwnProcess process_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<CompileJob>> waiting_;
    std::shared_ptr<CompileJob> running_;
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

}  // namespace firn
