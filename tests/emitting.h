// Sessions of tests that look at the texts of kernels.
#pragma once
#include <utility>

#include "compiler/frontend/record.h"
#include "compiler/frontend/session.h"

namespace firn {

/// A session on the kernel interpreter that keeps the texts which its target writes. (Other
/// sessions write no text, since nothing reads it.)
inline Session emitting(DeviceProfile profile = cpu_profile()) {
    Session session = Session::interpreter(std::move(profile));
    session.state()->emission = Emission::Text;
    return session;
}

}  // namespace firn
