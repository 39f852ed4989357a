// The ways of sorting: indices that bring integer keys in order; internal.
#pragma once
#include "compiler/frontend/control.h"

namespace firn {

// `key` is i32 or i64 [rows, n]; each row is ordered by itself, equal keys keep their order. Gives
// i32 [rows, n].

/// Returns the sorted place of each element in its row.
Tensor ranks_of(const Tensor& key);
/// Returns the indices in sorted order, from the ranks.
Tensor order_by_ranks(const Tensor& key);
/// A bitonic network: every step compares all pairs.
Tensor order_by_network(Tensor key);
/// Sorted runs of 1, 2, 4, .. elements are merged in pairs.
Tensor order_by_merging(Tensor key);
/// Returns whether invocations of this session's device count digits fastest in runs of their own;
/// else invocations compare the digits of neighbours.
bool counts_digits_in_runs();
/// Stable counting sorts by digits, the lowest first.
Tensor order_by_digits(Tensor key);
/// The key, i32 or i64, of each of some elements.
using KeyOf = Callback<Tensor(const Tensor&)>;
/// Rows of elements, of 4 bytes at the least, sorted by the digits of their keys where these are
/// counted in runs: nothing but the elements is moved, and no key is kept.
Tensor sorted_in_runs(const Tensor& x, const KeyOf& key_of);

}  // namespace firn
