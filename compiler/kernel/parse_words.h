// The words of a kernel's text, one after the other.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "compiler/kernel/parse_run.h"

namespace firn {

std::optional<int64_t> whole_number(const std::string& word);
/// The largest number of a node or a range: memory is made for as many.
inline constexpr int64_t kMostNumber = 1 << 22;
/// The number behind letters, as of `b12` or `x0`; nothing where the word is no such name.
std::optional<int> number_behind(const std::string& word, std::string* letters = nullptr);

/// Throws UserError that names the line.
[[noreturn]] void fail(const ParseRun& run, const std::string& what);

/// The next line that says something, as words; none at the end.
void next_line(ParseRun& run);
/// The line has another word.
bool more(const ParseRun& run);
/// It; empty at the end of the line.
const std::string& peek(const ParseRun& run);

/// Takes the next word where it is `expected`.
bool accept(ParseRun& run, const char* expected);
// Each takes the next word, which must be `what`.
std::string take_word(ParseRun& run, const char* what);
int64_t take_number(ParseRun& run, const char* what);
int take_small(ParseRun& run, const char* what);
/// `f32x4`: the type, and how many of it.
DType take_type(ParseRun& run, int& width);
/// Takes the line up to one of the words in `ends`, as a size.
Size take_size(ParseRun& run, std::initializer_list<const char*> ends);
Size size_of(const ParseRun& run, const std::string& form);

/// The value of an enum, up to `last`, that has this name.
template <class E>
std::optional<E> named(const std::string& word, E last) {
    for (int k = 0; k <= static_cast<int>(last); ++k)
        if (word == name(static_cast<E>(k))) return static_cast<E>(k);
    return std::nullopt;
}

}  // namespace firn
