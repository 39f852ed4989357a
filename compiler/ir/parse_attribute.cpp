// Parses the attributes of a node in the text of a Graph.
#include "compiler/ir/parse_attribute.h"

#include <utility>

#include "compiler/ir/parse_nodes.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// Stands for the memory of a Buffer that was only printed.
class PrintedMemory : public Memory {
  public:
    uint64_t bytes() const override { return 0; }
};

std::vector<uint32_t> take_group(GraphParseRun& run) {
    return take_list<uint32_t>(run, "group",
                               [&run] { return static_cast<uint32_t>(take_small(run)); });
}

Attr loop_attribute(GraphParseRun& run) {
    LoopAttr attr;
    if (accept(run, "active")) {
        expect(run, "=");
        attr.active = take_small(run);
    }
    if (accept(run, "must_end"))
        attr.must_end = MustEnd::Throws;
    else if (accept(run, "end_is_stored"))
        attr.must_end = MustEnd::Stored;
    if (accept(run, "checkpoint")) {
        expect(run, "=");
        attr.checkpoint = take_small(run);
    }
    if (accept(run, "sizes")) {
        expect(run, "=");
        attr.sizes = take_sizes(run, "");
    }
    if (accept(run, "by_hand")) {
        attr.grid = take_sizes(run, "grid");
        attr.group = take_group(run);
        attr.rounded = accept(run, "rounded");
    }
    Region region;
    expect(run, "(");
    do {
        declare_number(run);
        expect(run, ":");
        ParsedType t = take_type(run);
        run.nodes.back() = run.table.intern(Op::RegionArg, t.dtype, t.shape, {}, RegionArgAttr{});
        region.args.push_back(run.nodes.back());
    } while (accept(run, ","));
    expect(run, ")");
    region.results = parse_body(run)->results;
    attr.body = std::make_shared<Region>(std::move(region));
    return attr;
}

Attr array_attribute(GraphParseRun& run) {
    const bool shared = accept(run, "shared");
    if (!shared) expect(run, "local");
    expect(run, "#");
    return ArrayAttr{static_cast<uint64_t>(take_number(run)), shared};
}

Attr barrier_attribute(GraphParseRun& run) {
    expect(run, "#");
    return BarrierAttr{static_cast<uint64_t>(take_number(run))};
}

Attr subgroup_attribute(GraphParseRun& run) {
    SubgroupAttr attr;
    expect(run, "op");
    expect(run, "=");
    attr.op = take_named(run, SubgroupOp::Shuffle);
    expect(run, "combine");
    expect(run, "=");
    attr.combine = take_named(run, ReduceOp::All);
    attr.lanes = take_labelled_number(run, "lanes");
    attr.group = take_group(run);
    return attr;
}

Attr slice_attribute(GraphParseRun& run) {
    SliceAttr attr;
    attr.begin = take_sizes(run, "begin");
    attr.step = take_list<int64_t>(run, "step", [&run] { return take_number(run); });
    return attr;
}

Attr pad_attribute(GraphParseRun& run, DType dtype) {
    PadAttr attr;
    attr.before = take_sizes(run, "before");
    attr.after = take_sizes(run, "after");
    expect(run, "value");
    expect(run, "=");
    attr.value = take_scalar(run, dtype);
    return attr;
}

Attr gather_attribute(GraphParseRun& run, DType dtype) {
    GatherAttr attr;
    attr.modes =
        take_list<Bounds>(run, "modes", [&run] { return take_named(run, Bounds::Unchecked); });
    expect(run, "fill");
    expect(run, "=");
    attr.fill = take_scalar(run, dtype);
    attr.own = accept(run, "own");
    return attr;
}

Attr reduce_attribute(GraphParseRun& run) {
    ReduceAttr attr;
    expect(run, "op");
    expect(run, "=");
    attr.op = take_named(run, ReduceOp::Argmax);
    attr.axes = take_axes(run, "axes");
    return attr;
}

Attr scatter_attribute(GraphParseRun& run) {
    expect(run, "op");
    expect(run, "=");
    ScatterOp op = take_named(run, ScatterOp::Xor);
    const bool unique = accept(run, "unique");
    const bool complete = accept(run, "complete");
    const bool by_hand = accept(run, "by_hand");
    const bool part = accept(run, "part");
    const bool finds_last = accept(run, "finds_last");
    return ScatterAttr{op, unique, complete, by_hand, part, finds_last, accept(run, "apart")};
}

Attr buffer_attribute(GraphParseRun& run) {
    expect(run, "#");
    std::shared_ptr<Memory>& memory = run.memories[take_number(run)];
    if (!memory) memory = std::make_shared<PrintedMemory>();
    return BufferAttr{memory};
}

Attr if_attribute(GraphParseRun& run) {
    auto then_body = parse_body(run);
    expect(run, "else");
    return IfAttr{then_body, parse_body(run)};
}

}  // namespace

Attr parse_attribute(GraphParseRun& run, Op op, const ParsedType& t) {
    switch (op) {
        case Op::Constant: return ConstantAttr{take_scalar(run, t.dtype)};
        case Op::SizeValue: return SizeAttr{take_size(run, "\n#")};
        case Op::Buffer: return buffer_attribute(run);
        case Op::Array: return array_attribute(run);
        case Op::Barrier: return barrier_attribute(run);
        case Op::Subgroup: return subgroup_attribute(run);
        case Op::Invocation:
        case Op::Index: return IndexAttr{take_labelled_number(run, "axis")};
        case Op::Permute: return PermuteAttr{take_axes(run, "axes")};
        case Op::Slice: return slice_attribute(run);
        case Op::Pad: return pad_attribute(run, t.dtype);
        case Op::Gather: return gather_attribute(run, t.dtype);
        case Op::Scatter: return scatter_attribute(run);
        case Op::Reduce: return reduce_attribute(run);
        case Op::Result: return ResultAttr{take_labelled_number(run, "index")};
        case Op::Loop: return loop_attribute(run);
        case Op::If: return if_attribute(run);
        case Op::HostCall:
            throw UserError(
                "a text of a graph cannot give what the host does; record the function");
        default: return {};
    }
}

}  // namespace firn
