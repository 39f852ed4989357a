// Functions that are defined by kernel code, as functions of the module.
#include "compiler/target/native/functions.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/kernel/functions/functions.h"
#include "compiler/target/native/forms.h"
#include "compiler/target/native/halves.h"
#include "compiler/target/native/kept.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

/// Lines of text that the calls of one function may add to a kernel: a call empties all registers
/// of vectors, and no operation passes it.
constexpr int64_t kMostInlined = 2048;

constexpr const char* kIntegerPower = "power_";

/// x to the power of e by repeated squaring, for one lane; the names of the types are those of IR.
std::string integer_power(const std::string& name, const std::string& type, bool is_signed) {
    const std::string t = type;
    std::string out =
        "define internal " + t + " @" + name + "(" + t + " %x, " + t + " %e) {\nentry:\n";
    if (is_signed)
        out += "  %negative = icmp slt " + t +
               " %e, 0\n  br i1 %negative, label %below, label %loop\n"
               "below:\n  %one = icmp eq " +
               t + " %x, 1\n  %minus = icmp eq " + t +
               " %x, -1\n"
               "  %odd = and " +
               t + " %e, 1\n  %flips = icmp ne " + t +
               " %odd, 0\n"
               "  %s = select i1 %flips, " +
               t + " -1, " + t +
               " 1\n"
               "  %m = select i1 %minus, " +
               t + " %s, " + t +
               " 0\n"
               "  %r = select i1 %one, " +
               t + " 1, " + t + " %m\n  ret " + t + " %r\n";
    else
        out += "  br label %loop\n";
    out += "loop:\n  %p = phi " + t + " [1, %entry], [%p1, %next]\n  %f = phi " + t +
           " [%x, %entry], [%f1, %next]\n  %k = phi " + t +
           " [%e, %entry], [%k1, %next]\n"
           "  %done = icmp eq " +
           t +
           " %k, 0\n  br i1 %done, label %end, label %next\n"
           "next:\n  %bit = and " +
           t + " %k, 1\n  %taken = icmp ne " + t +
           " %bit, 0\n"
           "  %pf = mul " +
           t + " %p, %f\n  %p1 = select i1 %taken, " + t + " %pf, " + t +
           " %p\n"
           "  %f1 = mul " +
           t + " %f, %f\n  %k1 = lshr " + t +
           " %k, 1\n  br label %loop\n"
           "end:\n  ret " +
           t + " %p\n}\n";
    return out;
}

std::string call_integer_power(IrRun& run, const KernelNode& n, const std::vector<std::string>& in,
                               bool varying) {
    const std::string type = scalar_type(n.dtype),
                      name = kIntegerPower + type + (n.dtype.is_signed() ? "_signed" : "_unsigned");
    ++(*run.functions)[name];
    const auto one = [&](const std::string& x, const std::string& e) {
        return emit(
            run, "call " + type + " @" + name + "(" + type + " " + x + ", " + type + " " + e + ")");
    };
    std::string value;
    if (!varying) {
        value = one(in[0], in[1]);
    } else {
        const std::string vector = vector_of(run, type);
        value = "poison";
        for (int lane = 0; lane < run.lanes; ++lane) {
            const std::string at = ", i64 " + std::to_string(lane);
            const auto part = [&](const std::string& x) {
                return emit(run, "extractelement " + vector + " " + x + at);
            };
            value = emit(run, "insertelement " + vector + " " + value + ", " + type + " " +
                                  one(part(in[0]), part(in[1])) + at);
        }
    }
    if (!n.dtype.is_narrow()) return value;
    const std::string bits = std::to_string(32 - 8 * n.dtype.bytes()),
                      count = varying ? splat(run, bits, "i32") : bits,
                      words = varying ? vector_of(run, "i32") : "i32";
    return emit(run, std::string(n.dtype.is_signed() ? "ashr " : "lshr ") + words + " " +
                         emit(run, "shl " + words + " " + value + ", " + count) + ", " + count);
}

/// The functions of the table, by their names in the module.
const KernelFunction* function_named(const std::string& called) {
    const std::string wanted = called.substr(0, called.rfind('_'));
    for (const KernelFunction& function : kernel_functions())
        if (name(function) == wanted) return &function;
    return nullptr;
}

std::string definition(const std::string& called, const KernelFunction& function, const IrRun& by,
                       std::set<std::string>& declared, std::map<std::string, int>& functions,
                       int calls) {
    const KernelCode& code = function_code(function);
    const bool varying = called.back() == 'v';
    IrRun run{code, by.profile};
    run.lanes = by.lanes, run.subgroup = by.subgroup, run.contract = by.contract;
    run.functions = &functions;
    std::string parameters;
    const std::string type = type_of(run, function.dtype, varying);
    for (size_t k = 0; k < code.params.size(); ++k) {
        const std::string argument = "%a" + std::to_string(k);
        run.arguments.push_back({argument, varying});
        parameters += (k ? ", " : "") + type + " " + argument;
    }
    run.values.resize(code.nodes.size());
    run.sums.resize(code.nodes.size());
    find_forms(run);
    find_kept(run);
    name_constants(run);
    for (NodeId id : code.nodes.ids())
        if (const auto* attr = code[id].get_if<ParamAttr>())
            run.values[id] = {run.arguments[static_cast<size_t>(attr->param)]};
    write_region(run, kRoot);
    declared.merge(run.declared);
    const auto lines = std::count(run.text.begin(), run.text.end(), '\n');
    const char* inlined =
        calls * lines <= kMostInlined ? ") alwaysinline {\nentry:\n" : ") {\nentry:\n";
    return "define internal " + type + " @" + called + "(" + parameters + inlined + run.allocas +
           run.text + "  ret " + type + " " + run.returned + "\n}\n";
}

}  // namespace

std::string call_function(IrRun& run, const KernelNode& n, const std::vector<std::string>& in,
                          bool varying) {
    const DType operand = run.code[n.args[0]].dtype;
    if (n.op == KernelOp::Pow && n.dtype.is_integer())
        return call_integer_power(run, n, in, varying);
    const KernelFunction* function = find_kernel_function(n.op, operand.is_half() ? f32 : operand);
    if (!function) return {};
    const std::string called = name(*function) + (varying ? "_v" : "_s"),
                      type = type_of(run, function->dtype, varying);
    ++(*run.functions)[called];
    std::string given;
    for (const std::string& argument : in)
        given += (given.empty() ? "" : ", ") + type + " " + argument;
    const std::string value = emit(run, "call " + type + " @" + called + "(" + given + ")");
    return operand.is_half() ? rounded_to_half(run, value, operand, varying) : value;
}

std::string function_definitions(const std::map<std::string, int>& called, const IrRun& by,
                                 std::set<std::string>& declared) {
    std::string out;
    std::set<std::string> done;
    std::map<std::string, int> open = called;
    while (!open.empty()) {
        const auto [next, calls] = *open.begin();
        open.erase(open.begin());
        if (!done.insert(next).second) continue;
        if (next.starts_with(kIntegerPower)) {
            out += integer_power(next, next.find("i64") != std::string::npos ? "i64" : "i32",
                                 next.ends_with("_signed"));
            continue;
        }
        const KernelFunction* function = function_named(next);
        ensure(function, "a kernel calls a function that has no definition");
        std::map<std::string, int> more;
        out += definition(next, *function, by, declared, more, calls);
        open.merge(more);
    }
    return out;
}

}  // namespace firn::native
