// Firn's refusals, with their messages: compiler/refusals.md has every row. FIRN_WRITE_README=1
// writes the page anew.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "tests/habits/page.h"
#include "tests/pattern.h"

namespace firn {
namespace {

struct Refusal {
    const char *section = nullptr, *code = "", *instead = "", *why = "";
    std::function<Tensor(Tensor x, Tensor y, Tensor a, Tensor n, Tensor m)> run;
};

#define SECTION(name) {.section = name},
#define REFUSED(text, instead_of, reason, ...)                                                  \
    {.code = text,                                                                              \
     .instead = instead_of,                                                                     \
     .why = reason,                                                                             \
     .run = []([[maybe_unused]] Tensor x, [[maybe_unused]] Tensor y, [[maybe_unused]] Tensor a, \
               [[maybe_unused]] Tensor n,                                                       \
               [[maybe_unused]] Tensor m) -> Tensor { return __VA_ARGS__; }},
const std::vector<Refusal>& refusals() {
    static const std::vector<Refusal> rows{
#include "tests/habits/refusals.def"
    };
    return rows;
}
#undef SECTION
#undef REFUSED

/// Returns the message that the row throws, without the place in the source; empty if it throws
/// nothing.
std::string message_of(const Refusal& row) {
    SessionScope scope(Session::oracle());
    try {
        row.run(tensor({1.0f, 2.0f, 3.0f}), tensor({4.0f, 5.0f, 6.0f}),
                reshape(arange(6).as(f32), {2, 3}), arange(3), tensor({1, 0, 1}) == 1)
            .to_vector<double>();
    } catch (const UserError& error) {
        const std::string text =
            replace_matches(error.what(), " ?\\([^()]*\\.(def|cpp):[0-9]+[^()]*\\)");
        return replace_matches(text, "refusals.def:[0-9]+", "its line");
    }
    return "";
}

std::string in_cell(std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, " ");
    return text;
}

std::string page_of_refusals() {
    std::ostringstream out;
    out << R"(# Refused programs

`tests/habits` runs every row, and writes this page with the messages. A message also names the line of the program, which
is left out here. x and y are f32[3], a is f32[2, 3], n is i32[3], m is bool[3]. For code that C++ itself refuses, such as
`if (x > 0.0f)`, the message of the C++ compiler says what to write (`if_`, `select`, `loop`).
)";
    for (const Refusal& row : refusals())
        if (row.section)
            out << "\n## " << row.section
                << "\n\n| written | the message | write instead | why |\n|---|---|---|---|\n";
        else
            out << "| `" << in_cell(row.code) << "` | " << in_cell(message_of(row)) << " | "
                << in_cell(row.instead) << " | " << in_cell(row.why) << " |\n";
    return out.str();
}

TEST(Refusals, EachIsAnErrorThatSaysMore) {
    for (const Refusal& row : refusals())
        if (!row.section) {
            EXPECT_GT(message_of(row).size(), 20u) << row.code;
        }
}

TEST(Refusals, ThePageHasEveryRow) { expect_page("compiler/refusals.md", page_of_refusals()); }

}  // namespace
}  // namespace firn
