// Names of numpy, GLSL and Taichi with Firn's beside: every row of compiler/habits.md is run, and
// gives the same result. FIRN_WRITE_README=1 writes the page anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "compiler/program/executor.h"
#include "engine/firn/device_session.h"
#include "tests/habits/page.h"
#include "tests/ir/near.h"

namespace firn {
namespace {

using Values = std::vector<double>;
using Tensors = std::vector<Tensor>;

struct Row {
    const char *section = nullptr, *theirs = "", *word = "", *ours = "";
    std::function<Tensor(const Tensors&)> make;  // none: a section begins
    Values values;
    Shape shape;  // of numpy's; the others have no more than one axis
};
struct Page {
    const char *title, *names;
    std::vector<Row> rows;
};

template <class... T>
Values list(const T&... values) {
    return {static_cast<double>(values)...};
}
Tensor result(const Tensor& x) { return x; }
template <size_t N, VecKind K>
Tensor result(const Vec<N, K>& v) {
    return stack(v);
}

#define SECTION(name) {.section = name},

// --- numpy ---------------------------------------------------------------------------------------

Tensors numpy_inputs() {
    const Tensor a = reshape(arange(12), {3, 4}), b = a.as(f32) / 4.0f - 1.0f;
    return {a,
            b,
            tensor({3.0f, 1.0f, 4.0f, 1.0f, 5.0f, 9.0f, 2.0f, 6.0f}),
            arange(8).as(f32) / 8.0f,
            tensor({4.0f, 1.0f, 2.0f, 3.0f}, {2, 2}),
            tensor({2, 0}),
            a % 3 == 0};
}

#define FIRN_NUMPY(...)                                                     \
    [](const Tensors& in) -> Tensor {                                       \
        [[maybe_unused]] Tensor a = in[0], b = in[1], v = in[2], w = in[3]; \
        [[maybe_unused]] Tensor q = in[4], i = in[5], m = in[6], x = in[1]; \
        __VA_ARGS__;                                                        \
    }
#define ROW(theirs, word, ...) \
    {nullptr, theirs, word, #__VA_ARGS__, FIRN_NUMPY(return __VA_ARGS__), {}, {}},
#define STORE(theirs, word, ...)                                                       \
    {                                                                                  \
        nullptr, theirs, word, #__VA_ARGS__, FIRN_NUMPY(__VA_ARGS__; return x), {}, {} \
    }                                                                                  \
    ,
std::vector<Row> numpy_rows() {
    return {
#include "tests/habits/numpy_rows.def"
    };
}
#undef ROW
#undef STORE

/// Takes the values from what numpy_expected.py has written.
Page numpy() {
    Page out{"numpy",
             "`a = np.arange(12).reshape(3, 4)`, `b = a / 4 - 1`, `v = [3, 1, 4, 1, 5, 9, 2, 6]`, "
             "`w = np.arange(8) / "
             "8`, `q = [[4, 1], [2, 3]]`, `i = [2, 0]`, `m = a % 3 == 0`, and `x` is a copy of "
             "`b`; floats are f32.",
             numpy_rows()};
    std::ifstream in(FIRN_SOURCE_DIR "/tests/habits/numpy_expected.txt");
    for (Row& row : out.rows) {
        if (row.section) continue;
        std::string line, theirs, sizes, elements, word;
        std::getline(in, line);
        std::istringstream parts(line);
        std::getline(parts, theirs, '\t'), std::getline(parts, sizes, '\t');
        EXPECT_EQ(theirs, row.theirs) << "run tests/habits/numpy_expected.py";
        for (std::istringstream each(sizes); std::getline(each, word, ',');)
            row.shape.push_back(Size(std::atoi(word.c_str())));
        while (parts >> word) row.values.push_back(std::strtod(word.c_str(), nullptr));
    }
    return out;
}

// --- GLSL ----------------------------------------------------------------------------------------

Tensors glsl_inputs() {
    Tensors out{1.25f, -0.5f, -7};
    for (float part : {3.0f, 4.0f, 1.0f, 2.0f, 3.0f, 0.5f, -1.0f, 2.0f}) out.push_back(part);
    return out;
}
#define FIRN_VALUE(value)                                                              \
    []([[maybe_unused]] double x, [[maybe_unused]] double y, [[maybe_unused]] int n) { \
        return list value;                                                             \
    }(1.25, -0.5, -7)
#define FIRN_GLSL(...)                                                         \
    [](const Tensors& in) -> Tensor {                                          \
        [[maybe_unused]] Tensor x = in[0], y = in[1], n = in[2];               \
        [[maybe_unused]] vec2 u(in[3], in[4]);                                 \
        [[maybe_unused]] vec3 p(in[5], in[6], in[7]), r(in[8], in[9], in[10]); \
        __VA_ARGS__;                                                           \
    }
#define ROW(theirs, word, value, ...)                                                      \
    {nullptr,           theirs, word, #__VA_ARGS__, FIRN_GLSL(return result(__VA_ARGS__)), \
     FIRN_VALUE(value), {}},
#define STORE(theirs, word, value, looked_at, ...)                                             \
    {                                                                                          \
        nullptr, theirs, word, #__VA_ARGS__, FIRN_GLSL(__VA_ARGS__; return result(looked_at)), \
            FIRN_VALUE(value), {}                                                              \
    }                                                                                          \
    ,
Page glsl() {
    return {"GLSL",
            "`float x = 1.25, y = -0.5; int n = -7; vec2 u = vec2(3, 4); vec3 p = vec3(1, 2, 3), r "
            "= vec3(0.5, -1, "
            "2);` Here each is a tensor of any shape, or a vector of such.",
            {
#include "tests/habits/glsl_rows.def"
            }};
}
#undef ROW
#undef STORE

// --- Taichi --------------------------------------------------------------------------------------

Tensors taichi_inputs() { return {arange(5).as(f32), zeros({3}, i32), 0.5f}; }
#define FIRN_TAICHI(...)                                         \
    [](const Tensors& in) -> Tensor {                            \
        [[maybe_unused]] Tensor x = in[0], h = in[1], d = in[2]; \
        __VA_ARGS__;                                             \
    }
#define ROW(theirs, word, value, ...) \
    {nullptr, theirs, word, #__VA_ARGS__, FIRN_TAICHI(return result(__VA_ARGS__)), list value, {}},
#define STORE(theirs, word, value, looked_at, ...)                                       \
    {                                                                                    \
        nullptr, theirs, word, #__VA_ARGS__, FIRN_TAICHI(__VA_ARGS__; return looked_at), \
            list value, {}                                                               \
    }                                                                                    \
    ,
Page taichi() {
    return {"Taichi",
            "`x` is a field of f32 with 0, 1, 2, 3, 4, `h` one of i32 with three 0, `d` is 0.5.",
            {
#include "tests/habits/taichi_rows.def"
            }};
}
#undef ROW
#undef STORE

// --- the page ------------------------------------------------------------------------------------

std::string in_table(std::string code) {
    for (size_t at = 0; (at = code.find('|', at)) != code.npos; at += 2) code.insert(at, "\\");
    return code;
}

std::string text_of(const std::vector<Page>& pages) {
    std::ostringstream out;
    out << R"(# numpy, GLSL and Taichi translated

`tests/habits` compiles and runs every row, compares the result with numpy's own, or with plain C++, and writes this page.
The last column has a note where a habit would mislead.
)";
    for (const Page& page : pages) {
        out << "\n## From " << page.title << "\n\n" << page.names << "\n";
        for (const Row& row : page.rows)
            if (row.section)
                out << "\n| " << row.section << ": " << page.title
                    << " | Firn | |\n|---|---|---|\n";
            else
                out << "| `" << in_table(row.theirs) << "` | `" << in_table(row.ours) << "` | "
                    << row.word << " |\n";
    }
    out << R"(
## Beside `using namespace std`

A function that both namespaces have is std's for numbers and Firn's for tensors: `max(x, y)`, `sqrt(x)`, `fill(x, 0)`. A
name that is a class in std needs the namespace: `firn::any`, `firn::stack`, `firn::slice`, `firn::barrier`.
)";
    return out.str();
}

TEST(Habits, ThePageHasEveryRow) {
    expect_page("compiler/habits.md", text_of({numpy(), glsl(), taichi()}));
}

// --- every row, run ------------------------------------------------------------------------------

void expect_row(const Row& row, const Tensor& got, bool with_shape) {
    SCOPED_TRACE(std::string(row.theirs) + " is " + row.ours);
    if (with_shape) {
        EXPECT_EQ(Shape(got.shape()), row.shape);
    }
    const Values values = got.to_vector<double>();
    ASSERT_EQ(values.size(), row.values.size());
    for (size_t k = 0; k < values.size(); ++k)
        EXPECT_TRUE(near(values[k], row.values[k], 1e-5))
            << "element " << k << ": " << values[k] << " instead of " << row.values[k];
}

/// Runs one row after the other by the oracle, and all of a page as one program in other sessions.
void run(const Page& page, Tensors (*inputs)(), const Session& session, bool compiled) {
    SessionScope scope(session);
    const bool with_shape = page.title == std::string("numpy");
    std::vector<const Row*> rows;
    for (const Row& row : page.rows)
        if (!row.section) rows.push_back(&row);
    auto all = [&](const Tensors& in) {
        Tensors out;
        for (const Row* row : rows) try {
                out.push_back(row->make(in));
            } catch (const UserError& error) {
                ADD_FAILURE() << row->ours << ": " << error.what();
                out.push_back(0);
            }
        return out;
    };
    const Tensors in = inputs();
    std::vector<ArgSpec> specs;
    for (const Tensor& each : in) specs.push_back({each.dtype(), each.shape()});
    const Tensors got = compiled ? compile(all, specs)(in) : all(in);
    for (size_t k = 0; k < rows.size(); ++k) expect_row(*rows[k], got[k], with_shape);
}

void run_all(const Session& session, bool compiled) {
    run(numpy(), numpy_inputs, session, compiled);
    run(glsl(), glsl_inputs, session, compiled);
    run(taichi(), taichi_inputs, session, compiled);
}

TEST(Habits, GiveTheSameByTheOracle) { run_all(Session::oracle(), false); }
TEST(Habits, GiveTheSameByTheKernelInterpreter) { run_all(Session::interpreter(), true); }
TEST(Habits, GiveTheSameOnTheDevice) {
    try {
        run_all(device_session({.validation = true}), true);
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace firn
