// Maps kernels in other ways than the heuristics choose.
#include "compiler/driver/tune.h"

#include "compiler/base/error.h"
#include "compiler/kernel/structure.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/plan/plan_kernel.h"

namespace firn {

std::vector<Mapping> other_mappings(const Program& program, int kernel, const Mapping& mapping,
                                    const SymbolFacts& facts) {
    std::shared_ptr<const KernelCode> lowered;
    bool all = true;
    for_dispatches(program.steps, [&](const DispatchStep& step) {
        if (step.kernel != kernel) return;
        lowered = step.lowered;
        all = all && step.lowered;
    });
    if (!lowered || !all) return {};
    return vary_mapping(*lowered, mapping, program.profile, facts);
}

std::shared_ptr<Program> with_mapping(const Program& program, int kernel, const Mapping& mapping,
                                      const CompileOptions& options) {
    auto out = std::make_shared<Program>(program);
    std::optional<KernelInfo> made;
    KernelStructure structure;
    for_dispatches(out->steps, [&](DispatchStep& step) {
        if (step.kernel != kernel) return;
        KernelCode code = map_kernel(*step.lowered, mapping, program.profile, options.facts,
                                     kernel_options(options));
        check_limits(code, program.profile, "");
        launch_as(step, code);
        KernelStructure own = structure_of(code);
        ensure(!made || own == structure, "equal kernels differ in another mapping");
        if (made) return;
        structure = std::move(own);
        made = kernel_info(code, program.profile, options.emission, options.emit);
        made->identity = identity_of(structure);
        made->code = std::make_shared<KernelCode>(std::move(code));
    });
    ensure(made.has_value(), "no step launches the kernel");
    KernelInfo& old = out->kernels[static_cast<size_t>(kernel)];
    made->name = old.name, made->lines = old.lines, made->tuning_key = old.tuning_key;
    made->ranges = old.ranges;
    made->mapping = text(mapping), made->tuned = true;
    old = std::move(*made);
    return out;
}

}  // namespace firn
