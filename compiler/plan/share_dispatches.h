// Equal kernels that do not need each other run in one dispatch.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/list_passes.h"

namespace firn {

/// The same kernel over several tensors (transforms of several fields, scans of several rows) is
/// launched once: what its copies read and write apart become parts of one buffer, and each runs on
/// the parts of its number. They come together where nothing in between needs the first of them,
/// and their launches are a good part of their time (kLongestShared). Nothing is done where that
/// would cost more barriers, between kernels that fill parts of one buffer, than it saves launches.
/// Kernels are Placed and emitted; those that change are to be emitted again, and cannot be mapped
/// again where they are several.
void share_dispatches(KernelList& list, const ListTarget& target);

}  // namespace firn
