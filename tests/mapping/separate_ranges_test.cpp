// Taps that share a range of the grid get ranges of their own where lanes share each index.
#include "compiler/mapping/before/separate_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// Returns, by output and tap, the sum over pixels of `g` times `x` beside it.
Tensor by_tap(const Tensor& x, const Tensor& g, int taps) {
    auto [o, p, q, i, j] = indices<5>({g.size(0), taps, taps, g.size(1), g.size(2)});
    return sum(g(o, i, j) * zero(x)(i + p - taps / 2, j + q - taps / 2), {.axis = {3, 4}});
}

/// Ranges of the grid of the only kernel, as it was mapped.
int64_t grid_ranges(const Function& f) {
    const auto program = f.program();
    EXPECT_EQ(program->kernels.size(), 1u);
    const std::string& mapping = program->kernels[0].mapping;
    const size_t tile = mapping.find("tile ");
    EXPECT_NE(tile, std::string::npos) << mapping;
    const size_t end = std::min(mapping.find(' ', tile + 5), mapping.size());
    return 1 + std::count(mapping.begin() + static_cast<long>(tile),
                          mapping.begin() + static_cast<long>(end), 'x');
}

TEST(SeparateRanges, TapsOfAFilterHaveTheirOwn) {
    SessionScope scope(Session::interpreter());
    const auto f = compile([](Tensor x, Tensor g) { return by_tap(x, g, 3); },
                           {f32(128, 128), f32(32, 128, 128)});
    EXPECT_EQ(grid_ranges(f), 3);
}

TEST(SeparateRanges, GiveWhatTheOracleGives) {
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        const auto f = compile([](Tensor x, Tensor g) { return by_tap(x, g, 3); },
                               {f32(32, 128), f32(32, 32, 128)});
        const auto whole = [](const Shape& shape) {
            return cast<float>(arange(element_count(shape).constant()) * 7 % 11 - 5);
        };
        return Tensor(f(reshape(whole({32 * 128}), {32, 128}),
                        reshape(whole({32 * 32 * 128}), {32, 32, 128})))
            .to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
}

/// Products of few columns with few others, with many rows.
std::string mapping_of_product(int64_t columns, int64_t others) {
    SessionScope scope(Session::interpreter());
    const auto program = compile([](Tensor x, Tensor y) { return matmul(x.T(), y); },
                                 {f32(8192, columns), f32(8192, others)})
                             .program();
    std::string out;
    for (const KernelInfo& kernel : program->kernels) out += kernel.mapping + "; ";
    return out;
}

TEST(SeparateRanges, LanesShareForTheTilesOfAProductOfFewColumns) {
    for (int64_t others : {8, 10}) {
        const std::string mapping = mapping_of_product(32, others);
        EXPECT_EQ(mapping.find("lanes 8 tile "), 0u) << mapping;
    }
}

TEST(SeparateRanges, ProductsOfFewColumnsAreThoseOfTheOracle) {
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        const auto f = compile([](Tensor x, Tensor y) { return matmul(x.T(), y); },
                               {f32(1000, 12), f32(1000, 10)});
        const auto whole = [](int64_t rows, int64_t columns) {
            return reshape(cast<float>(arange(rows * columns) * 7 % 11 - 5), {rows, columns});
        };
        return Tensor(f(whole(1000, 12), whole(1000, 10))).to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
}

}  // namespace
}  // namespace firn
