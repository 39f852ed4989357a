// Kernel code as text, which parse.cpp reads back.
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {
namespace {

constexpr size_t kLineLength = 110;

const char* space_name(const KernelBuffer& buffer) {
    switch (buffer.space) {
        case MemorySpace::Shared: return "shared";
        case MemorySpace::Private: return "private";
        case MemorySpace::Bound: break;
    }
    switch (buffer.form) {
        case BindingForm::View: return "view";
        case BindingForm::Address: return "address";
        case BindingForm::Storage: return "storage";
    }
    return "?";
}

bool is_leaf(const KernelNode& n) {
    return n.op == KernelOp::Constant || n.op == KernelOp::Range || n.op == KernelOp::Param;
}

class Printer {
  public:
    explicit Printer(const KernelCode& code) : code_(code), printed_(code.nodes.size()) {}

    std::string run() {
        out_ << "kernel " << code_.name << "\n";
        facts();
        for (size_t k = 0; k < code_.buffers.size(); ++k) buffer(k);
        for (size_t k = 0; k < code_.params.size(); ++k) {
            const ParamInfo& p = code_.params[k];
            out_ << "  p" << k << " " << p.dtype.name();
            if (p.scalar >= 0)
                out_ << " argument " << p.scalar << "\n";
            else
                out_ << " = " << p.size.text() << "\n";
        }
        for (RangeId id : code_.ranges.ids())
            if (used_[id]) range(id);
        leaves();
        out_ << "{\n" << body_.str() << "}\n";
        return out_.str();
    }

    /// Prints the body twice: the first walk finds the ranges and leaves that are used. Of equal
    /// leaves the first is printed as its text.
    Printer& walk() {
        walk_once();
        for (NodeId id : leaves_) first_.emplace(leaf(code_[id]), id);
        printed_.assign(code_.nodes.size(), false);
        body_.str("");
        walk_once();
        return *this;
    }

  private:
    void walk_once() {
        used_.assign(code_.ranges.size(), false);
        for (RangeId id : code_.ranges.ids()) used_[id] = code_[id].kind != RangeKind::Serial;
        region(kRoot, 2);
    }

    void facts() {
        const auto& g = code_.group_size;
        if (g != std::array<uint32_t, 3>{1, 1, 1})
            out_ << "  group_size " << g[0] << " " << g[1] << " " << g[2] << "\n";
        if (code_.groups != std::array<Size, 3>{Size(1), Size(1), Size(1)})
            out_ << "  groups " << code_.groups[0].text() << "; " << code_.groups[1].text() << "; "
                 << code_.groups[2].text() << "\n";
        if (code_.guards) out_ << "  guards " << code_.guards << "\n";
        if (code_.back_edges) out_ << "  back_edges " << code_.back_edges << "\n";
        if (code_.in_order) out_ << "  in_order\n";
        if (code_.loads_first) out_ << "  loads_first\n";
        if (is_placed(code_)) out_ << "  placed\n";
        if (code_.sizes_buffer >= 0) out_ << "  sizes b" << code_.sizes_buffer << "\n";
    }

    void buffer(size_t k) {
        const KernelBuffer& b = code_.buffers[k];
        out_ << "  b" << k << " " << b.dtype.name();
        if (b.width != 1) out_ << "x" << b.width;
        out_ << "[" << b.elements.text() << "] " << space_name(b);
        if (b.written) out_ << " written";
        if (b.coherent) out_ << " coherent";
        if (b.buffer >= 0) out_ << " of " << b.buffer;
        out_ << "\n";
    }

    std::string range_name(RangeId id) const {
        const std::string& name = code_[id].name;
        return (name.empty() ? "r" : name) + std::to_string(id.number());
    }

    void range(RangeId id) {
        const Range& r = code_[id];
        out_ << "  " << range_name(id) << " " << name(r.kind);
        if (r.dim) out_ << " dim " << r.dim;
        if (!r.extent.is(0)) out_ << " < " << r.extent.text();
        if (r.extent_node) out_ << " count " << operand(r.extent_node);
        if (r.max_trips >= 0) out_ << " most " << r.max_trips;
        if (r.rest) out_ << " rest";
        if (r.written_out) out_ << " written_out";
        out_ << "\n";
    }

    static std::string number(NodeId id) { return "%" + std::to_string(id.number()); }

    /// Returns the text of a node where it is used.
    std::string operand(NodeId id) {
        const KernelNode& n = code_[id];
        if (!is_leaf(n)) return number(id);
        leaves_.insert(id);
        const auto first = first_.find(leaf(n));
        return first == first_.end() || first->second == id ? leaf(n) : number(id);
    }

    std::string leaf(const KernelNode& n) const {
        if (const auto* range = n.get_if<RangeId>()) return range_name(*range);
        if (const auto* given = n.get_if<ParamAttr>()) return "p" + std::to_string(given->param);
        const std::string value = text(n.as<Scalar>());
        const bool plain = n.dtype == i32 || n.dtype == boolean ||
                           (n.dtype == f32 && value.find_first_of(".ein") != std::string::npos);
        return plain ? value : value + ":" + n.dtype.name();
    }

    /// Prints the numbers of the nodes that have no line in the body.
    void leaves() {
        std::string line;
        auto flush = [&] {
            if (!line.empty()) out_ << "  leaves" << line << "\n";
            line.clear();
        };
        for (NodeId id : leaves_) {
            const KernelNode& n = code_[id];
            line += " " + number(id) + " " + leaf(n) + interval(n) + ",";
            if (line.size() > kLineLength) flush();
        }
        flush();
    }

    /// Prints code that is not placed: each value before its first use.
    void ask(NodeId id, int indent) {
        const KernelNode& n = code_[id];
        if (is_leaf(n) || n.op == KernelOp::RegionArg || printed_[id]) return;
        node(id, indent, false);
    }

    void ask_operands(NodeId id, int indent) {
        std::vector<std::pair<NodeId, size_t>> stack{{id, 0}};  // long chains: no recursion
        while (!stack.empty()) {
            auto& [at, next] = stack.back();
            const KernelNode& n = code_[at];
            std::vector<NodeId> asked = n.args;
            if (n.op == KernelOp::For) {
                const KernelRegion& body = code_[n.as<BodyAttr>().region];
                asked.push_back(code_[body.range].extent_node);
            }
            if (next < asked.size()) {
                const NodeId arg = asked[next++];
                if (!arg) continue;
                const KernelNode& a = code_[arg];
                if (!is_leaf(a) && a.op != KernelOp::RegionArg && !printed_[arg])
                    stack.emplace_back(arg, 0);
                continue;
            }
            const NodeId done = at;
            stack.pop_back();
            if (done != id) ask(done, indent);
        }
    }

    void node(NodeId id, int indent, bool effect) {
        if (!is_placed(code_)) ask_operands(id, indent);
        if (printed_[id] && !effect) return;
        printed_[id] = true;
        const KernelNode& n = code_[id];
        body_ << std::string(static_cast<size_t>(indent), ' ') << (effect ? "! " : "") << number(id)
              << " = " << info(n.op).name;
        if (n.op == KernelOp::For) {
            const RangeId range = code_[n.as<BodyAttr>().region].range;
            used_[range] = true;
            if (const NodeId count = code_[range].extent_node) (void)operand(count);
            body_ << " " << range_name(range);
        } else if (n.op != KernelOp::Branch) {
            body_ << " " << n.dtype.name();
        }
        if (width(n) != 1) body_ << "x" << width(n);
        if (n.matrix) body_ << " matrix " << n.matrix.rows << " " << n.matrix.columns;
        put_attribute(n);
        if (n.pinned) body_ << " pinned";
        if (n.guard) body_ << " guard";
        for (NodeId arg : n.args) body_ << " " << operand(arg);
        body_ << interval(n);
        const auto* own = n.get_if<BodyAttr>();
        if (own) body_ << " {";
        for (size_t k = 0; k < n.lines.size(); ++k) body_ << (k ? " " : "  # ") << text(n.lines[k]);
        body_ << "\n";
        if (!own) return;
        region(own->region, indent + 2);
        if (own->else_region) {
            body_ << std::string(static_cast<size_t>(indent), ' ') << "} else {\n";
            region(own->else_region, indent + 2);
        }
        body_ << std::string(static_cast<size_t>(indent), ' ') << "}\n";
    }

    void put_attribute(const KernelNode& n) {
        if (const auto* access = n.get_if<AccessAttr>()) {
            if (access->column_major) body_ << " column_major";
            if (n.op == KernelOp::Atomic) body_ << " " << name(access->combine);
            body_ << " b" << access->buffer;
        }
        if (const auto* reduce = n.get_if<ReduceOp>()) body_ << " " << name(*reduce);
        if (const auto* lane = n.get_if<LaneAttr>()) put_place(lane->lane);
        if (const auto* result = n.get_if<PositionAttr>()) put_place(result->position);
    }
    void put_place(int place) {
        if (place > 0) body_ << " #" << place;
    }

    static std::string interval(const KernelNode& n) {
        const Interval& i = n.interval;
        const Congruence& c = n.congruence;
        std::string out;
        if (n.op == KernelOp::Constant) return out;
        if (i != kAnyI32) out += " in " + std::to_string(i.lo) + " " + std::to_string(i.hi);
        if (c.mod != 1) out += " mod " + std::to_string(c.mod) + " " + std::to_string(c.rem);
        return out;
    }

    void region(RegionId id, int indent) {
        const KernelRegion& r = code_[id];
        const std::string space(static_cast<size_t>(indent), ' ');
        for (NodeId arg : r.args) {
            const KernelNode& n = code_[arg];
            body_ << space << "arg " << number(arg) << " " << n.dtype.name();
            if (n.matrix) body_ << " matrix " << n.matrix.rows << " " << n.matrix.columns;
            body_ << interval(n) << "\n";
        }
        for (NodeId node_id : r.order) node(node_id, indent, false);
        for (NodeId node_id : r.effects) node(node_id, indent, true);
        if (!is_placed(code_))
            for (NodeId y : r.yields) ask(y, indent);
        if (!is_placed(code_) && r.alive) ask(r.alive, indent);
        if (r.yields.empty() && !r.alive) return;
        body_ << space << "yield";
        for (NodeId y : r.yields) body_ << " " << operand(y);
        if (r.alive) body_ << " while " << operand(r.alive);
        body_ << "\n";
    }

    const KernelCode& code_;
    ByNode<bool> printed_;
    ByRange<bool> used_;
    std::set<NodeId> leaves_;
    std::map<std::string, NodeId> first_;  // of the leaves with this text
    std::ostringstream out_, body_;
};

}  // namespace

std::string print(const KernelCode& code) { return Printer(code).walk().run(); }

}  // namespace firn
