// Kernels of one result, mapped in several ways and run lane by lane on the host.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/interpret.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/lower/walk.h"
#include "compiler/mapping/kernel_passes.h"

namespace firn {

/// A kernel of one result with its arguments' values.
struct Case {
    NodeTable table;
    Builder b{table};
    Graph graph;
    std::vector<HostTensor> args;
    SizeEnv env;
    SymbolFacts facts;
    int inner = 0;

    /// Small whole numbers: their sums and products are exact in any order.
    Ref argument(DType dtype, const Shape& shape) {
        std::vector<int64_t> sizes;
        for (const Size& n : shape) sizes.push_back(n.evaluate(env));
        HostTensor values = HostTensor::make(dtype, sizes);
        for (int64_t k = 0; k < values.elements(); ++k)
            values.set(k, scalar_int((k * 7 + k / 5) % 11 - 5).to(dtype));
        args.push_back(std::move(values));
        const int index = static_cast<int>(graph.args.size());
        graph.args.push_back(input(b, index, dtype, shape, false));
        return graph.args.back();
    }
};

inline KernelCode lowered(const Case& test) {
    LowerContext context;
    context.facts = test.facts;
    for (size_t k = 0; k < test.graph.args.size(); ++k)
        context.buffers[test.graph.args[k].get()] = static_cast<int>(k);
    const int target = static_cast<int>(test.graph.args.size());
    const Ref& result = test.graph.results[0];
    context.buffers[result.get()] = target;
    return lower_kernel({"k", result->shape, test.inner, {result}, {target}}, context);
}

struct MappedLanes {
    uint32_t lanes = 8, subgroups = 1;
    int64_t unroll = 1;
    bool joined = false;  // nests of loops
};

inline KernelCode mapped(const Case& test, const MappedLanes& how,
                         DeviceProfile profile = cpu_profile()) {
    profile.subgroup_size = how.lanes;
    Mapping mapping;
    mapping.lanes = how.lanes;
    mapping.group.x = how.lanes * how.subgroups;
    mapping.unroll = how.unroll;
    mapping.collapsed_nests = how.joined;
    KernelCode code = map_kernel(lowered(test), mapping, profile, test.facts);
    verify(code, KernelStage::Mapped, "map");
    return code;
}

inline HostTensor run(const Case& test, const KernelCode& code, uint32_t lanes) {
    const Ref& node = test.graph.results[0];
    std::vector<int64_t> shape;
    for (const Size& n : node->shape) shape.push_back(n.evaluate(test.env));
    std::vector<std::vector<std::byte>> memory;
    for (const HostTensor& arg : test.args) memory.push_back(arg.data);
    HostTensor out = HostTensor::make(node->dtype, shape);
    memory.push_back(out.data);
    std::vector<std::span<std::byte>> buffers;
    for (const KernelBuffer& b : code.buffers) {
        std::vector<std::byte>& bytes = memory[static_cast<size_t>(b.buffer)];
        bytes.resize((bytes.size() + 15) / 16 * 16);
        buffers.push_back(bytes);
    }
    std::vector<Scalar> params;
    for (const ParamInfo& p : code.params) params.push_back(scalar_int(p.size.evaluate(test.env)));
    interpret_kernel(code, buffers, params, test.env, lanes);
    std::copy_n(memory.back().begin(), out.data.size(), out.data.begin());
    return out;
}

inline void expect_oracle(const Case& test, const MappedLanes& how) {
    const HostTensor expected = interpret(test.graph, test.args, test.env)[0];
    const KernelCode code = mapped(test, how);
    const HostTensor got = run(test, code, how.lanes);
    for (int64_t k = 0; k < expected.elements(); ++k)
        ASSERT_EQ(text(got.at(k)), text(expected.at(k)))
            << "element " << k << ", " << how.lanes << " lanes, " << how.subgroups
            << " subgroups, unrolled " << how.unroll << (how.joined ? ", joined\n" : "\n")
            << print(code);
}

inline void expect_oracle(const Case& test) {
    for (const MappedLanes& how :
         {MappedLanes{8, 1, 1}, MappedLanes{8, 1, 16}, MappedLanes{8, 4, 4}, MappedLanes{32, 2, 16},
          MappedLanes{2, 1, 8}, MappedLanes{8, 2, 4, true}, MappedLanes{1, 8, 4, true}})
        expect_oracle(test, how);
}

}  // namespace firn
