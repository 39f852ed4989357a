// Groups of a kernel as the thread sanitizer is to see them: on threads of their own.
#pragma once
#include "compiler/program/native_abi.h"

namespace firn {

/// Calls the kernel for the groups [first, last), and tells the sanitizer that neighbouring groups
/// run at the same time, whatever thread runs them: what it finds does not depend on the threads
/// that there are. Only in builds with kFindsRaces.
void run_groups_apart(NativeKernel kernel, const NativeCall& call, uint64_t first, uint64_t last);

}  // namespace firn
