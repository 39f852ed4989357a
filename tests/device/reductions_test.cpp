// Reductions and rows that the lanes of a subgroup share give the oracle's results on the device.
#include <functional>

#include "engine/firn/device_session.h"
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

struct Case {
    const char* name;
    std::function<Tensor()> run;
    double tolerance = 0;
    friend std::ostream& operator<<(std::ostream& out, const Case& test) {
        return out << test.name;
    }
};

/// Numbers in random order, which a compiler cannot fold.
Tensor integers(int64_t rows, int64_t columns) {
    return reshape(tensor(random_ints(static_cast<size_t>(rows * columns), 3, -9, 9)),
                   {rows, columns});
}

/// Sixteen channels from eight, windows of three along the rows.
Tensor convolved(const Tensor& image, const Tensor& weights) {
    Tensor x = reshape(image, {8, 20, 64}), w = reshape(weights, {16, 8, 3});
    auto [o, r, i, c, t] = indices<5>({16, 20, 64, 8, 3});
    return sum(zero(x)(c, r, i + t - 1) * w(o, c, t), {.axis = {3, 4}});
}

/// Weights over `keys` rows for each of the queries, of batches of `width` numbers.
Tensor attention(int64_t queries, int64_t keys, int64_t width) {
    Tensor q = random_tensor({2, queries, width}), k = random_tensor({2, keys, width}, 8),
           v = random_tensor({2, keys, width}, 9);
    return matmul(softmax(matmul(q, transpose(k, 1, 2)) * 2.0f), v);
}

const Case kReductionCases[] = {
    {"sums_of_long_rows",
     [] {
         return sum(random_tensor({100, 1024}), {.axis = 1});
     },
     1e-4},
    {"sums_of_few_odd_rows",
     [] {
         return sum(random_tensor({5, 4099}), {.axis = 1});
     },
     1e-5},
    {"sums_of_integers", [] { return sum(integers(3, 5001), {.axis = 1}); }},
    {"maxima",
     [] {
         return max(random_tensor({7, 777}), {.axis = 1});
     }},
    {"minima_of_integers", [] { return min(integers(9, 1001), {.axis = 1}); }},
    {"products", [] { return prod(integers(4, 999) % 2 * 2 + 1, {.axis = 1}); }},
    {"any", [] { return any(integers(6, 130) == 9, {.axis = 1}); }},
    {"all", [] { return all(integers(6, 130) < 9, {.axis = 1}); }},
    {"a_total_in_stages", [] { return sum(random_tensor({300001})); }, 1e-4},
    {"a_largest_in_stages", [] { return max(integers(17, 20011)); }},
    {"columns",
     [] {
         return sum(random_tensor({9001, 24}), {.axis = 0});
     },
     1e-4},
    {"columns_of_planes", [] { return sum(integers(6000, 4 * 20) * 3, {.axis = 0}); }},
    {"softmax",
     [] {
         Tensor x = random_tensor({20, 1028});
         Tensor e = exp(x - max(x, {.axis = 1, .keep_dims = true}));
         return e / sum(e, {.axis = 1, .keep_dims = true});
     },
     1e-5},
    {"scores_normalised_where_they_are_computed", [] { return attention(100, 100, 48); }, 1e-5},
    {"scores_of_long_rows", [] { return attention(16, 1032, 8); }, 1e-5},
    {"convolution", [] { return convolved(integers(8 * 20, 64), integers(16, 8 * 3)); }},
    {"its_gradient_by_the_image",
     [] {
         Tensor g = reshape(integers(16 * 20, 64), {16, 20, 64}),
                w = reshape(integers(16, 8 * 3), {16, 8, 3});
         auto [o, r, i, c, t] = indices<5>({16, 20, 64, 8, 3});
         Tensor x = zeros({8, 20, 64}, i32);
         scatter_add(x(c, r, i + t - 1), g(o, r, i) * w(o, c, t));
         return x;
     }},
    {"its_gradient_by_the_weights",
     [] {
         Tensor g = reshape(integers(16 * 20, 64), {16, 20, 64}),
                x = reshape(integers(8 * 20, 64), {8, 20, 64});
         auto [o, c, t, r, i] = indices<5>({16, 8, 3, 20, 64});
         return sum(g(o, r, i) * zero(x)(c, r, i + t - 1), {.axis = {3, 4}});
     }},
    {"additions_to_few_places",
     [] {
         Tensor x = integers(401, 999), counts = zeros({19}, i32);
         scatter_add(counts(x + 11), 1);
         return counts;
     }},
    {"float_additions_to_few_places",
     [] {
         Tensor sums = zeros({19, 3});
         auto [i, j, c] = indices<3>({401, 333, 3});
         scatter_add(sums(reshape(integers(401, 999), {401, 333, 3}) + 9, c),
                     cast<float>(i % 4 - j % 3));
         return sums;
     }},
    {"greatest_at_few_places",
     [] {
         Tensor most = full({40}, -5.0f);
         scatter_max(most(integers(100, 333) * 2 + 20), cast<float>(integers(100, 333)) - 0.5f);
         return most;
     }},
    {"matrix_times_vector",
     [] {
         return sum(random_tensor({70, 2048}) * random_tensor({2048}), {.axis = 1});
     },
     1e-5},
};

class ReducedOnDevice : public testing::TestWithParam<Case> {};

TEST_P(ReducedOnDevice, IsTheOracles) {
    const auto values = [](const Session& session) {
        SessionScope scope(session);
        return GetParam().run().to_vector<double>();
    };
    const std::vector<double> expected = values(Session::oracle());
    expect_near(values(Session::interpreter(gpu_profile())), expected, GetParam().tolerance);
    std::unique_ptr<Session> session;
    try {
        session = std::make_unique<Session>(device_session({.validation = true}));
    } catch (const DeviceError&) {
        GTEST_SKIP() << "no device";
    }
    expect_near(values(*session), expected, GetParam().tolerance);
    // Bit by bit the same from run to run.
    EXPECT_EQ(values(*session), values(*session));
    EXPECT_EQ(validation_report(*session), "");
}

INSTANTIATE_TEST_SUITE_P(Programs, ReducedOnDevice, testing::ValuesIn(kReductionCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace firn
