// Placed Kernel code written by hand, for tests.
#pragma once
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn::test {

/// Adds nodes in the order of evaluation; the region that evaluates them is given each time.
struct ByHand {
    KernelCode code;

    ByHand() { code.name = "by_hand"; }

    NodeId add(KernelNode node, RegionId region = {}) {
        const NodeId id = code.nodes.end_id();
        code.nodes.push_back(std::move(node));
        if (region) code[region].order.push_back(id);
        return id;
    }
    KernelNode make(KernelOp op, DType dtype, std::vector<NodeId> args = {}, KernelAttr attr = {}) {
        KernelNode node;
        node.op = op;
        node.dtype = dtype;
        node.args = std::move(args);
        node.attr = attr;
        return node;
    }

    int buffer(DType dtype, bool written) {
        KernelBuffer buffer;
        buffer.buffer = static_cast<int>(code.buffers.size()) + 7;
        buffer.dtype = dtype;
        buffer.written = written;
        code.buffers.push_back(buffer);
        return static_cast<int>(code.buffers.size()) - 1;
    }
    NodeId constant(const Scalar& value) {
        return add(make(KernelOp::Constant, value.dtype, {}, value));
    }
    NodeId integer(int64_t value) { return constant(scalar_int(value)); }
    NodeId param(DType dtype) {
        code.params.push_back({dtype, 0, -1});
        return add(
            make(KernelOp::Param, dtype, {}, ParamAttr{static_cast<int>(code.params.size()) - 1}));
    }
    NodeId range(RangeKind kind, const Size& extent, int dim = 0) {
        Range range;
        range.name = "r" + std::to_string(code.ranges.size());
        range.kind = kind;
        range.extent = extent;
        range.dim = dim;
        const RangeId id = code.ranges.end_id();
        code.ranges.push_back(range);
        return add(make(KernelOp::Range, i32, {}, id));
    }
    NodeId op(KernelOp op, DType dtype, std::vector<NodeId> args, RegionId region) {
        return add(make(op, dtype, std::move(args)), region);
    }
    NodeId load(RegionId region, int buffer, NodeId index, int width = 1) {
        return load(region, buffer, index, width, code.buffers[static_cast<size_t>(buffer)].dtype);
    }
    NodeId load(RegionId region, int buffer, NodeId index, int width, DType dtype) {
        const AccessAttr access{.buffer = buffer, .width = width};
        return add(make(KernelOp::Load, dtype, {index}, access), region);
    }
    NodeId lane(RegionId region, NodeId vector, int lane) {
        return add(make(KernelOp::Lane, code[vector].dtype, {vector}, LaneAttr{lane}), region);
    }
    NodeId subgroup_reduce(RegionId region, ReduceOp reduce, NodeId value) {
        return add(make(KernelOp::SubgroupReduce, code[value].dtype, {value}, reduce), region);
    }

    RegionId region() {
        const RegionId id = code.regions.end_id();
        code.regions.emplace_back();
        return id;
    }
    /// The serial range of a loop body with this trip count.
    NodeId serial(RegionId region, NodeId trips) {
        const NodeId index = range(RangeKind::Serial, 0);
        code.ranges.back().extent_node = trips;
        code[region].range = code[index].as<RangeId>();
        return index;
    }
    NodeId region_arg(RegionId region, DType dtype) {
        std::vector<NodeId>& args = code[region].args;
        const CarriedAttr carried{region, static_cast<int>(args.size())};
        args.push_back(add(make(KernelOp::RegionArg, dtype, {}, carried)));
        return args.back();
    }
    /// A For or Branch; without a `region` it stands in no order (it is an effect).
    NodeId close(RegionId region, KernelOp op, std::vector<NodeId> args, RegionId body,
                 RegionId else_body = {}) {
        return add(make(op, f32, std::move(args), BodyAttr{body, else_body}), region);
    }
    NodeId result(RegionId region, NodeId owner, int index, DType dtype) {
        return add(make(KernelOp::Result, dtype, {owner}, PositionAttr{index}), region);
    }
    void effect(RegionId region, NodeId id) { code[region].effects.push_back(id); }
    void store(RegionId region, int buffer, NodeId index, const std::vector<NodeId>& values) {
        std::vector<NodeId> args{index};
        args.insert(args.end(), values.begin(), values.end());
        const AccessAttr access{.buffer = buffer, .width = static_cast<int>(values.size())};
        const DType dtype = code.buffers[static_cast<size_t>(buffer)].dtype;
        effect(region, add(make(KernelOp::Store, dtype, std::move(args), access)));
    }
    void store(RegionId region, int buffer, NodeId index, NodeId value) {
        store(region, buffer, index, std::vector<NodeId>{value});
    }
    NodeId atomic(ScatterOp op, int buffer, NodeId index, NodeId value) {
        const AccessAttr access{.buffer = buffer, .combine = op};
        return add(make(KernelOp::Atomic, i32, {index, value}, access));
    }
};

}  // namespace firn::test
