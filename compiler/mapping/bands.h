// Loops of kernels whose rows have nothing to do with one another: each group takes all iterations
// of its own.
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
    std::set<int> written;  // buffers that the loop stores to, or whose names rotate
};

/// The bands of the loop: the outermost axis of its kernels, where there are enough to keep all
/// cores busy, and what is written of one is small enough to stay near a core.
std::optional<Bands> bands_of(const Program& program, const ListedLoop& loop,
                              const DeviceProfile& profile, const SymbolFacts& facts);

/// Elements of a band of a buffer of so many; nothing where they are no number, or do not divide.
std::optional<int64_t> band_elements(const Bands& bands, const Size& elements);

/// The outermost range of the kernel's grid counts the bands, and all that it loads of what is
/// written, and stores, is of its band: shown by the intervals of what is added to the band's
/// begin. `ready` is placed.
bool stays_in_bands(const KernelCode& ready, const Bands& bands);

}  // namespace firn
