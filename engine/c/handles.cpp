// The way from C++ errors to codes of the C interface, and objects that wait for commands.
#include "engine/c/handles.h"

#include <algorithm>

namespace firn::c {

Failure current_failure(int32_t of_user_errors) noexcept {
    try {
        try {
            throw;
        } catch (Failure& failure) {
            return std::move(failure);
        } catch (const UserError& error) {
            return {of_user_errors, error.what()};
        } catch (const OutOfMemory& error) {
            return {FIRN_ERROR_OUT_OF_MEMORY, error.what()};
        } catch (const DeviceError& error) {
            return {FIRN_ERROR_DEVICE, error.what()};
        } catch (const std::bad_alloc&) {
            return {FIRN_ERROR_OUT_OF_MEMORY, "out of memory"};
        } catch (const std::exception& error) {
            return {FIRN_ERROR_INTERNAL, error.what()};
        } catch (...) {
            return {FIRN_ERROR_INTERNAL, "an unknown exception"};
        }
    } catch (...) {
        return {FIRN_ERROR_OUT_OF_MEMORY, {}};  // there was no memory for the text
    }
}

void copy_text(const std::string& text, char* to, size_t room) noexcept {
    if (!to || room == 0) return;
    const size_t count = std::min(text.size(), room - 1);
    std::memcpy(to, text.data(), count);
    to[count] = '\0';
}

}  // namespace firn::c

void firn_context::retire(std::shared_ptr<const void> object) noexcept {
    if (!object) return;
    try {
        retired.push_back({frame, device->last_submitted(), std::move(object)});
    } catch (...) {
        // Without memory for the note it is freed after all that Firn submitted, and never while
        // the host may still use it: the object stays for as long as the process.
        if (frame > frame_done) new (std::nothrow) std::shared_ptr<const void>(std::move(object));
    }
}

void firn_context::collect() {
    const firn::TimelinePoint done = retired.empty() ? 0 : device->completed();
    while (!retired.empty() && retired.front().frame <= frame_done && retired.front().point <= done)
        retired.pop_front();
    device->collect();
}
