// Small kernels of a list that wait for others to stand beside.
#include <algorithm>
#include <utility>

#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/list/side_by_side.h"

namespace firn {
namespace {

/// The state of one region's steps: `out` comes before the steps that wait, which do not need each
/// other.
struct Waiting {
    const ListTarget& target;
    std::vector<KernelCode> parts;
    ListedKernel all;  // the records of the steps that wait, without code
    std::vector<ListedStep> out;
};

void close(Waiting& run) {
    if (run.parts.empty()) return;
    std::vector<KernelCode> parts = std::exchange(run.parts, {});
    ListedKernel made = std::exchange(run.all, {});
    if (parts.size() == 1) {
        made.code = std::move(parts[0]);
    } else {
        made.code = side_by_side(parts, run.target.profile, run.target.facts);
        verify(made.code, KernelStage::Ready, "side_by_side");
        note_pass(made, {"side_by_side"}, made.code, run.target);
    }
    run.out.push_back({std::move(made)});
}

void wait(Waiting& run, ListedKernel kernel) {
    add_part(run.all, kernel);
    run.parts.push_back(std::move(kernel.code));
}

void add(Waiting& run, ListedKernel kernel) {
    const DeviceProfile& profile = run.target.profile;
    const auto is_free = [&](const KernelCode& w) { return independent(w, kernel.code); };
    if (kernel.apart || !std::all_of(run.parts.begin(), run.parts.end(), is_free)) close(run);
    if (!kernel.row_root && is_small_kernel(kernel.code, profile)) {
        // If two do not fit, the smaller one waits for another.
        const bool fits = may_stand_beside(run.parts, kernel.code, profile, run.target.facts);
        if (!fits && !is_larger(kernel.code, run.parts)) close(run);
        if (fits || run.parts.empty()) return wait(run, std::move(kernel));
    }
    run.out.push_back({std::move(kernel)});
}

std::vector<ListedStep> side_by_side_in(std::vector<ListedStep> steps, const ListTarget& target) {
    Waiting run{target, {}, {}, {}};
    for (ListedStep& step : steps) {
        auto* kernel = std::get_if<ListedKernel>(&step.step);
        if (kernel && !kernel->by_hand) {
            add(run, std::move(*kernel));
            continue;
        }
        close(run);
        if (auto* loop = std::get_if<ListedLoop>(&step.step))
            loop->body = side_by_side_in(std::move(loop->body), target);
        run.out.push_back(std::move(step));
    }
    close(run);
    return std::move(run.out);
}

}  // namespace

void put_side_by_side(KernelList& list, const ListTarget& target) {
    list.steps = side_by_side_in(std::move(list.steps), target);
}

}  // namespace firn
