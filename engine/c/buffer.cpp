// Memory of the C interface: Firn's own, and buffers of the host.
#include "engine/c/handles.h"

using namespace firn::c;

int32_t firn_buffer_create(firn_context* context, uint64_t bytes, firn_buffer** buffer) {
    return guarded(context, [&] {
        if (!buffer) fail("the place for the buffer is NULL; give one");
        *buffer = nullptr;
        context->collect();
        auto made = std::make_unique<firn_buffer>();
        made->context = context;
        made->own = firn::create_buffer(
            context->device, bytes, "a buffer of the host's",
            context->device->queue() ? firn::BufferPlace::Device : firn::BufferPlace::Filled);
        made->range = made->own->range();
        *buffer = made.release();
        ++context->buffers;
    });
}

int32_t firn_buffer_import(firn_context* context, const firn_host_buffer* from,
                           firn_buffer** buffer) {
    return guarded(context, [&] {
        if (!buffer) fail("the place for the buffer is NULL; give one");
        *buffer = nullptr;
        const firn_host_buffer given = taken(from, "firn_host_buffer");
        if (given.buffer == 0) fail("firn_host_buffer.buffer is 0; give the VkBuffer");
        if (given.bytes == 0) fail("firn_host_buffer.bytes is 0; give the size of the VkBuffer");
        if (given.usage == 0) fail("firn_host_buffer.usage is 0; give the usage of the VkBuffer");
        auto made = std::make_unique<firn_buffer>();
        made->context = context;
        made->range = {(VkBuffer)given.buffer, 0, given.bytes, 0, given.bytes, given.usage};
        *buffer = made.release();
        ++context->buffers;
    });
}

int32_t firn_buffer_describe(firn_buffer* buffer, firn_buffer_info* info) {
    if (!buffer) return FIRN_ERROR_ARGUMENT;
    return guarded(buffer->context, [&] {
        firn_buffer_info out{};
        out.usage = buffer->range.usage;
        out.buffer = (uint64_t)buffer->range.buffer;
        out.offset = buffer->range.offset;
        out.bytes = buffer->range.bytes;
        give(info, out, "firn_buffer_info");
    });
}

namespace firn::c {
namespace {

Buffer& own_of(firn_buffer& buffer, const void* data, size_t bytes) {
    if (!buffer.own)
        fail("the buffer is the host's; copy by commands of the host, or use a buffer of Firn's");
    if (!data && bytes > 0) fail("the data are NULL; give as many bytes as are copied");
    return *buffer.own;
}

}  // namespace
}  // namespace firn::c

int32_t firn_buffer_write(firn_buffer* buffer, uint64_t offset, const void* data, size_t bytes) {
    if (!buffer) return FIRN_ERROR_ARGUMENT;
    return guarded(buffer->context, [&] {
        firn::write_buffer(own_of(*buffer, data, bytes), offset,
                           {static_cast<const std::byte*>(data), bytes});
    });
}

int32_t firn_buffer_read(firn_buffer* buffer, uint64_t offset, void* data, size_t bytes) {
    if (!buffer) return FIRN_ERROR_ARGUMENT;
    return guarded(buffer->context, [&] {
        firn::read_buffer(own_of(*buffer, data, bytes), offset,
                          {static_cast<std::byte*>(data), bytes});
    });
}

void firn_buffer_release(firn_buffer* buffer) {
    if (!buffer) return;
    released(buffer->context, [&] {
        --buffer->context->buffers;
        buffer->context->retire(buffer->own);
        delete buffer;
    });
}
