// Integers and conditions whose lanes differ by one stride, in all vectors or in most, as LLVM IR.
#include "compiler/target/native/operation.h"

namespace firn::native {
namespace {

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
    return write_elementwise(
        {run, n.op, n.dtype, run.code[n.args.back()].dtype, false, std::move(in)});
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

}  // namespace

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

}  // namespace firn::native
