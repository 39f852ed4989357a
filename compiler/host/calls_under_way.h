// The calls of the host that a run has begun and not finished.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compiler/program/host_operation.h"

namespace firn {

/// Finishes each call before a step that would disturb it. A call that is not finished when the run
/// ends by an error is cancelled.
class CallsUnderWay {
  public:
    bool empty() const { return calls_.empty(); }
    /// Starts a call, after those whose outputs it takes or whose memory it writes are finished.
    void begin(const HostOperation& operation, const HostCall& call);
    /// A step is about to read these bytes, or to write them.
    void before_access(std::span<const std::byte> bytes, bool written);
    /// Lets messages go on, without waiting.
    void proceed();
    void finish_all();

  private:
    struct Begun {
        std::unique_ptr<HostWork> work;
        std::span<const std::byte> input, output;
    };
    template <class Is>
    void finish_where(const Is& is);

    std::vector<Begun> calls_;  // in the order in which they began
};

}  // namespace firn
