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

    int add(KernelNode node, int region = -1) {
        code.nodes.push_back(std::move(node));
        int id = static_cast<int>(code.nodes.size()) - 1;
        if (region >= 0) code.regions[static_cast<size_t>(region)].order.push_back(id);
        return id;
    }
    KernelNode with(KernelNode node, int KernelNode::*field, int value) {
        node.*field = value;
        return node;
    }
    KernelNode make(KernelOp op, DType dtype, std::vector<int> args = {}) {
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
    int constant(const Scalar& value) {
        KernelNode node = make(KernelOp::Constant, value.dtype);
        node.constant = value;
        return add(node);
    }
    int integer(int64_t value) { return constant(scalar_int(value)); }
    int param(DType dtype) {
        code.params.push_back({dtype, 0, -1});
        return add(with(make(KernelOp::Param, dtype), &KernelNode::param,
                        static_cast<int>(code.params.size()) - 1));
    }
    int range(RangeKind kind, const Size& extent, int dim = 0) {
        Range range;
        range.name = "r" + std::to_string(code.ranges.size());
        range.kind = kind;
        range.extent = extent;
        range.dim = dim;
        code.ranges.push_back(range);
        return add(with(make(KernelOp::Range, i32), &KernelNode::range,
                        static_cast<int>(code.ranges.size()) - 1));
    }
    int op(KernelOp op, DType dtype, std::vector<int> args, int region) {
        return add(make(op, dtype, std::move(args)), region);
    }
    int load(int region, int buffer, int index, int width = 1) {
        return load(region, buffer, index, width, code.buffers[static_cast<size_t>(buffer)].dtype);
    }
    int load(int region, int buffer, int index, int width, DType dtype) {
        KernelNode node = with(make(KernelOp::Load, dtype, {index}), &KernelNode::buffer, buffer);
        node.width = width;
        return add(node, region);
    }
    int lane(int region, int vector, int lane) {
        return add(
            with(make(KernelOp::Lane, code.nodes[static_cast<size_t>(vector)].dtype, {vector}),
                 &KernelNode::lane, lane),
            region);
    }
    int subgroup_reduce(int region, ReduceOp reduce, int value) {
        KernelNode node =
            make(KernelOp::SubgroupReduce, code.nodes[static_cast<size_t>(value)].dtype, {value});
        node.reduce = reduce;
        return add(node, region);
    }

    int region() {
        code.regions.emplace_back();
        return static_cast<int>(code.regions.size()) - 1;
    }
    /// The serial range of a loop body with this trip count.
    int serial(int region, int trips) {
        int index = range(RangeKind::Serial, 0);
        code.ranges.back().extent_node = trips;
        code.regions[static_cast<size_t>(region)].range = static_cast<int>(code.ranges.size()) - 1;
        return index;
    }
    int region_arg(int region, DType dtype) {
        std::vector<int>& args = code.regions[static_cast<size_t>(region)].args;
        KernelNode node = with(make(KernelOp::RegionArg, dtype), &KernelNode::position,
                               static_cast<int>(args.size()));
        node.region = region;
        args.push_back(add(node));
        return args.back();
    }
    /// A For or Branch; `region` -1: it stands in no order (it is an effect).
    int close(int region, KernelOp op, std::vector<int> args, int body, int else_body = -1) {
        KernelNode node = make(op, f32, std::move(args));
        node.region = body;
        node.else_region = else_body;
        return add(node, region);
    }
    int result(int region, int owner, int index, DType dtype) {
        return add(with(make(KernelOp::Result, dtype, {owner}), &KernelNode::position, index),
                   region);
    }
    void effect(int region, int id) {
        code.regions[static_cast<size_t>(region)].effects.push_back(id);
    }
    void store(int region, int buffer, int index, const std::vector<int>& values) {
        KernelNode node =
            with(make(KernelOp::Store, code.buffers[static_cast<size_t>(buffer)].dtype, {index}),
                 &KernelNode::buffer, buffer);
        node.args.insert(node.args.end(), values.begin(), values.end());
        node.width = static_cast<int>(values.size());
        effect(region, add(node));
    }
    void store(int region, int buffer, int index, int value) {
        store(region, buffer, index, std::vector<int>{value});
    }
    int atomic(ScatterOp op, int buffer, int index, int value) {
        KernelNode n =
            with(make(KernelOp::Atomic, i32, {index, value}), &KernelNode::buffer, buffer);
        n.combine = op;
        return add(n);
    }
};

}  // namespace firn::test
