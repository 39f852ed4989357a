// Values printed and conditions checked while a program runs.
#pragma once
#include <string>

#include "compiler/frontend/tensor.h"

namespace firn {

/// How print_value shows a value.
struct PrintValueOptions {
    std::string label = {};  ///< none: the line alone
    /// An axis with more than twice as many elements shows so many first and last ones.
    int edge = 4;
    /// Inside a loop: the first so many iterations in which an element comes by. For others choose:
    /// `if_(iteration >= n - 5, [&] { print_value(x); })`.
    int iterations = 16;
};
/// Prints x as numpy would, with the label, the line and the shape: on stdout, or where
/// Session::on_print says.
///
/// In a compiled function: after every call, in the order of the statements; the iterations of one
/// statement inside a loop come together. Under `if_`, and after `break_` or `continue_`, only
/// where the condition holds: elements for which it does not are shown as `--`, and an iteration
/// without any is left out. Elsewhere: at once, or at the end of the outermost loop or branch.
///
/// What is printed is a further result of the program, at most a few elements of every axis: a call
/// that prints waits for the device. Who runs Function::program() without the function finds it
/// after the function's own results, and may ignore it. Not allowed where a loop still widens x:
/// start that as zeros(shape).
///
/// Example: after
/// `auto f = compile([](Tensor x) { print_value(x, {.label = "x"}); return x / 2; }, {f32(3)});`
/// every call of f prints what it takes.
void print_value(const Operand& x, const PrintValueOptions& options = {});

/// Checks that a condition holds everywhere: else a UserError with the message, the line, how many
/// elements of the condition are false, the first of them and, where the condition is a comparison,
/// what was compared there. Thrown as late as print_value prints, after everything that was
/// printed: whatever else the program computed is there, and every tensor stays as usable as it
/// was. The first of several in the order of the statements counts. A call that checks waits for
/// the device.
///
/// Example: after `Tensor x = tensor({1, 2}); assert_value(x > 0, "x ran out");` `sum(x)` is `3`.
void assert_value(const Operand& condition, const std::string& message = "");

}  // namespace firn
