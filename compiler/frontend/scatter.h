// Stores that combine with the old value, and stores with a promise.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Promises about the places that are stored to.
///
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

/// Adds at places, `scatter_add(histogram(bin), 1)`: every position adds its value at its own
/// index, even if many have the same one. Indices and values broadcast together; an index outside
/// is dropped; under `if_`, and after `break_` or `continue_`, the positions whose condition holds
/// take part. Makes a new version of the tensor, as `x(i) = v` does.
///
/// Integers wrap and give the same bits in every run. The device chooses the order of sums and
/// products of floats: they may differ in the last bits from run to run (`{.deterministic = true}`
/// behind the value keeps the order of the positions). Values are converted to the tensor's type;
/// f16 and bf16 are combined in f32, integers of 8 and 16 bits in i32, from which they wrap;
/// numbers into a bool are combined as 0 and 1, and a result other than 0 is true. 64-bit types are
/// combined by devices that have 64-bit atomics; others refuse the program unless it is proved that
/// no two positions have the same index, as at x(all, 1). UserError: an index that is no integer,
/// values that do not fit the indices; inside kernel(...) types of less than 32 bits.
///
/// Examples: after `Tensor x = zeros({3}, i32); scatter_add(x(tensor({0, 2, 0, 7})), 1);` `x` is
/// `{2, 0, 1}`; then after `scatter_add(x(tensor({1, 1})), tensor({10, 20}));` `x` is
/// `{2, 30, 1}`.
void scatter_add(const Access& place, const Arg& value);
/// Multiplies the old value by all values at its index; else as scatter_add.
///
/// Example: after `Tensor x = tensor({1, 5}); scatter_mul(x(tensor({0, 0})), tensor({2, 3}));` `x`
/// is `{6, 5}`.
void scatter_mul(const Access& place, const Arg& value);
/// Stores the smallest of the old value and all values at its index; numbers win over nan.
///
/// Example: after `Tensor x = tensor({5, 5});`
/// `scatter_min(x(tensor({0, 0, 1})), tensor({4, 3, 9}));` `x` is `{3, 5}`.
void scatter_min(const Access& place, const Arg& value);
/// Stores the largest of the old value and all values at its index; numbers win over nan.
///
/// Example: after `Tensor x = tensor({5, 5});`
/// `scatter_max(x(tensor({0, 0, 1})), tensor({4, 3, 9}));` `x` is `{5, 9}`.
void scatter_max(const Access& place, const Arg& value);
/// Combines the old value and all values at its index by bitwise and; integers or bools. Floats are
/// a UserError.
///
/// Example: after `Tensor x = tensor({7, 7}); scatter_and(x(tensor({0, 0})), tensor({6, 5}));` `x`
/// is `{4, 7}`.
void scatter_and(const Access& place, const Arg& value);
/// Combines the old value and all values at its index by bitwise or; integers or bools. Floats are
/// a UserError.
///
/// Example: after `Tensor seen = tensor({false, false}); scatter_or(seen(tensor({1, 1})), true);`
/// `seen` is `{false, true}`.
void scatter_or(const Access& place, const Arg& value);
/// Combines the old value and all values at its index by bitwise exclusive or; integers or bools.
/// Floats are a UserError.
///
/// Example: after `Tensor x = tensor({1, 1}); scatter_xor(x(tensor({0, 0})), tensor({3, 6}));` `x`
/// is `{4, 1}`.
void scatter_xor(const Access& place, const Arg& value);

/// `x(i, j) = value` with options.
///
/// Example: after `Tensor x = zeros({3}, i32);`
/// `store(x(tensor({2, 0})), tensor({5, 6}), {.unique = true});` `x` is `{6, 0, 5}`.
void store(const Access& place, const Arg& value, const ScatterOptions& options = {});

}  // namespace firn
