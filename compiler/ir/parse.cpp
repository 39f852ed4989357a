// Text to Graph: the grammar that print.cpp writes.
#include <cctype>
#include <optional>

#include "compiler/ir/text.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// Stands for the memory of a Buffer that was only printed.
class PrintedMemory : public Memory {
  public:
    uint64_t bytes() const override { return 0; }
};

class Parser {
  public:
    Parser(NodeTable& table, const std::string& text) : table_(table), text_(text) {}

    Graph run() {
        expect("graph(");
        if (!accept(")")) {
            do parse_argument();
            while (accept(","));
            expect(")");
        }
        expect("{");
        while (accept("guard")) parse_guard();
        while (accept("size")) graph_.data_sizes.push_back(parse_size_until("\n"));
        graph_.results = parse_nodes("return");
        expect("}");
        skip_space();
        if (at_ < text_.size()) fail("nothing after the graph");
        verify_parsed();
        return std::move(graph_);
    }

  private:
    struct Type {
        DType dtype = i32;
        Shape shape;
    };

    [[noreturn]] void fail(const std::string& expected) const {
        size_t line = 1, column = 1;
        for (size_t k = 0; k < at_ && k < text_.size(); ++k) {
            ++column;
            if (text_[k] == '\n') ++line, column = 1;
        }
        size_t end = text_.find('\n', at_);
        std::string found =
            at_ < text_.size() ? text_.substr(at_, std::min<size_t>(end - at_, 24)) : "the end";
        throw UserError("parse: line " + std::to_string(line) + ", column " +
                        std::to_string(column) + ": expected " + expected + ", found '" + found +
                        "'");
    }

    void skip_space() {
        while (at_ < text_.size()) {
            if (text_[at_] == '#' && !(at_ + 1 < text_.size() &&
                                       std::isdigit(static_cast<unsigned char>(text_[at_ + 1]))))
                at_ = std::min(text_.find('\n', at_), text_.size());
            else if (std::isspace(static_cast<unsigned char>(text_[at_])))
                ++at_;
            else
                return;
        }
    }

    static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

    bool accept(std::string_view token) {
        skip_space();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        size_t end = at_ + token.size();
        if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
        at_ = end;
        return true;
    }

    void expect(std::string_view token) {
        if (!accept(token)) fail("'" + std::string(token) + "'");
    }

    std::string word(const char* what) {
        skip_space();
        size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        if (begin == at_) fail(what);
        return text_.substr(begin, at_ - begin);
    }

    int64_t number() {
        skip_space();
        size_t begin = at_;
        if (at_ < text_.size() && text_[at_] == '-') ++at_;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
        try {
            return std::stoll(text_.substr(begin, at_ - begin));
        } catch (const std::exception&) {
            at_ = begin;
            fail("a number");
        }
    }

    /// The text up to one of `stops` outside parentheses, trimmed.
    std::string until(std::string_view stops) {
        skip_space();
        size_t begin = at_;
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            char c = text_[at_];
            if (depth == 0 && stops.find(c) != std::string_view::npos) break;
            depth += (c == '(') - (c == ')');
        }
        size_t end = at_;
        while (end > begin && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
        return text_.substr(begin, end - begin);
    }

    Size parse_size_until(std::string_view stops) {
        skip_space();
        size_t begin = at_;
        std::string form = until(stops);
        try {
            return parse_size(form);
        } catch (const UserError&) {
            at_ = begin;
            fail("a size");
        }
    }

    Scalar scalar(DType dtype) {
        skip_space();
        size_t begin = at_;
        std::string form = until(" \n");
        try {
            return parse_scalar(form, dtype);
        } catch (const UserError&) {
            at_ = begin;
            fail(std::string("a value of ") + dtype.name());
        }
    }

    template <class T, class F>
    std::vector<T> list(std::string_view label, const F& item) {
        if (!label.empty()) {
            expect(label);
            expect("=");
        }
        expect("[");
        std::vector<T> out;
        if (accept("]")) return out;
        do out.push_back(item());
        while (accept(","));
        expect("]");
        return out;
    }
    std::vector<Size> sizes(std::string_view label) {
        return list<Size>(label, [this] { return parse_size_until(",]"); });
    }
    std::vector<int> axes(std::string_view label) {
        return list<int>(label, [this] { return static_cast<int>(number()); });
    }

