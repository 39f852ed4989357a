// Functions of subgroups in groups of one, two and three dimensions.
#include <numeric>

#include "tests/device/on_device.h"

namespace firn {
namespace {

/// A kernel over `grid` in groups of `group` and what its lanes give one another.
struct LaneKernel {
    std::vector<int> grid, group;
    std::vector<int> functions;  // one after the other, each on the result of the one before
};

constexpr int kLaneFunctions = 8;

Tensor exchanged_by(int function, const Tensor& x, const Tensor& salt) {
    switch (function) {
        case 0: return subgroup_add(x) + salt;
        case 1: return subgroup_max(x) * 3 + salt;
        case 2: return subgroup_min(x) ^ salt;
        case 3: return subgroup_inclusive_add(x);
        case 4: return subgroup_shuffle(x, salt);
        case 5: return subgroup_broadcast(x, 1) - salt;
        case 6: return cast(subgroup_any(x % 64 == 3), i32) + x;
        default: return subgroup_lane() + x;
    }
}

/// Checks every element: a kernel that skips one, or takes it for another, gives another result.
Tensor run_lanes(const LaneKernel& test) {
    Shape shape(test.grid.begin(), test.grid.end());
    const int count = std::accumulate(test.grid.begin(), test.grid.end(), 1, std::multiplies<>());
    Tensor in = reshape(tensor(random_ints(static_cast<size_t>(count), 3, -1000, 1000)), shape);
    Tensor out = zeros(shape, i32);
    KernelOptions options;
    options.group = test.group;
    auto value = [&](const Tensor& x, const Tensor& flat) {
        Tensor y = x;
        for (int f : test.functions) y = exchanged_by(f, y, flat * 7 + f);
        return y;
    };
    if (test.grid.size() == 1)
        kernel(shape, options, [&](Tensor i) { out(i) = value(in(i), i); });
    else if (test.grid.size() == 2)
        kernel(shape, options,
               [&](Tensor i, Tensor j) { out(i, j) = value(in(i, j), i * test.grid[1] + j); });
    else
        kernel(shape, options, [&](Tensor i, Tensor j, Tensor k) {
            out(i, j, k) = value(in(i, j, k), (i * test.grid[1] + j) * test.grid[2] + k);
        });
    return out;
}

/// Returns the sum of each group of 4 x 4, by subgroups and through shared memory.
std::vector<int> sums_of_groups(const Session& session, int rows, int columns) {
    SessionScope scope(session);
    auto sums = compile(
        [](Tensor x) {
            Tensor out = zeros(x.shape(), i32);
            const int lanes = subgroup_size(), subgroups = 16 / lanes;
            kernel(x.shape(), {.group = {4, 4}}, [&](Tensor i, Tensor j) {
                Shared part = shared(i32, 16);
                Tensor sum = subgroup_add(x(i, j)), all = 0;
                Tensor place = local_index(0) * 4 + local_index(1);
                if_(subgroup_lane() == 0, [&] { part(place / lanes) = sum; });
                barrier();
                for (Tensor k : loop(subgroups)) all += part(k);
                out(i, j) = all;
            });
            return out;
        },
        {i32("n", "m")});
    const auto count = static_cast<size_t>(rows * columns);
    return Tensor(sums(tensor(random_ints(count, 5, -100, 100), {rows, columns}))).to_vector<int>();
}

std::string text_of(const LaneKernel& test) {
    std::string out = "grid";
    for (int n : test.grid) out += " " + std::to_string(n);
    out += ", group";
    for (int n : test.group) out += " " + std::to_string(n);
    out += ", functions";
    for (int f : test.functions) out += " " + std::to_string(f);
    return out;
}

class Subgroups : public testing::Test {
  protected:
    void SetUp() override {
        try {
            session = std::make_unique<Session>(
                device_session({.validation = true, .fill_memory = true}));
        } catch (const DeviceError&) {
            GTEST_SKIP() << "no device";
        }
        if (!session->executor().profile().subgroup_shuffle) GTEST_SKIP() << "its lanes share not";
    }
    bool fits(const LaneKernel& test) const {
        const int members =
            std::accumulate(test.group.begin(), test.group.end(), 1, std::multiplies<>());
        const DeviceProfile& profile = session->executor().profile();
        return members % static_cast<int>(profile.subgroup_size) == 0 &&
               members <= static_cast<int>(profile.max_group_size);
    }
    static std::vector<int> values(const Session& session, const LaneKernel& test) {
        SessionScope scope(session);
        return run_lanes(test).to_vector<int>();
    }
    /// The device gives the kernel interpreter's result for as many lanes, and the oracle's if it
    /// has as many.
    void expect_agreement(const LaneKernel& test) const {
        if (!fits(test)) return;
        const DeviceProfile& profile = session->executor().profile();
        const std::vector<int> expected = values(Session::interpreter(profile), test);
        if (profile.subgroup_size == cpu_profile().subgroup_size) {
            ASSERT_EQ(values(Session::oracle(), test), expected) << text_of(test);
        }
        ASSERT_EQ(values(*session, test), expected) << text_of(test);
        ASSERT_EQ(validation_report(*session), "");
    }
    std::unique_ptr<Session> session;
};

TEST_F(Subgroups, OfShortRows) {
    for (const std::vector<int>& group :
         {std::vector{4, 4}, {4, 2}, {2, 4}, {8, 1}, {8, 2}, {8, 4}, {16, 4}, {32, 12}, {2, 12}})
        expect_agreement({{group[0] * 2, group[1] * 3}, group, {0, 7}});
}

TEST_F(Subgroups, OfGroupsInThreeDimensions) {
    for (const std::vector<int>& group : {std::vector{2, 2, 2}, {2, 4, 3}, {4, 2, 4}, {8, 2, 2}})
        expect_agreement({{4, 8, 6}, group, {3, 4}});
}

TEST_F(Subgroups, OfGroupsThatTheGridEndsIn) {
    expect_agreement({{7, 9}, {4, 4}, {0}});
    expect_agreement({{5, 3, 7}, {2, 2, 4}, {4, 1}});
}

TEST_F(Subgroups, WithSharedMemoryAndAnySize) {
    if (session->executor().profile().subgroup_size > 16) GTEST_SKIP() << "its subgroups are large";
    for (const auto& [rows, columns] : {std::pair{8, 12}, {5, 7}, {1, 1}, {0, 4}})
        EXPECT_EQ(sums_of_groups(*session, rows, columns),
                  sums_of_groups(Session::oracle(), rows, columns))
            << rows << " x " << columns;
}

TEST_F(Subgroups, OfRandomKernels) {
    std::mt19937 bits(56);
    const auto below = [&](int n) { return static_cast<int>(bits() % static_cast<uint32_t>(n)); };
    for (int done = 0; done < 12;) {
        LaneKernel test;
        for (int rank = 2 + below(2); rank > 0; --rank) {
            test.group.push_back(1 << below(4));
            test.grid.push_back(test.group.back() * (1 + below(2)) + below(3));
        }
        test.group[0] *= 1 + below(3);
        for (int count = 1 + below(3); count > 0; --count)
            test.functions.push_back(below(kLaneFunctions));
        if (!fits(test)) continue;
        expect_agreement(test);
        ++done;
    }
}

}  // namespace
}  // namespace firn
