// Kernel code from its text (print.cpp).
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// A word of a line: up to a space or a comma; `#` and a space begin a comment.
using Words = std::vector<std::string>;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::optional<int64_t> whole_number(const std::string& word) {
    int64_t value = 0;
    const char *begin = word.data(), *end = begin + word.size();
    const auto read = std::from_chars(begin, end, value);
    return !word.empty() && read.ec == std::errc() && read.ptr == end ? std::optional(value)
                                                                      : std::nullopt;
}

/// The number behind letters, as of `b12` or `x0`; nothing where the word is no such name.
std::optional<int> number_behind(const std::string& word, std::string* letters = nullptr) {
    size_t at = 0;
    while (at < word.size() &&
           (std::isalpha(static_cast<unsigned char>(word[at])) || word[at] == '_'))
        ++at;
    if (at == 0 || at == word.size() || !is_digit(word[at])) return std::nullopt;
    const auto number = whole_number(word.substr(at));
    if (!number || *number > INT32_MAX) return std::nullopt;
    if (letters) *letters = word.substr(0, at);
    return static_cast<int>(*number);
}

template <class E>
std::optional<E> named(const std::string& word, E last) {
    for (int k = 0; k <= static_cast<int>(last); ++k)
        if (word == name(static_cast<E>(k))) return static_cast<E>(k);
    return std::nullopt;
}

class Parser {
  public:
    explicit Parser(const std::string& text) : in_(text) { code_.regions.clear(); }

