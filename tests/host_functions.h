// Sessions of tests that compare the kernel interpreter and the oracle exactly.
#pragma once
#include <memory>
#include <utility>

#include "compiler/frontend/record.h"
#include "compiler/frontend/session.h"
#include "compiler/kernel/interpret/interpret_kernel.h"

namespace firn {

/// A session on the kernel interpreter with the host's exp, sin and their kin, which the oracle
/// has: every difference is one of kernels, not of functions.
inline Session with_host_functions(DeviceProfile profile = cpu_profile()) {
    Session session(
        std::shared_ptr<Executor>(make_interpreter(std::move(profile), FunctionValues::OfHost)));
    session.state()->emission = Emission::Nothing;
    return session;
}

}  // namespace firn
