// Executors on the host share this: memory, and the steps of programs one after the other.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/host/host_memory.h"
#include "compiler/program/executor.h"

namespace firn {

/// How an executor on the host treats memory and steps.
struct HostRules {
    const char* called = "";        // in messages
    std::optional<std::byte> fill;  // of fresh memory; none: it is undefined
    bool checks_hazards = false;    // see HazardCheck
    /// The plan of a program at some sizes is kept between calls. Else every call makes it anew,
    /// and has memory of its own.
    bool keeps_plans = true;
};

/// A dispatch that runs.
struct HostDispatch {
    const Program& program;
    const KernelInfo& kernel;
    const DispatchStep& step;
    const void* prepared;                          // what prepare() gave for the program
    std::span<const int> slots;                    // of each binding
    std::span<const std::span<std::byte>> memory;  // of each slot
    std::span<const uint64_t> params;              // of DispatchStep::params, see param_bits
    std::array<int64_t, 3> groups{};               // none is negative
    /// Predicted, by the rates of the profile, without the launch.
    double seconds = 0;
    /// The symbols; only where plans are not kept.
    const SizeEnv* env = nullptr;
    /// The bytes of elements in each slot; only where a kernel of the program is of kCheckedFormat.
    std::span<const uint64_t> sizes = {};

    std::span<std::byte> buffer(size_t binding) const {
        return memory[static_cast<size_t>(slots[binding])];
    }
};

/// Returns an element of a buffer of sizes that only the device knows.
int32_t size_in(std::span<const std::byte> sizes, int64_t at);

/// An executor over host memory; a class over it runs one dispatch. A run is complete when run()
/// returns.
class HostExecutor : public Executor {
  public:
    const DeviceProfile& profile() const override { return profile_; }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override;
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override;
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override;
    const std::byte* mapped(const Memory& memory) override;
    std::byte* map_for_writing(Memory& memory) override;
    void run(const std::shared_ptr<const Program>& program, const Call& call) override;
    void wait() override {}
    void set_progress(std::function<void(const RunProgress&)> report,
                      double after_seconds) override;
    void set_profiling(bool on) override { profiling_ = on; }
    std::vector<KernelTime> take_kernel_times() override;

  protected:
    HostExecutor(DeviceProfile profile, HostRules rules);
    ~HostExecutor() override;
    virtual void dispatch(const HostDispatch& dispatch) = 0;

  private:
    struct Loaded;
    class Running;
    Loaded& load(const std::shared_ptr<const Program>& program);
    void forget_ended_programs();
    std::unique_ptr<Loaded> load_anew(const std::shared_ptr<const Program>& program);
    std::span<std::byte> scratch(uint64_t bytes, std::vector<HostBlock>& owned);

    DeviceProfile profile_;
    HostRules rules_;
    std::shared_ptr<HostPool> pool_;
    std::mutex run_;     // one program at a time
    HostBlock scratch_;  // for the temporaries of all programs, which run one after the other
    std::map<const Program*, std::unique_ptr<Loaded>> programs_;
    std::function<void(const RunProgress&)> report_;
    double report_after_ = 0;
    bool profiling_ = false;
    std::map<std::string, KernelTime> times_;  // `milliseconds` is the sum until it is taken
};

}  // namespace firn
