// Helpers that the passes over the list of a program's kernels share.
#include "compiler/mapping/list/list_passes.h"

namespace firn {

KernelPassOptions kernel_options(const ListTarget& target) {
    return {.verify = target.verify, .skipped = target.skipped, .seen = nullptr};
}

void add_part(ListedKernel& kernel, const ListedKernel& part, const Size& times) {
    add_lines(kernel.lines, part.lines);
    kernel.values.insert(kernel.values.end(), part.values.begin(), part.values.end());
    kernel.trail.insert(kernel.trail.end(), part.trail.begin(), part.trail.end());
    kernel.work.operations += times * part.work.operations;
    kernel.work.bytes_read += times * part.work.bytes_read;
    kernel.work.bytes_written += times * part.work.bytes_written;
}

void note_pass(ListedKernel& kernel, const KernelPassRun& pass, const KernelCode& now,
               const ListTarget& target) {
    if (target.trace)
        kernel.trail.push_back(
            {pass.name, pass.milliseconds, pass.nodes_before, pass.nodes_after, {}, print(now)});
}

}  // namespace firn
