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
        for (int id = 0; id < static_cast<int>(code_.nodes.size()); ++id) check(id);
        for (const Range& range : code_.ranges) check(range, stage);
        const bool mapped = stage == KernelStage::Mapped || stage == KernelStage::Placed;
        for (int id = 0; mapped && id < static_cast<int>(code_.nodes.size()); ++id)
            if (node(id).op == KernelOp::RowReduce) fail(id, "is left behind by the mapping");
        const bool placed = stage == KernelStage::Ready || stage == KernelStage::Placed;
        if (placed && is_placed(code_)) check_placed();
    }

  private:
    [[noreturn]] void fail(int id, const std::string& what) const {
        throw InternalError("kernel " + code_.name + " after " + after_ + ": node " +
                            std::to_string(id) + " (" + info(node(id).op).name + ") " + what);
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw InternalError("kernel " + code_.name + " after " + after_ + ": " + what);
    }
    const KernelNode& node(int id) const { return code_.nodes[static_cast<size_t>(id)]; }

    void check(const Range& range, KernelStage stage) const {
        if (range.name.find_first_of("0123456789") != std::string::npos)
            fail("range " + range.name + " has digits in its name, behind which its number stands");
        const bool mapped = stage == KernelStage::Mapped || stage == KernelStage::Placed;
        if (mapped && range.kind == RangeKind::Grid)
            fail("range " + range.name + " is still of the kind " + name(range.kind));
    }

    void check(int id) const {
        const KernelNode& n = node(id);
        for (int arg : n.args)
            if (arg < 0 || arg >= id) fail(id, "has an operand that does not come before it");
        if (names_buffer(n.op) && n.op != KernelOp::Array &&
            (n.buffer < 0 || n.buffer >= static_cast<int>(code_.buffers.size())))
            fail(id, "names no buffer");
        if (n.op == KernelOp::Store && static_cast<int>(n.args.size()) != n.width + 1)
            fail(id, "has another number of values than its width");
        if ((n.op == KernelOp::Store || n.op == KernelOp::MatrixStore) &&
            !code_.buffers[static_cast<size_t>(n.buffer)].written)
            fail(id, "writes a read-only buffer");
        if ((is_elementwise(n.op) || is_combined(n.op)) &&
            static_cast<int>(n.args.size()) != info(n.op).arity)
            fail(id, "has the wrong number of operands");
        if (n.op == KernelOp::Select &&
            (node(n.args[0]).dtype != boolean || node(n.args[1]).dtype != node(n.args[2]).dtype))
            fail(id, "selects between different types");
        if (n.op == KernelOp::Range &&
            (n.range < 0 || n.range >= static_cast<int>(code_.ranges.size())))
            fail(id, "is the index of no range");
        if (n.op == KernelOp::Param &&
            (n.param < 0 || n.param >= static_cast<int>(code_.params.size())))
            fail(id, "is no parameter");
        if (n.op == KernelOp::For) check_loop(id);
        if (n.op == KernelOp::MatrixMulAdd) check_product(id);
    }

    void check_loop(int id) const {
        const KernelNode& n = node(id);
        const KernelRegion& body = code_.regions.at(static_cast<size_t>(n.region));
        if (body.range < 0 || body.range >= static_cast<int>(code_.ranges.size()))
            fail(id, "has no range");
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

    void check_product(int id) const {
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
        for (size_t k = 0; k < code_.ranges.size(); ++k)
            open_[k] = code_.ranges[k].kind != RangeKind::Serial;
        check_region(0);
    }

    /// Checks that the value is known where it is used.
    void ask(int by, int id) const {
        const KernelNode& n = node(id);
        if (n.op == KernelOp::Constant || n.op == KernelOp::Param) return;
        const bool known = n.op == KernelOp::Range ? open_[static_cast<size_t>(n.range)]
                                                   : known_[static_cast<size_t>(id)];
        if (!known)
            fail(by, "asks for node " + std::to_string(id) + " (" + info(n.op).name +
                         "), which is not known there");
    }

    void check_region(int id) {
        const KernelRegion& region = code_.regions[static_cast<size_t>(id)];
        std::vector<int> here = region.args;
        for (int arg : region.args) known_[static_cast<size_t>(arg)] = true;
        for (const std::vector<int>* list : {&region.order, &region.effects})
            for (int at : *list) {
                check_use(at);
                here.push_back(at);
            }
        for (int value : region.yields) ask(value, value);
        if (region.alive >= 0) ask(region.alive, region.alive);
        for (int at : here) known_[static_cast<size_t>(at)] = false;  // not visible outside
    }

    void check_use(int id) {
        const KernelNode& n = node(id);
        if (stands_[static_cast<size_t>(id)]) fail(id, "stands in two places");
        stands_[static_cast<size_t>(id)] = true;
        for (int arg : n.args) ask(id, arg);
        if (n.op == KernelOp::For || n.op == KernelOp::Branch) {
            const int range = code_.regions[static_cast<size_t>(n.region)].range;
            if (range >= 0) {
                if (const int count = code_.ranges[static_cast<size_t>(range)].extent_node;
                    count >= 0)
                    ask(id, count);
                open_[static_cast<size_t>(range)] = true;
            }
            check_region(n.region);
            if (range >= 0) open_[static_cast<size_t>(range)] = false;
            if (n.else_region >= 0) check_region(n.else_region);
        }
        known_[static_cast<size_t>(id)] = true;
    }

    const KernelCode& code_;
    const std::string& after_;
    std::vector<bool> stands_, known_;  // by node
    std::vector<bool> open_;            // by range: the index has a value
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
