// The nodes and bodies of a Graph's text.
#include "compiler/ir/parse_nodes.h"

#include <optional>

#include "compiler/ir/parse_attribute.h"
#include "compiler/ir/parse_words.h"

namespace firn {
namespace {

Ref take_reference(GraphParseRun& run) {
    expect(run, "%");
    size_t begin = run.at;
    int64_t id = take_number(run);
    if (id < 0 || id >= static_cast<int64_t>(run.nodes.size()) ||
        !run.nodes[static_cast<size_t>(id)]) {
        run.at = begin;
        fail(run, "the number of a node above");
    }
    return run.nodes[static_cast<size_t>(id)];
}

/// The references on this line: the next line of a node without operands begins with a number, too.
std::vector<Ref> take_references(GraphParseRun& run) {
    std::vector<Ref> out;
    while (run.at < run.text.size() && run.text[run.at] == ' ') ++run.at;
    if (run.at >= run.text.size() || run.text[run.at] != '%') return out;
    do out.push_back(take_reference(run));
    while (accept(run, ","));
    return out;
}

}  // namespace

void declare_number(GraphParseRun& run) {
    expect(run, "%");
    size_t begin = run.at;
    if (take_number(run) != static_cast<int64_t>(run.nodes.size())) {
        run.at = begin;
        fail(run, "number " + std::to_string(run.nodes.size()) + ", the next in order");
    }
    run.nodes.emplace_back();
}

std::vector<Ref> parse_nodes(GraphParseRun& run, std::string_view end) {
    while (!accept(run, end)) {
        size_t id = run.nodes.size();
        declare_number(run);
        ParsedType t;
        if (accept(run, ":")) t = take_type(run);
        expect(run, "=");
        skip_space(run);
        size_t begin = run.at;
        std::optional<Op> op = find_op(take_word(run, "an operation"));
        if (!op) {
            run.at = begin;
            fail(run, "an operation of ops.def");
        }
        std::vector<Ref> inputs = take_references(run);
        Attr attr = parse_attribute(run, *op, t);
        run.nodes[id] =
            run.table.intern(*op, t.dtype, std::move(t.shape), std::move(inputs), std::move(attr));
    }
    return take_references(run);
}

std::shared_ptr<const Region> parse_body(GraphParseRun& run) {
    Region region;
    if (++run.nested > kMostNested)
        fail(run, "at most " + std::to_string(kMostNested) + " bodies inside one another");
    expect(run, "{");
    region.results = parse_nodes(run, "yield");
    expect(run, "}");
    --run.nested;
    return std::make_shared<Region>(std::move(region));
}

}  // namespace firn
