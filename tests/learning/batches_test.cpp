// Data in batches, their augmented pictures, and the progress of a run.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "compiler/files/stored_tensor.h"
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

class BatchesTest : public OracleTest {};

TEST_F(BatchesTest, EveryEpochTakesAllSamplesInAnotherOrder) {
    Batches batches(12, 4, {.seed = 5});
    std::vector<Ints> epochs(3);
    for (Ints& epoch : epochs)
        for (int k = 0; k < 3; ++k)
            for (int sample : batches.next().to_vector<int>()) epoch.push_back(sample);
    for (const Ints& epoch : epochs) EXPECT_EQ(std::set(epoch.begin(), epoch.end()).size(), 12u);
    EXPECT_NE(epochs[0], epochs[1]);
    EXPECT_NE(epochs[1], epochs[2]);
    EXPECT_EQ(batches.epoch(), 3);
    // The same seed gives the same, and a run goes on in the middle of an epoch.
    Batches again(12, 4, {.seed = 5});
    again.next();
    again = Batches(12, 4, {.seed = 5});
    again.seek(4);
    EXPECT_EQ(again.next().to_vector<int>(), Ints(epochs[1].begin() + 4, epochs[1].begin() + 8));
}

TEST_F(BatchesTest, WhatFillsNoBatchIsLeftOut) {
    Batches batches(7, 3, {.shuffle = false});
    EXPECT_EQ(batches.per_epoch(), 2);
    EXPECT_EQ(batches.next().to_vector<int>(), (Ints{0, 1, 2}));
    EXPECT_EQ(batches.next().to_vector<int>(), (Ints{3, 4, 5}));
    EXPECT_EQ(batches.next().to_vector<int>(), (Ints{0, 1, 2}));
}

TEST_F(BatchesTest, RefusesBatchesThatCannotBe) {
    expect_parts(user_error([] { Batches(0, 1); }), {"no samples", "batches_test.cpp"});
    expect_parts(user_error([] { Batches(10, 11); }), {"batch of 11", "10 samples"});
    expect_parts(user_error([] { Batches(10, 0); }), {"batch of 0"});
}

