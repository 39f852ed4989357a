// The names and types of the C interface of a program.
#include "compiler/target/native/ahead/interface.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/base/error.h"

namespace firn::ahead {
namespace {

/// Words that C99 or C++20 takes for itself, and names that the header's includes define.
constexpr const char* kTaken[] = {
    "alignas",      "alignof",       "and",         "and_eq",    "asm",       "auto",
    "bitand",       "bitor",         "bool",        "break",     "case",      "catch",
    "char",         "class",         "co_await",    "co_return", "co_yield",  "compl",
    "concept",      "const",         "consteval",   "constexpr", "constinit", "const_cast",
    "continue",     "decltype",      "default",     "delete",    "do",        "double",
    "dynamic_cast", "else",          "enum",        "explicit",  "export",    "extern",
    "false",        "float",         "for",         "friend",    "goto",      "if",
    "inline",       "int",           "long",        "mutable",   "namespace", "new",
    "noexcept",     "not",           "not_eq",      "nullptr",   "operator",  "or",
    "or_eq",        "private",       "protected",   "public",    "register",  "reinterpret_cast",
    "requires",     "restrict",      "return",      "short",     "signed",    "sizeof",
    "static",       "static_assert", "static_cast", "struct",    "switch",    "template",
    "this",         "thread_local",  "throw",       "true",      "try",       "typedef",
    "typeid",       "typename",      "union",       "unsigned",  "using",     "virtual",
    "void",         "volatile",      "wchar_t",     "while",     "xor",       "xor_eq",
    "NULL",         "main",          "size_t",      "firn_host"};

/// Functions of C that an object may call.
constexpr const char* kCalled[] = {"memcpy", "memmove", "memset", "fmod",      "fmodf",      "fmin",
                                   "fminf",  "fmax",    "fmaxf",  "floor",     "floorf",     "ceil",
                                   "ceilf",  "trunc",   "truncf", "roundeven", "roundevenf", "fma",
                                   "fmaf",   "exp",     "exp2",   "log",       "log2",       "sin",
                                   "cos",    "tan",     "tanh",   "pow"};

bool is_word(const std::string& name) {
    const auto part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::all_of(name.begin(), name.end(), part);
}

std::string checked_name(const std::string& name, const std::string& what) {
    if (!is_word(name) || name.starts_with("_"))
        throw UserError("save_native: '" + name + "' cannot be the name of " + what +
                        " in C; begin with a letter and go on with letters, digits or _");
    if (std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken))
        throw UserError("save_native: '" + name + "' cannot be the name of " + what +
                        ": C or C++ takes it for itself; give another name");
    return name;
}

/// A name that Firn gave, such as `argument 0`, with other characters for those that C has not.
std::string c_name(std::string name) {
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

const char* c_type(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return "float";
        case Type::F64: return "double";
        case Type::F16:
        case Type::BF16:
        case Type::U16: return "uint16_t";
        case Type::I32: return "int32_t";
        case Type::U32:
        case Type::Bool: return "uint32_t";
        case Type::I64: return "int64_t";
        case Type::U64: return "uint64_t";
        case Type::I16: return "int16_t";
        case Type::I8: return "int8_t";
        case Type::U8: return "uint8_t";
    }
    return "";
}

const char* ir_type(DType dtype) {
    if (dtype == f32) return "float";
    if (dtype == f64) return "double";
    return dtype.bytes() == 8   ? "i64"
           : dtype.bytes() == 4 ? "i32"
           : dtype.bytes() == 2 ? "i16"
                                : "i8";
}

std::string shaped(DType dtype, const Shape& shape) {
    std::string out = dtype.name() + (shape.empty() ? "" : text(shape));
    if (dtype.is_half()) out += ", as the bits of its numbers";
    if (dtype.is_bool()) out += shape.empty() ? ", 0: false" : ", 0 or 1";
    return out;
}

/// `row-major, strides m, 1`: in elements.
std::string strides(const Shape& shape) {
    if (shape.empty()) return "one element";
    std::string out;
    Size stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        out = stride.text() + (out.empty() ? "" : ", ") + out;
        stride *= shape[axis];
    }
    return "strides " + out;
}

std::vector<std::string> symbols_of(const Program& program) {
    std::set<std::string> found;
    for (const ArgumentInfo& argument : program.arguments)
        for (const Size& size : argument.shape)
            for (const std::string& symbol : size.symbols()) found.insert(symbol);
    return {found.begin(), found.end()};
}

