// The best form of kernels for a class of devices: each target has a row for each of its classes. A
// class that runs kernels like another one takes its row as a start.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/program/device_profile.h"

namespace firn {

struct ClassRules {
    // --- Execution of kernels.

    /// A core runs the subgroups of a group one after the other, and their lanes access memory one
    /// by one; otherwise the subgroups of a group run together, and hide one another's memory
    /// latency.
    bool subgroups_run_serially = false;
    /// A group runs on one thread, so that combining stores to its shared memory need no atomics:
    /// its lanes gather in one copy of a target. Elsewhere serial lanes each have one.
    bool groups_run_alone = false;
    /// Lanes take all branches and loops that one of them takes, under masks: a branch saves
    /// nothing but loops, and entering a loop copies all that it carries.
    bool masked = false;
    /// Groups gain by loading operands into shared memory together.
    bool stages_loads = false;
    /// A load of narrow elements moves fewer bytes; else they are loaded one by one.
    bool loads_narrow = false;
    /// A load of one element by all lanes takes as long as one of different elements, and an
    /// exchange between lanes less: lanes load what all of them read one element each, and hand it
    /// round.
    bool shuffles_loads = false;

    /// Neighbours that the lanes of a subgroup load or store are one access; elsewhere each lane's
    /// is one of its own.
    bool lanes_load_together = false;
    /// Operands that a kernel reads again and again, by vectors that lie apart, are copied to where
    /// it reads them one after the other (mapping/list/pack_operands).
    bool packs_operands = false;
    /// A product and the sum that it is added to are one operation: products are added one after
    /// the other where there are sums enough to do so side by side.
    bool fuses_products = false;

    /// Values that the loops of a register tile carry.
    int64_t most_carried = 0;

    // --- Properties of its compiler.

    /// It keeps the order in which values are computed.
    bool keeps_order = false;
    /// It unrolls loops of constant trip counts further than they are written, and spills.
    bool unrolls_on = false;
    /// It takes time with each `else`: some search all ways through a kernel.
    bool dislikes_else = false;
    /// Long divisions of floats (kernel/long_divisions.h) in one kernel that it compiles in time as
    /// loops, where the device bounds back edges; 0: any number.
    int64_t most_long_divisions = 0;
    /// Elements of an invocation's private arrays that its compiler can take in one kernel; larger
    /// ones lie in buffers. 0: any number, and arrays beyond the registers go to memory by
    /// themselves.
    int64_t most_own = 0;

    // --- Sizes that are enough: measured where limits.md is cited, elsewhere not measured.

    /// Iterations of a loop for each lane from which on it is worth that the lanes share it. Native
    /// code: rows of 16 to 64 numbers in lanes of 16; sums and layer norms gain from 32 on.
    int64_t least_share = 0;
    /// Elements that each lane of a subgroup reduces in one go.
    int64_t small_share = 0;
    /// Results for each invocation that runs at once, which keep the device busy without reducing
    /// in stages.
    double results = 0;
    /// Indices of a kernel that is small enough to run beside others.
    int64_t small_kernel = 0;
    /// Invocations for each one that runs at once, which keep it busy: in plain kernels; in those
    /// with loops, whose invocations end at different times; and in those whose lanes could share a
    /// loop instead.
    int64_t waves = 1, waves_of_loops = 1, waves_of_shared = 1;
    /// Workgroups that share a core evenly.
    int64_t groups_per_core = 1;
    /// Subgroups in a group whose lanes share loops.
    int64_t sharing_subgroups = 1;
    /// Iterations at once of loops that lanes share.
    int64_t most_unrolled_shared = 1;
    /// Invocations of a group along x: enough to pay for the group, or as many as read one line of
    /// memory.
    uint32_t wide_group = 1;
    /// Operations that a store takes as long as, by however few lanes; 0: as long as a load.
    double store_operations = 0;
    /// The same for a store in the runs of kernels that stand side by side (where subgroups run
    /// serially): more keeps more of them apart.
    double store_in_runs = 0;
    /// Operations that an atomic takes as long as; 0: as long as a store.
    double atomic_operations = 0;
    /// Cost of a step of one group that runs kernels in sequence beside its work, as a share of a
    /// launch.
    double barrier_of_launch = 1;
};

const ClassRules& rules_of(const DeviceProfile& profile);

/// Returns the sizes of the one group that runs small kernels in sequence, powers of two: the best
/// first, others that may take more iterations than a driver allows. On a core that runs subgroups
/// one after the other, subgroups beyond the first only shorten its loops.
std::vector<uint32_t> one_group_sizes(const DeviceProfile& profile);
/// Returns how many such groups the device runs at once.
double groups_at_once(const DeviceProfile& profile);

}  // namespace firn
