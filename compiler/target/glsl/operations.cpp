// The GLSL of every elementwise operation, literal and type.
#include "compiler/target/glsl/operations.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "compiler/base/error.h"

namespace firn {

bool is_plain(const std::string& text) {
    const size_t dot = text.find('.');
    const bool element =
        dot != std::string::npos && dot + 1 < text.size() && std::isalpha(text[dot + 1]);
    return !element && text.find_first_of("([") == std::string::npos;
}

namespace {

using Operands = std::vector<std::string>;

std::string call(const std::string& function, const Operands& operands) {
    std::string out = function + "(";
    for (size_t k = 0; k < operands.size(); ++k) out += (k ? ", " : "") + operands[k];
    return out + ")";
}

/// `pattern` with {0}, {1}, {2} replaced by the operands.
std::string filled(const std::string& pattern, const Operands& operands) {
    std::string out;
    for (size_t k = 0; k < pattern.size(); ++k) {
        if (pattern[k] != '{') {
            out += pattern[k];
            continue;
        }
        out += operands.at(static_cast<size_t>(pattern[k + 1] - '0'));
        k += 2;
    }
    return out;
}

struct OperationText {
    KernelOp operation;
    const char* text;
};
constexpr OperationText kTexts[] = {
#define TEXT(operation, text) {KernelOp::operation, text},
#include "compiler/target/glsl/operations.def"
};

/// Returns the text of an operation in operations.def.
std::string pattern_of(KernelOp op) {
    for (const OperationText& row : kTexts)
        if (row.operation == op) return row.text;
    throw InternalError(std::string("no GLSL for ") + info(op).name);
}

/// An integer literal that a division needs no test for.
bool is_safe_divisor(const std::string& text) {
    return text[0] >= '1' && text[0] <= '9' && is_plain(text);
}

/// A literal of a finite number, positive or in parentheses.
bool is_number(const std::string& text) {
    const size_t digit = text.starts_with("(-") ? 2 : 0;
    return text[digit] >= '0' && text[digit] <= '9';
}

/// Returns whether the text is a literal of a float with an exact reciprocal, so that quotients by
/// it are exact too.
bool is_power_of_two(const std::string& text) {
    if (!is_number(text)) return false;
    int exponent = 0;
    const double value = std::strtod(text.c_str() + (text[0] == '('), nullptr);
    return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 100;
}

/// A literal that firn_mod_by_f32 takes as divisor.
bool is_positive_power_of_two(const std::string& text) {
    return text[0] != '(' && is_power_of_two(text);
}

/// The operands of a minimum or maximum, in the order that spares the test for nan.
Operands literal_last(const Operands& in) { return is_number(in[0]) ? Operands{in[1], in[0]} : in; }

/// Integers of 8 and 16 bits are held in 32.
std::string wrapped(const std::string& value, DType dtype) {
    if (!dtype.is_narrow()) return value;
    const int bits = 8 * dtype.bytes();
    if (dtype.is_signed()) return "bitfieldExtract(" + value + ", 0, " + std::to_string(bits) + ")";
    return "(" + value + " & " + std::to_string((1 << bits) - 1) + "u)";
}

/// Rounds to the nearest f16 or bf16.
std::string rounded(const std::string& value, DType half) {
    return std::string("firn_round_") + half.name() + "(" + value + ")";
}

/// The name of the type that values of this one are computed in.
std::string computed_in(DType dtype) {
    if (dtype.is_half()) return "f32";
    return !dtype.is_narrow() ? dtype.name() : dtype.is_signed() ? "i32" : "u32";
}

bool is_64bit(DType dtype) { return dtype.bytes() == 8; }

/// Returns the name of an operation in arithmetic.glsl: firn_<name>_<type>.
std::string function_of(const std::string& name, DType dtype) {
    return "firn_" + name + "_" + computed_in(dtype);
}

std::string float_operation(KernelOp op, DType dtype, const Operands& in) {
    switch (op) {
        case KernelOp::Sign: return call(function_of("sign", dtype), in);
        case KernelOp::Frac: return call(function_of("frac", dtype), in);
        case KernelOp::Mod:
            return call(
                function_of(is_positive_power_of_two(in[1]) && dtype != f64 ? "mod_by" : "mod",
                            dtype),
                in);
        case KernelOp::Min: return call(function_of("min", dtype), literal_last(in));
        case KernelOp::Max: return call(function_of("max", dtype), literal_last(in));
        case KernelOp::IsNan: return call(function_of("is_nan", dtype), in);
        case KernelOp::IsInf: return call(function_of("is_inf", dtype), in);
        case KernelOp::Rsqrt: return call(function_of("rsqrt", dtype), in);
        case KernelOp::Rcp:
            return dtype == f64 ? "(1.0lf / " + in[0] + ")" : "(1.0 / " + in[0] + ")";
        case KernelOp::Div: return filled("({0} / {1})", in);
        case KernelOp::Round:
        case KernelOp::Trunc:
            if (dtype == f64)
                return call(op == KernelOp::Round ? "firn_round_f64" : "firn_trunc_f64", in);
            return filled(pattern_of(op), in);
        case KernelOp::Pow: return call(dtype == f64 ? "firn_pow_f64" : "firn_pow", in);
        case KernelOp::Not: return "(" + in[0] + (dtype == f64 ? " == 0.0lf)" : " == 0.0)");
        default: {
            std::string pattern = pattern_of(op);
            if (dtype == f64 && pattern.starts_with("firn_"))
                pattern.insert(pattern.find('('), "_f64");
            return filled(pattern, in);
        }
    }
}

std::string integer_operation(KernelOp op, DType dtype, const Operands& in) {
    const bool is_signed = dtype.is_signed();
    switch (op) {
        case KernelOp::Abs:
            return !is_signed        ? in[0]
                   : is_64bit(dtype) ? call(function_of("abs", dtype), in)
                                     : call("abs", in);
        // NVIDIA's sign of 64 bits is 0 of -2 that was shifted there.
        case KernelOp::Sign:
            return is_64bit(dtype) || !is_signed ? call(function_of("sign", dtype), in)
                                                 : call("sign", in);
        case KernelOp::Not: return "(" + in[0] + " == " + glsl_literal(scalar_int(0, dtype)) + ")";
        case KernelOp::IsNan:
        case KernelOp::IsInf: return "false";
        case KernelOp::ReverseBits:
            return call(std::string("firn_reverse_bits_") + dtype.name(), in);
        case KernelOp::Div:
            return is_safe_divisor(in[1]) ? filled("({0} / {1})", in)
                                          : call(function_of("div", dtype), in);
        case KernelOp::Mod:
            return is_safe_divisor(in[1]) && !is_signed ? filled("({0} % {1})", in)
                                                        : call(function_of("mod", dtype), in);
        case KernelOp::Pow: return call(function_of("pow", dtype), in);
        // NVIDIA's compiler gives up on some that are written out as choices of 64 bits.
        case KernelOp::Min:
        case KernelOp::Max: return filled(pattern_of(op), in);
        case KernelOp::And: return filled("({0} & {1})", in);
        case KernelOp::Or: return filled("({0} | {1})", in);
        case KernelOp::Xor: return filled("({0} ^ {1})", in);
        case KernelOp::ShiftLeft:
        case KernelOp::ShiftRight: {
            const std::string mask = std::to_string(8 * dtype.bytes() - 1);
            return filled(
                       op == KernelOp::ShiftLeft ? "({0} << (int({1}) & " : "({0} >> (int({1}) & ",
                       in) +
                   mask + "))";
        }
        default: return filled(pattern_of(op), in);
    }
}

/// And, Or and Less have no form in GLSL that never branches on operands that are expressions, but
/// mix.
std::string bool_operation(KernelOp op, const Operands& in) {
    const bool plain = in.size() < 2 || is_plain(in[1]);
    switch (op) {
        case KernelOp::Not:
        case KernelOp::BitNot: return filled("(!{0})", in);
        case KernelOp::And: return filled(plain ? "({0} && {1})" : "mix(false, {1}, {0})", in);
        case KernelOp::Or: return filled(plain ? "({0} || {1})" : "mix({1}, true, {0})", in);
        case KernelOp::Xor:
        case KernelOp::NotEqual: return filled("({0} != {1})", in);
        default: return filled("({0} == {1})", in);
    }
}

std::string select_operation(const Operands& in) {
    // Drivers turn a ternary with expressions as arms into a branch.
    const bool plain = is_plain(in[1]) && is_plain(in[2]);
    return plain ? filled("({0} ? {1} : {2})", in) : filled("mix({2}, {1}, {0})", in);
}

/// Converts a float of either width, saturating.
std::string float_to_integer(DType to, DType from, const std::string& x) {
    const std::string value =
        "firn_" + computed_in(to) + "_from_" + computed_in(from) + "(" + x + ")";
    if (!to.is_narrow()) return value;
    const int digits = 8 * to.bytes() - to.is_signed();
    const std::string most = std::to_string((1 << digits) - 1);
    if (!to.is_signed()) return "min(" + value + ", " + most + "u)";
    return "clamp(" + value + ", -" + std::to_string(1 << digits) + ", " + most + ")";
}

/// The nearest f32.
std::string to_f32(DType from, const std::string& x) {
    if (from == u32) return "firn_f32_from_u32(" + x + ")";
    return glsl_type(from) == "float" ? x : "float(" + x + ")";
}

std::string cast(DType to, DType from, const std::string& x) {
    if (to == from) return x;
    if (to.is_bool()) {
        const Scalar zero = from.is_float() ? scalar_float(0, from) : scalar_int(0, from);
        return "(" + x + " != " + glsl_literal(zero) + ")";
    }
    if (to.is_half()) {
        // Integers beyond 24 bits are infinite as f16.
        const bool twice = from == f64 || (to == bf16 && from.is_integer() && !from.is_narrow());
        return rounded(twice ? std::string("firn_odd_f32_from_") + from.name() + "(" + x + ")"
                             : to_f32(from, x),
                       to);
    }
    if (to == f32) return to_f32(from, x);
    if (from.is_float() && !to.is_float()) return float_to_integer(to, from, x);
    if (glsl_type(to) == glsl_type(from) && (to.is_float() || from.bytes() < to.bytes())) return x;
    return wrapped(glsl_type(to) + "(" + x + ")", to);
}

}  // namespace

std::string bitcast_glsl(DType to, DType from, const std::string& x) {
    if (to == from) return x;
    if (from.is_half())
        return bitcast_glsl(to, u16, std::string("firn_bits_of_") + from.name() + "(" + x + ")");
    if (to.is_half())
        return std::string("firn_") + to.name() + "_of_bits(" +
               (from == u16 ? x : glsl_type(u16) + "(" + x + ")") + ")";
    if (to == f32) return (from == i32 ? "intBitsToFloat(" : "uintBitsToFloat(") + x + ")";
    if (from == f32) return (to == i32 ? "floatBitsToInt(" : "floatBitsToUint(") + x + ")";
    if (to == f64) return (from == i64 ? "int64BitsToDouble(" : "uint64BitsToDouble(") + x + ")";
    if (from == f64) return (to == i64 ? "doubleBitsToInt64(" : "doubleBitsToUint64(") + x + ")";
    return wrapped(glsl_type(to) + "(" + x + ")", to);
}

namespace {

std::string float_bits_literal(float value) {
    return "uintBitsToFloat(" + std::to_string(std::bit_cast<uint32_t>(value)) + "u)";
}

/// The shortest text that is read back to the same bits.
template <class T>
std::string digits(T value) {
    char buffer[64];
    std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
}

std::string float_literal(double value, DType dtype) {
    if (dtype == f64) {
        const auto bits = std::bit_cast<uint64_t>(value);
        if (!std::isnormal(value) && bits != 0)
            return "packDouble2x32(uvec2(" + std::to_string(static_cast<uint32_t>(bits)) + "u, " +
                   std::to_string(bits >> 32) + "u))";
        const std::string text = digits(value) + "lf";
        return value < 0 ? "(" + text + ")" : text;
    }
    const auto narrow = static_cast<float>(value);
    if (!std::isnormal(narrow) && std::bit_cast<uint32_t>(narrow) != 0)
        return float_bits_literal(narrow);
    std::string text = digits(narrow);
    // GLSL compilers read a double and round it to a float, which is another one for 7.038531e-26
    // (of all floats): the double's own digits are read as they are.
    if (static_cast<float>(std::strtod(text.c_str(), nullptr)) != narrow)
        text = digits(double{narrow});
    return narrow < 0 ? "(" + text + ")" : text;
}

std::string integer_literal(int64_t value, DType dtype) {
    const std::string suffix = dtype == i64        ? "l"
                               : dtype == u64      ? "ul"
                               : dtype.is_signed() ? ""
                                                   : "u";
    if (dtype == u64) return std::to_string(static_cast<uint64_t>(value)) + suffix;
    if (value >= 0) return std::to_string(value) + suffix;
    // The magnitude of the smallest value is no literal of the signed type.
    if (value == std::numeric_limits<int32_t>::min() && dtype == i32) return "int(2147483648u)";
    if (value == std::numeric_limits<int64_t>::min()) return "int64_t(9223372036854775808ul)";
    return "(" + std::to_string(value) + suffix + ")";
}

/// A widened integer, put together from two words.
std::string widened_glsl(DType to, const std::string& operand) {
    const std::string value = "firn_i64_from_words(" + operand + ")";
    return to == i64 ? value : glsl_type(to) + "(" + value + ")";
}

/// Returns the call that corrects a device's error; empty if none is needed: a reciprocal and a
/// reciprocal root need not be exact, and are the device's.
std::string corrected_glsl(KernelOp op, DType dtype, const Operands& in) {
    if (!dtype.is_float() || dtype == f64) return {};
    if (op == KernelOp::Div && is_power_of_two(in[1])) return {};
    std::string value;
    switch (op) {
        case KernelOp::Div: value = call("firn_div_f32", in); break;
        case KernelOp::Sqrt: value = call("firn_sqrt_f32", in); break;
        default: return {};
    }
    return dtype.is_half() ? rounded(value, dtype) : value;
}

[[noreturn]] void reject(KernelOp op, DType operand) {
    throw UserError(
        std::string(info(op).name) + " of " + operand.name() +
        ": GLSL has no such operation on this type; cast the operand first (to a type that "
        "has it, such as i32 or f32)");
}

}  // namespace

std::string glsl_type(DType dtype) {
    switch (dtype.type) {
        case Type::F32:
        case Type::F16:
        case Type::BF16: return "float";
        case Type::F64: return "double";
        case Type::I32:
        case Type::I16:
        case Type::I8: return "int";
        case Type::U32:
        case Type::U16:
        case Type::U8: return "uint";
        case Type::I64: return "int64_t";
        case Type::U64: return "uint64_t";
        case Type::Bool: return "bool";
    }
    throw InternalError("internal error: a type without GLSL");
}

std::string glsl_literal(const Scalar& value) {
    if (value.dtype.is_bool()) return value.i ? "true" : "false";
    if (value.dtype.is_float()) return float_literal(value.f, value.dtype);
    return integer_literal(value.i, value.dtype);
}

std::vector<std::string> required_extensions(DType dtype) {
    switch (dtype.type) {
        case Type::F16:
        case Type::BF16:
        case Type::I16:
        case Type::U16: return {"GL_EXT_shader_16bit_storage"};
        case Type::I8:
        case Type::U8: return {"GL_EXT_shader_8bit_storage"};
        case Type::I64:
        case Type::U64: return {"GL_EXT_shader_explicit_arithmetic_types_int64"};
        case Type::F32:
        case Type::F64:
        case Type::I32:
        case Type::U32:
        case Type::Bool: return {};
    }
    throw InternalError("internal error: a type without GLSL");
}

bool supported(KernelOp op, DType operand) {
    if (op == KernelOp::OnePlusTanh || for_any_angle(op) != op) return operand == f32;
    if (op == KernelOp::InRange) return operand == i32;
    if (op == KernelOp::LowBits) return operand == i32 || operand == u32;
    const uint32_t type = operand.is_bool() ? kBools : operand.is_float() ? kFloats : kIntegers;
    return info(op).types & type;
}

bool widens(DType to, DType from) {
    return to.is_integer() && is_64bit(to) && from.is_integer() && from.is_signed() &&
           !is_64bit(from);
}

// GLSL has no keyword for the execution mode SignedZeroInfNanPreserve, 4461.
std::string special_floats_glsl(const std::vector<DType>& types) {
    std::set<int> widths;  // f16 and bf16 are computed in 32 bits
    for (DType type : types)
        if (type.is_float()) widths.insert(type == f64 ? 64 : 32);
    std::string out;
    for (int width : widths)
        out +=
            "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = "
            "[4466], 4461, " +
            std::to_string(width) + ");\n";
    return out;
}

std::string operation_glsl(KernelOp op, DType dtype, const std::vector<DType>& input_types,
                           const std::vector<std::string>& operands) {
    ensure(is_elementwise(op) || is_combined(op),
           "only elementwise operations are one GLSL expression");
    ensure(operands.size() == static_cast<size_t>(info(op).arity) &&
               input_types.size() == operands.size(),
           "an operation has other operands than its row in the table");
    const DType operand = input_types.back();
    if (!supported(op, operand)) reject(op, operand);
    if (op == KernelOp::Cast) return cast(dtype, operand, operands[0]);
    if (op == KernelOp::Bitcast) return bitcast_glsl(dtype, operand, operands[0]);
    if (op == KernelOp::Select) return select_operation(operands);
    if (operand.is_bool()) return bool_operation(op, operands);
    const bool gives_bool = info(op).result == ResultRule::Bool;
    if (!operand.is_float()) {
        const std::string value = integer_operation(op, operand, operands);
        return gives_bool ? value : wrapped(value, operand);
    }
    const std::string value = float_operation(op, operand, operands);
    return operand.is_half() && !gives_bool && !is_exact_on_halves(op) ? rounded(value, operand)
                                                                       : value;
}

std::string operation_glsl(const DeviceProfile& profile, KernelOp op, DType dtype,
                           const std::vector<DType>& input_types,
                           const std::vector<std::string>& operands) {
    if (!profile.compares_widened && op == KernelOp::Cast && widens(dtype, input_types[0]))
        return widened_glsl(dtype, operands[0]);
    if (!profile.rounds_exactly)
        if (std::string corrected = corrected_glsl(op, dtype, operands); !corrected.empty())
            return corrected;
    return operation_glsl(op, dtype, input_types, operands);
}

}  // namespace firn
