// The kernels of a list as the target makes them, and mappings that tuning found.
#include "compiler/plan/emit_kernels.h"

#include <utility>

#include "compiler/mapping/mapping.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/tuned.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

struct EmitRun {
    EmittedKernels& emitted;
    const DeviceProfile& profile;
    const CompileOptions& options;
};

/// The code of a kernel as the target makes it. `of` is the kernel, for messages.
EmittedKernel& emitted(EmitRun& run, const KernelCode& code, const ListedKernel& of) {
    const auto [at, added] = run.emitted.try_emplace(structure_of(code));
    if (!added) return at->second;
    check_expressible(code, target_of(run.profile), run.profile,
                      of.lines.empty() ? "" : " (" + of.lines[0] + ")");
    auto info = std::make_shared<KernelInfo>(
        kernel_info(code, run.profile, run.options.emission, run.options.emit));
    info->identity = identity_of(at->first);
    at->second.info = std::move(info);
    return at->second;
}

const KernelTuning& tuning_of(EmitRun& run, EmittedKernel& kernel) {
    if (!kernel.tuning) {
        const std::string key = tuning_key(kernel.info->identity, run.profile, run.options);
        kernel.tuning = {key, find_tuned(key, run.options)};
    }
    return *kernel.tuning;
}

void use_tuned(EmitRun& run, ListedKernel& kernel, const KernelTuning& tuning) {
    kernel.tuning_key = tuning.key;
    if (!tuning.found) return;
    auto code = remap(*kernel.ready, *tuning.found, run.profile, run.options.facts,
                      kernel_options(run.options));
    if (!code) return;
    kernel.code = std::move(*code);
    kernel.mapping = text(*tuning.found), kernel.tuned = true;
    kernel.emitted = emitted(run, kernel.code, kernel).info;
}

}  // namespace

void emit_kernels(KernelList& list, EmittedKernels& all, const DeviceProfile& profile,
                  const CompileOptions& options) {
    EmitRun run{all, profile, options};
    for_kernels(list.steps, [&](ListedKernel& kernel) {
        if (kernel.emitted) return;
        EmittedKernel& own = emitted(run, kernel.code, kernel);
        kernel.emitted = own.info;
        if (kernel.ready) use_tuned(run, kernel, tuning_of(run, own));
    });
}

}  // namespace firn
