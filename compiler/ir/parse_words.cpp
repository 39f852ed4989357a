// The words of a Graph's text, one after the other.
#include "compiler/ir/parse_words.h"

#include <algorithm>
#include <cctype>

#include "compiler/base/error.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The text up to one of `stops` outside parentheses, trimmed.
std::string take_until(GraphParseRun& run, std::string_view stops) {
    skip_space(run);
    size_t begin = run.at;
    int depth = 0;
    for (; run.at < run.text.size(); ++run.at) {
        char c = run.text[run.at];
        if (depth == 0 && stops.find(c) != std::string_view::npos) break;
        depth += (c == '(') - (c == ')');
    }
    size_t end = run.at;
    while (end > begin && std::isspace(static_cast<unsigned char>(run.text[end - 1]))) --end;
    return run.text.substr(begin, end - begin);
}

}  // namespace

void fail(const GraphParseRun& run, const std::string& expected) {
    size_t line = 1, column = 1;
    for (size_t k = 0; k < run.at && k < run.text.size(); ++k) {
        ++column;
        if (run.text[k] == '\n') ++line, column = 1;
    }
    size_t end = run.text.find('\n', run.at);
    std::string found = run.at < run.text.size()
                            ? run.text.substr(run.at, std::min<size_t>(end - run.at, 24))
                            : "the end";
    throw UserError("parse: line " + std::to_string(line) + ", column " + std::to_string(column) +
                    ": expected " + expected + ", found '" + found + "'");
}

void skip_space(GraphParseRun& run) {
    while (run.at < run.text.size()) {
        if (run.text[run.at] == '#' &&
            !(run.at + 1 < run.text.size() &&
              std::isdigit(static_cast<unsigned char>(run.text[run.at + 1]))))
            run.at = std::min(run.text.find('\n', run.at), run.text.size());
        else if (std::isspace(static_cast<unsigned char>(run.text[run.at])))
            ++run.at;
        else
            return;
    }
}

bool accept(GraphParseRun& run, std::string_view token) {
    skip_space(run);
    if (run.text.compare(run.at, token.size(), token) != 0) return false;
    size_t end = run.at + token.size();
    if (is_word(token.back()) && end < run.text.size() && is_word(run.text[end])) return false;
    run.at = end;
    return true;
}

void expect(GraphParseRun& run, std::string_view token) {
    if (!accept(run, token)) fail(run, "'" + std::string(token) + "'");
}

std::string take_word(GraphParseRun& run, const char* what) {
    skip_space(run);
    size_t begin = run.at;
    while (run.at < run.text.size() && is_word(run.text[run.at])) ++run.at;
    if (begin == run.at) fail(run, what);
    return run.text.substr(begin, run.at - begin);
}

int64_t take_number(GraphParseRun& run) {
    skip_space(run);
    size_t begin = run.at;
    if (run.at < run.text.size() && run.text[run.at] == '-') ++run.at;
    while (run.at < run.text.size() && std::isdigit(static_cast<unsigned char>(run.text[run.at])))
        ++run.at;
    try {
        return std::stoll(run.text.substr(begin, run.at - begin));
    } catch (const std::exception&) {
        run.at = begin;
        fail(run, "a number");
    }
}

Size take_size(GraphParseRun& run, std::string_view stops) {
    skip_space(run);
    size_t begin = run.at;
    std::string form = take_until(run, stops);
    try {
        return parse_size(form);
    } catch (const UserError&) {
        run.at = begin;
        fail(run, "a size");
    }
}

Scalar take_scalar(GraphParseRun& run, DType dtype) {
    skip_space(run);
    size_t begin = run.at;
    std::string form = take_until(run, " \n");
    try {
        return parse_scalar(form, dtype);
    } catch (const UserError&) {
        run.at = begin;
        fail(run, std::string("a value of ") + dtype.name());
    }
}

std::vector<Size> take_sizes(GraphParseRun& run, std::string_view label) {
    return take_list<Size>(run, label, [&run] { return take_size(run, ",]"); });
}

int take_small(GraphParseRun& run) {
    const int64_t number = take_number(run);
    if (number < INT32_MIN || number > INT32_MAX) fail(run, "a number of 32 bits");
    return static_cast<int>(number);
}

std::vector<int> take_axes(GraphParseRun& run, std::string_view label) {
    return take_list<int>(run, label, [&run] { return take_small(run); });
}

ParsedType take_type(GraphParseRun& run) {
    ParsedType out;
    skip_space(run);
    size_t begin = run.at;
    try {
        out.dtype = parse_dtype(take_word(run, "a type"));
    } catch (const UserError&) {
        run.at = begin;
        fail(run, "a type");
    }
    if (run.at < run.text.size() && run.text[run.at] == '[') out.shape = take_sizes(run, "");
    return out;
}

int take_labelled_number(GraphParseRun& run, std::string_view label) {
    expect(run, label);
    expect(run, "=");
    return take_small(run);
}

}  // namespace firn
