// A program as C++ that a user could paste.
#include <algorithm>
#include <sstream>

#include "tests/programs/program.h"

namespace firn::programs {
namespace {

class Writer {
  public:
    explicit Writer(const Program& program) : program_(program) {}

    std::string run() {
        for (size_t k = 0; k < program_.arguments.size(); ++k) argument(k);
        block(program_.body, "");
        out_ << "// outputs:";
        for (const int handle : program_.outputs) out_ << " " << name(handle);
        out_ << "\n";
        return out_.str();
    }

  private:
    static std::string name(int handle) { return "x" + std::to_string(handle); }

    static std::string number(double value, DType dtype) {
        if (dtype.is_bool()) return value != 0 ? "true" : "false";
        std::ostringstream text;
        text << value;
        std::string out = text.str();
        if (dtype.is_float()) out += out.find_first_of(".e") == std::string::npos ? ".0f" : "f";
        return out;
    }

    std::string size(const Extent& each) const {
        return each.symbol ? std::string(1, each.symbol) : std::to_string(each.number);
    }
    std::string shape(const Extents& extents) const {
        std::string out = "{";
        for (size_t k = 0; k < extents.size(); ++k) out += (k ? ", " : "") + size(extents[k]);
        return out + "}";
    }

    void argument(size_t k) {
        const Argument& a = program_.arguments[k];
        int64_t count = 1;
        for (const Extent& each : a.extents)
            count *= each.symbol ? program_.sizes.at(each.symbol) : each.number;
        out_ << "Tensor " << name(static_cast<int>(k)) << " = tensor(std::vector<double>{";
        for (int64_t e = 0; e < std::min<int64_t>(count, 40); ++e)
            out_ << (e ? ", " : "") << a.numbers[static_cast<size_t>(e) % a.numbers.size()];
        out_ << (count > 40 ? ", ..." : "") << "}, " << shape(a.extents) << ").as("
             << a.dtype.name() << ");\n";
    }

    static std::string axes(const std::vector<int>& all) {
        std::string out = "{";
        for (size_t k = 0; k < all.size(); ++k) out += (k ? ", " : "") + std::to_string(all[k]);
        return out + "}";
    }

    std::string list(const std::vector<Expr>& all, size_t first = 0) const {
        std::string out;
        for (size_t k = first; k < all.size(); ++k) out += (k > first ? ", " : "") + text(all[k]);
        return out;
    }

    std::string apply(const Expr& e) const {
        static constexpr const char* kFunctions[] = {
            "-",    "abs",   "sign", "floor", "!",    "~",    "gate",  " + ", " - ",
            " * ",  " / ",   " % ",  "min",   "max",  " & ",  " | ",   " ^ ", " << ",
            " >> ", "hypot", " < ",  " <= ",  " == ", " != ", "select"};
        const std::string word = kFunctions[static_cast<size_t>(e.fn)];
        if (e.fn == Fn::Gate) return "floor(sigmoid(" + text(e.args[0]) + ") + 0.5f)";
        if (word[0] == ' ') return "(" + text(e.args[0]) + word + text(e.args[1]) + ")";
        return word + "(" + list(e.args) + ")";
    }

    std::string reduce(const Expr& e) const {
        static constexpr const char* kFunctions[] = {"sum", "prod", "min",    "max",
                                                     "any", "all",  "argmin", "argmax"};
        std::string options;
        if (!e.axes.empty())
            options += ".axis = " +
                       (e.fn < Fn::Argmin ? "Axes" + axes(e.axes) : std::to_string(e.axes[0]));
        if (e.keep_dims) options += std::string(options.empty() ? "" : ", ") + ".keep_dims = true";
        return std::string(kFunctions[static_cast<size_t>(e.fn) - static_cast<size_t>(Fn::Sum)]) +
               "(" + text(e.args[0]) + (options.empty() ? "" : ", {" + options + "}") + ")";
    }

    std::string read(const Expr& e) const {
        static constexpr const char* kEdges[] = {"", "wrap", "mirror", "reflect", "zero", "fill"};
        const bool plain = e.edge == Edge::Clamp && e.args[0].form == Form::Handle;
        std::string source = text(e.args[0]);
        if (e.edge == Edge::Fill) source += ", " + number(e.number, f32);
        if (e.edge == Edge::Clamp && !plain)
            source = "Tensor(" + source + ")";
        else if (!plain)
            source = kEdges[static_cast<size_t>(e.edge)] + ("(" + source + ")");
        return source + "(" + list(e.args, 1) + ")";
    }

