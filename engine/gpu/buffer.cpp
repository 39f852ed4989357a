// Buffers: host writes and reads, and the views that kernels load through.
#include "engine/gpu/buffer.h"

#include <algorithm>
#include <cstring>

#include "engine/gpu/commands.h"

namespace firn {
namespace {

/// The size of the largest staging buffer; larger copies go part by part.
constexpr uint64_t kStagingBytes = 16ull << 20;
/// The limit of vkCmdUpdateBuffer.
constexpr uint64_t kInlineBytes = 65536;

void check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* what) {
    if (offset <= buffer.bytes() && bytes <= buffer.bytes() - offset) return;
    throw UserError(std::string(what) + " of " + std::to_string(bytes) + " bytes at byte " +
                    std::to_string(offset) + " of '" + buffer.name() + "', which has " +
                    std::to_string(buffer.bytes()) + " bytes; stay inside it");
}

void copy_range(const Device& device, VkCommandBuffer commands, const BufferRange& from,
                uint64_t from_offset, const BufferRange& to, uint64_t to_offset, uint64_t bytes) {
    VkBufferCopy region{from.offset + from_offset, to.offset + to_offset, bytes};
    device.vk().vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
}

/// Writes through the command buffer itself, so that nothing waits.
void write_inline(Buffer& buffer, uint64_t offset, std::span<const std::byte> data) {
    Device& device = buffer.device();
    TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
        device.vk().vkCmdUpdateBuffer(commands, buffer.range().buffer,
                                      buffer.range().offset + offset, data.size(), data.data());
    });
    buffer.used_at(point, true);
}

/// Buffers that the host sees for the pieces of a copy: the host works on one of two while the
/// device works on the other.
struct Staging {
    uint64_t bytes, piece_bytes, pieces;
    std::shared_ptr<Buffer> buffers[2];  // a copy of one piece has one

    Staging(const std::shared_ptr<Device>& device, uint64_t all, const std::string& name)
        : bytes(all),
          piece_bytes(std::min(all, kStagingBytes)),
          pieces((all + piece_bytes - 1) / piece_bytes) {
        for (uint64_t k = 0; k < std::min<uint64_t>(pieces, 2); ++k)
            buffers[k] = create_buffer(device, piece_bytes, name, BufferPlace::Host);
    }
    Buffer& of(uint64_t piece) const { return *buffers[piece % 2]; }
    uint64_t begin(uint64_t piece) const { return piece * piece_bytes; }
    uint64_t size(uint64_t piece) const { return std::min(bytes - begin(piece), piece_bytes); }
};

void write_staged(Buffer& buffer, uint64_t offset, std::span<const std::byte> data) {
    Device& device = buffer.device();
    const Staging staging(buffer.owner(), data.size(), "staging for " + buffer.name());
    for (uint64_t k = 0; k < staging.pieces; ++k) {
        Buffer& from = staging.of(k);
        device.wait(from.busy_until());
        std::memcpy(from.mapped(), data.data() + staging.begin(k), staging.size(k));
        TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
            copy_range(device, commands, from.range(), 0, buffer.range(), offset + staging.begin(k),
                       staging.size(k));
        });
        from.used_at(point, false);
        buffer.used_at(point, true);
    }
}

void read_staged(const Buffer& buffer, uint64_t offset, std::span<std::byte> data) {
    Device& device = buffer.device();
    const Staging staging(buffer.owner(), data.size(), "readback of " + buffer.name());
    const auto fetch = [&](uint64_t k) {
        Buffer& to = staging.of(k);
        TimelinePoint point = submit_once(device, [&](VkCommandBuffer commands) {
            copy_range(device, commands, buffer.range(), offset + staging.begin(k), to.range(), 0,
                       staging.size(k));
        });
        to.used_at(point, true);
    };
    fetch(0);
    for (uint64_t k = 0; k < staging.pieces; ++k) {
        const Buffer& from = staging.of(k);
        const TimelinePoint there = from.written_at();
        if (k + 1 < staging.pieces) fetch(k + 1);
        device.wait(there);
        std::memcpy(data.data() + staging.begin(k), from.mapped(), staging.size(k));
    }
}

void raise(std::atomic<TimelinePoint>& value, TimelinePoint point) {
    TimelinePoint old = value;
    while (old < point && !value.compare_exchange_weak(old, point)) {
    }
}

}  // namespace

void Buffer::used_at(TimelinePoint point, bool written) {
    raise(busy_until_, point);
    if (written) raise(written_at_, point);
}