void add_loops(const std::vector<Step>& steps, std::vector<Code>& codes) {
    for (const Step& step : steps) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        if (!repeat) continue;
        const auto same = [&](const Code& code) { return code.text == repeat->never_ended; };
        if (!repeat->never_ended.empty() && std::none_of(codes.begin(), codes.end(), same))
            codes.push_back({"endless_" + std::to_string(codes.size()), repeat->never_ended});
        add_loops(repeat->body, codes);
    }
}

std::string given_name(const std::vector<std::string>& names, size_t k, const std::string& other) {
    return k < names.size() && !names[k].empty() ? names[k] : c_name(other);
}

}  // namespace

int Interface::never_ended(const std::string& text) const {
    for (size_t k = 0; k < codes.size(); ++k)
        if (codes[k].text == text) return static_cast<int>(k) + 1;
    throw InternalError("internal error: a loop has no code for its error");
}

Interface make_interface(const Program& program, const AheadNames& names) {
    Interface out;
    out.function = checked_name(names.function, "the function");
    if (std::find(std::begin(kCalled), std::end(kCalled), out.function) != std::end(kCalled))
        throw UserError("save_native: '" + out.function +
                        "' cannot be the name of the function: C has one of that name, which the "
                        "object may call; give another name");
    const size_t counts = program.data_sizes.size(), results = program.results.size() - counts;
    if (names.arguments.size() > program.arguments.size() || names.results.size() > results)
        throw UserError("save_native: the function has " +
                        std::to_string(program.arguments.size()) + " arguments and " +
                        std::to_string(results) + " results, and there are names for " +
                        std::to_string(names.arguments.size()) + " and " +
                        std::to_string(names.results.size()) + "; give one for each, or fewer");
    out.symbols = symbols_of(program);
    for (const std::string& symbol : out.symbols)
        out.fields.push_back({c_name(symbol), "int64_t ", "i64", "the size '" + symbol + "'"});
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& argument = program.arguments[k];
        out.arguments.push_back(out.fields.size());
        const std::string name = given_name(names.arguments, k, argument.name),
                          type = shaped(argument.dtype, argument.shape);
        if (argument.scalar)
            out.fields.push_back({name, c_type(argument.dtype) + std::string(" "),
                                  ir_type(argument.dtype), "read: a number, " + type});
        else
            out.fields.push_back({name, std::string("const ") + c_type(argument.dtype) + " *",
                                  "ptr", "read: " + type + ", " + strides(argument.shape)});
    }
    for (size_t k = 0; k < program.results.size(); ++k) {
        const ResultInfo& result = program.results[k];
        std::string name, comment = "written: " + shaped(result.dtype, result.shape) + ", ";
        if (k < counts) {
            name = "count_" + std::to_string(k);
            comment += "the size " + program.data_sizes[k].size.text() + "; may be null";
        } else {
            name = given_name(names.results, k - counts, "result_" + std::to_string(k - counts));
            comment += strides(result.shape);
        }
        if (text(largest(result.shape)) != text(result.shape))
            comment += "; the data decides the sizes with '?', and there is room for " +
                       text(largest(result.shape));
        out.results.push_back(out.fields.size());
        out.fields.push_back({name, c_type(result.dtype) + std::string(" *"), "ptr", comment});
    }
    out.padded = out.fields.size();
    out.fields.push_back(
        {"padded", "int32_t ", "i32", "not 0: every array has room for a multiple of 16 bytes"});
    std::set<std::string> known;
    for (const Field& field : out.fields) {
        checked_name(field.name, "a member of a struct");
        if (!known.insert(field.name).second)
            throw UserError("save_native: two members of the struct would be called '" +
                            field.name + "'; name the arguments and results otherwise");
    }
    out.codes = {
        {"missing", "the workspace or an array is a null pointer"},
        {"bad_size", "a size is negative, or larger than 2147483647"},
        {"too_large", "an array or a count is too large for kernels, which count with 32 bits"}};
    for (size_t k = 0; k < program.guards.size(); ++k)
        out.codes.push_back({"guard_" + std::to_string(k),
                             program.guards[k].message + ": " + program.guards[k].left.text() +
                                 " must be " + program.guards[k].right.text()});
    add_loops(program.steps, out.codes);
    return out;
}

}  // namespace firn::ahead
