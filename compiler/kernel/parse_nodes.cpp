// The nodes and regions of a kernel's text.
#include "compiler/kernel/parse_nodes.h"

#include "compiler/base/error.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/parse_words.h"

namespace firn {
namespace {

KernelRegion& region(ParseRun& run, int id) { return run.code.regions[static_cast<size_t>(id)]; }

void take_matrix(ParseRun& run, KernelNode& n) {
    if (!accept(run, "matrix")) return;
    n.matrix.rows = take_small(run, "rows");
    n.matrix.columns = take_small(run, "columns");
}

void parse_bodies(ParseRun& run, KernelNode& n, int range) {
    if (!accept(run, "{")) fail(run, "expected '{'");
    n.region = open_region(run);
    region(run, n.region).range = range;
    parse_body(run, n.region);
    ++run.at;
    if (!accept(run, "else")) return;
    if (!accept(run, "{")) fail(run, "expected '{'");
    n.else_region = open_region(run);
    parse_body(run, n.else_region);
    ++run.at;
}

void parse_node(ParseRun& run, int in) {
    const bool effect = accept(run, "!");
    const std::string name = take_word(run, "a number");
    if (!accept(run, "=")) fail(run, "expected '='");
    KernelNode n;
    const auto op = find_kernel_op(take_word(run, "an operation"));
    if (!op) fail(run, "expected an operation of kernel_ops.def");
    n.op = *op;
    const bool has_bodies = n.op == KernelOp::For || n.op == KernelOp::Branch;
    int range = -1;
    if (n.op == KernelOp::For) {
        range = number_behind(take_word(run, "a range")).value_or(-1);
        if (range < 0 || range >= static_cast<int>(run.code.ranges.size()))
            fail(run, "expected a range");
    } else if (!has_bodies) {
        n.dtype = take_type(run, n.width);
    }
    take_matrix(run, n);
    n.column_major = accept(run, "column_major");
    if (n.op == KernelOp::RowReduce || n.op == KernelOp::SubgroupReduce ||
        n.op == KernelOp::SubgroupScan) {
        const auto reduce = named(take_word(run, "a reduction"), ReduceOp::All);
        if (!reduce) fail(run, "expected a reduction");
        n.reduce = *reduce;
    }
    if (n.op == KernelOp::Atomic) {
        const auto combine = named(take_word(run, "how it combines"), ScatterOp::Xor);
        if (!combine) fail(run, "expected how it combines");
        n.combine = *combine;
    }
    if (names_buffer(n.op)) {
        n.buffer = number_behind(take_word(run, "a buffer")).value_or(-1);
        if (n.buffer < 0 || n.buffer >= static_cast<int>(run.code.buffers.size()))
            fail(run, "expected a buffer");
    }
    const bool has_lane = n.op == KernelOp::Lane || n.op == KernelOp::SubgroupShuffle;
    if (n.op == KernelOp::Result || has_lane) {
        int& number = has_lane ? n.lane : n.position;
        number = 0;
        if (more(run) && peek(run)[0] == '#') {
            number = static_cast<int>(whole_number(peek(run).substr(1)).value_or(0));
            ++run.at;
        }
    }
    n.pinned = accept(run, "pinned");
    n.guard = accept(run, "guard");
    while (more(run) && peek(run) != "{") {
        if (take_interval(run, n)) continue;
        const int value = parse_operand(run, run.words[run.at++]);
        n.args.push_back(value);
    }
    if (has_bodies) parse_bodies(run, n, range);  // nodes in them come before it
    const int place = declare_node(run, name);
    (effect ? region(run, in).effects : region(run, in).order).push_back(place);
    put_node(run, place, std::move(n));
}

}  // namespace

int open_region(ParseRun& run) {
    run.code.regions.emplace_back();
    return static_cast<int>(run.code.regions.size()) - 1;
}

void parse_body(ParseRun& run, int id) {
    if (++run.nested > kMostNested)
        fail(run, "expected at most " + std::to_string(kMostNested) + " bodies inside one another");
    while (next_line(run), peek(run) != "}") {
        if (run.words.empty()) fail(run, "expected '}'");
        if (accept(run, "arg")) {
            KernelNode n;
            const std::string name = take_word(run, "a number");
            int width = 1;
            n.op = KernelOp::RegionArg, n.region = id,
            n.position = static_cast<int>(region(run, id).args.size());
            n.dtype = take_type(run, width);
            take_matrix(run, n);
            while (take_interval(run, n)) {
            }
            const int place = declare_node(run, name);
            put_node(run, place, std::move(n));
            region(run, id).args.push_back(place);
        } else if (accept(run, "yield")) {
            while (more(run) && peek(run) != "while") {
                const int value = parse_operand(run, run.words[run.at++]);
                region(run, id).yields.push_back(value);
            }
            if (accept(run, "while")) {
                const int alive = parse_operand(run, take_word(run, "a value"));
                region(run, id).alive = alive;
            }
        } else {
            parse_node(run, id);
        }
        if (more(run)) fail(run, "expected the end of the line instead of '" + peek(run) + "'");
    }
    --run.nested;
}

int declare_node(ParseRun& run, const std::string& word) {
    const auto id = word.size() > 1 && word[0] == '%' ? whole_number(word.substr(1)) : std::nullopt;
    if (!id || *id < 0 || *id > kMostNumber) fail(run, "expected the number of a node");
    if (run.names.count(static_cast<int>(*id))) fail(run, "this number is taken");
    const int place = run.exact ? static_cast<int>(*id) : static_cast<int>(run.code.nodes.size());
    run.names[static_cast<int>(*id)] = place;
    if (place >= static_cast<int>(run.code.nodes.size()))
        run.code.nodes.resize(static_cast<size_t>(place) + 1);
    return place;
}

void put_node(ParseRun& run, int place, KernelNode node) {
    run.code.nodes[static_cast<size_t>(place)] = std::move(node);
}

KernelNode parse_leaf(const ParseRun& run, const std::string& word) {
    KernelNode n;
    const auto number = number_behind(word);
    if (number && word[0] == 'p') {
        if (*number >= static_cast<int>(run.code.params.size()))
            fail(run, "there is no parameter " + word);
        n.op = KernelOp::Param, n.param = *number,
        n.dtype = run.code.params[static_cast<size_t>(*number)].dtype;
        return n;
    }
    if (number && word != "inf") {
        if (*number >= static_cast<int>(run.code.ranges.size()))
            fail(run, "there is no range " + word);
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
        return constant_node(parse_scalar(word.substr(0, colon), dtype));
    } catch (const UserError&) {
        fail(run, "expected a value instead of '" + word + "'");
    }
}

int parse_operand(ParseRun& run, const std::string& word) {
    if (word[0] == '%') {
        const auto id = whole_number(word.substr(1));
        const auto at = id && *id >= 0 && *id <= INT32_MAX ? run.names.find(static_cast<int>(*id))
                                                           : run.names.end();
        if (at == run.names.end()) fail(run, "there is no node " + word + " above");
        return at->second;
    }
    if (const auto at = run.leaves.find(word); at != run.leaves.end()) return at->second;
    if (run.exact) fail(run, "'leaves' has no number for " + word);
    KernelNode n = parse_leaf(run, word);
    run.code.nodes.push_back(std::move(n));
    return run.leaves[word] = static_cast<int>(run.code.nodes.size()) - 1;
}

bool take_interval(ParseRun& run, KernelNode& n) {
    if (accept(run, "in"))
        return n.interval.lo = take_number(run, "a bound"),
               n.interval.hi = take_number(run, "a bound"), true;
    if (accept(run, "mod"))
        return n.congruence.mod = take_number(run, "a modulus"),
               n.congruence.rem = take_number(run, "a remainder"), true;
    return false;
}

}  // namespace firn
