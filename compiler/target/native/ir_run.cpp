// Pieces of LLVM IR.
#include "compiler/target/native/ir_run.h"

#include <bit>
#include <cstdio>

#include "compiler/base/error.h"

namespace firn::native {

std::string scalar_type(DType dtype) {
    switch (dtype.type) {
        case Type::F32:
        case Type::F16:
        case Type::BF16: return "float";
        case Type::F64: return "double";
        case Type::I32:
        case Type::I16:
        case Type::I8:
        case Type::U32:
        case Type::U16:
        case Type::U8: return "i32";
        case Type::I64:
        case Type::U64: return "i64";
        case Type::Bool: return "i1";
    }
    throw InternalError("internal error: a type without LLVM IR");
}

std::string vector_of(const IrRun& run, const std::string& scalar) {
    return "<" + std::to_string(run.lanes) + " x " + scalar + ">";
}

std::string type_of(const IrRun& run, DType dtype, bool varying) {
    return varying ? vector_of(run, scalar_type(dtype)) : scalar_type(dtype);
}

std::string suffix_of(const std::string& type) {
    std::string scalar = type, count;
    if (type.front() == '<') {
        const size_t x = type.find(" x ");
        count = "v" + type.substr(1, x - 1);
        scalar = type.substr(x + 3, type.size() - x - 4);
    }
    return count + (scalar == "float" ? "f32" : scalar == "double" ? "f64" : scalar);
}

std::string emit(IrRun& run, const std::string& instruction) {
    const std::string name = "%v" + std::to_string(run.next++);
    run.text += "  " + name + " = " + instruction + "\n";
    return name;
}

void emit_effect(IrRun& run, const std::string& instruction) {
    run.text += "  " + instruction + "\n";
}

std::string new_label(IrRun& run, std::string_view what) {
    return std::string(what) + std::to_string(run.next++);
}

void begin_block(IrRun& run, const std::string& label) {
    run.text += label + ":\n";
    run.block = label;
}

void jump_likely(IrRun& run, const std::string& condition, const std::string& likely,
                 const std::string& other) {
    run.weighs = true;
    emit_effect(run,
                "br i1 " + condition + ", label %" + likely + ", label %" + other + ", !prof !1");
}

IrValue value_of(const IrRun& run, NodeId id) {
    if (!run.values[id].empty()) return run.values[id][0];
    const KernelNode& n = run.code[id];
    const int part = n.op == KernelOp::Result ? n.as<PositionAttr>().position
                     : n.op == KernelOp::Lane ? n.as<LaneAttr>().lane
                                              : -1;
    if (part >= 0 && static_cast<size_t>(part) < run.values[n.args[0]].size())
        return run.values[n.args[0]][static_cast<size_t>(part)];
    return {"poison", run.varying[id]};
}

void name_constants(IrRun& run) {
    for (NodeId id : run.code.nodes.ids())
        if (run.code[id].op == KernelOp::Constant)
            run.values[id] = {{constant_text(run.code[id].as<Scalar>()), false}};
}

std::string splat(IrRun& run, const std::string& scalar, const std::string& type) {
    const std::string vector = vector_of(run, type);
    const std::string one =
        emit(run, "insertelement " + vector + " poison, " + type + " " + scalar + ", i64 0");
    return emit(run, "shufflevector " + vector + " " + one + ", " + vector + " poison, <" +
                         std::to_string(run.lanes) + " x i32> zeroinitializer");
}

std::string as_vector(IrRun& run, const IrValue& value, DType dtype) {
    if (value.is_vector()) return value.text;
    const std::string type = scalar_type(dtype), all = splat(run, value.text, type);
    if (!value.linear) return all;
    std::string steps;
    for (int lane = 0; lane < run.lanes; ++lane)
        steps += (lane ? ", " : "") + type + " " +
                 std::to_string(static_cast<int32_t>(value.stride * lane));
    return emit(run, "add " + vector_of(run, type) + " " + all + ", <" + steps + ">");
}

std::string lane_of(IrRun& run, const IrValue& value, DType dtype, int lane) {
    const std::string type = scalar_type(dtype);
    if (value.is_vector())
        return emit(run, "extractelement " + vector_of(run, type) + " " + value.text + ", i64 " +
                             std::to_string(lane));
    if (!value.linear || lane == 0) return value.text;
    return emit(run, "add " + type + " " + value.text + ", " +
                         std::to_string(static_cast<int32_t>(value.stride * lane)));
}

std::string intrinsic(IrRun& run, const std::string& name, const std::string& type,
                      const std::vector<std::string>& operands) {
    const std::string full = "@llvm." + name + "." + suffix_of(type);
    std::string types, given;
    for (const std::string& operand : operands) {
        types += (types.empty() ? "" : ", ") + type;
        given += (given.empty() ? "" : ", ") + type + " " + operand;
    }
    run.declared.insert("declare " + type + " " + full + "(" + types + ")");
    return emit(run, "call " + type + " " + full + "(" + given + ")");
}

std::string any_of(IrRun& run, const std::string& mask) {
    const std::string bits = "i" + std::to_string(run.lanes);
    const std::string word =
        emit(run, "bitcast " + vector_of(run, "i1") + " " + mask + " to " + bits);
    return emit(run, "icmp ne " + bits + " " + word + ", 0");
}

std::string lanes_of_both(IrRun& run, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    return emit(run, "and " + vector_of(run, "i1") + " " + a + ", " + b);
}

std::string other_lanes(IrRun& run, const std::string& mask) {
    return emit(run, "xor " + vector_of(run, "i1") + " " + mask + ", " + splat(run, "true", "i1"));
}

std::string constant_text(const Scalar& value) {
    if (value.dtype.is_bool()) return value.i ? "true" : "false";
    if (!value.dtype.is_float())
        return std::to_string(
            scalar_type(value.dtype) == "i32" ? int64_t{static_cast<int32_t>(value.i)} : value.i);
    // A float is written as the double of the same value, by its bits.
    const double held = value.dtype == f64 ? value.f : double{static_cast<float>(value.f)};
    char text[32];
    std::snprintf(text, sizeof text, "0x%016llX",
                  static_cast<unsigned long long>(std::bit_cast<uint64_t>(held)));
    return text;
}

}  // namespace firn::native