void write_buffer(Buffer& buffer, uint64_t offset, std::span<const std::byte> data) {
    check_range(buffer, offset, data.size(), "write");
    if (data.empty()) return;
    Device& device = buffer.device();
    bool idle = device.is_done(buffer.busy_until());
    bool fits_inline = data.size() <= kInlineBytes && data.size() % 4 == 0 && offset % 4 == 0;
    if (fits_inline && !(buffer.mapped() && idle)) {
        write_inline(buffer, offset, data);
    } else if (buffer.mapped()) {
        device.wait(buffer.busy_until());
        std::memcpy(buffer.mapped() + offset, data.data(), data.size());
    } else {
        write_staged(buffer, offset, data);
    }
}

void read_buffer(const Buffer& buffer, uint64_t offset, std::span<std::byte> data) {
    check_range(buffer, offset, data.size(), "read");
    if (data.empty()) return;
    Device& device = buffer.device();
    if (buffer.mapped()) {
        device.wait(buffer.written_at());
        std::memcpy(data.data(), buffer.mapped() + offset, data.size());
        return;
    }
    read_staged(buffer, offset, data);
}

VkFormat texel_format(DType dtype, int width) {
    auto pick = [&](VkFormat one, VkFormat two, VkFormat four) {
        return width == 1 ? one : width == 2 ? two : width == 4 ? four : VK_FORMAT_UNDEFINED;
    };
    VkFormat format = VK_FORMAT_UNDEFINED;
    switch (dtype.type) {
        case Type::F32:
            format =
                pick(VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT);
            break;
        case Type::I32:
            format = pick(VK_FORMAT_R32_SINT, VK_FORMAT_R32G32_SINT, VK_FORMAT_R32G32B32A32_SINT);
            break;
        case Type::U32:
        case Type::Bool:
            format = pick(VK_FORMAT_R32_UINT, VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32A32_UINT);
            break;
        case Type::F16:
            format =
                pick(VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT);
            break;
        case Type::I16:
            format = pick(VK_FORMAT_R16_SINT, VK_FORMAT_R16G16_SINT, VK_FORMAT_R16G16B16A16_SINT);
            break;
        case Type::U16:
            format = pick(VK_FORMAT_R16_UINT, VK_FORMAT_R16G16_UINT, VK_FORMAT_R16G16B16A16_UINT);
            break;
        case Type::I8:
            format = pick(VK_FORMAT_R8_SINT, VK_FORMAT_R8G8_SINT, VK_FORMAT_R8G8B8A8_SINT);
            break;
        case Type::U8:
            format = pick(VK_FORMAT_R8_UINT, VK_FORMAT_R8G8_UINT, VK_FORMAT_R8G8B8A8_UINT);
            break;
        case Type::BF16:
        case Type::F64:
        case Type::I64:
        case Type::U64: break;
    }
    if (format == VK_FORMAT_UNDEFINED)
        throw InternalError(std::string("no texel format loads ") + std::to_string(width) + " x " +
                            dtype.name() + "; bind the buffer as a storage buffer");
    return format;
}

VkBufferView create_texel_view(const Device& device, const BufferRange& range, DType dtype,
                               int width, const std::string& name) {
    VkFormat format = texel_format(dtype, width);
    uint64_t texel = static_cast<uint64_t>(dtype.bytes()) * static_cast<uint64_t>(width);
    uint64_t limit = device.limits().maxTexelBufferElements;
    if (range.bytes / texel > limit)
        throw UserError("'" + name + "' has " + std::to_string(range.bytes / texel) +
                        " texels and the device '" + device.info().name + "' loads from at most " +
                        std::to_string(limit) + " in one view; split the tensor");
    if (range.offset % device.limits().minTexelBufferOffsetAlignment != 0)
        throw UserError("'" + name + "' starts at byte " + std::to_string(range.offset) +
                        ", and a texel view must start at a multiple of " +
                        std::to_string(device.limits().minTexelBufferOffsetAlignment) +
                        "; bind it as a storage buffer or move it");
    VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    info.buffer = range.buffer;
    info.format = format;
    info.offset = range.offset;
    info.range = range.bytes / texel * texel;
    VkBufferView view = VK_NULL_HANDLE;
    check(device.vk().vkCreateBufferView(device.handle(), &info, device.allocator(), &view),
          "vkCreateBufferView", name);
    device.set_name(view, VK_OBJECT_TYPE_BUFFER_VIEW, name);
    return view;
}

}  // namespace firn
