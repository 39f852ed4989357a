// Text and rules of Kernel code.
#include "compiler/kernel/kernel_code.h"

#include <algorithm>
#include <sstream>

#include "compiler/program/error.h"

namespace firn {
namespace {

std::string value_name(const KernelCode& code, int id) {
    const KernelNode& n = code.nodes[id];
    if (n.op == Op::Constant) return text(n.constant);
    if (n.op == Op::Range) return code.ranges[n.index].name + std::to_string(n.index);
    if (n.op == Op::Param) return "p" + std::to_string(n.index);
    return "%" + std::to_string(id);
}

void print_region(const KernelCode& code, int region_id, int indent, std::ostream& out);

void print_node(const KernelCode& code, int id, int indent, std::ostream& out) {
    const KernelNode& n = code.nodes[id];
    out << std::string(static_cast<size_t>(indent), ' ') << "%" << id << " = " << info(n.op).name;
    if (n.op != Op::For && n.op != Op::Branch) out << " " << n.dtype.name();
    if (n.width > 1) out << "x" << n.width;
    if (n.matrix) out << "[" << n.matrix.rows << "x" << n.matrix.columns << (n.column_major ? " columns]" : "]");
    if (names_buffer(n.op) && n.op != Op::Atomic && n.op != Op::Array) out << " b" << n.index;
    if (n.op == Op::Result || n.op == Op::Lane || n.op == Op::SubgroupShuffle) out << " #" << n.index;
    if (n.op == Op::For) {
        const Range& range = code.ranges[code.regions[n.region].range];
        out << " " << range.name << code.regions[n.region].range << " < "
            << value_name(code, range.extent_node);
    }
    for (int arg : n.args) out << " " << value_name(code, arg);
    for (const SourceLine& line : n.lines) out << "  // " << text(line);
    out << "\n";
    if (n.op != Op::For && n.op != Op::Branch) return;
    print_region(code, n.region, indent + 2, out);
    if (n.else_region >= 0) {
        out << std::string(static_cast<size_t>(indent), ' ') << "else\n";
        print_region(code, n.else_region, indent + 2, out);
    }
}

void print_region(const KernelCode& code, int region_id, int indent, std::ostream& out) {
    const KernelRegion& region = code.regions[region_id];
    const std::string space(static_cast<size_t>(indent), ' ');
    if (!region.args.empty()) {
        out << space << "args";
        for (int a : region.args) out << " " << value_name(code, a);
        out << "\n";
    }
    for (int id : region.order) print_node(code, id, indent, out);
    for (int id : region.effects) print_node(code, id, indent, out);
    if (!region.yields.empty()) {
        out << space << "yield";
        for (int y : region.yields) out << " " << value_name(code, y);
        if (region.alive >= 0) out << " while " << value_name(code, region.alive);
        out << "\n";
    }
}

}  // namespace

const char* name(RangeKind kind) {
    switch (kind) {
        case RangeKind::Grid: return "grid";
        case RangeKind::Group: return "group";
        case RangeKind::Invocation: return "invocation";
        case RangeKind::Serial: return "serial";
        case RangeKind::Unroll: return "unroll";
        case RangeKind::Vector: return "vector";
        case RangeKind::Subgroup: return "subgroup";
    }
    return "?";
}

double operations_of(const KernelNode& n) {
    return is_elementwise(n.op) ? std::max(1.0, operation_cost(n.op)) : 1;
}

bool is_matrix(Op op) {
    return op == Op::MatrixFill || op == Op::MatrixLoad || op == Op::MatrixMulAdd || op == Op::MatrixCast ||
           op == Op::MatrixStore;
}

bool names_buffer(Op op) {
    return op == Op::Load || op == Op::Store || op == Op::Atomic || op == Op::Array || op == Op::MatrixLoad ||
           op == Op::MatrixStore;
}

bool is_addressed(const KernelBuffer& buffer) {
    return buffer.space == MemorySpace::Bound && buffer.form == BindingForm::Address;
}

std::vector<DType> param_types(const KernelCode& code) {
    std::vector<DType> types;
    for (const ParamInfo& p : host_params(code)) types.push_back(p.dtype);
    types.insert(
        types.end(),
        static_cast<size_t>(std::count_if(code.buffers.begin(), code.buffers.end(), is_addressed)),
        u64);
    return types;
}

std::vector<ParamInfo> host_params(const KernelCode& code) {
    std::vector<ParamInfo> out;
    for (const ParamInfo& param : code.params)
        if (!code.on_device(param)) out.push_back(param);
    return out;
}

std::string print(const KernelCode& code) {
    std::ostringstream out;
    out << "kernel " << code.name << "\n";
    for (size_t k = 0; k < code.buffers.size(); ++k) {
        const KernelBuffer& b = code.buffers[k];
        out << "  b" << k << " " << b.dtype.name() << "[" << b.elements.text() << "] "
            << (b.space == MemorySpace::Shared    ? "shared"
                : b.space == MemorySpace::Private ? "local"
                : b.form == BindingForm::Texel    ? "texel"
                : b.form == BindingForm::Address  ? "address"
                                                  : "storage")
            << " x" << b.width << (b.written ? " written" : "") << " of buffer " << b.buffer
            << "\n";
    }
    for (size_t k = 0; k < code.params.size(); ++k) {
        const ParamInfo& p = code.params[k];
        out << "  p" << k << " " << p.dtype.name() << " = "
            << (p.scalar >= 0 ? "argument " + std::to_string(p.scalar) : p.size.text()) << "\n";
    }
    for (size_t k = 0; k < code.ranges.size(); ++k) {
        const Range& r = code.ranges[k];
        if (r.kind != RangeKind::Serial)
            out << "  " << r.name << k << " " << name(r.kind) << " < " << r.extent.text() << "\n";
    }
    for (const Split& s : code.schedule)
        out << "  split " << s.range << " by " << s.factor << " to " << name(s.kind) << " " << s.dim << "\n";
    print_region(code, 0, 2, out);
    return out.str();
}

void verify(const KernelCode& code, const std::string& after) {
    auto fail = [&](int id, const std::string& what) {
        throw InternalError("kernel " + code.name + " after " + after + ": node " + std::to_string(id) +
                            " (" + info(code.nodes[id].op).name + ") " + what);
    };
    for (int id = 0; id < static_cast<int>(code.nodes.size()); ++id) {
        const KernelNode& n = code.nodes[id];
        for (int arg : n.args)
            if (arg < 0 || arg >= id) fail(id, "has an operand that does not come before it");
        if (names_buffer(n.op) && n.op != Op::Array &&
            (n.index < 0 || n.index >= static_cast<int>(code.buffers.size())))
            fail(id, "names no buffer");
        if (n.op == Op::Store && static_cast<int>(n.args.size()) != n.width + 1)
            fail(id, "has another number of values than its width");
        if ((n.op == Op::Store || n.op == Op::MatrixStore) && !code.buffers[n.index].written) fail(id, "writes a read-only buffer");
        if (is_elementwise(n.op) && static_cast<int>(n.args.size()) != info(n.op).arity)
            fail(id, "has the wrong number of operands");
        if (n.op == Op::For) {
            const KernelRegion& body = code.regions.at(static_cast<size_t>(n.region));
            if (body.args.size() != n.args.size() || body.yields.size() != n.args.size())
                fail(id, "has another number of initial values than its body has arguments or yields");
            for (size_t k = 0; k < n.args.size(); ++k)
                if (code.nodes[n.args[k]].dtype != code.nodes[body.args[k]].dtype ||
                    code.nodes[body.yields[k]].dtype != code.nodes[body.args[k]].dtype ||
                    code.nodes[n.args[k]].matrix != code.nodes[body.args[k]].matrix ||
                    code.nodes[body.yields[k]].matrix != code.nodes[body.args[k]].matrix)
                    fail(id, "carries values whose types differ");
        }
        if (n.op == Op::MatrixMulAdd) {
            const KernelNode &a = code.nodes[n.args[0]], &b = code.nodes[n.args[1]], &c = code.nodes[n.args[2]];
            if (a.dtype != f16 || b.dtype != f16 || c.dtype != f32 || n.dtype != f32 || n.matrix != c.matrix ||
                a.matrix != MatrixShape{c.matrix.rows, b.matrix.rows} || b.matrix.columns != c.matrix.columns)
                fail(id, "multiplies matrices that do not fit together");
        }
        if (n.op == Op::Select && (code.nodes[n.args[0]].dtype != boolean ||
                                   code.nodes[n.args[1]].dtype != code.nodes[n.args[2]].dtype))
            fail(id, "selects between different types");
    }
}

}  // namespace firn
