// The calls of the host in a run of several submissions.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/host_operation.h"
#include "engine/gpu/buffer.h"

namespace firn {

/// A call whose input the device copies to memory that the host sees, from where the call begins
/// once the copy is done; the device copies its output to its place when the call is finished.
struct PartedCallStep {
    const HostOperation* operation = nullptr;
    HostCall call;  // in the memory of the host
    BufferRange input, output;
    std::shared_ptr<Buffer> given, made;  // the same that the host sees; null without elements
    TimelinePoint ready = 0;              // when the input is there
    std::unique_ptr<HostWork> work;       // null until it begins
};

/// Calls in the order of the steps; each begins after those before it.
class PartedCalls {
  public:
    explicit PartedCalls(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    bool empty() const { return calls_.empty(); }
    /// Adds a call whose input has been copied at the point `call.ready`.
    void add(PartedCallStep call) { calls_.push_back(std::move(call)); }
    /// Begins the calls whose inputs are there, and lets messages go on; never waits.
    void proceed();
    /// True if a call must be finished before a step reads this memory, or writes it.
    bool meets(const BufferRange& range, bool written) const;
    /// Finishes those calls, and gives them for their outputs to be copied.
    std::vector<PartedCallStep> finish(const BufferRange& range, bool written);
    std::vector<PartedCallStep> finish_all();

  private:
    void begin(PartedCallStep& call);
    std::vector<PartedCallStep> finish_where(const std::function<bool(const PartedCallStep&)>& is);

    std::shared_ptr<Device> device_;
    std::vector<PartedCallStep> calls_;
};

}  // namespace firn