TEST_F(BatchesTest, LabelsAreFromZeroToTheClasses) {
    check_labels(tensor({0, 9, 3}), 10);
    expect_parts(user_error([] {
                     check_labels(tensor({0, 10, 3}), 10);
                 }),
                 {"number 1 is 10", "10 classes", "batches_test.cpp"});
    expect_parts(user_error([] { check_labels(tensor({0, 1, -1}), 10); }), {"number 2 is -1"});
    check_labels(tensor(std::vector<uint8_t>{0, 255}, {1, 2}), 256);
    const Tensor wide = tensor(std::vector<int64_t>{0, int64_t{1} << 32}),
                 widest = tensor(std::vector<uint64_t>{0, ~uint64_t{0}}),
                 bits = tensor(std::vector<uint32_t>{0, 3'000'000'000});
    expect_parts(user_error([&] { check_labels(wide, 10); }), {"number 1 is 4294967296"});
    expect_parts(user_error([&] { check_labels(widest, 10); }),
                 {"number 1 is 18446744073709551615"});
    expect_parts(user_error([&] { check_labels(bits, 10); }), {"number 1 is 3000000000"});
    expect_parts(user_error([] { check_labels(zeros({0}, i32), 10); }), {"none"});
}

TEST_F(BatchesTest, ReadsAheadOnAThreadOfItsOwn) {
    std::atomic<int> read = 0;
    Prefetch batches(
        [&](int64_t k) {
            ++read;
            if (k == 3) read_npy("/no/such.npy");
            StoredTensor x{"", i32, {1}, std::vector<std::byte>(4)};
            const auto value = int32_t(k);
            std::memcpy(x.bytes.data(), &value, 4);
            return std::vector{x};
        },
        2);
    // Without a request, two wait and a third is ready.
    while (read < 3) std::this_thread::yield();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(batches.next()[0].to_vector<int>(), Ints{k});
    for (int again = 0; again < 2; ++again)
        expect_parts(user_error([&] { batches.next(); }), {"/no/such.npy", "batches_test.cpp"});
    // One without requests ends all the same.
    Prefetch([](int64_t) { return std::vector<StoredTensor>(); });
}

class Augment : public OracleTest {};

TEST_F(Augment, MovesByNothingIfNothingIsAsked) {
    const Tensor x = some({3, 4, 5});
    expect_near(random_move(x, {.seed = 1}).to_vector<float>(), x.to_vector<float>());
    expect_near(random_move(x, {.turn = 0.0f, .shift = 0.0f, .stretch = 0.0f, .seed = 1})
                    .to_vector<float>(),
                x.to_vector<float>());
}

TEST_F(Augment, MirrorsSomeAndShiftsAllBySameChances) {
    const Tensor x = expand(some({1, 2, 3, 4}), {40, 2, 3, 4});
    const Floats once = some({1, 2, 3, 4}).to_vector<float>(),
                 mirrored = flip(some({1, 2, 3, 4}), {3}).to_vector<float>(),
                 all = random_move(x, {.flip = true, .seed = 1}).to_vector<float>();
    int usual = 0;
    for (size_t k = 0; k < 40; ++k) {
        const Floats each(all.begin() + long(24 * k), all.begin() + long(24 * (k + 1)));
        const bool same = std::abs(each[0] - once[0]) < 1e-5f;
        usual += same;
        expect_near(each, same ? once : mirrored);
    }
    EXPECT_GT(usual, 8);
    EXPECT_LT(usual, 32);
    // Channels of a picture move together.
    const Tensor y =
        random_move(ones({20, 2, 9, 9}), {.turn = 0.5f, .shift = 3.0f, .stretch = 0.3f, .seed = 2});
    auto [b, i, j] = indices<3>({20, 9, 9});
    EXPECT_EQ(y(b, 0, i, j).to_vector<float>(), y(b, 1, i, j).to_vector<float>());
    EXPECT_NE(y(0, 0, index(Shape{9, 9}, 0), index(Shape{9, 9}, 1)).to_vector<float>(),
              y(1, 0, index(Shape{9, 9}, 0), index(Shape{9, 9}, 1)).to_vector<float>());
}

TEST_F(Augment, TurnsAboutTheMiddleAndShiftsByPixels) {
    // A dot in the middle of a picture stays there, one at the edge goes along its circle.
    Tensor x = zeros({30, 21, 21});
    auto [b] = indices<1>({30});
    x(b, 10, 10) = 1.0f;
    const Tensor turned = random_move(x, {.turn = 3.0f, .seed = 3});
    EXPECT_GT(min(turned(b, 10, 10)).item<float>(), 0.99f);
    const auto spread = [&](const RandomMoveOptions& options) {
        const Tensor y = random_move(x, options);
        auto [k, i, j] = indices<3>(y.shape());
        // The place of a dot between pixels is the mean of its elements' places.
        const Tensor row = sum(y * i.as(f32), {1, 2}) - 10.0f;
        return std::pair{min(row).item<float>(), max(row).item<float>()};
    };
    const auto [low, high] = spread({.shift = 5.0f, .seed = 3});
    EXPECT_LT(low, -3.5f);
    EXPECT_GT(low, -5.0f);
    EXPECT_GT(high, 3.5f);
    EXPECT_LT(high, 5.0f);
    expect_parts(user_error([&] { random_move(x.as(i32), {}); }),
                 {"i32[30, 21, 21]", "batches_test.cpp"});
}

TEST(Progress, SaysHowFarAndHowFastARunIs) {
    EXPECT_EQ(progress_text(120, 400, {{"loss", 0.03125}, {"accuracy", 97.1}}, 35),
              "step 120/400  loss 0.03125  accuracy 97.1  35 steps/s  8 s left");
    EXPECT_EQ(progress_text(7, 0, {}, 0), "step 7");
    EXPECT_EQ(progress_text(7, 0, {{"loss", -std::nan("")}}, 0), "step 7  loss nan");
    EXPECT_EQ(progress_text(0, 1000, {}, 1), "step 0/1000  1 steps/s  16 min 40 s left");
    EXPECT_EQ(progress_text(0, 36000, {}, 1.25), "step 0/36000  1.25 steps/s  8 h 0 min left");
}

TEST(Progress, TheFirstStepDoesNotCountForTheSpeed) {
    testing::internal::CaptureStderr();
    Progress progress(10);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it compiles
    progress.show(1, {});
    EXPECT_EQ(progress.steps_per_second(), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    progress.show(4, {{"loss", 2}});
    EXPECT_GT(progress.steps_per_second(), 0);
    EXPECT_LT(progress.steps_per_second(), 60.1) << "3 in 50 ms, or more";
    progress.finish();
    const std::string said = testing::internal::GetCapturedStderr();
    expect_parts(said, {"step 1/10\n", "step 4/10  loss 2", " steps/s"});
}

}  // namespace
}  // namespace firn
