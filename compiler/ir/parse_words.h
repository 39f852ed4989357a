// The words of a Graph's text, one after the other.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/parse_run.h"

namespace firn {

struct ParsedType {
    DType dtype = i32;
    Shape shape;
};

/// Throws UserError that names line and column.
[[noreturn]] void fail(const GraphParseRun& run, const std::string& expected);
/// Passes over blanks and comments.
void skip_space(GraphParseRun& run);

/// Takes the next token if it is `token`.
bool accept(GraphParseRun& run, std::string_view token);
void expect(GraphParseRun& run, std::string_view token);

// Each takes the next word, which must be of this kind.
std::string take_word(GraphParseRun& run, const char* what);
int64_t take_number(GraphParseRun& run);
/// Takes a number of 32 bits; others are a UserError.
int take_small(GraphParseRun& run);
/// The text up to one of `stops` outside parentheses, as a size.
Size take_size(GraphParseRun& run, std::string_view stops);
Scalar take_scalar(GraphParseRun& run, DType dtype);
ParsedType take_type(GraphParseRun& run);
/// `label=4`.
int take_labelled_number(GraphParseRun& run, std::string_view label);
// `label=[a, b]`, or without a label.
std::vector<Size> take_sizes(GraphParseRun& run, std::string_view label);
std::vector<int> take_axes(GraphParseRun& run, std::string_view label);

template <class T, class F>
std::vector<T> take_list(GraphParseRun& run, std::string_view label, const F& item) {
    if (!label.empty()) {
        expect(run, label);
        expect(run, "=");
    }
    expect(run, "[");
    std::vector<T> out;
    if (accept(run, "]")) return out;
    do out.push_back(item());
    while (accept(run, ","));
    expect(run, "]");
    return out;
}

/// The enumerator with this name; enumerators count from 0 to `last`.
template <class E>
E take_named(GraphParseRun& run, E last) {
    skip_space(run);
    size_t begin = run.at;
    std::string asked = take_word(run, "a name");
    for (int k = 0; k <= static_cast<int>(last); ++k)
        if (asked == name(static_cast<E>(k))) return static_cast<E>(k);
    run.at = begin;
    fail(run, std::string("a name such as '") + name(last) + "'");
}

}  // namespace firn
