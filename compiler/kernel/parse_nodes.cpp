// The nodes and regions of a kernel's text.
#include "compiler/kernel/parse_nodes.h"

#include "compiler/base/error.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/parse_words.h"

namespace firn {
namespace {

void take_matrix(ParseRun& run, KernelNode& n) {
    if (!accept(run, "matrix")) return;
    n.matrix.rows = take_small(run, "rows");
    n.matrix.columns = take_small(run, "columns");
}

/// Takes a lane or the position of a result, which is 0 where the text has none.
int take_place(ParseRun& run) {
    if (!more(run) || peek(run)[0] != '#') return 0;
    const auto place = whole_number(peek(run).substr(1));
    ++run.at;
    return static_cast<int>(place.value_or(0));
}

void parse_bodies(ParseRun& run, KernelNode& n, RangeId range) {
    if (!accept(run, "{")) fail(run, "expected '{'");
    auto& own = n.as<BodyAttr>();
    own.region = open_region(run);
    run.code[own.region].range = range;
    parse_body(run, own.region);
    ++run.at;
    if (!accept(run, "else")) return;
    if (!accept(run, "{")) fail(run, "expected '{'");
    own.else_region = open_region(run);
    parse_body(run, own.else_region);
    ++run.at;
}

void parse_node(ParseRun& run, RegionId in) {
    const bool effect = accept(run, "!");
    const std::string name = take_word(run, "a number");
    if (!accept(run, "=")) fail(run, "expected '='");
    KernelNode n;
    const auto op = find_kernel_op(take_word(run, "an operation"));
    if (!op) fail(run, "expected an operation of kernel_ops.def");
    n.op = *op;
    n.attr = empty_attr(n.op);
    auto* access = n.get_if<AccessAttr>();
    const bool has_bodies = n.get_if<BodyAttr>();
    RangeId range;
    if (n.op == KernelOp::For) {
        range = RangeId(number_behind(take_word(run, "a range")).value_or(-1));
        if (!range || range >= run.code.ranges.end_id()) fail(run, "expected a range");
    } else if (!has_bodies) {
        int width = 1;
        n.dtype = take_type(run, width);
        if (access) access->width = width;
        if (!access && width != 1) fail(run, "expected a type without a width");
    }
    take_matrix(run, n);
    if (access) access->column_major = accept(run, "column_major");
    if (auto* by = n.get_if<ReduceOp>()) {
        const auto reduce = named(take_word(run, "a reduction"), ReduceOp::All);
        if (!reduce) fail(run, "expected a reduction");
        *by = *reduce;
    }
    if (n.op == KernelOp::Atomic) {
        const auto combine = named(take_word(run, "how it combines"), ScatterOp::Xor);
        if (!combine) fail(run, "expected how it combines");
        access->combine = *combine;
    }
    if (access) {
        access->buffer = number_behind(take_word(run, "a buffer")).value_or(-1);
        if (access->buffer < 0 || access->buffer >= static_cast<int>(run.code.buffers.size()))
            fail(run, "expected a buffer");
    }
    if (auto* lane = n.get_if<LaneAttr>()) lane->lane = take_place(run);
    if (auto* result = n.get_if<PositionAttr>()) result->position = take_place(run);
    n.pinned = accept(run, "pinned");
    n.guard = accept(run, "guard");
    while (more(run) && peek(run) != "{") {
        if (take_interval(run, n)) continue;
        const NodeId value = parse_operand(run, run.words[run.at++]);
        n.args.push_back(value);
    }
    if (has_bodies) parse_bodies(run, n, range);  // nodes in them come before it
    const NodeId id = declare_node(run, name);
    (effect ? run.code[in].effects : run.code[in].order).push_back(id);
    put_node(run, id, std::move(n));
}

}  // namespace

RegionId open_region(ParseRun& run) {
    const RegionId id = run.code.regions.end_id();
    run.code.regions.emplace_back();
    return id;
}

void parse_body(ParseRun& run, RegionId in) {
    if (++run.nested > kMostNested)
        fail(run, "expected at most " + std::to_string(kMostNested) + " bodies inside one another");
    while (next_line(run), peek(run) != "}") {
        if (run.words.empty()) fail(run, "expected '}'");
        if (accept(run, "arg")) {
            KernelNode n;
            const std::string name = take_word(run, "a number");
            int width = 1;
            n.op = KernelOp::RegionArg;
            n.attr = CarriedAttr{in, static_cast<int>(run.code[in].args.size())};
            n.dtype = take_type(run, width);
            take_matrix(run, n);
            while (take_interval(run, n)) {
            }
            const NodeId id = declare_node(run, name);
            put_node(run, id, std::move(n));
            run.code[in].args.push_back(id);
        } else if (accept(run, "yield")) {
            while (more(run) && peek(run) != "while") {
                const NodeId value = parse_operand(run, run.words[run.at++]);
                run.code[in].yields.push_back(value);
            }
            if (accept(run, "while")) {
                const NodeId alive = parse_operand(run, take_word(run, "a value"));
                run.code[in].alive = alive;
            }
        } else {
            parse_node(run, in);
        }
        if (more(run)) fail(run, "expected the end of the line instead of '" + peek(run) + "'");
    }
    --run.nested;
}

NodeId declare_node(ParseRun& run, const std::string& word) {
    const auto number =
        word.size() > 1 && word[0] == '%' ? whole_number(word.substr(1)) : std::nullopt;
    if (!number || *number < 0 || *number > kMostNumber) fail(run, "expected the number of a node");
    if (run.names.count(static_cast<int>(*number))) fail(run, "this number is taken");
    const NodeId id = run.exact ? NodeId(*number) : run.code.nodes.end_id();
    run.names[static_cast<int>(*number)] = id;
    KernelNode unused;  // for the numbers that the text leaves out
    unused.attr = empty_attr(unused.op);
    if (id >= run.code.nodes.end_id()) run.code.nodes.resize(id.next().place(), unused);
    return id;
}

void put_node(ParseRun& run, NodeId id, KernelNode node) { run.code[id] = std::move(node); }

KernelNode parse_leaf(const ParseRun& run, const std::string& word) {
    KernelNode n;
    const auto number = number_behind(word);
    if (number && word[0] == 'p') {
        if (*number >= static_cast<int>(run.code.params.size()))
            fail(run, "there is no parameter " + word);
        n.op = KernelOp::Param, n.attr = ParamAttr{*number},
        n.dtype = run.code.params[static_cast<size_t>(*number)].dtype;
        return n;
    }
    if (number && word != "inf") {
        n.op = KernelOp::Range, n.attr = RangeId(*number), n.dtype = i32;
        if (RangeId(*number) >= run.code.ranges.end_id()) fail(run, "there is no range " + word);
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

NodeId parse_operand(ParseRun& run, const std::string& word) {
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
    const NodeId id = run.code.nodes.end_id();
    run.code.nodes.push_back(std::move(n));
    return run.leaves[word] = id;
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
