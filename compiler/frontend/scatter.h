// Stores that combine with what is there, and stores with a promise.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Promises that are not kept give an arbitrary result (inside the tensor). FIRN_CHECK=1 and
/// Session::check_promises verify them, and the oracle always does.
struct ScatterOptions {
    [[no_unique_address]] ByName by_name = {};
    /// A promise that no two positions have the same index: nothing is done to settle which wins.
    bool unique = false;
    /// A promise that the indices are a permutation of the tensor's: every element is stored
    /// exactly once, so that the old values need not be kept.
    bool permutation = false;
};

/// `scatter_add(histogram(bin), 1)`: every position adds its value at its own index, however many
/// meet there. Indices and values broadcast together; an index outside is dropped; under `if_`, and
/// after `break_` or `continue_`, the positions whose condition holds take part. Makes a new
/// version of the tensor, as `x(i) = v` does.
///
/// Integers wrap and give the same bits in every run. Sums and products of floats are made in the
/// order in which the device comes by: they may differ in the last bits from run to run
/// (`{.deterministic = true}` behind the value keeps the order of the positions). Values are
/// converted to the tensor's type; f16 and bf16 are combined in f32, integers of 8 and 16 bits in
/// i32, from which they wrap; numbers into a bool are combined as 0 and 1, and what is not 0 is
/// true. 64-bit types are combined where it can be seen that no two positions meet, as at
/// x(all, 1); else a program for a device is refused. UserError: an index that is no integer,
/// values that do not fit the indices; inside kernel(...) types of less than 32 bits.
void scatter_add(const Access& place, const Arg& value);
void scatter_mul(const Access& place, const Arg& value);
/// The smallest of what is there and of all values that meet; a nan gives way.
void scatter_min(const Access& place, const Arg& value);
void scatter_max(const Access& place, const Arg& value);
/// Bits of integers, or bools.
void scatter_and(const Access& place, const Arg& value);
void scatter_or(const Access& place, const Arg& value);
void scatter_xor(const Access& place, const Arg& value);

/// `x(i, j) = value` with options.
void store(const Access& place, const Arg& value, const ScatterOptions& options = {});

}  // namespace firn
