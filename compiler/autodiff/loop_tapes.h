// Loops that run again to keep the values that they carry.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/tape.h"

namespace firn {

/// States at the beginning of a loop's iterations: by carried value [length, ...], null if it was
/// not kept. If every iteration has a slot and no element breaks off, one more slot holds the state
/// behind the last iteration.
using Tapes = std::vector<Ref>;

struct Recorded {
    Tapes tapes;
    std::vector<Ref> values;  // [most, ...]: of every iteration, see recorded()
    Ref count;  // iterations that took place (i32, rank 0); null where it was not asked for
};

/// A loop that does what `loop` does and keeps the carried values that are `kept` of every
/// `every`-th iteration, `length` of them: the pass share_loops makes one of both. `values` of its
/// body are kept of each of `most` iterations. `counts`: it counts its iterations too; needs the
/// loop's active value.
Recorded recorded(const Builder& b, const Node& loop, const Size& length,
                  const std::vector<bool>& kept, int64_t every, const std::vector<Ref>& values,
                  const Size& most, bool counts);

/// Slots of a tape for every `every`-th of `most` iterations; of all, one for the state behind the
/// last one, too: a loop of kernels then has its state nowhere else (passes/profiled/kept_states).
Size slots_of(const Size& most, int64_t every);

/// Tapes of which nothing is known yet.
Tapes empty_tapes(const Builder& b, const Node& loop, const Size& length,
                  const std::vector<bool>& kept);

/// Runs `count` iterations of a loop from iteration `first` on, which begin with `states` (null for
/// a carried value that is not asked for), and stores the state at the begin of every `every`-th
/// iteration into the tapes `room`.
Tapes recorded_again(const Builder& b, const Node& loop, const Ref& first, const Ref& count,
                     const std::vector<Ref>& states, const Tapes& room, int64_t every);

/// The carried values that the next values of `wanted` depend on, themselves included.
std::vector<bool> carried_dependencies(const Region& body, std::vector<bool> wanted);

}  // namespace firn
