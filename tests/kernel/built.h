// Code that a KernelBuilder makes of values that differ from one invocation to another, for tests.
#pragma once
#include "compiler/kernel/kernel_builder.h"

namespace firn::test {

struct Built {
    KernelCode code;
    KernelBuilder b{code, {}};

    NodeId value(const char* name) {
        Range range;
        range.name = name, range.extent = Size(8);
        return b.make(KernelOp::Cast, f32, {b.range(b.add_range(range))});
    }
};

}  // namespace firn::test
