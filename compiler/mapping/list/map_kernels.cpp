// The kernels of a list, each by the table of kernel passes.
#include <algorithm>
#include <utility>

#include "compiler/kernel/count.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/walk/row_groups.h"

namespace firn {
namespace {

KernelCode passed(ListedKernel& kernel, KernelCode code, KernelStage from, KernelStage to,
                  Mapping* mapping, const ListTarget& target) {
    KernelPassOptions options = kernel_options(target);
    if (target.trace)
        options.seen = [&](const KernelPassRun& pass, const KernelCode& now) {
            note_pass(kernel, pass, now, target);
        };
    check_stop(target.stop);
    return run_kernel_passes(std::move(code), from, to,
                             {target.profile, target.facts, mapping, mapping}, options);
}

bool stores_nothing(const ListedStep& step) {
    const auto* kernel = std::get_if<ListedKernel>(&step.step);
    return kernel && !kernel->by_hand && kernel->code[kRoot].effects.empty();
}

void drop_idle_kernels(std::vector<ListedStep>& steps) {
    std::erase_if(steps, stores_nothing);
    for (ListedStep& step : steps)
        if (auto* loop = std::get_if<ListedLoop>(&step.step)) drop_idle_kernels(loop->body);
}

}  // namespace

void make_ready(KernelList& list, const ListTarget& target) {
    for_kernels(list.steps, [&](ListedKernel& kernel) {
        note_pass(kernel, {"lower"}, kernel.code, target);
        if (kernel.by_hand) {
            KernelCode placed = kernel.code;
            place(placed);
            kernel.work = largest(count_work(placed));
            return;
        }
        kernel.code = passed(kernel, std::move(kernel.code), KernelStage::Lowered,
                             KernelStage::Ready, nullptr, target);
        kernel.work = largest(count_work(kernel.code));
    });
    drop_idle_kernels(list.steps);
}

void map_kernels(KernelList& list, const ListTarget& target) {
    for_kernels(list.steps, [&](ListedKernel& kernel) {
        if (kernel.by_hand) {
            kernel.code = passed(kernel, std::move(kernel.code), KernelStage::Mapped,
                                 KernelStage::Placed, nullptr, target);
            return;
        }
        Mapping mapping;
        hold_rows(mapping, kernel.code, target.profile, target.facts);
        kernel.ready = std::make_shared<KernelCode>(std::move(kernel.code));
        kernel.code = passed(kernel, *kernel.ready, KernelStage::Ready, KernelStage::Placed,
                             &mapping, target);
        kernel.mapping = text(mapping);
    });
}

}  // namespace firn
