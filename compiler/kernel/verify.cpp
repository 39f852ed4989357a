// Checks the rules of kernel code, and those of each stage.
#include <algorithm>
#include <string>

#include "compiler/base/error.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {
namespace {

class Verifier {
  public:
    Verifier(const KernelCode& code, const std::string& after) : code_(code), after_(after) {}

    void run(KernelStage stage) {
        for (NodeId id : code_.nodes.ids()) check(id);
        for (const Range& range : code_.ranges) check(range, stage);
        const bool mapped = stage == KernelStage::Mapped || stage == KernelStage::Placed;
        for (NodeId id : code_.nodes.ids())
            if (mapped && node(id).op == KernelOp::RowReduce)
                fail(id, "is left behind by the mapping");
        const bool placed = stage == KernelStage::Ready || stage == KernelStage::Placed;
        if (placed && is_placed(code_)) check_placed();
    }

  private:
    [[noreturn]] void fail(NodeId id, const std::string& what) const {
        throw InternalError("kernel " + code_.name + " after " + after_ + ": node " +
                            std::to_string(id.number()) + " (" + info(node(id).op).name + ") " +
                            what);
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw InternalError("kernel " + code_.name + " after " + after_ + ": " + what);
    }
    const KernelNode& node(NodeId id) const { return code_[id]; }

    void check(const Range& range, KernelStage stage) const {
        if (range.name.find_first_of("0123456789") != std::string::npos)
            fail("range " + range.name + " has digits in its name, behind which its number stands");
        const bool mapped = stage == KernelStage::Mapped || stage == KernelStage::Placed;
        if (mapped && range.kind == RangeKind::Grid)
            fail("range " + range.name + " is still of the kind " + name(range.kind));
    }

    void check(NodeId id) const {
        const KernelNode& n = node(id);
        for (NodeId arg : n.args)
            if (!arg || arg >= id) fail(id, "has an operand that does not come before it");
        if (n.attr.index() != empty_attr(n.op).index())
            fail(id, "does not have the attribute of its operation");
        const auto* access = n.get_if<AccessAttr>();
        if (access && n.op != KernelOp::Array &&
            (access->buffer < 0 || access->buffer >= static_cast<int>(code_.buffers.size())))
            fail(id, "names no buffer");
        if (n.op == KernelOp::Store && static_cast<int>(n.args.size()) != access->width + 1)
            fail(id, "has another number of values than its width");
        if ((n.op == KernelOp::Store || n.op == KernelOp::MatrixStore) &&
            !code_.buffers[static_cast<size_t>(access->buffer)].written)
            fail(id, "writes a read-only buffer");
        if ((is_elementwise(n.op) || is_combined(n.op)) &&
            static_cast<int>(n.args.size()) != info(n.op).arity)
            fail(id, "has the wrong number of operands");
        if (n.op == KernelOp::Select &&
            (node(n.args[0]).dtype != boolean || node(n.args[1]).dtype != node(n.args[2]).dtype))
            fail(id, "selects between different types");
        if (const auto* range = n.get_if<RangeId>();
            range && (!*range || *range >= code_.ranges.end_id()))
            fail(id, "is the index of no range");
        if (const auto* given = n.get_if<ParamAttr>();
            given && (given->param < 0 || given->param >= static_cast<int>(code_.params.size())))
            fail(id, "is no parameter");
        if (n.op == KernelOp::For) check_loop(id);
        if (n.op == KernelOp::MatrixMulAdd) check_product(id);
    }

    void check_loop(NodeId id) const {
        const KernelNode& n = node(id);
        const KernelRegion& body = code_.regions.at(n.as<BodyAttr>().region.place());
        if (!body.range || body.range >= code_.ranges.end_id()) fail(id, "has no range");
        if (body.args.size() != n.args.size() || body.yields.size() != n.args.size())
            fail(id, "has another number of initial values than its body has arguments or yields");
        for (size_t k = 0; k < n.args.size(); ++k) {
            const KernelNode &begin = node(n.args[k]), &arg = node(body.args[k]),
                             &next = node(body.yields[k]);
            if (begin.dtype != arg.dtype || next.dtype != arg.dtype || begin.matrix != arg.matrix ||
                next.matrix != arg.matrix)
                fail(id, "carries values whose types differ");
        }
    }

    void check_product(NodeId id) const {
        const KernelNode& n = node(id);
        const KernelNode &a = node(n.args[0]), &b = node(n.args[1]), &c = node(n.args[2]);
        if (a.dtype != f16 || b.dtype != f16 || c.dtype != f32 || n.dtype != f32 ||
            n.matrix != c.matrix || a.matrix != MatrixShape{c.matrix.rows, b.matrix.rows} ||
            b.matrix.columns != c.matrix.columns)
            fail(id, "multiplies matrices that do not fit together");
    }

    // --- placed code

    void check_placed() {
        stands_.assign(code_.nodes.size(), false);
        known_.assign(code_.nodes.size(), false);
        open_.assign(code_.ranges.size(), false);
        for (RangeId range : code_.ranges.ids())
            open_[range] = code_[range].kind != RangeKind::Serial;
        check_region(kRoot);
    }

    /// Checks that the value is known where it is used.
    void ask(NodeId by, NodeId id) const {
        const KernelNode& n = node(id);
        if (n.op == KernelOp::Constant || n.op == KernelOp::Param) return;
        const bool known = n.op == KernelOp::Range ? open_[n.as<RangeId>()] : known_[id];
        if (!known)
            fail(by, "asks for node " + std::to_string(id.number()) + " (" + info(n.op).name +
                         "), which is not known there");
    }

    void check_region(RegionId id) {
        const KernelRegion& region = code_[id];
        std::vector<NodeId> here = region.args;
        for (NodeId arg : region.args) known_[arg] = true;
        for (const std::vector<NodeId>* list : {&region.order, &region.effects})
            for (NodeId at : *list) {
                check_use(at);
                here.push_back(at);
            }
        for (NodeId value : region.yields) ask(value, value);
        if (region.alive) ask(region.alive, region.alive);
        for (NodeId at : here) known_[at] = false;  // not visible outside
    }

    void check_use(NodeId id) {
        const KernelNode& n = node(id);
        if (stands_[id]) fail(id, "stands in two places");
        stands_[id] = true;
        for (NodeId arg : n.args) ask(id, arg);
        for (RegionId body : bodies(n)) {
            const RangeId range = code_[body].range;
            if (range) {
                if (const NodeId count = code_[range].extent_node) ask(id, count);
                open_[range] = true;
            }
            check_region(body);
            if (range) open_[range] = false;
        }
        known_[id] = true;
    }

    const KernelCode& code_;
    const std::string& after_;
    ByNode<bool> stands_, known_;
    ByRange<bool> open_;  // the index has a value
};

}  // namespace

const char* name(KernelStage stage) {
    switch (stage) {
        case KernelStage::Lowered: return "lowered";
        case KernelStage::Ready: return "ready";
        case KernelStage::Mapped: return "mapped";
        case KernelStage::Placed: return "placed";
    }
    return "";
}

void verify(const KernelCode& code, KernelStage stage, const std::string& after) {
    Verifier(code, after).run(stage);
}

}  // namespace firn
