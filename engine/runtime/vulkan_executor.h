// Runs programs on a Vulkan device: memory, replay of unchanged calls, kernel times.
#pragma once
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/executor.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/device.h"
#include "engine/runtime/parted_run.h"
#include "engine/runtime/trace_event.h"

namespace firn {

/// Why a Vulkan device cannot run a program; empty: it can.
std::string why_cannot_run(const Program& program, const DeviceProfile& device);

/// Counters of an executor, for tests and statistics.
struct ExecutorCounts {
    int64_t runs = 0;
    int64_t recordings = 0;    // runs with new commands; the others were replayed
    int64_t preparations = 0;  // descriptor sets made for new memory
    int64_t parts = 0;         // submissions of runs that may have several
};

/// The last call of a program, as it was when it ran.
struct WatchedCall {
    std::shared_ptr<const Program> program;
    Call call;
    int64_t runs = 0;    // since it is watched
    int64_t number = 0;  // of the program, see KernelTime
    /// The memory kept by watch_temporary; null: none, or the program has not run since.
    std::shared_ptr<Memory> temporary;
};

/// The executor of a session. Used by one thread at a time; any thread may release memory and
/// prepare programs.
class VulkanExecutor : public Executor {
  public:
    explicit VulkanExecutor(std::shared_ptr<Device> device);
    /// Waits for everything.
    ~VulkanExecutor() override;

    Device& device() const { return *device_; }
    const std::shared_ptr<Device>& shared_device() const { return device_; }
    const ExecutorCounts& counts() const { return counts_; }

    const DeviceProfile& profile() const override { return device_->profile(); }
    bool needs_kernel_code() const override { return false; }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override;
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override;
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override;
    const std::byte* mapped(const Memory& memory) override;
    std::byte* map_for_writing(Memory& memory) override;
    void run(const std::shared_ptr<const Program>& program, const Call& call) override;
    std::shared_ptr<const void> prepare(const Program& program) override;
    void wait() override;
    std::string why_cannot_run(const Program& program) const override;
    std::string why_not_here() const override { return device_->why_not_here(); }
    void set_profiling(bool on) override { profiling_ = on; }
    void set_progress(std::function<void(const RunProgress&)> report,
                      double after_seconds) override {
        progress_ = {std::move(report), after_seconds};
    }
    std::vector<KernelTime> take_kernel_times() override;
    /// The same for runs that are complete, without waiting.
    std::vector<KernelTime> take_ready_kernel_times();
    /// While it is on and profiling is, every dispatch is kept with its time, and every program
    /// that is made.
    void set_tracing(bool on);
    /// Returns the events that take_kernel_times kept since the last call: one row per dispatch.
    std::vector<TraceEvent> take_trace() { return std::exchange(trace_, {}); }
    /// While it is on, the last call of every program is kept, with its memory.
    void set_watching(bool on);
    /// Keeps the value that a temporary of the program has at the end of a call with the last call
    /// from now on: it gets memory of its own then. One at a time; without a program, none.
    void watch_temporary(const std::shared_ptr<const Program>& program, int buffer);
    /// Returns the programs that are still alive, in the order in which they were first called.
    std::vector<WatchedCall> watched() const;
    /// Runs other code instead of a kernel's; it must have the same bindings and parameters. The
    /// kernel's own code restores it. Throws as making a pipeline does, and then nothing has
    /// changed.
    void replace_kernel(const std::shared_ptr<const Program>& program, size_t kernel,
                        const KernelInfo& code);
    /// The next run of the program is waited for, and `take` is told how many seconds it took. One
    /// at a time; without a program, none.
    void time_next_run(const std::shared_ptr<const Program>& program,
                       std::function<void(double seconds)> take);
    /// Device time that one submission is to take: runs that are predicted to take much longer have
    /// several. Less keeps a device that others use too more responsive; with 0 every step is
    /// submitted alone.
    void set_submission_seconds(double seconds) { submission_seconds_ = seconds; }

  private:
    /// A prepared call with the commands of its last recording.
    struct Entry {
        std::shared_ptr<const CallPlan> plan;
        std::unique_ptr<PreparedCall> call;
        std::vector<Scalar> scalars;
        CommandBuffer* commands = nullptr;
    };
    struct Loaded {
        std::weak_ptr<const Program> program;
        std::unique_ptr<LoadedProgram> loaded;
        int64_t number = 0;  // of all programs that were loaded, from 1
        Pace pace;
        std::list<Entry> entries;  // the newest use first
        WatchedCall watched;       // no program: it was not called since it is watched
    };
    /// A program that gives one of its temporaries as a result.
    struct Observed {
        std::weak_ptr<const Program> of;
        int buffer = -1;
        std::shared_ptr<const Program> program;  // in its place; null: none is observed
        std::shared_ptr<Buffer> memory;
    };
    /// A run whose time is to be reported.
    struct Timed {
        std::weak_ptr<const Program> program;
        std::function<void(double)> take;
    };
    Loaded& load(const std::shared_ptr<const Program>& program);
    void run_timed(const std::shared_ptr<const Program>& program, const Call& call);
    void run_watched(const std::shared_ptr<const Program>& program, const Call& call);
    void run_observed(const std::shared_ptr<const Program>& program, const Call& call);
    void watch(Loaded& loaded, const std::shared_ptr<const Program>& program, const Call& call);
    void forget_ended_programs();
    void drop(Entry& entry);
    void forget_entries(Loaded& loaded);
    void ensure_scratch(uint64_t bytes);
    Entry& prepare(Loaded& loaded, const Program& program, std::shared_ptr<const CallPlan> plan,
                   const Bindings& bindings, const std::vector<int>& result_slots);
    void record_entry(Entry& entry, const std::vector<Scalar>& scalars);
    TimelinePoint run_in_parts(Loaded& loaded, Entry& entry, const Program& program,
                               const Call& call, const std::vector<Scalar>& scalars,
                               std::vector<RangeCopy> stand_ins);
    TimelinePoint run_profiled(const Loaded& loaded, Entry& entry, const Program& program,
                               const std::vector<Scalar>& scalars);
    TimelinePoint submit(const Loaded& loaded, Entry& entry, const Program& program,
                         const std::vector<Scalar>& scalars);
    enum class RunKind : uint8_t { Own, Observed };  // Observed: no program of the caller's
    void run_call(const std::shared_ptr<const Program>& program, const Call& call, RunKind kind);
    void harvest_first();
    std::vector<KernelTime> take_times_until(TimelinePoint last);
    void add_times(PendingTimes pending);
    void limit_ahead(double seconds);

    std::shared_ptr<Device> device_;
    CommandPool commands_;
    std::shared_ptr<Buffer> scratch_;
    std::map<const Program*, Loaded> programs_;
    struct RunAhead {
        TimelinePoint end = 0;
        double seconds = 0;  // predicted
    };
    std::deque<RunAhead> ahead_;  // the last runs, oldest first
    ExecutorCounts counts_;

    ProgressReport progress_;
    double submission_seconds_ = Pace::kSeconds;
    bool profiling_ = false, tracing_ = false, watching_ = false;
    int64_t loaded_programs_ = 0;
    Observed observed_;
    Timed timed_;
    double device_clock_begin_ = 0;  // see there
    std::vector<TraceEvent> trace_;
    std::deque<PendingTimes> pending_times_;
    std::vector<KernelTime> times_;  // `milliseconds` is the sum until it is taken
};

}  // namespace firn
