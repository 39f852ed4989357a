// The three kinds of error that Firn throws.
#pragma once
#include <stdexcept>
#include <string>

namespace firn {

/// An error that the caller can correct. Its message states the request, the offending values, the
/// reason, the way out, and the place.
///
/// Example: after `bool refused = false;`
/// `try { Tensor x = zeros({3}) + zeros({2}); } catch (const UserError&) { refused = true; }`
/// `refused` is `true`.
struct UserError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Vulkan said no: the call, its result and the object's name. Out of device memory is one, too:
/// tensors that were there stay usable.
struct DeviceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A bug in Firn.
struct InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

/// @cond

/// Throws InternalError with `what` unless `condition` holds; checked in every build.
inline void ensure(bool condition, const char* what) {
    if (!condition) throw InternalError(std::string("internal error: ") + what);
}

/// @endcond

}  // namespace firn
