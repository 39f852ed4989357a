// Sizes as LLVM IR, with the meanings of Size::evaluate().
#include "compiler/target/native/ahead/sizes.h"

#include "compiler/base/error.h"
#include "compiler/program/size_builder.h"

namespace firn::ahead {
namespace {

const char* function_of(SizeAtom::Kind kind) {
    switch (kind) {
        case SizeAtom::Kind::Symbol: break;
        case SizeAtom::Kind::FloorDiv: return "@firn.floor_div";
        case SizeAtom::Kind::Mod: return "@firn.floor_mod";
        case SizeAtom::Kind::Min: return "@llvm.smin.i64";
        case SizeAtom::Kind::Max: return "@llvm.smax.i64";
    }
    throw InternalError("internal error: a symbol of a size is no function");
}

/// The sum or product of two numbers, and whether it does not fit.
std::string checked(IrText& text, const char* operation, const std::string& a, const std::string& b,
                    std::vector<std::string>& overflows) {
    const std::string both = text.emit("call {i64, i1} @llvm.s" + std::string(operation) +
                                       ".with.overflow.i64(i64 " + a + ", i64 " + b + ")");
    overflows.push_back(text.emit("extractvalue {i64, i1} " + both + ", 1"));
    return text.emit("extractvalue {i64, i1} " + both + ", 0");
}

std::string any_of(IrText& text, const std::vector<std::string>& conditions) {
    std::string any = "false";
    for (const std::string& each : conditions)
        any = any == "false" ? each : text.emit("or i1 " + any + ", " + each);
    return any;
}

std::string write_atom(IrText& text, const SizeAtom& atom, const SymbolValues& symbols,
                       std::vector<std::string>& overflows) {
    if (atom.kind == SizeAtom::Kind::Symbol) {
        const auto found = symbols.find(atom.name);
        ensure(found != symbols.end(), "a size of a program has a symbol that no argument gives");
        return found->second;
    }
    const std::string a = write_size(text, atom.args[0], symbols, overflows),
                      b = write_size(text, atom.args[1], symbols, overflows);
    return text.emit(std::string("call i64 ") + function_of(atom.kind) + "(i64 " + a + ", i64 " +
                     b + ")");
}

/// A product fits where one of its factors is 0.
std::string write_term(IrText& text, const SizeTerm& term, const SymbolValues& symbols,
                       std::vector<std::string>& overflows) {
    std::string product;
    std::vector<std::string> zeros, too_large;
    for (const SizeAtom& atom : term.atoms) {
        const std::string next = write_atom(text, atom, symbols, overflows);
        product = product.empty() ? next : checked(text, "mul", product, next, too_large);
        if (term.atoms.size() > 1) zeros.push_back(text.emit("icmp eq i64 " + next + ", 0"));
    }
    if (term.coefficient != 1)
        product = checked(text, "mul", product, std::to_string(term.coefficient), too_large);
    if (zeros.empty()) {
        overflows.insert(overflows.end(), too_large.begin(), too_large.end());
        return product;
    }
    const std::string is_zero = any_of(text, zeros);
    overflows.push_back(
        text.emit("select i1 " + is_zero + ", i1 false, i1 " + any_of(text, too_large)));
    return text.emit("select i1 " + is_zero + ", i64 0, i64 " + product);
}

}  // namespace

std::string write_size(IrText& text, const Size& size, const SymbolValues& symbols,
                       std::vector<std::string>& overflows) {
    const int64_t constant = SizeBuilder::constant_term(size);
    std::string sum;
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        const std::string next = write_term(text, term, symbols, overflows);
        sum = sum.empty() ? next : checked(text, "add", sum, next, overflows);
    }
    if (sum.empty()) return std::to_string(constant);
    return constant == 0 ? sum : checked(text, "add", sum, std::to_string(constant), overflows);
}

std::string write_checked_size(IrText& text, const Size& size, const SymbolValues& symbols,
                               const std::string& too_large) {
    std::vector<std::string> overflows;
    std::string value = write_size(text, size, symbols, overflows);
    if (!overflows.empty()) text.leave_if(any_of(text, overflows), too_large);
    return value;
}

std::string size_functions() {
    return R"(declare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

define internal i64 @firn.floor_div(i64 %a, i64 %b) alwaysinline {
  %none = icmp eq i64 %b, 0
  %minus = icmp eq i64 %b, -1
  %special = or i1 %none, %minus
  %by = select i1 %special, i64 1, i64 %b
  %quotient = sdiv i64 %a, %by
  %rest = srem i64 %a, %by
  %signs = xor i64 %rest, %by
  %apart = icmp slt i64 %signs, 0
  %some = icmp ne i64 %rest, 0
  %down = and i1 %apart, %some
  %less = sext i1 %down to i64
  %floor = add i64 %quotient, %less
  %negative = sub i64 0, %a
  %other = select i1 %none, i64 0, i64 %negative
  %out = select i1 %special, i64 %other, i64 %floor
  ret i64 %out
}

define internal i64 @firn.floor_mod(i64 %a, i64 %b) alwaysinline {
  %none = icmp eq i64 %b, 0
  %minus = icmp eq i64 %b, -1
  %special = or i1 %none, %minus
  %by = select i1 %special, i64 1, i64 %b
  %rest = srem i64 %a, %by
  %signs = xor i64 %rest, %by
  %apart = icmp slt i64 %signs, 0
  %some = icmp ne i64 %rest, 0
  %up = and i1 %apart, %some
  %more = select i1 %up, i64 %by, i64 0
  %out = add i64 %rest, %more
  ret i64 %out
}

)";
}

}  // namespace firn::ahead
