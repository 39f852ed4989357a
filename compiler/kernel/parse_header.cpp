// Parses the header of a kernel's text: facts, buffers, parameters, ranges and leaves.
#include "compiler/kernel/parse_header.h"

#include <algorithm>

#include "compiler/kernel/parse_nodes.h"
#include "compiler/kernel/parse_words.h"

namespace firn {
namespace {

void parse_buffer(ParseRun& run, int number) {
    if (number != static_cast<int>(run.code.buffers.size()))
        fail(run, "expected the next buffer in order");
    if (!more(run)) fail(run, "expected a type");
    KernelBuffer b;
    const std::string all = run.words[run.at];
    const size_t open = run.line.find('['), close = run.line.rfind(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
        fail(run, "expected elements in brackets");
    b.elements = size_of(run, run.line.substr(open + 1, close - open - 1));
    run.words[run.at] = all.substr(0, all.find('['));
    b.dtype = take_type(run, b.width);
    std::istringstream rest(run.line.substr(close + 1));
    run.words.clear(), run.at = 0;
    for (std::string word; rest >> word;) run.words.push_back(word);
    if (accept(run, "shared"))
        b.space = MemorySpace::Shared;
    else if (accept(run, "private"))
        b.space = MemorySpace::Private;
    else if (accept(run, "view"))
        b.form = BindingForm::View;
    else if (accept(run, "address"))
        b.form = BindingForm::Address;
    else if (!accept(run, "storage"))
        fail(run, "expected where the buffer is");
    b.written = accept(run, "written");
    b.coherent = accept(run, "coherent");
    if (accept(run, "of")) b.buffer = take_small(run, "a buffer");
    run.code.buffers.push_back(std::move(b));
}

void parse_param(ParseRun& run, int number) {
    if (number != static_cast<int>(run.code.params.size()))
        fail(run, "expected the next parameter in order");
    ParamInfo param;
    int width = 1;
    param.dtype = take_type(run, width);
    if (accept(run, "argument"))
        param.scalar = take_small(run, "an argument");
    else if (accept(run, "="))
        param.size = take_size(run, {});
    else
        fail(run, "expected '=' or 'argument'");
    run.code.params.push_back(std::move(param));
}

void parse_range(ParseRun& run, const std::string& letters, RangeId id) {
    Range unused;  // those that the text leaves out
    unused.kind = RangeKind::Serial;
    if (id >= run.code.ranges.end_id()) run.code.ranges.resize(id.next().place(), unused);
    Range& r = run.code[id];
    r.name = letters;
    const auto kind = named(take_word(run, "a kind of range"), RangeKind::Subgroup);
    if (!kind) fail(run, "expected a kind of range");
    r.kind = *kind;
    if (accept(run, "dim")) r.dim = take_small(run, "a dimension");
    if (accept(run, "<")) r.extent = take_size(run, {"count", "most", "rest", "written_out"});
    if (accept(run, "count")) run.counts[id] = take_word(run, "a value");
    if (accept(run, "most")) r.max_trips = take_number(run, "a number");
    r.rest = accept(run, "rest");
    r.written_out = accept(run, "written_out");
}

void parse_leaves(ParseRun& run) {
    run.exact = true;
    while (more(run)) {
        const NodeId id = declare_node(run, take_word(run, "a number"));
        std::string form = take_word(run, "a value");
        KernelNode n;
        auto strip = [&](std::string& word) {
            const bool last = !word.empty() && word.back() == ',';
            if (last) word.pop_back();
            return last;
        };
        bool last = strip(form);
        n = parse_leaf(run, form);
        while (!last && more(run)) {
            const size_t at = run.at + (peek(run) == "in" || peek(run) == "mod" ? 2 : 0);
            if (at >= run.words.size()) fail(run, "expected two numbers");
            last = strip(run.words[at]);
            if (!take_interval(run, n))
                fail(run, "expected ',', 'in' or 'mod' instead of '" + peek(run) + "'");
        }
        put_node(run, id, std::move(n));
        run.leaves.emplace(form, id);
    }
}

}  // namespace

void parse_header(ParseRun& run) {
    if (accept(run, "group_size")) {
        for (uint32_t& extent : run.code.group_size)
            extent = static_cast<uint32_t>(take_small(run, "an extent"));
    } else if (accept(run, "groups")) {
        std::istringstream all(run.line.substr(run.line.find("groups") + 6));
        for (Size& groups : run.code.groups) {
            std::string form;
            std::getline(all, form, ';');
            groups = size_of(run, form.substr(std::min(form.find_first_not_of(' '), form.size())));
        }
    } else if (accept(run, "guards")) {
        run.code.guards = take_small(run, "a number");
    } else if (accept(run, "back_edges")) {
        run.code.back_edges = take_number(run, "a number");
    } else if (accept(run, "in_order")) {
        run.code.in_order = true;
    } else if (accept(run, "loads_first")) {
        run.code.loads_first = true;
    } else if (accept(run, "placed")) {
        run.placed = true;
    } else if (accept(run, "sizes")) {
        run.code.sizes_buffer = number_behind(take_word(run, "a buffer")).value_or(-1);
    } else if (accept(run, "leaves")) {
        parse_leaves(run);
    } else {
        std::string letters;
        const auto number = number_behind(take_word(run, "a declaration"), &letters);
        if (!number || *number > kMostNumber) fail(run, "expected a declaration");
        if (letters == "b")
            parse_buffer(run, *number);
        else if (letters == "p")
            parse_param(run, *number);
        else
            parse_range(run, letters, RangeId(*number));
    }
}

}  // namespace firn