    Type type() {
        Type out;
        skip_space();
        size_t begin = at_;
        try {
            out.dtype = parse_dtype(word("a type"));
        } catch (const UserError&) {
            at_ = begin;
            fail("a type");
        }
        if (at_ < text_.size() && text_[at_] == '[') out.shape = sizes("");
        return out;
    }

    /// The number of a node that is being declared; numbers count up from 0.
    void declare_number() {
        expect("%");
        size_t begin = at_;
        if (number() != static_cast<int64_t>(nodes_.size())) {
            at_ = begin;
            fail("number " + std::to_string(nodes_.size()) + ", the next in order");
        }
        nodes_.emplace_back();
    }

    Ref reference() {
        expect("%");
        size_t begin = at_;
        int64_t id = number();
        if (id < 0 || id >= static_cast<int64_t>(nodes_.size()) ||
            !nodes_[static_cast<size_t>(id)]) {
            at_ = begin;
            fail("the number of a node above");
        }
        return nodes_[static_cast<size_t>(id)];
    }

    std::vector<Ref> references() {
        std::vector<Ref> out;
        skip_space();
        if (at_ >= text_.size() || text_[at_] != '%') return out;
        do out.push_back(reference());
        while (accept(","));
        return out;
    }

    void parse_argument() {
        declare_number();
        expect(":");
        Type t = type();
        InputAttr attr{static_cast<int>(graph_.args.size()), accept("scalar")};
        nodes_.back() = table_.intern(Op::Input, t.dtype, t.shape, {}, attr);
        graph_.args.push_back(nodes_.back());
    }

