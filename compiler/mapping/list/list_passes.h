// Passes over the list of a program's kernels.
#pragma once
#include "compiler/base/stop.h"
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/kernel_passes.h"

namespace firn {

struct ListTarget {
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    SkippedPasses skipped;
    bool trace = false;                       // kernels keep the result of each pass
    bool verify = true;                       // see KernelPassOptions
    const std::atomic<bool>* stop = nullptr;  // see check_stop
};

/// The options of the passes over each kernel of the list.
KernelPassOptions kernel_options(const ListTarget& target);

/// Takes every kernel from Lowered to Ready by the table of kernel passes, and counts its work. A
/// kernel that stores nothing leaves the list.
void make_ready(KernelList& list, const ListTarget& target);

/// Makes small independent kernels one kernel over the indices of all: a launch costs more than
/// each of them does. A kernel may wait for others past steps that are independent of it, until a
/// kernel needs it, or a copy, a loop or a kernel by hand comes, or a size becomes known on the
/// device. Kernels are Ready.
void put_side_by_side(KernelList& list, const ListTarget& target);

/// Runs several iterations of a loop in one kernel if the iterations exchange elements at distances
/// of powers of two (sorting networks, transforms); its invocations hold these elements in
/// registers. The host knows which kernel runs an iteration. Kernels are Ready.
void raise_radix(KernelList& list, const ListTarget& target);

/// Copies operands that a kernel reads again and again in an order that memory does not have, as
/// the matrices of a product: into panels, which are one vector wide and as long as the loop that
/// reads them (packing, as in Goto and van de Geijn 2008). The kernel's last range becomes the
/// panels and their lanes, and groups that follow one another read the same panels. Sums keep their
/// order. Kernels are Ready.
void pack_operands(KernelList& list, const ListTarget& target);

/// Takes every kernel from Ready to Placed, mapped as the heuristics say (or an invocation for each
/// index, if choose_mapping is left out).
void map_kernels(KernelList& list, const ListTarget& target);

/// Makes kernels and loops that follow one another one kernel of one group that runs them in order,
/// if that takes no longer than launching them. One group then does on one core what a dispatch
/// does on all, so each must be small, as far as the facts bound its sizes. If buffers rotate in a
/// loop, its iterations are written out until the buffers have their names again, or the buffers
/// are copied. Kernels are Placed; the kernels they were mapped from are mapped again.
void put_in_sequence(KernelList& list, const ListTarget& target);

/// Adds the records of `part`, run `times` times, to those of the kernel that contains it: lines,
/// work, values and trail.
void add_part(ListedKernel& kernel, const ListedKernel& part, const Size& times = Size(1));
/// Adds `now` to the trail of the kernel, if a trail was asked for.
void note_pass(ListedKernel& kernel, const KernelPassRun& pass, const KernelCode& now,
               const ListTarget& target);

}  // namespace firn
