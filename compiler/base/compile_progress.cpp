// Reports the progress of a compile.
#include "compiler/base/compile_progress.h"

namespace firn {

std::string text(const CompileProgress& progress) {
    const std::string what = "compiling " + progress.program;
    if (progress.kernels == 0) return what;
    return what + ", " + std::to_string(progress.done) + " of " + std::to_string(progress.kernels) +
           (progress.kernels == 1 ? " kernel" : " kernels");
}

}  // namespace firn
