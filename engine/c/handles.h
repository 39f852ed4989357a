// The objects behind the handles of the C interface, and the way from C++ errors to its codes.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/saved_program.h"
#include "engine/c/firn.h"
#include "engine/gpu/device.h"
#include "engine/runtime/record.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn::c {

/// Something that was released and may still be used: by commands of the host up to `frame`, and by
/// Firn's submissions up to `point`.
struct Retired {
    uint64_t frame = 0;
    TimelinePoint point = 0;
    std::shared_ptr<const void> object;
};

/// A program with what describing it takes.
struct ProgramState {
    SavedProgram saved;
    std::vector<std::string> argument_shapes, result_shapes;  // as formulas
    std::vector<std::vector<const char*>> choices;            // by parameter
    /// The forms that calls have loaded, while any call has them.
    std::map<const Program*, std::weak_ptr<LoadedProgram>> loaded;
};

/// Returned by functions in place of an exception: see guarded.
struct Failure {
    int32_t code = FIRN_ERROR_ARGUMENT;
    std::string text;
};
[[noreturn]] inline void fail(int32_t code, std::string text) {
    throw Failure{code, std::move(text)};
}
[[noreturn]] inline void fail(std::string text) { fail(FIRN_ERROR_ARGUMENT, std::move(text)); }

/// The code and the text of the exception that is being handled. `of_user_errors`: the code of a
/// UserError.
Failure current_failure(int32_t of_user_errors) noexcept;

/// Writes as much of the text as there is room for.
void copy_text(const std::string& text, char* to, size_t room) noexcept;

/// Reads a struct of the caller, which may be older (the rest is 0) or newer (the rest must be 0).
template <class Struct>
Struct taken(const Struct* from, const char* what) {
    if (!from) fail(std::string(what) + " is NULL; give one");
    Struct out{};
    const uint32_t size = from->struct_size;
    if (size < sizeof(uint32_t))
        fail(std::string(what) + ": struct_size is " + std::to_string(size) +
             "; set it to the sizeof of the struct");
    std::memcpy(&out, from, std::min<size_t>(size, sizeof out));
    const char* bytes = reinterpret_cast<const char*>(from);
    for (size_t k = sizeof out; k < size; ++k)
        if (bytes[k] != 0)
            fail(std::string(what) +
                 " uses a member of a newer firn.h than this library knows; use a newer library");
    out.struct_size = sizeof out;
    return out;
}

/// Fills a struct of the caller, as much of it as it knows.
template <class Struct>
void give(Struct* to, Struct value, const char* what) {
    if (!to) fail(std::string(what) + " is NULL; give one");
    const uint32_t size = to->struct_size;
    if (size < sizeof(uint32_t))
        fail(std::string(what) + ": struct_size is " + std::to_string(size) +
             "; set it to the sizeof of the struct");
    value.struct_size = size;
    std::memcpy(static_cast<void*>(to), &value, std::min<size_t>(size, sizeof value));
}

}  // namespace firn::c

struct firn_context {
    std::shared_ptr<firn::Device> device;
    std::shared_ptr<firn::VulkanExecutor> executor;  // null without a queue
    std::unique_ptr<firn::CommandPool> commands;     // the same
    std::string device_name, message;
    void (*log)(void*, int32_t, const char*) = nullptr;
    void* user = nullptr;
    std::atomic<bool> busy{false};
    int32_t status = FIRN_OK;
    size_t programs = 0, calls = 0, buffers = 0, images = 0;  // that are not released
    uint64_t frame = 0, frame_done = 0;
    std::deque<firn::c::Retired> retired;
    std::map<std::array<uint32_t, 4>, std::shared_ptr<const firn::Pipeline>> pixel_pipelines;

    /// Keeps an object until nothing that runs can use it.
    void retire(std::shared_ptr<const void> object) noexcept;
    /// Lets go of those that nothing uses any more.
    void collect();
};

struct firn_program {
    firn_context* context = nullptr;
    std::shared_ptr<firn::c::ProgramState> state;
};

struct firn_buffer {
    firn_context* context = nullptr;
    std::shared_ptr<firn::Buffer> own;  // null: of the host
    firn::BufferRange range;
};

struct firn_image {
    firn_context* context = nullptr;
    firn_host_image image;
};

namespace firn::c {

/// Runs `work` as the one thread in the context. Any error becomes its code, and its text the
/// context's message.
template <class Work>
int32_t guarded(firn_context* context, Work work,
                int32_t of_user_errors = FIRN_ERROR_ARGUMENT) noexcept {
    if (!context) return FIRN_ERROR_ARGUMENT;
    if (context->busy.exchange(true, std::memory_order_acquire)) return FIRN_ERROR_BUSY;
    int32_t code = FIRN_OK;
    try {
        if (!context->device->is_here()) fail(context->device->why_not_here());
        work();
    } catch (...) {
        Failure failure = current_failure(of_user_errors);
        code = failure.code;
        context->message = std::move(failure.text);
        if (context->device->is_lost()) code = context->status = FIRN_ERROR_DEVICE_LOST;
        if (context->log) context->log(context->user, FIRN_LOG_ERROR, context->message.c_str());
    }
    context->busy.store(false, std::memory_order_release);
    return code;
}

/// Releases the object behind a handle.
template <class Work>
void released(firn_context* context, Work work) noexcept {
    (void)guarded(context, work);
}

}  // namespace firn::c
