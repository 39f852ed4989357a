// Copies to the host that the device makes between kernels, and the functions that receive them.
#include "engine/window/late_reads.h"

#include <cstring>
#include <utility>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

std::vector<float> floats_of(DType dtype, std::span<const std::byte> bytes) {
    const auto width = static_cast<size_t>(dtype.bytes());
    std::vector<float> out(bytes.size() / width);
    if (dtype == f32) {
        if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    for (size_t k = 0; k < out.size(); ++k)
        out[k] = static_cast<float>(load_scalar(dtype, &bytes[k * width]).as_double());
    return out;
}

}  // namespace

LateReads::LateReads(std::shared_ptr<Device> device)
    : device_(std::move(device)),
      commands_(std::make_unique<CommandPool>(*device_, "late reads")) {}

LateReads::LateReads(std::shared_ptr<Executor> executor) : host_(std::move(executor)) {
    const auto vulkan = std::dynamic_pointer_cast<VulkanExecutor>(host_);
    if (!vulkan) return;
    host_.reset();
    device_ = vulkan->shared_device();
    commands_ = std::make_unique<CommandPool>(*device_, "late reads");
}

LateReads::~LateReads() = default;

void LateReads::ask(const std::vector<BufferView>& views, Callback<void(const Values&)> take) {
    std::vector<DType> dtypes;
    for (const BufferView& view : views) dtypes.push_back(view.dtype);
    ask_bytes(views, [dtypes = std::move(dtypes), take = std::move(take)](const Bytes& bytes) {
        Values values;
        for (size_t k = 0; k < bytes.size(); ++k) values.push_back(floats_of(dtypes[k], bytes[k]));
        take(values);
    });
}

void LateReads::ask_bytes(const std::vector<BufferView>& views, Callback<void(const Bytes&)> take) {
    Read read;
    read.take = std::move(take);
    uint64_t bytes = 0;
    for (const BufferView& view : views) {
        const int64_t elements = elements_of(view);
        read.parts.push_back({view.dtype, elements, bytes});
        bytes += static_cast<uint64_t>(elements) * static_cast<uint64_t>(view.dtype.bytes());
    }
    reads_.push_back(std::move(read));
    if (bytes == 0) return;
    try {
        if (host_) return read_on_host(reads_.back(), bytes, views);
        reads_.back().bytes = create_buffer(device_, bytes, "late read", BufferPlace::Host);
        record(reads_.back(), views);
    } catch (...) {
        reads_.pop_back();
        throw;
    }
}

void LateReads::read_on_host(Read& read, uint64_t bytes, const std::vector<BufferView>& views) {
    read.on_host.resize(bytes);
    for (size_t k = 0; k < views.size(); ++k) {
        const Part& part = read.parts[k];
        const auto size =
            static_cast<size_t>(part.elements) * static_cast<size_t>(part.dtype.bytes());
        if (size == 0) continue;
        check_on_host(views[k]);
        host_->read(*views[k].memory, views[k].offset,
                    std::span(read.on_host).subspan(part.offset, size));
    }
}

void LateReads::record(Read& read, const std::vector<BufferView>& views) {
    // The commands are kept until the values are handed on: a pool that ran out of its own would
    // wait for the device.
    CommandBuffer& commands = commands_->acquire();
    try {
        begin(*device_, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        barrier_all(*device_, commands.handle);
        for (size_t k = 0; k < views.size(); ++k) {
            const Part& part = read.parts[k];
            const auto size =
                static_cast<uint64_t>(part.elements) * static_cast<uint64_t>(part.dtype.bytes());
            if (size == 0) continue;
            const BufferRange& from = buffer_of(*device_, views[k]).range();
            const VkBufferCopy region{from.offset + views[k].offset,
                                      read.bytes->range().offset + part.offset, size};
            device_->vk().vkCmdCopyBuffer(commands.handle, from.buffer, read.bytes->range().buffer,
                                          1, &region);
        }
        barrier_compute_to(*device_, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                           VK_ACCESS_HOST_READ_BIT);
        end(*device_, commands);
        commands.busy_until = device_->enqueue(commands.handle);
    } catch (...) {
        commands_->release(commands);
        throw;
    }
    read.commands = &commands;
    read.bytes->used_at(commands.busy_until, true);
    for (const BufferView& view : views)
        if (elements_of(view) > 0) buffer_of(*device_, view).used_at(commands.busy_until, false);
}

void LateReads::hand_on_first() {
    const Read read = std::move(reads_.front());
    reads_.pop_front();  // first, since the callback may ask for another
    if (read.commands) commands_->release(*read.commands);
    Bytes bytes;
    for (const Part& part : read.parts) {
        const auto size =
            static_cast<size_t>(part.elements) * static_cast<size_t>(part.dtype.bytes());
        const std::byte* all = read.bytes ? read.bytes->mapped() : read.on_host.data();
        const std::byte* first = size == 0 ? nullptr : all + part.offset;
        bytes.emplace_back(first, size);
    }
    read.take(bytes);
}

void LateReads::hand_on() {
    const TimelinePoint done = device_ ? device_->completed() : 0;
    while (!reads_.empty() &&
           (!reads_.front().commands || reads_.front().commands->busy_until <= done))
        hand_on_first();
}

void LateReads::finish() {
    while (!reads_.empty()) {
        if (const CommandBuffer* commands = reads_.front().commands)
            device_->wait(commands->busy_until);
        hand_on_first();
    }
}

}  // namespace firn
