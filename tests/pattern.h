// Extended regular expressions of POSIX: a program that uses those of the standard library takes
// three seconds longer to compile.
#pragma once
#include <gtest/gtest.h>
#include <regex.h>

#include <functional>
#include <string>

namespace firn {

/// Calls `found(begin, end, group)` for every match of `pattern` in `text`, from left to right:
/// with its place, and with what the first group of the pattern matched. Ends at an empty match.
/// A match stays within a line.
inline void each_match(const std::string& text, const char* pattern,
                       const std::function<void(size_t, size_t, const std::string&)>& found) {
    regex_t compiled;
    ASSERT_EQ(regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE), 0) << pattern;
    regmatch_t match[2];
    for (size_t at = 0;
         regexec(&compiled, text.c_str() + at, 2, match, at > 0 ? REG_NOTBOL : 0) == 0 &&
         match[0].rm_eo > match[0].rm_so;) {
        const regmatch_t& group = match[1];
        found(at + match[0].rm_so, at + match[0].rm_eo,
              group.rm_so < 0 ? "" : text.substr(at + group.rm_so, group.rm_eo - group.rm_so));
        at += match[0].rm_eo;
    }
    regfree(&compiled);
}

/// Returns `text` with `by` in the place of every match of `pattern`.
inline std::string replace_matches(const std::string& text, const char* pattern,
                                   const std::string& by = "") {
    std::string out;
    size_t rest = 0;
    each_match(text, pattern, [&](size_t begin, size_t end, const std::string&) {
        out += text.substr(rest, begin - rest) + by;
        rest = end;
    });
    return out + text.substr(rest);
}

}  // namespace firn
