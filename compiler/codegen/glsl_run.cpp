// The state of one run of emit_glsl(), over which the functions that write its text work.
#include "compiler/codegen/glsl_run.h"

#include <cctype>

#include "compiler/codegen/glsl.h"
#include "compiler/kernel/loop_chains.h"
#include "compiler/program/device_class.h"

namespace firn {

GlslRun::GlslRun(const KernelCode& kernel, const DeviceProfile& device)
    : code(kernel),
      profile(device),
      uses(uses_of(kernel)),
      launched(launched_group(kernel, device)),
      apart(rules_of(device).unrolls_on && device.max_back_edges ? loops_apart(kernel)
                                                                 : std::set<int>()),
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