    std::string text(const Expr& e) const {
        auto first = [&] { return text(e.args[0]); };
        const std::string axis = "{.axis = " + std::to_string(e.axis) + "}";
        switch (e.form) {
            case Form::Literal: return number(e.number, e.dtype);
            case Form::Handle: return name(e.handle);
            case Form::Size: return "Tensor(Size(" + size(e.extents[0]) + "))";
            case Form::Index:
                return "index(" + shape(e.extents) + ", " + std::to_string(e.axis) + ")";
            case Form::Full:
                return "full(" + shape(e.extents) + ", Tensor(" + number(e.number, i32) + ").as(" +
                       dtype(e.dtype) + "))";
            case Form::Apply: return apply(e);
            case Form::Cast: return "(" + first() + ").as(" + dtype(e.dtype) + ")";
            case Form::Read: return read(e);
            case Form::Reduce: return reduce(e);
            case Form::Reshape: return "reshape(" + first() + ", " + shape(e.extents) + ")";
            case Form::Expand: return "expand(" + first() + ", " + shape(e.extents) + ")";
            case Form::Permute: return "permute(" + first() + ", " + axes(e.axes) + ")";
            case Form::Flip: return "flip(" + first() + ", " + axis + ")";
            case Form::Slice:
                return "slice(" + first() + ", {.axis = " + std::to_string(e.axis) +
                       ", .begin = " + std::to_string(e.range[0]) +
                       ", .end = " + std::to_string(e.range[1]) +
                       ", .step = " + std::to_string(e.range[2]) + "})";
            case Form::Roll: return "roll(" + list(e.args) + (e.axis < 0 ? "" : ", " + axis) + ")";
            case Form::Concat: return "concat({" + list(e.args) + "}, " + axis + ")";
            case Form::Fresh: return "any(rand({8}) != rand({8}))";
            case Form::Stack: return "stack({" + list(e.args) + "}, " + axis + ")";
        }
        return "";
    }

    static std::string dtype(DType type) { return type.is_bool() ? "boolean" : type.name(); }

    void store(const Statement& s, const std::string& in) {
        static constexpr const char* kStores[] = {"",    "",    "add", "mul", "min",
                                                  "max", "and", "or",  "xor"};
        const std::string place = name(s.target) + "(" + list(s.places) + ")",
                          value = text(s.value);
        if (s.combine == Combine::Last || s.combine == Combine::Update)
            out_ << in << place << (s.combine == Combine::Last ? " = " : " += ") << value << ";\n";
        else
            out_ << in << "scatter_" << kStores[static_cast<size_t>(s.combine)] << "(" << place
                 << ", " << value << ");\n";
    }

    void kernel(const Statement& s, const std::string& in) {
        std::string group, indices, places;
        for (const int each : s.group)
            group += (group.empty() ? "{.group = {" : ", ") + std::to_string(each);
        if (!group.empty()) group += "}}, ";
        for (int axis = 0; axis < s.rank; ++axis) {
            indices += (axis ? ", Tensor " : "Tensor ") + name(s.other + axis);
            places += (axis ? ", " : "") + name(s.other + axis);
        }
        out_ << in << "kernel(" << name(s.target) << ".shape(), " << group << "[&](" << indices
             << ") {\n";
        block(s.body, in + "    ");
        out_ << in << "    " << name(s.target) << "(" << places << ") = " << text(s.value) << ";\n"
             << in << "});\n";
    }

    void block(const std::vector<Statement>& all, const std::string& in) {
        for (const Statement& s : all) statement(s, in);
    }

    void statement(const Statement& s, const std::string& in) {
        switch (s.kind) {
            case Kind::Declare:
                out_ << in << "Tensor " << name(s.target) << " = " << text(s.value) << ";\n";
                return;
            case Kind::Assign:
                out_ << in << name(s.target) << " = " << text(s.value) << ";\n";
                return;
            case Kind::Swap:
                out_ << in << "std::swap(" << name(s.target) << ", " << name(s.other) << ");\n";
                return;
            case Kind::Store: return store(s, in);
            case Kind::If:
                out_ << in << "if_(" << text(s.value) << ", [&] {\n";
                block(s.body, in + "    ");
                if (!s.otherwise.empty())
                    out_ << in << "}, [&] {\n", block(s.otherwise, in + "    ");
                out_ << in << "});\n";
                return;
            case Kind::Loop:
                out_ << in << "for (Tensor " << name(s.target) << " : loop(" << list(s.places)
                     << ")) {\n";
                block(s.body, in + "    ");
                out_ << in << "}\n";
                return;
            case Kind::While:
                out_ << in << "while_([&] { return " << text(s.value) << "; }, [&] {\n";
                block(s.body, in + "    ");
                out_ << in << "}"
                     << (s.max_steps ? ", {.max_steps = " + std::to_string(*s.max_steps) + "}" : "")
                     << ");\n";
                return;
            case Kind::Break: out_ << in << "break_();\n"; return;
            case Kind::Continue: out_ << in << "continue_();\n"; return;
            case Kind::Kernel: return kernel(s, in);
            case Kind::Realize: out_ << in << "realize(" << name(s.target) << ");\n"; return;
        }
    }

    const Program& program_;
    std::ostringstream out_;
};

}  // namespace

std::string text(const Program& program) {
    std::string sizes;
    for (const auto& [symbol, size] : program.sizes)
        sizes += "const Size " + std::string(1, symbol) + " = " + std::to_string(size) +
                 ";   // again: " + std::to_string(program.sizes_again.at(symbol)) + ", " +
                 std::to_string(program.sizes_third.at(symbol)) + "\n";
    return sizes + Writer(program).run();
}

}  // namespace firn::programs
