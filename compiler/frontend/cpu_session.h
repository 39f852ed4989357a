// Sessions that run native code of the processor, without a driver.
#pragma once
#include <string>

#include "compiler/frontend/session.h"

namespace firn {

/// Returns a session whose programs are compiled to native code of this processor and run on all
/// cores that the process may use (FIRN_THREADS: on so many). It needs LLVM's library, and no
/// Vulkan; UserError that names the package where there is none (see why_no_cpu_session()).
/// FIRN_CPU chooses a lower level of the processor.
///
/// Example: after `int last = 0; if (why_no_cpu_session().empty()) { SessionScope
/// scope(cpu_session());` `last = (arange(4) * 10).to_vector<int>()[3]; } else last = 30;` `last`
/// is `30`.
Session cpu_session();

/// Returns why cpu_session() cannot be used here; empty: it can.
std::string why_no_cpu_session();

/// @cond

/// The executor of a cpu_session().
SharedPtr<Executor> make_cpu_executor();

/// @endcond

}  // namespace firn
