// Values printed and conditions checked while a program runs.
#pragma once
#include <string>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The options of print_value.
struct PrintValueOptions {
    std::string label = {};  ///< none: the line alone
    /// An axis with more than twice as many elements shows so many first and last ones.
    int edge = 4;
    /// Inside a loop: prints the first so many iterations with an active element. For others
    /// choose: `if_(iteration >= n - 5, [&] { print_value(x); })`.
    int iterations = 16;
};
/// Prints x as numpy would, with the label, the line and the shape: on stdout, or through
/// Session::on_print.
///
/// In a compiled function: after every call, in the order of the statements; the iterations of one
/// statement inside a loop come together. Under `if_`, and after `break_` or `continue_`, only
/// elements whose condition holds are printed: others are shown as `--`, and an iteration without
/// any is left out. Elsewhere: at once, or at the end of the outermost loop or branch.
///
/// The printed elements are a further result of the program, at most a few of every axis: a call
/// that prints waits for the device. A caller that runs Function::program() without the function
/// finds them after the function's own results, and may ignore them. Not allowed while a loop still
/// widens x: start that as zeros(shape).
///
/// Example: after
/// `auto f = compile([](Tensor x) { print_value(x, {.label = "x"}); return x / 2; }, {f32(3)});`
/// every call of f prints its argument.
void print_value(const Operand& x, const PrintValueOptions& options = {});

/// Checks that a condition holds everywhere: else a UserError with the message, the line, how many
/// elements of the condition are false, the first of them and, if the condition is a comparison,
/// its operands there. Thrown when print_value would print, after all prints: all other results of
/// the program are available, and every tensor stays usable. The first of several in the order of
/// the statements counts. A call that checks waits for the device.
///
/// Example: after `Tensor x = tensor({1, 2}); assert_value(x > 0, "x ran out");` `sum(x)` is `3`.
void assert_value(const Operand& condition, const std::string& message = "");

}  // namespace firn
