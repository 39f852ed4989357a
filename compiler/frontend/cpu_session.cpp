// Sessions that run native code of the processor.
#include "compiler/frontend/cpu_session.h"

#include <memory>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/host/native_executor.h"
#include "compiler/host/processor.h"
#include "compiler/target/native/llvm.h"

namespace firn {

std::string why_no_cpu_session() { return why_no_llvm(); }

SharedPtr<Executor> make_cpu_executor() {
    if (const std::string why = why_no_llvm(); !why.empty()) throw UserError(why);
    const NativeProcessor processor = host_processor();
    DeviceProfile profile = profile_of_processor(processor);
    profile.driver = native_compiler_version();
    return std::shared_ptr<Executor>(make_native_executor(std::move(profile)));
}

Session cpu_session() { return Session(make_cpu_executor()); }

}  // namespace firn
