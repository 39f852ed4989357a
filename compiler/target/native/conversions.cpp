// Conversions between types as LLVM IR.
#include <cmath>

#include "compiler/host/processor.h"
#include "compiler/target/native/halves.h"
#include "compiler/target/native/operation.h"

namespace firn::native {
namespace {

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

/// The 16 bits of a half.
std::string half_bits(const Operation& o) {
    const std::string half = narrowed_half(o.run, o.operand, o.in[0], o.varying);
    if (o.operand == bf16) return half;
    return o.emit("bitcast " + of_lanes(o, half_type(o.operand)) + " " + half + " to " +
                  of_lanes(o, "i16"));
}

}  // namespace

std::string wrapped(const Operation& o, const std::string& value) {
    if (!o.operand.is_narrow()) return value;
    const std::string bits = o.number(32 - 8 * o.operand.bytes());
    return o.binary(o.operand.is_signed() ? "ashr" : "lshr", o.binary("shl", value, bits), bits);
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

}  // namespace firn::native
