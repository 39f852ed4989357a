// A run of a program in several submissions, found as it goes: nothing that is held grows with the
// iterations of loops.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/executor.h"
#include "engine/gpu/commands.h"
#include "engine/runtime/pace.h"
#include "engine/runtime/parted_calls.h"
#include "engine/runtime/record.h"

namespace firn {

/// Times of recorded steps, when their submission is complete.
struct PendingTimes {
    TimelinePoint point = 0;
    std::unique_ptr<Timestamps> timestamps;
    std::vector<std::string> names;  // by step
    int64_t program = 0;             // see KernelTime
};

/// See Executor::set_progress.
struct ProgressReport {
    std::function<void(const RunProgress&)> report;  // may be empty
    double after_seconds = 0;
};

/// The inputs of a run.
struct PartedCall {
    std::shared_ptr<Device> device;
    CommandPool& commands;
    const LoadedProgram& loaded;
    const Program& program;
    PreparedCall& call;
    const std::vector<Scalar>& scalars;
    std::shared_ptr<Buffer> scratch;  // null where it needs none
    Pace& pace;                       // of the program
    double seconds;                   // device time that a submission is to take
    const ProgressReport& progress;
    std::function<void(PendingTimes)> times;  // empty: none are wanted
    /// Arguments that the program writes over, and the memory that replaces them. The last
    /// submission copies the results to their places: an earlier failure leaves the arguments as
    /// they were.
    std::vector<RangeCopy> stand_ins;
};

/// Steps become submissions of bounded size and device time; no more than two are ahead of the one
/// that is complete.
class PartedRun : public StepVisitor {
  public:
    explicit PartedRun(PartedCall call)
        : run_(std::move(call)), calls_(run_.device), report_at_(run_.progress.after_seconds) {
        if (!run_.stand_ins.empty()) submit(run_.stand_ins);
    }
    /// After an error, waits for the submitted work.
    ~PartedRun() override;

    void step(const FlatStep& step) override;
    bool goes_on(int slot, int64_t iterations) override;
    void outermost_iteration(const RepeatStep& loop, int64_t iteration, int64_t trips) override;
    /// Steps that are planned already.
    void add(const CallPlan& plan);
    /// Brings the results to the caller's memory. Gives the point at which everything is complete.
    TimelinePoint finish(const std::vector<int>& ends);
    int64_t submissions() const { return submissions_; }

  private:
    struct InFlight {
        TimelinePoint point = 0;
        double predicted = 0;
        std::unique_ptr<Timestamps> timestamps;
    };
    using Copies = std::vector<RangeCopy>;
    void add_call(const FlatStep& step);
    void settle_calls(const BufferRange& range, bool written);
    void take_outputs(std::vector<PartedCallStep> finished);
    void submit(const Copies& copies = {});
    void submit(const RecordedSteps& steps, double predicted, const Copies& copies);
    void record(CommandBuffer& commands, const RecordedSteps& steps, const Copies& copies,
                Timestamps* whole, Timestamps* each);
    PendingTimes step_times(const RecordedSteps& steps) const;
    std::unique_ptr<Timestamps> two_marks();
    Copies staged(const Copies& copies);
    void limit_in_flight(size_t most);
    void report();

    PartedCall run_;
    PartedCalls calls_;
    std::vector<FlatStep> steps_;  // not yet submitted
    double predicted_ = 0;         // their time
    uint64_t param_bytes_ = 0;     // of their parameters in a buffer
    std::deque<InFlight> in_flight_;
    std::vector<std::unique_ptr<Timestamps>> spare_;  // of submissions that are complete
    TimelinePoint last_ = 0;
    int64_t submissions_ = 0;
    bool finished_ = false;
    RunProgress progress_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double report_at_;                 // seconds
    std::shared_ptr<Buffer> flag_;     // of a loop, where it lies in the caller's memory
    std::shared_ptr<Buffer> staging_;  // memory for results that exchange places
};

}  // namespace firn
