// An elementwise operation whose operands are texts, and the parts of its text; internal to
// operations.
#pragma once
#include <string>
#include <vector>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

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

/// Writes the operation with the meanings of compiler/ir/evaluate.cpp.
std::string write_elementwise(const Operation& o);

// In conversions.cpp:

/// The value modulo the width of a narrow type, as a value of that type.
std::string wrapped(const Operation& o, const std::string& value);
std::string cast(const Operation& o);
std::string bitcast(const Operation& o);

// In fused.cpp:

/// A value that a loop carries from term to term, or a sum with one.
bool accumulates(const IrRun& run, NodeId id);
/// A product that a loop adds to what it carries is rounded once, with the sum; so is one that is
/// taken away, and one in a function. Empty: it is no such sum.
std::string fused(const Operation& o, const KernelNode& n);
/// A quotient by a root, by the root's reciprocal. Empty: it is no such quotient.
std::string quotient_by_root(const Operation& o, const KernelNode& n);

// In regular_lanes.cpp:

/// Sums, differences and products of integers whose lanes differ by a stride.
bool keeps_linear(const IrRun& run, const KernelNode& n, const std::vector<IrValue>& in,
                  IrValue& out);
/// Finds where the lanes of a vector of integers or conditions differ by one stride: of indices
/// that are clamped at an edge, in all vectors but those at the edge.
void find_regular(IrRun& run, const KernelNode& n, const std::vector<IrValue>& operands,
                  IrValue& out);

}  // namespace firn::native
