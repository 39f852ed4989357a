// Loops that store, taken by neighbours together.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

constexpr int64_t kRows = 37, kColumns = 1024;  // columns enough for four in an invocation

/// Returns the decayed value in the next row.
Tensor decayed(const Tensor& x) {
    Tensor out = zeros(x.shape());
    kernel({x.size(1)}, [&](Tensor j) {
        Tensor kept = 0.0f;
        for (Tensor i : loop(x.size(0))) {
            kept = 0.5f * kept + x(i, j);
            out(i, j) = kept;
        }
    });
    return out;
}

/// The value before each row is stored, and the remaining one at the end.
std::pair<Tensor, Tensor> before_and_after(const Tensor& x) {
    Tensor before = zeros(x.shape()), after = zeros({x.size(1)});
    kernel({x.size(1)}, [&](Tensor j) {
        Tensor kept = 1.0f;
        for (Tensor i : loop(x.size(0))) {
            before(i, j) = kept;
            kept = 0.5f * kept + x(i, j);
        }
        after(j) = kept;
    });
    return {before, after};
}

/// Only where a column's value says so.
Tensor some_rows(const Tensor& x) {
    Tensor out = zeros(x.shape());
    kernel({x.size(1)}, [&](Tensor j) {
        Tensor sum = 0.0f;
        for (Tensor i : loop(x.size(0))) {
            sum += x(i, j);
            if_(x(i, j) > 0.0f, [&] { out(i, j) = sum; });
        }
    });
    return out;
}

/// Each row takes a walk of its own.
Tensor weighted_rows(const Tensor& x) {
    Tensor out = zeros(x.shape());
    kernel({x.size(1)}, [&](Tensor j) {
        Tensor sum = 0.0f;
        for (Tensor i : loop(x.size(0))) {
            Tensor near = 0.0f;
            for (Tensor k : loop(5)) near = near * 0.5f + x(min(i + k, x.size(0) - 1), j);
            sum += near;
            out(i, j) = sum;
        }
    });
    return out;
}

/// Along rows: the stores of successive iterations lie side by side.
Tensor decayed_along(const Tensor& x) {
    Tensor out = zeros(x.shape());
    kernel({x.size(0)}, [&](Tensor i) {
        Tensor kept = 0.0f;
        for (Tensor j : loop(x.size(1))) {
            kept = 0.5f * kept + x(i, j);
            out(i, j) = kept;
        }
    });
    return out;
}
/// Two tensors, one behind the other, with the remaining values at the end.
Tensor two_along(const Tensor& x) {
    Tensor before = zeros(x.shape()), after = zeros(x.shape()), last = zeros({x.size(0)});
    kernel({x.size(0)}, [&](Tensor i) {
        Tensor kept = 1.0f;
        for (Tensor j : loop(x.size(1))) {
            before(i, j) = kept;
            kept = 0.5f * kept + x(i, j);
            if_(kept > 0.0f, [&] { after(i, x.size(1) - 1 - j) = kept; });
        }
        last(i) = kept;
    });
    return before + after + unsqueeze(last, 1);
}
/// It continues from its own stores.
Tensor in_place_along(const Tensor& x) {
    Tensor out = x + 1.0f;
    kernel({x.size(0)}, [&](Tensor i) {
        for (Tensor j : loop(x.size(1) - 1)) out(i, j + 1) = out(i, j + 1) + 0.5f * out(i, j);
    });
    return out;
}

Tensor some_values(int64_t rows, int64_t columns) {
    return reshape((arange(rows * columns) * 7 % 11 - 5).as(f32), {rows, columns});
}

template <class F>
std::vector<float> values(const Session& session, F function, int64_t rows = kRows,
                          int64_t columns = kColumns) {
    SessionScope scope(session);
    return function(some_values(rows, columns)).template to_vector<float>();
}

/// The text of the kernel that has loops.
std::string walk_of(Tensor (*function)(const Tensor&), int64_t columns,
                    const Session& session = emitting()) {
    SessionScope scope(session);
    const auto program =
        compile([=](Tensor x) { return function(x); }, {f32(kRows, columns)}).program();
    for (const KernelInfo& kernel : program->kernels)
        if (kernel.artefact.text.find("for (int") != std::string::npos) return kernel.artefact.text;
    return "";
}

bool stores_blocks_in_a_loop(const std::string& text) {
    const size_t loop = text.find("for (int");
    return loop != std::string::npos && text.find("= vec4(", loop) != std::string::npos;
}

TEST(TakeTogether, NeighboursStoreTogether) {
    EXPECT_TRUE(stores_blocks_in_a_loop(walk_of(decayed, kColumns)));
    EXPECT_TRUE(stores_blocks_in_a_loop(walk_of(weighted_rows, kColumns)));
    EXPECT_EQ(values(Session::interpreter(), decayed), values(Session::oracle(), decayed));
    EXPECT_EQ(values(Session::interpreter(), weighted_rows),
              values(Session::oracle(), weighted_rows));
}

TEST(TakeTogether, IterationsAlongARowStoreTogether) {
    EXPECT_TRUE(stores_blocks_in_a_loop(walk_of(decayed_along, kColumns)));
    EXPECT_TRUE(stores_blocks_in_a_loop(walk_of(decayed_along, kColumns, emitting(gpu_profile()))));
    for (const auto function : {decayed_along, two_along, in_place_along})
        for (int64_t columns : {1, 4, 31, 36, 64})
            EXPECT_EQ(values(Session::interpreter(), function, kRows, columns),
                      values(Session::oracle(), function, kRows, columns));
}

TEST(TakeTogether, ColumnsThatAreNoBlocksGoAlone) {
    EXPECT_FALSE(stores_blocks_in_a_loop(walk_of(decayed, kColumns - 2)));
    EXPECT_EQ(values(Session::interpreter(), decayed, kRows, kColumns - 2),
              values(Session::oracle(), decayed, kRows, kColumns - 2));
}

TEST(TakeTogether, OnAGpuLanesReadNeighboursAsTheyAre) {
    EXPECT_FALSE(stores_blocks_in_a_loop(walk_of(decayed, kColumns, emitting(gpu_profile()))));
}

TEST(TakeTogether, WhatIsStoredIsTheValueOfThatTurn) {
    const auto before = [](const Tensor& x) { return before_and_after(x).first; };
    const auto after = [](const Tensor& x) { return before_and_after(x).second; };
    for (int64_t rows : {1, 2, 16, 37}) {
        EXPECT_EQ(values(Session::interpreter(), before, rows),
                  values(Session::oracle(), before, rows));
        EXPECT_EQ(values(Session::interpreter(), after, rows),
                  values(Session::oracle(), after, rows));
    }
}

TEST(TakeTogether, EachStoresWhereItsOwnValueSays) {
    EXPECT_EQ(values(Session::interpreter(), some_rows), values(Session::oracle(), some_rows));
}

}  // namespace
}  // namespace firn
