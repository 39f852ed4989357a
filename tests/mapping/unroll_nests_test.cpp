// Short loops around short loops are written out, and give the same results.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/kernel/kernel_code.h"
#include "compiler/language.h"
#include "compiler/program/program.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// Weighted taps around each pixel, `rows` times `columns` of them, and the sum of their weights.
auto window(int rows, int columns, int h, int w) {
    return compile(
        [=](Tensor u) {
            auto [i, j] = indices<2>(u.shape());
            Tensor total = zeros(u.shape()), weights = 1.0f;
            for (Tensor y : loop(rows))
                for (Tensor x : loop(columns)) {
                    Tensor weight = 1.0f + cast<float>(2 * y + x);
                    total = total + weight * u(i + y, j - x);
                    weights = weights + weight;
                }
            return total + weights;
        },
        {f32(h, w)});
}

/// Loops of the only lowered kernel.
int64_t loops_of(const Program& program) {
    const KernelCode& code = *std::get<DispatchStep>(program.steps.at(0).step).lowered;
    int64_t loops = 0;
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order) loops += code[id].op == KernelOp::For;
    return loops;
}

int64_t loops_of_window(int rows, int columns) {
    SessionScope scope(emitting());
    return loops_of(*window(rows, columns, 512, 512).program());
}

TEST(UnrollNests, AFewRowsOfAWindowEachHaveTheirLoop) {
    EXPECT_EQ(loops_of_window(3, 3), 3);
    EXPECT_EQ(loops_of_window(4, 8), 4);
    EXPECT_EQ(loops_of_window(1, 1), 0);
    EXPECT_EQ(loops_of_window(5, 3), 2) << "too many";
    EXPECT_EQ(loops_of_window(3, 30), 2) << "too long inside";
}

/// The innermost loop needs nothing of the one around it.
TEST(UnrollNests, ALoopInsideOfTheInnerOneKeepsThemAll) {
    const auto values = [](const Session& session) {
        SessionScope scope(session);
        const auto f = compile(
            [](Tensor u) {
                Tensor total = 0.0f, n = index_of(u, 0);
                for (Tensor y : loop(4))
                    for (Tensor x : loop(2)) {
                        Tensor part = 0.0f;
                        for (Tensor k : loop(3))
                            part = part * 0.5f + u(n + y + k) * cast<float>(k * k + 1);
                        total = total + part;
                    }
                return total;
            },
            {f32(50)});
        return f(cast<float>(arange(50) * 7 % 11)).to_vector<float>();
    };
    EXPECT_EQ(values(Session::interpreter()), values(Session::oracle()));
}

TEST(UnrollNests, GiveWhatTheOracleGives) {
    for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{2, 2}, {3, 5}, {4, 8}}) {
        const auto values = [&, r = rows, c = columns](const Session& session) {
            SessionScope scope(session);
            const Tensor u = reshape(cast<float>(arange(23 * 17) * 7 % 11 - 5), {23, 17});
            return window(r, c, 23, 17)(u).to_vector<float>();
        };
        EXPECT_EQ(values(Session::interpreter(cpu_profile())), values(Session::oracle()));
        EXPECT_EQ(values(Session::interpreter(gpu_profile())), values(Session::oracle()));
    }
}

/// Returns the difference of two pictures around each pixel; `begin` is the initial value of the
/// sums.
Tensor differences(const Tensor& u, const Tensor& v, int rows, int columns, float begin = 0) {
    auto [i, j] = indices<2>(u.shape());
    Tensor total = begin;
    for (Tensor y : loop(rows))
        for (Tensor x : loop(columns)) {
            const Tensor apart = u(i + y, j + x) - v(i + y, j + x);
            total = total + apart * abs(apart);
        }
    return total;
}

int64_t loops_of_differences(int rows, int columns) {
    SessionScope scope(emitting());
    return loops_of(*compile([=](Tensor u, Tensor v) { return differences(u, v, rows, columns); },
                             {f32(512, 512), f32(512, 512)})
                         .program());
}

TEST(UnrollNests, WindowsWhoseSumsNeighboursShareMayHaveMoreRows) {
    EXPECT_EQ(loops_of_differences(5, 5), 5);
    EXPECT_EQ(loops_of_differences(8, 8), 8);
    EXPECT_EQ(loops_of_differences(9, 5), 2) << "too many";
}

TEST(UnrollNests, NeighboursShareTheSumsOfRows) {
    SessionScope scope(emitting(cpu_profile()));
    const auto program = compile([](Tensor u, Tensor v) { return differences(u, v, 5, 5); },
                                 {f32(512, 512), f32(512, 512)})
                             .program();
    const std::string& text = program->kernels.at(0).artefact.text;
    const auto count = [&](const std::string& word) {
        int64_t found = 0;
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
            ++found;
        return found;
    };
    // For 4 x 2 pixels there are 8 x 6 differences, not 25 each, and 4 x 6 sums of rows, which take
    // 4 additions each and 4 more for each pixel; beside them stand those of indices.
    EXPECT_EQ(count("abs("), 48) << text;
    EXPECT_LT(count(" + "), 8 * 24) << text;
}

TEST(UnrollNests, SumsOfRowsApartAreThoseOfTheOracle) {
    const auto values = [](const Session& session, int rows, int columns, float begin) {
        SessionScope scope(session);
        const Tensor u = reshape(cast<float>(arange(24 * 20) * 7 % 11 - 5), {24, 20}),
                     v = reshape(cast<float>(arange(24 * 20) * 5 % 13 - 6), {24, 20});
        return differences(u, v, rows, columns, begin).to_vector<float>();
    };
    for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{2, 3}, {5, 5}, {8, 2}})
        for (const Session& session :
             {Session::interpreter(cpu_profile()), Session::interpreter(gpu_profile())})
            EXPECT_EQ(values(session, rows, columns, 3.0f),
                      values(Session::oracle(), rows, columns, 3.0f));
}

TEST(UnrollNests, SumsOfRowsKeepTheSignOfZero) {
    for (float begin : {0.0f, -0.0f}) {
        const auto first = [&](const Session& session) {
            SessionScope scope(session);
            const Tensor u = full({8, 8}, -0.0f);
            auto [i, j] = indices<2>(u.shape());
            Tensor total = begin;
            for (Tensor y : loop(3))
                for (Tensor x : loop(3)) total = total + u(i + y, j + x);
            return total.to_vector<float>()[0];
        };
        EXPECT_EQ(std::signbit(first(Session::interpreter())),
                  std::signbit(first(Session::oracle())))
            << begin;
    }
}

}  // namespace
}  // namespace firn
