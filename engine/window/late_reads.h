// Tensors on their way to the host after the frames that made them, without a wait for the device.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/callback.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/window/view.h"

namespace firn {

class Executor;

/// Copies tensors to the host. Copies are made in order with the device's work before and after the
/// request, and handed on as soon as they are on the host.
class LateReads {
  public:
    /// The elements of each tensor, row by row.
    using Values = std::vector<std::vector<float>>;
    /// The same in storage form, valid while they are handed on.
    using Bytes = std::vector<std::span<const std::byte>>;

    explicit LateReads(std::shared_ptr<Device> device);
    /// Reads tensors in the memory of `executor`: at once, unless it is a VulkanExecutor.
    explicit LateReads(std::shared_ptr<Executor> executor);
    ~LateReads();
    LateReads(const LateReads&) = delete;
    LateReads& operator=(const LateReads&) = delete;

    /// Asks for tensors of any number types. Throws UserError if a view belongs to another device.
    void ask(const std::vector<BufferView>& views, Callback<void(const Values&)> take);
    void ask_bytes(const std::vector<BufferView>& views, Callback<void(const Bytes&)> take);
    bool is_empty() const { return reads_.empty(); }
    /// Hands the copies that are on the host to their callbacks, in the order of the requests.
    void hand_on();
    /// Hands all of them on: waits for the device.
    void finish();

  private:
    struct Part {
        DType dtype;
        int64_t elements = 0;
        uint64_t offset = 0;  // in the bytes of the read
    };
    struct Read {
        std::vector<Part> parts;
        std::shared_ptr<Buffer> bytes;
        std::vector<std::byte> on_host;  // in their place, without a device
        CommandBuffer* commands = nullptr;
        Callback<void(const Bytes&)> take;
    };
    void read_on_host(Read& read, uint64_t bytes, const std::vector<BufferView>& views);
    void record(Read& read, const std::vector<BufferView>& views);
    void hand_on_first();

    std::shared_ptr<Executor> host_;  // null: there is a device
    std::shared_ptr<Device> device_;
    std::unique_ptr<CommandPool> commands_;
    std::deque<Read> reads_;
};

}  // namespace firn
