// Tensors on their way to the host behind the frames that made them: nobody waits for the device.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compiler/program/callback.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/window/view.h"

namespace firn {

/// Copies are made where they are asked for, in order with what the device does before and after,
/// and handed on once they are there.
class LateReads {
  public:
    /// The elements of each tensor, row by row.
    using Values = std::vector<std::vector<float>>;
    /// The same in storage form, as long as they are being handed on.
    using Bytes = std::vector<std::span<const std::byte>>;

    explicit LateReads(std::shared_ptr<Device> device);
    ~LateReads();
    LateReads(const LateReads&) = delete;
    LateReads& operator=(const LateReads&) = delete;

    /// Of all types of numbers. Throws UserError where a view is another device's.
    void ask(const std::vector<BufferView>& views, Callback<void(const Values&)> take);
    void ask_bytes(const std::vector<BufferView>& views, Callback<void(const Bytes&)> take);
    bool is_empty() const { return reads_.empty(); }
    /// Gives those that are there to who asked, in the order in which they were asked for.
    void hand_on();
    /// The same with all of them: waits for the device.
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
        CommandBuffer* commands = nullptr;
        Callback<void(const Bytes&)> take;
    };
    void record(Read& read, const std::vector<BufferView>& views);
    void hand_on_first();

    std::shared_ptr<Device> device_;
    CommandPool commands_;
    std::deque<Read> reads_;
};

}  // namespace firn
