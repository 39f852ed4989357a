// Loops of kernels whose rows are independent of one another: each group runs all iterations of its
// own rows.
#pragma once
#include <optional>
#include <set>

#include "compiler/kernel/kernel_list.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The parts of buffers that one group has to itself: band b of a buffer of n elements is those
/// from b n / count on, n / count many.
struct Bands {
    Size count;
    std::set<int> written;  // buffers that the loop stores to or rotates
};

/// Returns the bands of the loop, which lie along the outermost axis of its kernels. Nothing if
/// they are too few to keep all cores busy, or if the data that is written for one band is too
/// large to stay near a core.
std::optional<Bands> bands_of(const Program& program, const ListedLoop& loop,
                              const DeviceProfile& profile, const SymbolFacts& facts);

/// Elements of a band of a buffer of so many; nothing where they are no number, or do not divide.
std::optional<int64_t> band_elements(const Bands& bands, const Size& elements);

/// Returns whether the outermost range of the kernel's grid counts the bands and every access to a
/// written buffer, and every store, stays in its own band. The proof is the interval of the offset
/// from the band's begin. `ready` is placed.
bool stays_in_bands(const KernelCode& ready, const Bands& bands);

}  // namespace firn