    void parse_guard() {
        Guard guard;
        guard.left = parse_size_until("=");
        expect("==");
        guard.right = parse_size_until("\"");
        expect("\"");
        for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            bool newline = text_[at_] == 'n' && text_[at_ - 1] == '\\';
            guard.message += newline ? '\n' : text_[at_];
        }
        expect("\"");
        graph_.guards.push_back(std::move(guard));
    }

    /// Nodes up to `end`, and what stands after it.
    std::vector<Ref> parse_nodes(std::string_view end) {
        while (!accept(end)) {
            size_t id = nodes_.size();
            declare_number();
            Type t;
            if (accept(":")) t = type();
            expect("=");
            skip_space();
            size_t begin = at_;
            std::optional<Op> op = find_op(word("an operation"));
            if (!op) {
                at_ = begin;
                fail("an operation of ops.def");
            }
            std::vector<Ref> inputs = references();
            Attr attr = attribute(*op, t);
            nodes_[id] =
                table_.intern(*op, t.dtype, std::move(t.shape), std::move(inputs), std::move(attr));
        }
        return references();
    }

    std::shared_ptr<const Region> body() {
        Region region;
        if (++nested_ > kMostNested)
            fail("at most " + std::to_string(kMostNested) + " bodies inside one another");
        expect("{");
        region.results = parse_nodes("yield");
        expect("}");
        --nested_;
        return std::make_shared<Region>(std::move(region));
    }

    Attr loop_attribute() {
        LoopAttr attr;
        if (accept("active")) {
            expect("=");
            attr.active = static_cast<int>(number());
        }
        attr.must_end = accept("must_end");
        if (accept("sizes")) {
            expect("=");
            attr.sizes = sizes("");
        }
        if (accept("by_hand")) {
            attr.grid = sizes("grid");
            attr.group = group();
        }
        Region region;
        expect("(");
        do {
            declare_number();
            expect(":");
            Type t = type();
            nodes_.back() = table_.intern(Op::RegionArg, t.dtype, t.shape, {}, RegionArgAttr{});
            region.args.push_back(nodes_.back());
        } while (accept(","));
        expect(")");
        region.results = body()->results;
        attr.body = std::make_shared<Region>(std::move(region));
        return attr;
    }

    int labelled_number(std::string_view label) {
        expect(label);
        expect("=");
        return static_cast<int>(number());
    }

    /// The enumerator with this name; enumerators count from 0 to `last`.
    template <class E>
    E named(E last) {
        skip_space();
        size_t begin = at_;
        std::string asked = word("a name");
        for (int k = 0; k <= static_cast<int>(last); ++k)
            if (asked == name(static_cast<E>(k))) return static_cast<E>(k);
        at_ = begin;
        fail(std::string("a name such as '") + name(last) + "'");
    }

    std::vector<uint32_t> group() {
        return list<uint32_t>("group", [this] { return static_cast<uint32_t>(number()); });
    }

    Attr array_attribute() {
        const bool shared = accept("shared");
        if (!shared) expect("local");
        expect("#");
        return ArrayAttr{static_cast<uint64_t>(number()), shared};
    }

    Attr barrier_attribute() {
        expect("#");
        return BarrierAttr{static_cast<uint64_t>(number())};
    }

    Attr subgroup_attribute() {
        SubgroupAttr attr;
        expect("op");
        expect("=");
        attr.op = named(SubgroupOp::Shuffle);
        expect("combine");
        expect("=");
        attr.combine = named(ReduceOp::All);
        attr.lanes = labelled_number("lanes");
        attr.group = group();
        return attr;
    }

    Attr slice_attribute() {
        SliceAttr attr;
        attr.begin = sizes("begin");
        attr.step = list<int64_t>("step", [this] { return number(); });
        return attr;
    }

    Attr pad_attribute(DType dtype) {
        PadAttr attr;
        attr.before = sizes("before");
        attr.after = sizes("after");
        expect("value");
        expect("=");
        attr.value = scalar(dtype);
        return attr;
    }

    Attr gather_attribute(DType dtype) {
        GatherAttr attr;
        attr.modes = list<Bounds>("modes", [this] { return named(Bounds::Unchecked); });
        expect("fill");
        expect("=");
        attr.fill = scalar(dtype);
        attr.own = accept("own");
        return attr;
    }

    Attr reduce_attribute() {
        ReduceAttr attr;
        expect("op");
        expect("=");
        attr.op = named(ReduceOp::All);
        attr.axes = axes("axes");
        return attr;
    }

    Attr scatter_attribute() {
        expect("op");
        expect("=");
        ScatterOp op = named(ScatterOp::Xor);
        const bool unique = accept("unique");
        const bool complete = accept("complete");
        return ScatterAttr{op, unique, complete, accept("by_hand")};
    }

    Attr buffer_attribute() {
        expect("#");
        size_t id = static_cast<size_t>(number());
        while (memories_.size() <= id) memories_.push_back(std::make_shared<PrintedMemory>());
        return BufferAttr{memories_[id]};
    }

    Attr if_attribute() {
        auto then_body = body();
        expect("else");
        return IfAttr{then_body, body()};
    }

    Attr attribute(Op op, const Type& t) {
        switch (op) {
            case Op::Constant: return ConstantAttr{scalar(t.dtype)};
            case Op::SizeValue: return SizeAttr{parse_size_until("\n#")};
            case Op::Buffer: return buffer_attribute();
            case Op::Array: return array_attribute();
            case Op::Barrier: return barrier_attribute();
            case Op::Subgroup: return subgroup_attribute();
            case Op::Invocation:
            case Op::Index: return IndexAttr{labelled_number("axis")};
            case Op::Permute: return PermuteAttr{axes("axes")};
            case Op::Slice: return slice_attribute();
            case Op::Pad: return pad_attribute(t.dtype);
            case Op::Gather: return gather_attribute(t.dtype);
            case Op::Scatter: return scatter_attribute();
            case Op::Reduce: return reduce_attribute();
            case Op::Result: return ResultAttr{labelled_number("index")};
            case Op::Loop: return loop_attribute();
            case Op::If: return if_attribute();
            default: return {};
        }
    }

    void verify_parsed() const {
        try {
            verify(graph_, "parsing");
        } catch (const InternalError& error) {
            throw UserError(std::string("parse: the text is no sound graph: ") + error.what());
        }
    }

    NodeTable& table_;
    const std::string& text_;
    size_t at_ = 0;
    int nested_ = 0;  // bodies around
    Graph graph_;
    std::vector<Ref> nodes_;
    std::vector<std::shared_ptr<Memory>> memories_;
};

}  // namespace

Graph parse(NodeTable& table, const std::string& text) { return Parser(table, text).run(); }

}  // namespace firn
