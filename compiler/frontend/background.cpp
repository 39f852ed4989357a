// Programs that are compiled on a thread of their own, while others run.
#include "compiler/frontend/background.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace firn {
namespace {

void compile(CompileJob& job) {
    try {
        job.program = compile_source(job.source, job.executor->profile(), job.options);
        job.prepared = job.executor->prepare(*job.program);
    } catch (const Stopped&) {
        job.program = nullptr;
    } catch (const std::exception&) {
        // A call that needs this very program compiles it again, and gets the error.
        job.program = nullptr;
        job.refused = true;
    }
    job.source = nullptr;
    job.executor.reset();
}

}  // namespace

CompileJob::CompileJob(const Graph& copied, const CompileOptions& with,
                       std::shared_ptr<Executor> runs_it)
    : executor(std::move(runs_it)), options(with), source(source_of(copied, with)) {
    if (options.tuned) tuned = *options.tuned;
    options.tuned = &tuned;
    options.all_cores = false;
    options.times = nullptr;
}

BackgroundCompiler::~BackgroundCompiler() {
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void BackgroundCompiler::start(std::shared_ptr<CompileJob> job) {
    job->options.stop = &ending_;
    {
        std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(job));
        if (waiting_.size() > kMostWaiting) {
            waiting_.front()->done = true;
            waiting_.pop_front();
        }
        if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    }
    changed_.notify_all();
}

void BackgroundCompiler::wait_or_give_up(CompileJob& job) {
    std::unique_lock lock(mutex_);
    const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const auto& each) { return each.get() == &job; });
    const bool next = !running_ && at == waiting_.begin();
    if (at != waiting_.end() && !next) {
        job.done = true;
        waiting_.erase(at);
        return;
    }
    changed_.wait(lock, [&] { return job.done.load(); });
}

void BackgroundCompiler::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.empty() && !running_; });
}

void BackgroundCompiler::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
        if (ending_) return;
        running_ = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        compile(*running_);
        lock.lock();
        running_->done = true;
        running_.reset();
        changed_.notify_all();
    }
}

}  // namespace firn
