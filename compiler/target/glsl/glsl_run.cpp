// The state of one run of emit_glsl(), over which the functions that write its text work.
#include "compiler/target/glsl/glsl_run.h"

#include <cctype>

#include "compiler/target/glsl/glsl.h"
#include "compiler/target/glsl/loop_chains.h"

namespace firn {

GlslRun::GlslRun(const KernelCode& kernel, const DeviceProfile& device)
    : code(kernel),
      profile(device),
      uses(uses_of(kernel)),
      launched(launched_group(kernel, device)),
      apart(loops_apart(kernel, device)),
      text(kernel.nodes.size()) {}

std::ostream& line(GlslRun& run, int indent) {
    return run.body << std::string(static_cast<size_t>(indent) * 4, ' ');
}

void note_functions(GlslRun& run, const std::string& expression) {
    for (size_t at = expression.find("firn_"); at != std::string::npos;
         at = expression.find("firn_", at + 1)) {
        size_t end = at;
        while (
            end < expression.size() &&
            (std::isalnum(static_cast<unsigned char>(expression[end])) || expression[end] == '_'))
            ++end;
        run.functions.insert(expression.substr(at, end - at));
    }
}

}  // namespace firn
