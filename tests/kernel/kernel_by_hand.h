// Placed Kernel code written by hand, for tests.
#pragma once
#include <string>
#include <type_traits>
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
    template <class Field>
    KernelNode with(KernelNode node, Field KernelNode::*field,
                    const std::type_identity_t<Field>& value) {
        node.*field = value;
        return node;
    }
    KernelNode make(KernelOp op, DType dtype, std::vector<NodeId> args = {}) {
        KernelNode node;
        node.op = op;
        node.dtype = dtype;
        node.args = std::move(args);
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
        KernelNode node = make(KernelOp::Constant, value.dtype);
        node.constant = value;
        return add(node);
    }
    NodeId integer(int64_t value) { return constant(scalar_int(value)); }
    NodeId param(DType dtype) {
        code.params.push_back({dtype, 0, -1});
        return add(with(make(KernelOp::Param, dtype), &KernelNode::param,
                        static_cast<int>(code.params.size()) - 1));
    }
    NodeId range(RangeKind kind, const Size& extent, int dim = 0) {
        Range range;
        range.name = "r" + std::to_string(code.ranges.size());
        range.kind = kind;
        range.extent = extent;
        range.dim = dim;
        const RangeId id = code.ranges.end_id();
        code.ranges.push_back(range);
        return add(with(make(KernelOp::Range, i32), &KernelNode::range, id));
    }
    NodeId op(KernelOp op, DType dtype, std::vector<NodeId> args, RegionId region) {
        return add(make(op, dtype, std::move(args)), region);
    }
    NodeId load(RegionId region, int buffer, NodeId index, int width = 1) {
        return load(region, buffer, index, width, code.buffers[static_cast<size_t>(buffer)].dtype);
    }
    NodeId load(RegionId region, int buffer, NodeId index, int width, DType dtype) {
        KernelNode node = with(make(KernelOp::Load, dtype, {index}), &KernelNode::buffer, buffer);
        node.width = width;
        return add(node, region);
    }
    NodeId lane(RegionId region, NodeId vector, int lane) {
        return add(
            with(make(KernelOp::Lane, code[vector].dtype, {vector}), &KernelNode::lane, lane),
            region);
    }
    NodeId subgroup_reduce(RegionId region, ReduceOp reduce, NodeId value) {
        KernelNode node = make(KernelOp::SubgroupReduce, code[value].dtype, {value});
        node.reduce = reduce;
        return add(node, region);
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
        code[region].range = code[index].range;
        return index;
    }
    NodeId region_arg(RegionId region, DType dtype) {
        std::vector<NodeId>& args = code[region].args;
        KernelNode node = with(make(KernelOp::RegionArg, dtype), &KernelNode::position,
                               static_cast<int>(args.size()));
        node.region = region;
        args.push_back(add(node));
        return args.back();
    }
    /// A For or Branch; without a `region` it stands in no order (it is an effect).
    NodeId close(RegionId region, KernelOp op, std::vector<NodeId> args, RegionId body,
                 RegionId else_body = {}) {
        KernelNode node = make(op, f32, std::move(args));
        node.region = body;
        node.else_region = else_body;
        return add(node, region);
    }
    NodeId result(RegionId region, NodeId owner, int index, DType dtype) {
        return add(with(make(KernelOp::Result, dtype, {owner}), &KernelNode::position, index),
                   region);
    }
    void effect(RegionId region, NodeId id) { code[region].effects.push_back(id); }
    void store(RegionId region, int buffer, NodeId index, const std::vector<NodeId>& values) {
        KernelNode node =
            with(make(KernelOp::Store, code.buffers[static_cast<size_t>(buffer)].dtype, {index}),
                 &KernelNode::buffer, buffer);
        node.args.insert(node.args.end(), values.begin(), values.end());
        node.width = static_cast<int>(values.size());
        effect(region, add(node));
    }
    void store(RegionId region, int buffer, NodeId index, NodeId value) {
        store(region, buffer, index, std::vector<NodeId>{value});
    }
    NodeId atomic(ScatterOp op, int buffer, NodeId index, NodeId value) {
        KernelNode n =
            with(make(KernelOp::Atomic, i32, {index, value}), &KernelNode::buffer, buffer);
        n.combine = op;
        return add(n);
    }
};

}  // namespace firn::test
