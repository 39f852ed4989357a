// Passes over the list of a program's kernels.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/passes.h"
#include "compiler/program/stop.h"

namespace firn {

struct ListTarget {
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    KernelSteps steps;
    bool trace = false;                       // kernels keep what passes make of them
    bool verify = true;                       // see KernelPassOptions
    const std::atomic<bool>* stop = nullptr;  // see check_stop
};

/// Takes every kernel from Lowered to Ready by the table of kernel passes, and counts its work. A
/// kernel that stores nothing leaves the list.
void make_ready(KernelList& list, const ListTarget& target);

/// Small kernels that do not need each other become one, over the indices of all: a launch costs
/// more than what each of them does. One waits for others, past what is independent of it, until a
/// kernel needs it, or a copy, a loop or a kernel by hand comes, or a size is known to the device.
/// Kernels are Ready.
void put_side_by_side(KernelList& list, const ListTarget& target);

/// Loops whose iterations exchange elements at distances of powers of two (sorting networks,
/// transforms) take several of them in one kernel, in whose invocations these elements lie in
/// registers. Which kernel an iteration takes is known to the host. Kernels are Ready.
void raise_radix(KernelList& list, const ListTarget& target);

/// Takes every kernel from Ready to Placed, mapped as the heuristics say.
void map_kernels(KernelList& list, const ListTarget& target);

/// Kernels and loops that follow one another become one kernel of one group that runs them in
/// order, where that takes no longer than launching them. What a dispatch does on all cores one
/// group does on one: so each must be small, as far as the facts bound its sizes. Where buffers
/// rotate in a loop its iterations are written out until they have their names again, or the
/// buffers are copied. Kernels are Placed; what they were mapped from is mapped again.
void put_in_sequence(KernelList& list, const ListTarget& target);

/// Adds what is known of `part`, run `times` times, to what is known of a kernel that it becomes
/// part of: lines, work, values and
/// trail.
void add_part(ListedKernel& kernel, const ListedKernel& part, const Size& times = Size(1));
/// Adds `now` to the trail of the kernel, where somebody asks for it.
void note_pass(ListedKernel& kernel, const KernelPassRun& pass, const KernelCode& now,
               const ListTarget& target);

}  // namespace firn