    KernelCode run() {
        next_line();
        if (line_.rfind("kernel", 0) != 0) fail("expected 'kernel' and a name");
        code_.name = line_.size() > 7 ? line_.substr(7) : "";
        while (next_line(), words_ != Words{"{"}) header();
        open_region();
        body(0);
        if (next_line(); !words_.empty()) fail("expected nothing after the kernel");
        for (auto& [range, word] : counts_)
            code_.ranges[static_cast<size_t>(range)].extent_node = operand(word);
        if (!placed_)
            for (KernelRegion& region : code_.regions) region.order.clear();
        return std::move(code_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UserError("parse: line " + std::to_string(number_) + ": " + what + ", found '" +
                        line_ + "'");
    }

    /// The next line that says something, as words; none at the end.
    void next_line() {
        words_.clear();
        for (; words_.empty() && std::getline(in_, line_); ++number_) {
            const size_t begin = line_.find_first_not_of(" \t");
            if (begin == std::string::npos) continue;
            line_ = line_.substr(begin);
            std::istringstream words(line_);
            for (std::string word; words >> word && word != "#";) words_.push_back(word);
        }
        at_ = 0;
    }

    bool more() const { return at_ < words_.size(); }
    const std::string& peek() const {
        static const std::string none;
        return more() ? words_[at_] : none;
    }
    std::string word(const char* what) {
        if (!more()) fail(std::string("expected ") + what);
        return words_[at_++];
    }
    bool accept(const char* expected) {
        if (peek() != expected) return false;
        ++at_;
        return true;
    }
    int64_t number(const char* what) {
        const auto value = whole_number(peek());
        if (!value) fail(std::string("expected ") + what);
        ++at_;
        return *value;
    }
    int small(const char* what) {
        const int64_t value = number(what);
        if (value < INT32_MIN || value > INT32_MAX)
            fail(std::string("expected ") + what + " of 32 bits");
        return static_cast<int>(value);
    }

    Size size_of(const std::string& form) {
        try {
            return parse_size(form);
        } catch (const UserError&) {
            fail("expected a size");
        }
    }
    /// What is left of the line up to one of the words in `ends`, as a size.
    Size size_until(std::initializer_list<const char*> ends) {
        std::string form;
        while (more()) {
            bool end = false;
            for (const char* stop : ends) end |= peek() == stop;
            if (end) break;
            form += (form.empty() ? "" : " ") + words_[at_++];
        }
        return size_of(form);
    }

    /// `f32x4`: the type, and how many of it.
    DType type(int& width) {
        const std::string all = word("a type");
        std::string name = all;
        width = 1;
        if (const size_t at = all.find('x'); at != std::string::npos) {
            name = all.substr(0, at);
            const auto wide = whole_number(all.substr(at + 1));
            if (!wide || *wide < 1 || *wide > 4) fail("expected a width from 1 to 4");
            width = static_cast<int>(*wide);
        }
        try {
            return parse_dtype(name);
        } catch (const UserError&) {
            fail("expected a type");
        }
    }

    // --- what stands before the body

    void header() {
        if (accept("group_size")) {
            for (uint32_t& extent : code_.group_size)
                extent = static_cast<uint32_t>(small("an extent"));
        } else if (accept("groups")) {
            std::istringstream all(line_.substr(line_.find("groups") + 6));
            for (Size& groups : code_.groups) {
                std::string form;
                std::getline(all, form, ';');
                groups = size_of(form.substr(std::min(form.find_first_not_of(' '), form.size())));
            }
        } else if (accept("guards")) {
            code_.guards = small("a number");
        } else if (accept("back_edges")) {
            code_.back_edges = number("a number");
        } else if (accept("in_order")) {
            code_.in_order = true;
        } else if (accept("loads_first")) {
            code_.loads_first = true;
        } else if (accept("placed")) {
            placed_ = true;
        } else if (accept("sizes")) {
            code_.sizes_buffer = number_behind(word("a buffer")).value_or(-1);
        } else if (accept("leaves")) {
            leaves();
        } else {
            std::string letters;
            const auto number = number_behind(word("a declaration"), &letters);
            if (!number) fail("expected a declaration");
            if (letters == "b")
                buffer(*number);
            else if (letters == "p")
                param(*number);
            else
                range(letters, *number);
        }
    }

    void buffer(int number) {
        if (number != static_cast<int>(code_.buffers.size()))
            fail("expected the next buffer in order");
        if (!more()) fail("expected a type");
        KernelBuffer b;
        const std::string all = words_[at_];
        const size_t open = line_.find('['), close = line_.rfind(']');
        if (open == std::string::npos || close == std::string::npos || close < open)
            fail("expected elements in brackets");
        b.elements = size_of(line_.substr(open + 1, close - open - 1));
        words_[at_] = all.substr(0, all.find('['));
        b.dtype = type(b.width);
        std::istringstream rest(line_.substr(close + 1));
        words_.clear(), at_ = 0;
        for (std::string word; rest >> word;) words_.push_back(word);
        if (accept("shared"))
            b.space = MemorySpace::Shared;
        else if (accept("private"))
            b.space = MemorySpace::Private;
        else if (accept("texel"))
            b.form = BindingForm::Texel;
        else if (accept("address"))
            b.form = BindingForm::Address;
        else if (!accept("storage"))
            fail("expected where the buffer is");
        b.written = accept("written");
        b.coherent = accept("coherent");
        if (accept("of")) b.buffer = small("a buffer");
        code_.buffers.push_back(std::move(b));
    }

    void param(int number) {
        if (number != static_cast<int>(code_.params.size()))
            fail("expected the next parameter in order");
        ParamInfo p;
        int width = 1;
        p.dtype = type(width);
        if (accept("argument"))
            p.scalar = small("an argument");
        else if (accept("="))
            p.size = size_until({});
        else
            fail("expected '=' or 'argument'");
        code_.params.push_back(std::move(p));
    }

    void range(const std::string& letters, int number) {
        Range unused;  // those that the text leaves out
        unused.kind = RangeKind::Serial;
        if (number >= static_cast<int>(code_.ranges.size()))
            code_.ranges.resize(static_cast<size_t>(number) + 1, unused);
        Range& r = code_.ranges[static_cast<size_t>(number)];
        r.name = letters;
        const auto kind = named(word("a kind of range"), RangeKind::Subgroup);
        if (!kind) fail("expected a kind of range");
        r.kind = *kind;
        if (accept("dim")) r.dim = small("a dimension");
        if (accept("<")) r.extent = size_until({"count", "most", "rest"});
        if (accept("count")) counts_[number] = word("a value");
        if (accept("most")) r.max_trips = this->number("a number");
        r.rest = accept("rest");
    }

    void leaves() {
        exact_ = true;
        while (more()) {
            const int id = declared(word("a number"));
            std::string form = word("a value");
            KernelNode n;
            auto strip = [&](std::string& word) {
                const bool last = !word.empty() && word.back() == ',';
                if (last) word.pop_back();
                return last;
            };
            bool last = strip(form);
            n = leaf(form);
            while (!last && more())
                last = strip(words_[at_ + (peek() == "in" || peek() == "mod" ? 2 : 0)]),
                interval(n);
            put(id, std::move(n));
            leaves_.emplace(form, id);
        }
    }

    // --- nodes

    /// The place of the node that the text calls `%word`.
    int declared(const std::string& word) {
        const auto id =
            word.size() > 1 && word[0] == '%' ? whole_number(word.substr(1)) : std::nullopt;
        if (!id || *id < 0 || *id > INT32_MAX / 2) fail("expected the number of a node");
        if (names_.count(static_cast<int>(*id))) fail("this number is taken");
        const int place = exact_ ? static_cast<int>(*id) : static_cast<int>(code_.nodes.size());
        names_[static_cast<int>(*id)] = place;
        if (place >= static_cast<int>(code_.nodes.size()))
            code_.nodes.resize(static_cast<size_t>(place) + 1);
        return place;
    }
    void put(int place, KernelNode node) {
        code_.nodes[static_cast<size_t>(place)] = std::move(node);
    }

    KernelNode leaf(const std::string& word) {
        KernelNode n;
        const auto number = number_behind(word);
        if (number && word[0] == 'p') {
            if (*number >= static_cast<int>(code_.params.size()))
                fail("there is no parameter " + word);
            n.op = KernelOp::Param, n.param = *number,
            n.dtype = code_.params[static_cast<size_t>(*number)].dtype;
            return n;
        }
        if (number && word != "inf") {
            if (*number >= static_cast<int>(code_.ranges.size())) fail("there is no range " + word);
            n.op = KernelOp::Range, n.range = *number, n.dtype = i32;
            n.interval.lo = 0;
            return n;
        }
        const size_t colon = word.find(':');
        const bool logical = word == "true" || word == "false";
        const bool plain_float = word.find_first_of(".ein") != std::string::npos;
        try {
            const DType dtype = colon != std::string::npos ? parse_dtype(word.substr(colon + 1))
                                : logical                  ? boolean
                                : plain_float              ? f32
                                                           : i32;
            n.constant = parse_scalar(word.substr(0, colon), dtype);
        } catch (const UserError&) {
            fail("expected a value instead of '" + word + "'");
        }
        n.dtype = n.constant.dtype;
        if (!n.dtype.is_float()) n.interval = {n.constant.i, n.constant.i, 0, n.constant.i};
        return n;
    }

    int operand(const std::string& word) {
        if (word[0] == '%') {
            const auto id = whole_number(word.substr(1));
            const auto at = id && *id >= 0 && *id <= INT32_MAX ? names_.find(static_cast<int>(*id))
                                                               : names_.end();
            if (at == names_.end()) fail("there is no node " + word + " above");
            return at->second;
        }
        if (const auto at = leaves_.find(word); at != leaves_.end()) return at->second;
        if (exact_) fail("'leaves' has no number for " + word);
        KernelNode n = leaf(word);
        code_.nodes.push_back(std::move(n));
        return leaves_[word] = static_cast<int>(code_.nodes.size()) - 1;
    }

    /// `in LO HI`, `mod M REMAINDER`; false where the next word is neither.
    bool interval(KernelNode& n) {
        if (accept("in"))
            return n.interval.lo = number("a bound"), n.interval.hi = number("a bound"), true;
        if (accept("mod"))
            return n.interval.mod = number("a modulus"), n.interval.rem = number("a remainder"),
                   true;
        return false;
    }

    void matrix(KernelNode& n) {
        if (!accept("matrix")) return;
        n.matrix.rows = small("rows");
        n.matrix.columns = small("columns");
    }

    int open_region() {
        code_.regions.emplace_back();
        return static_cast<int>(code_.regions.size()) - 1;
    }
    KernelRegion& region(int id) { return code_.regions[static_cast<size_t>(id)]; }

    /// The lines of a region up to its closing brace.
    void body(int id) {
        if (++nested_ > kMostNested)
            fail("expected at most " + std::to_string(kMostNested) + " bodies inside one another");
        while (next_line(), peek() != "}") {
            if (words_.empty()) fail("expected '}'");
            if (accept("arg")) {
                KernelNode n;
                const std::string name = word("a number");
                int width = 1;
                n.op = KernelOp::RegionArg, n.region = id,
                n.position = static_cast<int>(region(id).args.size());
                n.dtype = type(width);
                matrix(n);
                while (interval(n)) {
                }
                const int place = declared(name);
                put(place, std::move(n));
                region(id).args.push_back(place);
            } else if (accept("yield")) {
                while (more() && peek() != "while") {
                    const int value = operand(words_[at_++]);
                    region(id).yields.push_back(value);
                }
                if (accept("while")) {
                    const int alive = operand(word("a value"));
                    region(id).alive = alive;
                }
            } else {
                node(id);
            }
            if (more()) fail("expected the end of the line instead of '" + peek() + "'");
        }
        --nested_;
    }

    void node(int in) {
        const bool effect = accept("!");
        const std::string name = word("a number");
        if (!accept("=")) fail("expected '='");
        KernelNode n;
        const auto op = find_kernel_op(word("an operation"));
        if (!op) fail("expected an operation of ops.def");
        n.op = *op;
        const bool has_bodies = n.op == KernelOp::For || n.op == KernelOp::Branch;
        int range = -1;
        if (n.op == KernelOp::For) {
            range = number_behind(word("a range")).value_or(-1);
            if (range < 0 || range >= static_cast<int>(code_.ranges.size()))
                fail("expected a range");
        } else if (!has_bodies) {
            n.dtype = type(n.width);
        }
        matrix(n);
        n.column_major = accept("column_major");
        if (n.op == KernelOp::RowReduce || n.op == KernelOp::SubgroupReduce ||
            n.op == KernelOp::SubgroupScan) {
            const auto reduce = named(word("a reduction"), ReduceOp::All);
            if (!reduce) fail("expected a reduction");
            n.reduce = *reduce;
        }
        if (n.op == KernelOp::Atomic) {
            const auto combine = named(word("how it combines"), ScatterOp::Xor);
            if (!combine) fail("expected how it combines");
            n.combine = *combine;
        }
        if (names_buffer(n.op)) {
            n.buffer = number_behind(word("a buffer")).value_or(-1);
            if (n.buffer < 0 || n.buffer >= static_cast<int>(code_.buffers.size()))
                fail("expected a buffer");
        }
        const bool has_lane = n.op == KernelOp::Lane || n.op == KernelOp::SubgroupShuffle;
        if (n.op == KernelOp::Result || has_lane) {
            int& number = has_lane ? n.lane : n.position;
            number = 0;
            if (more() && peek()[0] == '#') {
                number = static_cast<int>(whole_number(peek().substr(1)).value_or(0));
                ++at_;
            }
        }
        n.pinned = accept("pinned");
        n.guard = accept("guard");
        while (more() && peek() != "{") {
            if (interval(n)) continue;
            const int value = operand(words_[at_++]);
            n.args.push_back(value);
        }
        if (has_bodies) bodies(n, range);  // what stands in them comes before it
        const int place = declared(name);
        (effect ? region(in).effects : region(in).order).push_back(place);
        put(place, std::move(n));
    }

    void bodies(KernelNode& n, int range) {
        if (!accept("{")) fail("expected '{'");
        n.region = open_region();
        region(n.region).range = range;
        body(n.region);
        ++at_;
        if (!accept("else")) return;
        if (!accept("{")) fail("expected '{'");
        n.else_region = open_region();
        body(n.else_region);
        ++at_;
    }

    std::istringstream in_;
    std::string line_;
    Words words_;
    size_t at_ = 0;
    int number_ = 0, nested_ = 0;
    bool placed_ = false;
    bool exact_ = false;  // numbers of nodes are those of the text
    KernelCode code_;
    std::map<int, int> names_;           // numbers of the text
    std::map<std::string, int> leaves_;  // by their text
    std::map<int, std::string> counts_;  // trip counts of ranges
};

}  // namespace

KernelCode parse_kernel(const std::string& text) { return Parser(text).run(); }

}  // namespace firn
