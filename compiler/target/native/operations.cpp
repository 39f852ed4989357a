// Elementwise operations as LLVM IR: the meanings of compiler/ir/evaluate.cpp.
#include "compiler/target/native/operations.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/base/error.h"
#include "compiler/host/processor.h"
#include "compiler/target/native/combine.h"
#include "compiler/target/native/functions.h"
#include "compiler/target/native/halves.h"
#include "compiler/target/native/roots.h"

namespace firn::native {
namespace {

/// The operands of an operation as texts of one type.
struct Operation {
    IrRun& run;
    KernelOp op;
    DType dtype;    // of the result
    DType operand;  // of the last operand
    bool varying;
    std::vector<std::string> in;

    std::string type(DType of) const { return type_of(run, of, varying); }
    std::string type() const { return type(operand); }
    std::string emit(const std::string& instruction) const {
        return native::emit(run, instruction);
    }
    std::string call(const std::string& name, const std::vector<std::string>& operands) const {
        return intrinsic(run, name, type(), operands);
    }
    /// A constant in every lane.
    std::string constant(const Scalar& value) const {
        const std::string text = constant_text(value);
        return varying ? splat(run, text, scalar_type(value.dtype)) : text;
    }
    std::string number(double value) const {
        return constant(operand.is_float() ? scalar_float(value, operand == f64 ? f64 : f32)
                                           : scalar_int(static_cast<int64_t>(value), operand));
    }
    std::string select(const std::string& condition, const std::string& a,
                       const std::string& b) const {
        return emit("select " + type(boolean) + " " + condition + ", " + type() + " " + a + ", " +
                    type() + " " + b);
    }
    std::string compare(const std::string& how, const std::string& a, const std::string& b) const {
        return emit((operand.is_float() ? "fcmp " : "icmp ") + how + " " + type() + " " + a + ", " +
                    b);
    }
    std::string binary(const std::string& what, const std::string& a, const std::string& b) const {
        return emit(what + " " + type() + " " + a + ", " + b);
    }
};

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

/// The value modulo the width of a narrow type, as a value of that type.
std::string wrapped(const Operation& o, const std::string& value) {
    if (!o.operand.is_narrow()) return value;
    const std::string bits = o.number(32 - 8 * o.operand.bytes());
    return o.binary(o.operand.is_signed() ? "ashr" : "lshr", o.binary("shl", value, bits), bits);
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

std::string to_bool(const Operation& o) {
    return o.operand.is_float() ? o.compare("une", o.in[0], o.number(0))
                                : o.compare("ne", o.in[0], o.number(0));
}

/// Returns whether LLVM's saturating conversion is instructions for vectors: without them it takes
/// some ten instructions for each lane.
bool saturates_at_once(const Operation& o) {
    const VectorFacts& facts = vector_facts(o.run.profile);
    return facts.saturates || (o.dtype.bytes() == 8 && !facts.converts_wide);
}

/// A vector of floats as integers of 32 or 64 bits, saturating by comparisons; nan becomes 0. What
/// is too large has no integer, and is replaced.
std::string saturated(const Operation& o) {
    const std::string to = o.type(o.dtype);
    const int bits = o.dtype.bytes() == 8 ? 64 : 32;
    const bool is_signed = o.dtype.is_signed();
    const auto integer = [&](int64_t number) {
        return o.constant(scalar_int(number, bits == 64 ? i64 : i32));
    };
    const auto unless = [&](const std::string& condition, int64_t number, const std::string& rest) {
        return o.emit("select " + o.type(boolean) + " " + condition + ", " + to + " " +
                      integer(number) + ", " + to + " " + rest);
    };
    const std::string least = o.number(is_signed ? -std::ldexp(1.0, bits - 1) : 0),
                      beyond = o.number(std::ldexp(1.0, bits - is_signed)),
                      above = o.select(o.compare("ogt", o.in[0], least), o.in[0], least),
                      number = o.emit(std::string("fpto") + (is_signed ? "si " : "ui ") + o.type() +
                                      " " + above + " to " + to);
    const int64_t most = is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : -1;
    const std::string within = unless(o.compare("oge", o.in[0], beyond), most, number);
    return is_signed ? unless(o.compare("uno", o.in[0], o.in[0]), 0, within) : within;
}

/// Converts a float, saturating; nan becomes 0.
std::string float_to_integer(const Operation& o) {
    const std::string to = o.type(o.dtype), from = o.type();
    std::string value;
    if (o.varying && !saturates_at_once(o)) {
        value = saturated(o);
    } else {
        const std::string name = std::string("@llvm.fpto") + (o.dtype.is_signed() ? "si" : "ui") +
                                 ".sat." + suffix_of(to) + "." + suffix_of(from);
        o.run.declared.insert("declare " + to + " " + name + "(" + from + ")");
        value = o.emit("call " + to + " " + name + "(" + from + " " + o.in[0] + ")");
    }
    if (!o.dtype.is_narrow()) return value;
    const int digits = 8 * o.dtype.bytes() - o.dtype.is_signed();
    const auto bound = [&](int64_t number) { return o.constant(scalar_int(number, i32)); };
    if (!o.dtype.is_signed())
        return intrinsic(o.run, "umin", to, {value, bound((int64_t{1} << digits) - 1)});
    const std::string above =
        intrinsic(o.run, "smin", to, {value, bound((int64_t{1} << digits) - 1)});
    return intrinsic(o.run, "smax", to, {above, bound(-(int64_t{1} << digits))});
}

std::string integer_to_integer(const Operation& o) {
    const std::string from = scalar_type(o.operand), to = scalar_type(o.dtype);
    std::string value = o.in[0];
    if (from != to)
        value = o.emit((to == "i32"             ? "trunc "
                        : o.operand.is_signed() ? "sext "
                                                : "zext ") +
                       o.type() + " " + value + " to " + o.type(o.dtype));
    Operation narrow = o;
    narrow.operand = o.dtype;
    return wrapped(narrow, value);
}

std::string integer_to_float(const Operation& o) {
    const std::string target = o.dtype == f64 ? "double" : "float",
                      to = o.varying ? vector_of(o.run, target) : target;
    return o.emit((o.operand.is_signed() ? "sitofp " : "uitofp ") + o.type() + " " + o.in[0] +
                  " to " + to);
}

std::string of_lanes(const Operation& o, const std::string& scalar) {
    return o.varying ? vector_of(o.run, scalar) : scalar;
}
std::string word(const Operation& o, const std::string& number, const std::string& type) {
    return o.varying ? splat(o.run, number, type) : number;
}

/// A wide integer as an f64 that a half is rounded from once: of more digits than fit, those left
/// out set the last one that stays.
std::string to_wide(const Operation& o) {
    const std::string wide = of_lanes(o, "double"), type = o.type();
    const bool is_signed = o.operand.is_signed();
    std::string value = o.in[0];
    if (o.operand.bytes() == 8) {
        const auto constant = [&](int64_t number) {
            return word(o, std::to_string(number), "i64");
        };
        const std::string rest = o.binary("and", value, constant(0x7ff)),
                          some = o.compare("ne", rest, constant(0)),
                          last = o.select(some, constant(0x800), constant(0)),
                          kept = o.binary("and", value, constant(~int64_t{0x7ff})),
                          odd = o.binary("or", kept, last);
        const int64_t most = int64_t{1} << 53;
        const std::string moved = is_signed ? o.binary("add", value, constant(most)) : value,
                          large = o.compare("ugt", moved, constant(is_signed ? 2 * most : most));
        value = o.select(large, odd, value);
    }
    return o.emit((is_signed ? "sitofp " : "uitofp ") + type + " " + value + " to " + wide);
}

/// The f32 beside an f64 whose last digit is odd where it is not exact: rounded to fewer digits it
/// gives what the f64 gives.
std::string to_odd_f32(const Operation& o, const std::string& wide) {
    const std::string doubles = of_lanes(o, "double"), floats = of_lanes(o, "float"),
                      words = of_lanes(o, "i32"), bools = of_lanes(o, "i1");
    const std::string near = o.emit("fptrunc " + doubles + " " + wide + " to " + floats),
                      back = o.emit("fpext " + floats + " " + near + " to " + doubles),
                      bits = o.emit("bitcast " + floats + " " + near + " to " + words);
    const auto size = [&](const std::string& x) { return intrinsic(o.run, "fabs", doubles, {x}); };
    const std::string beyond = o.emit("fcmp ogt " + doubles + " " + size(back) + ", " + size(wide)),
                      inexact = o.emit("fcmp one " + doubles + " " + back + ", " + wide),
                      one = word(o, "1", "i32"),
                      less = o.emit("sub " + words + " " + bits + ", " + one),
                      below = o.emit("select " + bools + " " + beyond + ", " + words + " " + less +
                                     ", " + words + " " + bits),
                      odd = o.emit("or " + words + " " + below + ", " + one),
                      chosen = o.emit("select " + bools + " " + inexact + ", " + words + " " + odd +
                                      ", " + words + " " + bits);
    return o.emit("bitcast " + words + " " + chosen + " to " + floats);
}

std::string cast(const Operation& o) {
    if (o.dtype == o.operand) return o.in[0];
    if (o.dtype.is_bool()) return to_bool(o);
    if (o.operand.is_bool()) {
        if (o.dtype.is_float())
            return o.emit("uitofp " + o.type(boolean) + " " + o.in[0] + " to " + o.type(o.dtype));
        return o.emit("zext " + o.type(boolean) + " " + o.in[0] + " to " + o.type(o.dtype));
    }
    if (!o.dtype.is_float())
        return o.operand.is_float() ? float_to_integer(o) : integer_to_integer(o);
    std::string value = o.in[0];
    if (o.dtype.is_half() &&
        (o.operand == f64 || (!o.operand.is_float() && !o.operand.is_narrow())))
        value = to_odd_f32(o, o.operand == f64 ? value : to_wide(o));
    else if (!o.operand.is_float())
        value = integer_to_float(o);
    else if (o.operand == f64)
        value = o.emit("fptrunc " + o.type() + " " + value + " to " + o.type(o.dtype));
    else if (o.dtype == f64)
        value = o.emit("fpext " + o.type() + " " + value + " to " + o.type(f64));
    return o.dtype.is_half() ? rounded_to_half(o.run, value, o.dtype, o.varying) : value;
}

/// The 16 bits of a half.
std::string half_bits(const Operation& o) {
    const std::string half = narrowed_half(o.run, o.operand, o.in[0], o.varying);
    if (o.operand == bf16) return half;
    return o.emit("bitcast " + of_lanes(o, half_type(o.operand)) + " " + half + " to " +
                  of_lanes(o, "i16"));
}

std::string bitcast(const Operation& o) {
    if (o.dtype == o.operand) return o.in[0];
    const auto of = [&](const char* scalar) {
        return o.varying ? vector_of(o.run, scalar) : std::string(scalar);
    };
    if (o.dtype.bytes() >= 4) {
        if (scalar_type(o.dtype) == scalar_type(o.operand)) return o.in[0];
        return o.emit("bitcast " + o.type() + " " + o.in[0] + " to " + o.type(o.dtype));
    }
    // Through the narrow integer: 16 bits of halves, and 16 or 8 of integers.
    if (o.operand.is_integer() && o.dtype.is_integer()) return integer_to_integer(o);
    std::string bits = o.operand.is_half()
                           ? half_bits(o)
                           : o.emit("trunc " + of("i32") + " " + o.in[0] + " to " + of("i16"));
    if (o.dtype.is_integer())
        return o.emit((o.dtype.is_signed() ? "sext " : "zext ") + of("i16") + " " + bits + " to " +
                      of("i32"));
    if (o.dtype == f16)
        bits = o.emit("bitcast " + of("i16") + " " + bits + " to " + of(half_type(f16)));
    return widened_half(o.run, o.dtype, bits, o.varying);
}

std::string write(const Operation& o);

/// Sums, differences and products of integers whose lanes differ by a stride.
bool keeps_linear(const IrRun& run, const KernelNode& n, const std::vector<IrValue>& in,
                  IrValue& out) {
    if (n.dtype != i32 && n.dtype != u32) return false;
    for (size_t k = 0; k < in.size(); ++k)
        if (in[k].is_vector() || run.code[n.args[k]].dtype.bytes() != 4 ||
            !run.code[n.args[k]].dtype.is_integer())
            return false;
    const auto constant = [&](size_t k) -> const Scalar* {
        return run.code[n.args[k]].get_if<Scalar>();
    };
    switch (n.op) {
        case KernelOp::Add: out.stride = in[0].stride + in[1].stride; return true;
        case KernelOp::Sub: out.stride = in[0].stride - in[1].stride; return true;
        case KernelOp::Neg: out.stride = -in[0].stride; return true;
        case KernelOp::Cast: out.stride = in[0].stride; return true;
        case KernelOp::Mul:
            for (size_t k = 0; k < 2; ++k)
                if (constant(k) && !in[k].varying) {
                    out.stride = in[1 - k].stride * constant(k)->i;
                    return out.stride == static_cast<int32_t>(out.stride);
                }
            return false;
        case KernelOp::ShiftLeft:
            if (!constant(1) || in[1].varying) return false;
            out.stride = in[0].stride << (constant(1)->i & 31);
            return out.stride == static_cast<int32_t>(out.stride);
        default: return false;
    }
}

/// Both conditions (i1); an empty one always holds.
std::string both(IrRun& run, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    return emit(run, "and i1 " + a + ", " + b);
}

/// The first and the last lane of an i32 whose lanes differ by a stride, as i64; and whether no
/// lane between them is beyond an i32.
struct Ends {
    std::string first, last, fit;
};
Ends ends_of(IrRun& run, const IrValue& value) {
    const std::string first = emit(run, "sext i32 " + value.text + " to i64"),
                      last = emit(run, "add i64 " + first + ", " +
                                           std::to_string(value.stride * (run.lanes - 1))),
                      narrow = emit(run, "trunc i64 " + last + " to i32"),
                      again = emit(run, "sext i32 " + narrow + " to i64");
    return {first, last, emit(run, "icmp eq i64 " + last + ", " + again)};
}

/// The predicate of a comparison of signed integers, or of the one that Min and Max take.
const char* predicate_of(KernelOp op) {
    switch (op) {
        case KernelOp::Less: return "slt";
        case KernelOp::LessEqual: return "sle";
        case KernelOp::Max: return "sge";
        case KernelOp::Min: return "sle";
        default: return nullptr;
    }
}

/// A comparison of i32 in every lane.
std::string compare_lanes(IrRun& run, const char* predicate, const std::string& a,
                          const std::string& b) {
    return emit(
        run, std::string("icmp ") + predicate + " " + vector_of(run, "i32") + " " + a + ", " + b);
}

/// An operation on scalars.
std::string write_scalar(IrRun& run, const KernelNode& n, std::vector<std::string> in) {
    return write({run, n.op, n.dtype, run.code[n.args.back()].dtype, false, std::move(in)});
}

/// A comparison with an i32 that is equal in all lanes is the same for all if it is for the first
/// and the last one; Min and Max then are that value with a stride, if it is the one they take.
/// `in`: with the strides of `operands`, if `where` holds, in the lanes of `inside`.
void compare_ends(IrRun& run, const KernelNode& n, const std::vector<IrValue>& operands,
                  const std::vector<IrValue>& in, const std::string& where,
                  const std::string& inside, IrValue& out) {
    const size_t k = in[0].varying ? 0 : 1;
    if (in[0].varying == in[1].varying || run.code[n.args[0]].dtype != i32) return;
    const Ends ends = ends_of(run, in[k]);
    const std::string other = emit(run, "sext i32 " + in[1 - k].text + " to i64");
    const auto holds = [&](const std::string& end) {
        const bool swapped = k == 1 && n.dtype == boolean;
        return emit(run, std::string("icmp ") + predicate_of(n.op) + " i64 " +
                             (swapped ? other + ", " + end : end + ", " + other));
    };
    const std::string first = holds(ends.first), last = holds(ends.last);
    const std::string known = both(run, where, ends.fit);
    if (n.dtype == boolean) {
        out.first = first;
        out.stride = 0;
        out.where = both(run, known, emit(run, "icmp eq i1 " + first + ", " + last));
        out.inside = emit(run, "icmp eq " + vector_of(run, "i1") + " " + out.text + ", " +
                                   splat(run, first, "i1"));
        return;
    }
    const IrValue& bounded = operands[k];
    out.first = in[k].text;
    out.stride = in[k].stride;
    out.where = both(run, known, both(run, first, last));
    out.inside = lanes_of_both(run, inside,
                               compare_lanes(run, predicate_of(n.op), as_vector(run, bounded, i32),
                                             splat(run, in[1 - k].text, "i32")));
    if (bounded.is_vector() && bounded.low.empty()) return;
    const auto bound = [&](const std::string& end) {
        return write_scalar(run, n, {end, in[1 - k].text});
    };
    out.low = bound(bounded.is_vector() ? bounded.low : bounded.text);
    out.high =
        bound(bounded.is_vector() ? bounded.high : lane_of(run, bounded, i32, run.lanes - 1));
}

/// Finds where the lanes of a vector of integers or conditions differ by one stride: of indices
/// that are clamped at an edge, in all vectors but those at the edge.
void find_regular(IrRun& run, const KernelNode& n, const std::vector<IrValue>& operands,
                  IrValue& out) {
    if (n.dtype != i32 && n.dtype != boolean) return;
    std::vector<IrValue> in = operands;
    std::string where, inside;
    for (IrValue& value : in) {
        if (!value.is_vector()) continue;
        if (value.first.empty()) return;
        where = both(run, where, value.where);
        inside = lanes_of_both(run, inside, value.inside);
        value = {value.first, true, true, value.stride};
    }
    if (n.args.size() == 2 && predicate_of(n.op))
        return compare_ends(run, n, operands, in, where, inside, out);
    if (n.op == KernelOp::Select && n.dtype == i32 && in[1].stride == in[2].stride) {
        out.first =
            emit(run, "select i1 " + in[0].text + ", i32 " + in[1].text + ", i32 " + in[2].text);
        out.stride = in[1].stride;
        out.where = where.empty() ? "true" : where;
        out.inside = inside.empty() ? splat(run, "true", "i1") : inside;
    } else if (IrValue linear; !where.empty() && keeps_linear(run, n, in, linear)) {
        const auto at = [&](std::string IrValue::*end) {
            std::vector<std::string> texts;
            for (const IrValue& value : operands)
                texts.push_back(value.is_vector() ? value.*end : value.text);
            return write_scalar(run, n, std::move(texts));
        };
        out.first = at(&IrValue::first);
        out.stride = linear.stride;
        out.where = where;
        out.inside = inside;
        // Clamped lanes stay equal if nothing else differs from lane to lane.
        int varying = 0;
        for (const IrValue& value : operands)
            varying += !value.varying ? 0 : value.low.empty() ? 2 : 1;
        if (varying != 1) return;
        out.low = at(&IrValue::low);
        out.high = at(&IrValue::high);
    }
}

std::string write(const Operation& o) {
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

/// A value that a loop carries from term to term, or a sum with one.
bool accumulates(const IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (n.op == KernelOp::Result) return run.code[n.args[0]].op == KernelOp::For;
    return n.op == KernelOp::RegionArg || run.sums[id];
}

/// A factor is masked where it is loaded, or broadcast.
bool masks_easily(const IrRun& run, NodeId factor) {
    const KernelOp op = run.code[factor].op;
    return op == KernelOp::Load || op == KernelOp::Lane || !run.varying[factor];
}

/// A product, or one that is 0 without a condition.
struct Product {
    NodeId mul, condition;
};
Product product_of(const Operation& o, NodeId id) {
    const KernelNode& n = o.run.code[id];
    if (n.op == KernelOp::Mul) return {id, {}};
    if (n.op != KernelOp::Select || !o.varying) return {};
    const auto* otherwise = o.run.code[n.args[2]].get_if<Scalar>();
    const KernelNode& mul = o.run.code[n.args[1]];
    if (!otherwise || mul.op != KernelOp::Mul ||
        !(constant_text(*otherwise) == constant_text(scalar_float(0, n.dtype))))
        return {};
    const bool easy = std::all_of(mul.args.begin(), mul.args.end(),
                                  [&](NodeId arg) { return masks_easily(o.run, arg); });
    return easy ? Product{n.args[1], n.args[0]} : Product{};
}

/// A product of a function's definition that nothing but one sum takes. If it is exact, so that a
/// later step takes the rest of the sum, the sum is the same; else it loses one rounding error.
bool is_term_of_function(const Operation& o, NodeId mul) {
    if (o.run.arguments.empty()) return false;
    int64_t uses = 0;
    for (const KernelNode& n : o.run.code.nodes)
        uses += std::count(n.args.begin(), n.args.end(), mul);
    for (const KernelRegion& region : o.run.code.regions)
        uses += std::count(region.yields.begin(), region.yields.end(), mul);
    return uses == 1;
}

/// A product that a loop adds to what it carries is rounded once, with the sum; so is one that is
/// taken away, and one in a function. Empty: it is no such sum.
std::string fused(const Operation& o, const KernelNode& n) {
    if (!o.run.contract || (o.operand != f32 && o.operand != f64) ||
        (o.op != KernelOp::Add && o.op != KernelOp::Sub))
        return {};
    const Product products[] = {product_of(o, n.args[0]), product_of(o, n.args[1])};
    if (!products[0].mul == !products[1].mul) return {};
    const size_t k = products[0].mul ? 0 : 1;
    if (!accumulates(o.run, n.args[1 - k]) && !is_term_of_function(o, products[k].mul)) return {};
    const KernelNode& mul = o.run.code[products[k].mul];
    // Without the condition both factors are 0, and so is their product, whatever they were.
    std::string mask;
    if (const NodeId condition = products[k].condition) {
        if (value_of(o.run, condition).text == "poison") return {};
        mask = as_vector(o.run, value_of(o.run, condition), boolean);
    }
    const auto value = [&](NodeId id) {
        const IrValue& v = value_of(o.run, id);
        const std::string all = o.varying ? as_vector(o.run, v, o.operand) : v.text;
        return mask.empty() ? all : o.select(mask, all, o.number(0));
    };
    for (NodeId arg : mul.args)
        if (value_of(o.run, arg).text == "poison" || (!o.varying && value_of(o.run, arg).varying))
            return {};
    const auto negated = [&](const std::string& x) { return o.emit("fneg " + o.type() + " " + x); };
    std::string a = value(mul.args[0]), rest = o.in[1 - k];
    if (o.op == KernelOp::Sub && k == 0) rest = negated(rest);
    if (o.op == KernelOp::Sub && k == 1) a = negated(a);
    return o.call("fma", {a, value(mul.args[1]), rest});
}

/// A quotient by a root, by the root's reciprocal. Empty: it is no such quotient.
std::string quotient_by_root(const Operation& o, const KernelNode& n) {
    if (n.op != KernelOp::Div || !o.varying || o.operand != f32) return {};
    const KernelNode& root = o.run.code[n.args[1]];
    if (root.op != KernelOp::Sqrt) return {};
    const IrValue x = value_of(o.run, root.args[0]);
    if (!x.is_vector() || x.text == "poison") return {};
    const std::string inverse = inverse_root(o.run, x.text);
    return inverse.empty() ? "" : o.binary("fmul", o.in[0], inverse);
}

std::string combined(IrRun& run, Op step, DType dtype, const std::string& a, const std::string& b,
                     bool varying) {
    return write({run, kernel_op(step), dtype, dtype, varying, {a, b}});
}

}  // namespace

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
        out.text = write(o);
    if (vector) find_regular(run, n, in, out);
    return out;
}

}  // namespace firn::native
