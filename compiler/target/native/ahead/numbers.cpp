// Numbers of a call as LLVM IR, with the meanings of host_values() and param_bits().
#include "compiler/target/native/ahead/numbers.h"

#include <bit>
#include <cstdio>
#include <tuple>
#include <utility>

#include "compiler/base/error.h"

namespace firn::ahead {
namespace {

std::string call_of(IrText& text, const std::string& function, const std::string& x) {
    return text.emit("call double @" + function + "(double " + x + ")");
}

std::string of_one(IrText& text, HostOp op, const std::string& x) {
    switch (op) {
        case HostOp::Neg: return text.emit("fneg double " + x);
        case HostOp::Abs: return call_of(text, "llvm.fabs.f64", x);
        case HostOp::Floor: return call_of(text, "floor", x);
        case HostOp::Sqrt: return call_of(text, "llvm.sqrt.f64", x);
        case HostOp::Rsqrt:
            return text.emit("fdiv double 1.0, " + call_of(text, "llvm.sqrt.f64", x));
        case HostOp::Rcp: return text.emit("fdiv double 1.0, " + x);
        case HostOp::Exp: return call_of(text, "exp", x);
        case HostOp::Exp2: return call_of(text, "exp2", x);
        case HostOp::Log: return call_of(text, "log", x);
        case HostOp::Log2: return call_of(text, "log2", x);
        case HostOp::Sin: return call_of(text, "sin", x);
        case HostOp::Cos: return call_of(text, "cos", x);
        case HostOp::Tan: return call_of(text, "tan", x);
        case HostOp::Tanh: return call_of(text, "tanh", x);
        default: throw InternalError("a number that the host computes has an operand too few");
    }
}

std::string of_two(IrText& text, HostOp op, const std::string& x, const std::string& y) {
    const std::string operands = " double " + x + ", " + y,
                      arguments = "(double " + x + ", double " + y + ")";
    switch (op) {
        case HostOp::Add: return text.emit("fadd" + operands);
        case HostOp::Sub: return text.emit("fsub" + operands);
        case HostOp::Mul: return text.emit("fmul" + operands);
        case HostOp::Div: return text.emit("fdiv" + operands);
        case HostOp::Min: return text.emit("call double @firn.smaller" + arguments);
        case HostOp::Max: return text.emit("call double @firn.larger" + arguments);
        case HostOp::Pow: return text.emit("call double @pow" + arguments);
        default: throw InternalError("a number that the host computes has an operand too many");
    }
}

/// A value of the struct as the float that a kernel would get.
std::string as_float(IrText& text, const std::string& value, DType dtype) {
    switch (dtype.type) {
        case Type::F32: return value;
        case Type::F64: return text.emit("fptrunc double " + value + " to float");
        case Type::F16: return text.emit("call float @firn.half_value(i16 " + value + ")");
        case Type::BF16: {
            const std::string wide = text.emit("zext i16 " + value + " to i32"),
                              bits = text.emit("shl i32 " + wide + ", 16");
            return text.emit("bitcast i32 " + bits + " to float");
        }
        case Type::Bool: {
            const std::string is = text.emit("icmp ne i32 " + value + ", 0");
            return text.emit("uitofp i1 " + is + " to float");
        }
        default: {
            const std::string bits = "i" + std::to_string(8 * dtype.bytes());
            return text.emit((dtype.is_signed() ? "sitofp " : "uitofp ") + bits + " " + value +
                             " to float");
        }
    }
}

std::string float_bits(IrText& text, const std::string& value) {
    const std::string bits = text.emit("bitcast float " + value + " to i32");
    return text.emit("zext i32 " + bits + " to i64");
}

/// The value of an integer or bool of the struct, an i64.
std::string as_integer(IrText& text, const std::string& value, DType dtype) {
    if (dtype.bytes() == 8) return value;
    if (dtype.is_bool())
        return text.emit("zext i1 " + text.emit("icmp ne i32 " + value + ", 0") + " to i64");
    return text.emit((dtype.is_signed() ? "sext i" : "zext i") + std::to_string(8 * dtype.bytes()) +
                     " " + value + " to i64");
}

/// A number of the struct as a parameter that is an integer or a bool: wrapped, or saturated where
/// it is a float.
std::string integer_bits(IrText& text, const std::string& value, DType from, DType to) {
    const std::string bits = "i" + std::to_string(8 * to.bytes());
    std::string number;
    if (!from.is_float()) {
        number = as_integer(text, value, from);
        if (to.is_bool())
            return text.emit("zext i1 " + text.emit("icmp ne i64 " + number + ", 0") + " to i64");
        if (to.bytes() == 8) return number;
        number = text.emit("trunc i64 " + number + " to " + bits);
    } else {
        const bool is_f64 = from == f64;
        const std::string type = is_f64 ? "double" : "float",
                          x = is_f64 ? value : as_float(text, value, from);
        if (to.is_bool())
            return text.emit("zext i1 " + text.emit("fcmp une " + type + " " + x + ", 0.0") +
                             " to i64");
        number = text.emit("call " + bits + " @llvm.fpto" + (to.is_signed() ? "si" : "ui") +
                           ".sat." + bits + (is_f64 ? ".f64(" : ".f32(") + type + " " + x + ")");
        if (to.bytes() == 8) return number;
    }
    if (to.is_narrow())
        number = text.emit((to.is_signed() ? "sext " : "zext ") + bits + " " + number + " to i32");
    return text.emit("zext i32 " + number + " to i64");
}

/// A value of the struct as a parameter: as Scalar::to() converts it.
std::string argument_bits(IrText& text, const std::string& value, DType from, DType to) {
    if (!to.is_float()) return integer_bits(text, value, from, to);
    if (to == f32 || (to == from && to.is_half()))
        return float_bits(text, as_float(text, value, from));
    if (to != f64)
        throw UserError(std::string("save_native: a number of type ") + from.name() +
                        " is used as " + to.name() + "; declare it as " + to.name());
    std::string number = value;
    if (!from.is_float())
        number = text.emit((from == u64 ? "uitofp i64 " : "sitofp i64 ") +
                           as_integer(text, value, from) + " to double");
    else if (from != f64)
        number = text.emit("fpext float " + as_float(text, value, from) + " to double");
    return text.emit("bitcast double " + number + " to i64");
}

/// A number that the host computes, rounded to a float.
std::string host_number(NumberScope& scope, int k) {
    if (const auto found = scope.known.find(k); found != scope.known.end()) return found->second;
    const HostScalar& number = scope.program.host_scalars[static_cast<size_t>(k)];
    ensure(number.a < k && number.b < k, "a number that the host computes needs a later one");
    IrText& text = scope.text;
    const auto of = [&](int operand) {
        return text.emit("fpext float " + host_number(scope, operand) + " to double");
    };
    std::string value;
    switch (number.op) {
        case HostOp::Constant:
            value = double_literal(static_cast<double>(static_cast<float>(number.constant)));
            break;
        case HostOp::Argument: {
            const auto at = static_cast<size_t>(number.argument);
            value = as_float(text, scope.scalars[at], scope.program.arguments[at].dtype);
            break;
        }
        case HostOp::Size:
            value = text.emit("sitofp i64 " + write_index(scope, number.size) + " to float");
            break;
        default: {
            const std::string x = of(number.a),
                              exact = number.b < 0 ? of_one(text, number.op, x)
                                                   : of_two(text, number.op, x, of(number.b));
            value = text.emit("fptrunc double " + exact + " to float");
        }
    }
    return scope.known[k] = value;
}

}  // namespace

std::string double_literal(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "0x%016llX",
                  static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
    return digits;
}

std::string write_index(NumberScope& scope, const Size& size) {
    IrText& text = scope.text;
    const std::string value = write_checked_size(text, size, scope.symbols, scope.too_large);
    if (size.is_constant()) return value;
    const std::string low = text.emit("trunc i64 " + value + " to i32"),
                      again = text.emit("sext i32 " + low + " to i64");
    text.leave_if(text.emit("icmp ne i64 " + again + ", " + value), scope.too_large);
    return value;
}

std::string write_parameter(NumberScope& scope, const ParamInfo& param) {
    IrText& text = scope.text;
    const int arguments = static_cast<int>(scope.program.arguments.size());
    if (param.scalar >= arguments) {
        ensure(param.dtype == f32, "a number that the host computes is no f32");
        return float_bits(text, host_number(scope, param.scalar - arguments));
    }
    if (param.scalar >= 0) {
        const auto at = static_cast<size_t>(param.scalar);
        return argument_bits(text, scope.scalars[at], scope.program.arguments[at].dtype,
                             param.dtype);
    }
    const std::string value = write_index(scope, param.size);
    if (param.dtype == f32) return float_bits(text, text.emit("sitofp i64 " + value + " to float"));
    ensure(param.dtype.is_integer() && param.dtype.bytes() >= 4,
           "a kernel takes a size as another type than an integer");
    return param.dtype.bytes() == 8 ? value : text.emit("and i64 " + value + ", 4294967295");
}

std::string number_functions() {
    std::string out =
        "declare double @llvm.fabs.f64(double)\ndeclare double @llvm.sqrt.f64(double)\n";
    for (const char* bits : {"8", "16", "32", "64"})
        for (const char* sign : {"s", "u"})
            for (const auto& [type, suffix] : {std::pair{"float", "32"}, std::pair{"double", "64"}})
                out += std::string("declare i") + bits + " @llvm.fpto" + sign + "i.sat.i" + bits +
                       ".f" + suffix + "(" + type + ")\n";
    for (const char* name : {"floor", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh"})
        out += std::string("declare double @") + name + "(double)\n";
    out += "declare double @pow(double, double)\n\n";
    // -0 is smaller than 0. Where one of both is nan, the other one is the result.
    for (const auto& [name, order, zero] :
         {std::tuple{"smaller", "olt", "slt"}, std::tuple{"larger", "ogt", "sge"}})
        out += std::string("define internal double @firn.") + name +
               "(double %x, double %y) alwaysinline {\n"
               "  %x_nan = fcmp uno double %x, %x\n  %y_nan = fcmp uno double %y, %y\n"
               "  %beyond = fcmp " +
               order +
               " double %y, %x\n  %equal = fcmp oeq double %x, %y\n"
               "  %bits = bitcast double %y to i64\n  %sign = icmp " +
               zero +
               " i64 %bits, 0\n"
               "  %tie = and i1 %equal, %sign\n  %takes_y = or i1 %beyond, %tie\n"
               "  %number = select i1 %takes_y, double %y, double %x\n"
               "  %without_y = select i1 %y_nan, double %x, double %number\n"
               "  %out = select i1 %x_nan, double %y, double %without_y\n  ret double %out\n}\n\n";
    // The exponent of a half is made that of a float by a product, exactly.
    out += R"(define internal float @firn.half_value(i16 %half) alwaysinline {
  %wide = zext i16 %half to i32
  %magnitude = and i32 %wide, 32767
  %moved = shl i32 %magnitude, 13
  %small = bitcast i32 %moved to float
  %scaled = fmul float %small, 0x46F0000000000000
  %number = bitcast float %scaled to i32
  %no_number = or i32 %moved, 2139095040
  %is_number = icmp ult i32 %magnitude, 31744
  %value = select i1 %is_number, i32 %number, i32 %no_number
  %sign = and i32 %wide, 32768
  %sign_moved = shl i32 %sign, 16
  %bits = or i32 %value, %sign_moved
  %out = bitcast i32 %bits to float
  ret float %out
}

)";
    return out;
}

}  // namespace firn::ahead
