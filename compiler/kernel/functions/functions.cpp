// The rows of functions.def, and the kernel code of each.
#include "compiler/kernel/functions/functions.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/kernel/functions/definitions.h"
#include "compiler/kernel/place.h"

namespace firn {
namespace {

constexpr KernelFunction kFunctions[] = {
#define FUNCTION_OF_ONE(op, type, name, ulps) {KernelOp::op, type, ulps},
#define FUNCTION_OF_TWO(op, type, name, ulps) {KernelOp::op, type, ulps},
#include "compiler/kernel/functions/functions.def"
};

/// Each function's definition stands at its place in kFunctions; the other pointer is null.
using OfOne = KernelValue (*)(KernelValue);
using OfTwo = KernelValue (*)(KernelValue, KernelValue);
constexpr std::pair<OfOne, OfTwo> kDefinitions[] = {
#define FUNCTION_OF_ONE(op, type, name, ulps) {definition::name, nullptr},
#define FUNCTION_OF_TWO(op, type, name, ulps) {nullptr, definition::name},
#include "compiler/kernel/functions/functions.def"
};

/// Returns the place of a function, or of a copy of it, in kFunctions.
size_t row_of(const KernelFunction& function) {
    const KernelFunction* row = find_kernel_function(function.op, function.dtype);
    ensure(row, "a function that has no definition");
    return static_cast<size_t>(row - kFunctions);
}

}  // namespace

std::string name(const KernelFunction& function) {
    return info(function.op).name + std::string("_") + function.dtype.name();
}

std::span<const KernelFunction> kernel_functions() { return kFunctions; }

const KernelFunction* find_kernel_function(KernelOp op, DType dtype) {
    const auto* row = std::find_if(
        std::begin(kFunctions), std::end(kFunctions),
        [&](const KernelFunction& each) { return each.op == op && each.dtype == dtype; });
    return row == std::end(kFunctions) ? nullptr : row;
}

NodeId append_function(KernelBuilder& b, const KernelFunction& function,
                       std::span<const NodeId> args) {
    const auto& [of_one, of_two] = kDefinitions[row_of(function)];
    ensure(args.size() == (of_one ? 1 : 2),
           "a function is called with other arguments than it has");
    const KernelValue x{&b, args[0]};
    return of_one ? of_one(x).id : of_two(x, {&b, args[1]}).id;
}

namespace {

KernelCode make_code(const KernelFunction& function) {
    KernelCode code;
    code.name = name(function);
    KernelBuilder b(code, {});
    const int out = b.buffer(0, function.dtype, Size(1), BindingForm::Storage, 1, true);
    std::vector<NodeId> args;
    for (int k = 0; k < info(function.op).arity; ++k)
        args.push_back(b.scalar_argument(k, function.dtype));
    const NodeId value = append_function(b, function, args);
    const NodeId stored = b.store(out, b.integer(0), std::span(&value, 1));
    code[kRoot].effects = {stored};
    place(code);
    return code;
}

}  // namespace

const KernelCode& function_code(const KernelFunction& function) {
    static std::once_flag made[std::size(kFunctions)];
    static KernelCode codes[std::size(kFunctions)];
    const size_t row = row_of(function);
    std::call_once(made[row], [&] { codes[row] = make_code(function); });
    return codes[row];
}

}  // namespace firn
