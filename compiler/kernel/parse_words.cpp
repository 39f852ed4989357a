// The words of a kernel's text, one after the other.
#include "compiler/kernel/parse_words.h"

#include <cctype>
#include <charconv>

#include "compiler/base/error.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<int64_t> whole_number(const std::string& word) {
    int64_t value = 0;
    const char *begin = word.data(), *end = begin + word.size();
    const auto read = std::from_chars(begin, end, value);
    return !word.empty() && read.ec == std::errc() && read.ptr == end ? std::optional(value)
                                                                      : std::nullopt;
}

std::optional<int> number_behind(const std::string& word, std::string* letters) {
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

void fail(const ParseRun& run, const std::string& what) {
    throw UserError("parse: line " + std::to_string(run.number) + ": " + what + ", found '" +
                    run.line + "'");
}

void next_line(ParseRun& run) {
    run.words.clear();
    for (; run.words.empty() && std::getline(run.in, run.line); ++run.number) {
        const size_t begin = run.line.find_first_not_of(" \t");
        if (begin == std::string::npos) continue;
        run.line = run.line.substr(begin);
        std::istringstream words(run.line);
        for (std::string word; words >> word && word != "#";) run.words.push_back(word);
    }
    run.at = 0;
}

bool more(const ParseRun& run) { return run.at < run.words.size(); }
const std::string& peek(const ParseRun& run) {
    static const std::string none;
    return more(run) ? run.words[run.at] : none;
}

std::string take_word(ParseRun& run, const char* what) {
    if (!more(run)) fail(run, std::string("expected ") + what);
    return run.words[run.at++];
}

bool accept(ParseRun& run, const char* expected) {
    if (peek(run) != expected) return false;
    ++run.at;
    return true;
}

int64_t take_number(ParseRun& run, const char* what) {
    const auto value = whole_number(peek(run));
    if (!value) fail(run, std::string("expected ") + what);
    ++run.at;
    return *value;
}

int take_small(ParseRun& run, const char* what) {
    const int64_t value = take_number(run, what);
    if (value < INT32_MIN || value > INT32_MAX)
        fail(run, std::string("expected ") + what + " of 32 bits");
    return static_cast<int>(value);
}

Size size_of(const ParseRun& run, const std::string& form) {
    try {
        return parse_size(form);
    } catch (const UserError&) {
        fail(run, "expected a size");
    }
}

Size take_size(ParseRun& run, std::initializer_list<const char*> ends) {
    std::string form;
    while (more(run)) {
        bool end = false;
        for (const char* stop : ends) end |= peek(run) == stop;
        if (end) break;
        form += (form.empty() ? "" : " ") + run.words[run.at++];
    }
    return size_of(run, form);
}

DType take_type(ParseRun& run, int& width) {
    const std::string all = take_word(run, "a type");
    std::string name = all;
    width = 1;
    if (const size_t at = all.find('x'); at != std::string::npos) {
        name = all.substr(0, at);
        const auto wide = whole_number(all.substr(at + 1));
        if (!wide || *wide < 1 || *wide > 4) fail(run, "expected a width from 1 to 4");
        width = static_cast<int>(*wide);
    }
    try {
        return parse_dtype(name);
    } catch (const UserError&) {
        fail(run, "expected a type");
    }
}

}  // namespace firn
