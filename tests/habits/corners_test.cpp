// Corner cases beside numpy and PyTorch: every row of compiler/corners.md is run, and its result
// stands beside theirs. FIRN_WRITE_README=1 writes the page anew.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "compiler/learning/learning.h"
#include "engine/firn/device_session.h"
#include "tests/habits/page.h"

namespace firn {
namespace {

/// The result of a row: a tensor, or words about one.
struct Result {
    Result(const Tensor& made) : value(made) {}
    Result(const Access& made) : value(made) {}
    Result(const std::string& said) : words(said) {}
    Tensor value;
    std::string words;
};

std::string type_name(const Tensor& x) { return x.dtype().name(); }
Tensor sizes_of(const Tensor& x) {
    std::vector<int> out;
    for (const Size& size : x.shape()) out.push_back(static_cast<int>(size.constant()));
    return tensor(out);
}
Tensor slope(const std::function<Tensor(const Tensor&)>& f, const std::vector<double>& at) {
    const Tensor x = tensor(std::vector<float>(at.begin(), at.end()));
    return grad(f(x), x);
}

struct Corner {
    const char *section = nullptr, *why = "", *code = "";
    std::function<Result()> run;  // none: a section begins
    std::string numpy_code, torch_code, numpy, torch;
};

#define SECTION(name) {.section = name},
#define CORNER(numpy_text, torch_text, reason, ...)         \
    {.why = reason,                                         \
     .code = #__VA_ARGS__,                                  \
     .run = []() -> Result { return Result(__VA_ARGS__); }, \
     .numpy_code = numpy_text,                              \
     .torch_code = torch_text},
std::vector<Corner> all_corners() {
    return {
#include "tests/habits/corners.def"
    };
}
#undef SECTION
#undef CORNER

/// Reads the results that corners_expected.py has written.
std::vector<Corner> corners() {
    std::vector<Corner> out = all_corners();
    std::ifstream in(FIRN_SOURCE_DIR "/tests/habits/corners_expected.txt");
    for (Corner& row : out) {
        if (row.section) continue;
        std::string line, numpy_code, torch_code;
        std::getline(in, line);
        std::istringstream parts(line);
        std::getline(parts, numpy_code, '\t'), std::getline(parts, torch_code, '\t');
        std::getline(parts, row.numpy, '\t'), std::getline(parts, row.torch, '\t');
        EXPECT_EQ(numpy_code, row.numpy_code) << "run tests/habits/corners_expected.py";
        EXPECT_EQ(torch_code, row.torch_code) << "run tests/habits/corners_expected.py";
    }
    return out;
}

// --- what rows give ------------------------------------------------------------------------------

std::string number(double value, DType type) {
    if (type.is_bool()) return value != 0 ? "true" : "false";
    if (std::isnan(value)) return "nan";
    char out[64];
    std::snprintf(out, sizeof(out), type.is_integer() ? "%.0f" : "%.6g", value);
    return out;
}

std::string shown(const Tensor& x) {
    std::string out;
    for (double value : x.to_vector<double>())
        out += (out.empty() ? "" : ", ") + number(value, x.dtype());
    return x.rank() == 0 ? out : "[" + out + "]";
}

/// All rows in the session, recorded one by one and computed in one program.
std::vector<std::string> results_of(const std::vector<Corner>& all, const Session& session) {
    SessionScope scope(session);
    std::vector<std::string> out(all.size());
    std::vector<Tensor> values;
    std::vector<size_t> places;
    for (size_t k = 0; k < all.size(); ++k) {
        if (all[k].section) continue;
        try {
            const Result made = all[k].run();
            out[k] = made.words;
            if (!made.words.empty()) continue;
            values.push_back(made.value);
            places.push_back(k);
        } catch (const UserError&) {
            out[k] = "refused";
        }
    }
    realize(values);
    for (size_t k = 0; k < values.size(); ++k) out[places[k]] = shown(values[k]);
    return out;
}

const std::vector<std::string>& ours() {
    static const std::vector<std::string> out = results_of(corners(), Session::oracle());
    return out;
}

// --- beside one another --------------------------------------------------------------------------

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> out;
    std::string word;
    for (char c : text + ",")
        if (c == ',')
            out.push_back(word), word.clear();
        else if (c != ' ' && c != '[' && c != ']')
            word += c;
    return out;
}

/// Words alike, and numbers up to the shown digits that f32 holds.
bool agree(const std::string& a, const std::string& b) {
    const std::vector<std::string> left = words_of(a), right = words_of(b);
    if (left.size() != right.size()) return false;
    for (size_t k = 0; k < left.size(); ++k) {
        if (left[k] == right[k]) continue;
        char *end = nullptr, *also = nullptr;
        const double x = std::strtod(left[k].c_str(), &end),
                     y = std::strtod(right[k].c_str(), &also);
        const bool near = std::abs(x - y) <= 1e-5 * std::abs(y) + 1e-37;
        if (*end || *also || std::isinf(x) || std::isinf(y) || !near) return false;
    }
    return true;
}

/// The one of the two that it differs from.
enum class Beside { Same, Numpy, Torch, Both };
Beside beside(const Corner& row, const std::string& own) {
    const bool numpy = row.numpy.empty() || agree(own, row.numpy),
               torch = row.torch.empty() || agree(own, row.torch);
    if (numpy && torch) return Beside::Same;
    const bool others = row.numpy.empty() || row.torch.empty();
    if (others || (!numpy && !torch)) return Beside::Both;
    return numpy ? Beside::Torch : Beside::Numpy;
}

std::string verdict(const Corner& row, const std::string& own) {
    const std::string why = *row.why ? std::string(": ") + row.why : "";
    switch (beside(row, own)) {
        case Beside::Same: return "same";
        case Beside::Numpy: return "as PyTorch" + why;
        case Beside::Torch: return "as numpy" + why;
        case Beside::Both: break;
    }
    return "**differs**" + why;
}

std::string escaped(std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
    return text;
}

std::string page_of_corners() {
    std::ostringstream out;
    const std::vector<Corner> all = corners();
    int count = 0, differ = 0;
    for (size_t k = 0; k < all.size(); ++k)
        if (!all[k].section) ++count, differ += beside(all[k], ours()[k]) == Beside::Both;
    out << "# Corner cases beside numpy and PyTorch\n\n`tests/habits` runs every row by the "
           "oracle, by "
           "the kernel interpreter and on the device, which give the same\nresults, and writes "
           "this "
           "page. `tests/habits/corners_expected.py` stored the results of numpy 1.24 and PyTorch "
           "1.13;\na cell is empty if they have no such function. "
        << differ << " of " << count << " rows differ from both.\n";
    for (size_t k = 0; k < all.size(); ++k)
        if (all[k].section)
            out << "\n| " << all[k].section
                << " | Firn | numpy | PyTorch | |\n|---|---|---|---|---|\n";
        else
            out << "| `" << escaped(all[k].code) << "` | " << ours()[k] << " | " << all[k].numpy
                << " | " << all[k].torch << " | " << escaped(verdict(all[k], ours()[k])) << " |\n";
    return out.str();
}

TEST(Corners, ThePageHasEveryRow) { expect_page("compiler/corners.md", page_of_corners()); }

TEST(Corners, WhatDiffersHasAReason) {
    const std::vector<Corner> all = corners();
    for (size_t k = 0; k < all.size(); ++k) {
        if (all[k].section) continue;
        if (beside(all[k], ours()[k]) == Beside::Both) {
            EXPECT_STRNE(all[k].why, "") << all[k].code << " gives " << ours()[k] << ", numpy "
                                         << all[k].numpy << ", PyTorch " << all[k].torch;
        }
    }
}

void expect_ours(const Session& session) {
    const std::vector<Corner> all = corners();
    const std::vector<std::string> got = results_of(all, session);
    for (size_t k = 0; k < all.size(); ++k)
        EXPECT_TRUE(agree(got[k], ours()[k]))
            << all[k].code << " gives " << got[k] << ", by the oracle " << ours()[k];
}

TEST(Corners, GiveTheSameByTheKernelInterpreter) { expect_ours(Session::interpreter()); }
TEST(Corners, GiveTheSameOnTheDevice) {
    try {
        expect_ours(device_session({.validation = true}));
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace firn
