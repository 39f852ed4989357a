// Elementwise operations as LLVM IR: the meanings of compiler/ir/evaluate.cpp.
#include "compiler/target/native/operations.h"

#include <cmath>

#include "compiler/base/error.h"
#include "compiler/target/native/combine.h"
#include "compiler/target/native/functions.h"
#include "compiler/target/native/halves.h"
#include "compiler/target/native/operation.h"
#include "compiler/target/native/roots.h"

namespace firn::native {
namespace {

/// Returns whether a number is the smaller (larger) one of it and an equal one, whatever their
/// signs: every number but one of the two zeros.
bool decides_alone(const Scalar& number, bool least) {
    const double value = number.as_double();
    return !std::isnan(value) && (value != 0 || std::signbit(value) == least);
}

/// The smaller (larger) of a number and such a constant, which stands for nan, too.
std::string bounded(const Operation& o, size_t constant, bool least) {
    const std::string& other = o.in[1 - constant];
    return o.select(o.compare(least ? "olt" : "ogt", other, o.in[constant]), other, o.in[constant]);
}

std::string minimum(const Operation& o, bool least) {
    if (!o.operand.is_float())
        return o.call(std::string(o.operand.is_signed() ? "s" : "u") + (least ? "min" : "max"),
                      {o.in[0], o.in[1]});
    // Of two zeros -0 is the smaller; the number where one is nan.
    const std::string& a = o.in[0];
    const std::string& b = o.in[1];
    const std::string first = o.compare(least ? "olt" : "ogt", a, b);
    const std::string bits = o.operand == f64 ? "i64" : "i32",
                      words = o.varying ? vector_of(o.run, bits) : bits;
    const auto as_bits = [&](const std::string& x) {
        return o.emit("bitcast " + o.type() + " " + x + " to " + words);
    };
    const std::string both = o.emit((least ? "or " : "and ") + words + " " + as_bits(a) + ", " +
                                    as_bits(b)),
                      zero = o.emit("bitcast " + words + " " + both + " to " + o.type());
    const std::string equal = o.compare("oeq", a, b), nan = o.compare("uno", b, b);
    // Equal numbers have equal bits, but for zeros, whose signs are combined.
    const std::string unequal = o.select(first, a, o.select(nan, a, b));
    return o.select(equal, zero, unequal);
}

std::string sign(const Operation& o) {
    const std::string zero = o.number(0), one = o.number(1);
    if (!o.operand.is_float() && !o.operand.is_signed())
        return o.select(o.compare("ne", o.in[0], zero), one, zero);
    const bool is_float = o.operand.is_float();
    const std::string above = o.compare(is_float ? "ogt" : "sgt", o.in[0], zero),
                      below = o.compare(is_float ? "olt" : "slt", o.in[0], zero);
    // nan stays nan, and a zero is 0.
    const std::string rest =
        is_float ? o.select(o.compare("uno", o.in[0], o.in[0]), o.in[0], zero) : zero;
    return o.select(above, one, o.select(below, o.number(-1), rest));
}

/// The divisor where it is safe, else 1: a quotient by 0, and the one that overflows, are chosen
/// afterwards.
std::string quotient(const Operation& o) {
    const bool is_signed = o.operand.is_signed(), remainder = o.op == KernelOp::Mod;
    const std::string zero = o.number(0), one = o.number(1), none = o.compare("eq", o.in[1], zero);
    std::string divisor = o.select(none, one, o.in[1]);
    std::string negated, by_minus_one;
    if (is_signed) {
        by_minus_one = o.compare("eq", o.in[1], o.number(-1));
        divisor = o.select(by_minus_one, one, divisor);
    }
    std::string out =
        o.binary(remainder ? (is_signed ? "srem" : "urem") : (is_signed ? "sdiv" : "udiv"), o.in[0],
                 divisor);
    if (is_signed) {
        negated = remainder ? zero : o.binary("sub", zero, o.in[0]);
        out = o.select(by_minus_one, negated, out);
    }
    return o.select(none, zero, out);
}

std::string float_mod(const Operation& o) {
    const std::string rest = o.binary("frem", o.in[0], o.in[1]), zero = o.number(0);
    const std::string negative = o.compare("olt", rest, zero),
                      other = o.compare("olt", o.in[1], zero),
                      differ = o.emit("xor " + o.type(boolean) + " " + negative + ", " + other),
                      moved = o.select(differ, o.binary("fadd", rest, o.in[1]), rest),
                      none = o.compare("oeq", rest, zero),
                      signed_zero = o.call("copysign", {zero, o.in[1]});
    return o.select(none, signed_zero, moved);
}

std::string float_operation(const Operation& o) {
    switch (o.op) {
        case KernelOp::Neg: return o.emit("fneg " + o.type() + " " + o.in[0]);
        case KernelOp::Abs: return o.call("fabs", {o.in[0]});
        case KernelOp::Sign: return sign(o);
        case KernelOp::Floor: return o.call("floor", {o.in[0]});
        case KernelOp::Ceil: return o.call("ceil", {o.in[0]});
        case KernelOp::Round: return o.call("roundeven", {o.in[0]});
        case KernelOp::Trunc: return o.call("trunc", {o.in[0]});
        case KernelOp::Frac: return o.binary("fsub", o.in[0], o.call("floor", {o.in[0]}));
        case KernelOp::Sqrt: return o.call("sqrt", {o.in[0]});
        case KernelOp::Rsqrt: {
            const std::string quick =
                o.varying && o.operand == f32 ? inverse_root(o.run, o.in[0]) : "";
            return quick.empty() ? o.binary("fdiv", o.number(1), o.call("sqrt", {o.in[0]})) : quick;
        }
        case KernelOp::Rcp: return o.binary("fdiv", o.number(1), o.in[0]);
        case KernelOp::Add: return o.binary("fadd", o.in[0], o.in[1]);
        case KernelOp::Sub: return o.binary("fsub", o.in[0], o.in[1]);
        case KernelOp::Mul: return o.binary("fmul", o.in[0], o.in[1]);
        case KernelOp::Div: return o.binary("fdiv", o.in[0], o.in[1]);
        case KernelOp::Mod: return float_mod(o);
        case KernelOp::Min: return minimum(o, true);
        case KernelOp::Max: return minimum(o, false);
        case KernelOp::Less: return o.compare("olt", o.in[0], o.in[1]);
        case KernelOp::LessEqual: return o.compare("ole", o.in[0], o.in[1]);
        case KernelOp::Equal: return o.compare("oeq", o.in[0], o.in[1]);
        case KernelOp::NotEqual: return o.compare("une", o.in[0], o.in[1]);
        case KernelOp::IsNan: return o.compare("uno", o.in[0], o.in[0]);
        case KernelOp::IsInf:
            return o.compare("oeq", o.call("fabs", {o.in[0]}), o.number(1.0 / 0.0));
        case KernelOp::Not: return o.compare("oeq", o.in[0], o.number(0));
        default: break;
    }
    throw InternalError(std::string("internal error: no LLVM IR of ") + info(o.op).name +
                        " on floats");
}

std::string shift_count(const Operation& o) {
    return o.binary("and", o.in[1], o.number(8 * o.operand.bytes() - 1));
}

std::string integer_operation(const Operation& o) {
    const bool is_signed = o.operand.is_signed();
    switch (o.op) {
        case KernelOp::Neg: return o.binary("sub", o.number(0), o.in[0]);
        case KernelOp::Abs:
            if (!is_signed) return o.in[0];
            return o.select(o.compare("slt", o.in[0], o.number(0)),
                            o.binary("sub", o.number(0), o.in[0]), o.in[0]);
        case KernelOp::Sign: return sign(o);
        case KernelOp::BitNot: return o.binary("xor", o.in[0], o.number(-1));
        case KernelOp::Not: return o.compare("eq", o.in[0], o.number(0));
        case KernelOp::IsNan:
        case KernelOp::IsInf: return o.constant(scalar_bool(false));
        case KernelOp::ReverseBits: {
            const std::string all = o.call("bitreverse", {o.in[0]});
            if (!o.operand.is_narrow()) return all;
            return o.binary(is_signed ? "ashr" : "lshr", all, o.number(32 - 8 * o.operand.bytes()));
        }
        case KernelOp::Add: return o.binary("add", o.in[0], o.in[1]);
        case KernelOp::Sub: return o.binary("sub", o.in[0], o.in[1]);
        case KernelOp::Mul: return o.binary("mul", o.in[0], o.in[1]);
        case KernelOp::Div:
        case KernelOp::Mod: return quotient(o);
        case KernelOp::Min: return minimum(o, true);
        case KernelOp::Max: return minimum(o, false);
        case KernelOp::Less: return o.compare(is_signed ? "slt" : "ult", o.in[0], o.in[1]);
        case KernelOp::LessEqual: return o.compare(is_signed ? "sle" : "ule", o.in[0], o.in[1]);
        case KernelOp::Equal: return o.compare("eq", o.in[0], o.in[1]);
        case KernelOp::NotEqual: return o.compare("ne", o.in[0], o.in[1]);
        case KernelOp::And: return o.binary("and", o.in[0], o.in[1]);
        case KernelOp::Or: return o.binary("or", o.in[0], o.in[1]);
        case KernelOp::Xor: return o.binary("xor", o.in[0], o.in[1]);
        case KernelOp::ShiftLeft: return o.binary("shl", o.in[0], shift_count(o));
        case KernelOp::ShiftRight:
            return o.binary(is_signed ? "ashr" : "lshr", o.in[0], shift_count(o));
        case KernelOp::InRange: return o.compare("ult", o.in[0], o.in[1]);
        case KernelOp::LowBits:
            return o.binary("and", o.in[0], o.binary("sub", o.in[1], o.number(1)));
        default: break;
    }
    throw InternalError(std::string("internal error: no LLVM IR of ") + info(o.op).name +
                        " on integers");
}

std::string bool_operation(const Operation& o) {
    const std::string type = o.type(boolean);
    switch (o.op) {
        case KernelOp::Not:
        case KernelOp::BitNot:
            return o.emit("xor " + type + " " + o.in[0] + ", " + o.constant(scalar_bool(true)));
        case KernelOp::And: return o.emit("and " + type + " " + o.in[0] + ", " + o.in[1]);
        case KernelOp::Or: return o.emit("or " + type + " " + o.in[0] + ", " + o.in[1]);
        case KernelOp::Xor:
        case KernelOp::NotEqual: return o.emit("xor " + type + " " + o.in[0] + ", " + o.in[1]);
        case KernelOp::Equal: return o.emit("icmp eq " + type + " " + o.in[0] + ", " + o.in[1]);
        default: break;
    }
    throw InternalError(std::string("internal error: no LLVM IR of ") + info(o.op).name +
                        " on bools");
}

std::string combined(IrRun& run, Op step, DType dtype, const std::string& a, const std::string& b,
                     bool varying) {
    return write_elementwise({run, kernel_op(step), dtype, dtype, varying, {a, b}});
}

}  // namespace

std::string write_elementwise(const Operation& o) {
    if (o.op == KernelOp::Cast) return cast(o);
    if (o.op == KernelOp::Bitcast) return bitcast(o);
    if (o.operand.is_bool()) return bool_operation(o);
    const bool gives_bool = info(o.op).result == ResultRule::Bool || o.op == KernelOp::InRange;
    if (!o.operand.is_float()) {
        const std::string value = integer_operation(o);
        return gives_bool ? value : wrapped(o, value);
    }
    const std::string value = float_operation(o);
    if (!o.operand.is_half() || gives_bool || is_exact_on_halves(o.op)) return value;
    return rounded_to_half(o.run, value, o.operand, o.varying);
}

std::string combine(IrRun& run, Op step, DType dtype, const std::string& a, const std::string& b) {
    return combined(run, step, dtype, a, b, true);
}
std::string combine_scalars(IrRun& run, Op step, DType dtype, const std::string& a,
                            const std::string& b) {
    return combined(run, step, dtype, a, b, false);
}

IrValue write_operation(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    std::vector<IrValue> in;
    for (NodeId arg : n.args) in.push_back(value_of(run, arg));
    IrValue out;
    out.varying = run.varying[id];
    const bool stays_linear = out.varying && keeps_linear(run, n, in, out);
    out.linear = stays_linear;
    const bool vector = out.is_vector();
    Operation o{run, n.op, n.dtype, run.code[n.args.back()].dtype, vector, {}};
    if (n.op == KernelOp::Select) {
        // A vector is chosen under a mask: LLVM makes a branch of a condition that is a scalar.
        const bool by_lane = in[0].varying || vector;
        const std::string a = vector ? as_vector(run, in[1], n.dtype) : in[1].text,
                          b = vector ? as_vector(run, in[2], n.dtype) : in[2].text,
                          condition = by_lane ? as_vector(run, in[0], boolean) : in[0].text,
                          type = type_of(run, n.dtype, vector);
        out.text = emit(run, "select " + type_of(run, boolean, by_lane) + " " + condition + ", " +
                                 type + " " + a + ", " + type + " " + b);
        if (vector) find_regular(run, n, in, out);
        return out;
    }
    for (size_t k = 0; k < in.size(); ++k)
        o.in.push_back(vector ? as_vector(run, in[k], run.code[n.args[k]].dtype) : in[k].text);
    if (const std::string called = call_function(run, n, o.in, vector); !called.empty()) {
        out.text = called;
        return out;
    }
    if (n.op == KernelOp::Add || n.op == KernelOp::Sub)
        run.sums[id] = accumulates(run, n.args[0]) || accumulates(run, n.args[1]);
    const bool least = n.op == KernelOp::Min;
    size_t bound = 2;  // the argument that is one
    for (size_t k = 0;
         (least || n.op == KernelOp::Max) && n.dtype.is_float() && !n.dtype.is_half() && k < 2; ++k)
        if (const auto* number = run.code[n.args[k]].get_if<Scalar>())
            if (decides_alone(*number, least)) bound = k;
    if (bound < 2)
        out.text = bounded(o, bound, least);
    else if (std::string once = fused(o, n); !once.empty())
        out.text = std::move(once);
    else if (std::string quick = quotient_by_root(o, n); !quick.empty())
        out.text = std::move(quick);
    else
        out.text = write_elementwise(o);
    if (vector) find_regular(run, n, in, out);
    return out;
}

}  // namespace firn::native
