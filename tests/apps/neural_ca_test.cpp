// Cells that live by a rule: which cells live, which are wounded, and that the rule is learned.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/neural_ca/views.h"
#include "tests/apps/default_device.h"

namespace firn::neural_ca {
namespace {

TEST(NeuralCa, CellsLiveBesideLifeAlone) {
    SessionScope scope(Session::interpreter());
    const Rule rule(8);
    // Everything that is perceived grows: life spreads by a cell a step, and no further.
    rule.change.weight.set(full(rule.change.weight.shape(), 1.0f));
    const Tensor seed = seed_cells(1, 9, 9);
    EXPECT_EQ(sum(seed(0, index(Shape{9, 9}, 0), index(Shape{9, 9}, 1), 3)).item<float>(), 1);
    auto [i, j] = indices<2>({9, 9});
    const Tensor all = zeros({1, 9, 9, 1});  // no cell is left out
    const Tensor next = rule(seed, all);
    const Tensor alive = next(0, i, j, 3) > kAlive;
    EXPECT_LE(sum(alive.as(i32)).item<int>(), 9);
    EXPECT_EQ(sum((alive & ((abs(i - 4) > 1) | (abs(j - 4) > 1))).as(i32)).item<int>(), 0);
    // A cell that chance leaves out stays; a cell far from life is empty.
    EXPECT_EQ(rule(seed, full({1, 9, 9, 1}, 0.9f)).to_vector<float>(), seed.to_vector<float>());
    const Tensor dead = full({1, 9, 9, kChannels}, 0.05f);
    EXPECT_EQ(sum(abs(rule(dead, all))).item<float>(), 0);
}

TEST(NeuralCa, AWoundIsADisc) {
    SessionScope scope(Session::interpreter());
    const Tensor left = wounded(ones({1, 10, 10, kChannels}), 3.0f, 5.0f, 2.0f);
    EXPECT_EQ(left(0, 3, 5, 0).item<float>(), 0);
    EXPECT_EQ(left(0, 1, 5, 0).item<float>(), 0);
    EXPECT_EQ(left(0, 0, 5, 0).item<float>(), 1);
    EXPECT_EQ(sum(1.0f - left).item<float>(), 12 * kChannels);
}

TEST(NeuralCa, LearnsOnTheDevice) {
    const OnDefaultDevice device;
    SessionScope scope(device_session());
    const ProblemOptions options{.hidden = 12, .batch = 2, .pool = 4};
    const Settings settings{.lr = 5e-3f, .least = 6, .most = 8};
    Training training = make_training(toadstool(12), options, 3);
    EXPECT_EQ(max(training.target).item<float>(), 1);
    const float before = advance(training, settings).item<float>();
    float after = 0;
    for (int k = 0; k < 40; ++k) {
        const auto loss = advance(training, settings).item<float>();
        if (k >= 30) after += loss / 10;
    }
    EXPECT_LT(after, 0.85f * before);
    // Patterns that were grown are in the pool.
    const Tensor pool = training.pool.cells.value();
    EXPECT_NE(pool.to_vector<float>(), seed_cells(4, 12, 12).to_vector<float>());
    const Tensor seed = reshape(seed_cells(1, 12, 12), {12, 12, kChannels});
    EXPECT_EQ(grown(training, seed, 5, 1).to_vector<float>(),
              grown(training, seed, 5, 1).to_vector<float>());
    EXPECT_NE(grown(training, seed, 5, 1).to_vector<float>(),
              grown(training, seed, 5, 2).to_vector<float>());
    restart(training, 3);
    EXPECT_EQ(advance(training, settings).item<float>(), before);
    EXPECT_THROW(make_training(toadstool(12), {.batch = 5, .pool = 4}, 1), UserError);
}

TEST(NeuralCa, WhatIsWhiteOfAPictureIsEmpty) {
    SessionScope scope(Session::interpreter());
    auto [i, j, c] = indices<3>({32, 32, 3});
    const Tensor target = target_of(select(j < 16, 1.0f, select(c == 0, 0.8f, 0.2f)), 16);
    EXPECT_EQ(target(8, 4, 3).item<float>(), 0);   // white
    EXPECT_EQ(target(8, 12, 3).item<float>(), 1);  // red
    EXPECT_NEAR(target(8, 12, 0).item<float>(), 0.8f, 1e-6f);
    EXPECT_EQ(target(8, 15, 3).item<float>(), 0);  // the margin
    EXPECT_EQ(target(8, 4, 0).item<float>(), 0);
}

TEST(NeuralCa, GivesTheSamePictureForTheSameSeed) {
    const OnDefaultDevice device;
    const std::string folder = testing::TempDir() + "/neural_ca_test";
    std::filesystem::create_directories(folder);
    const auto run = [&](const std::string& arguments) {
        return WEXITSTATUS(std::system(
            (FIRN_BIN_DIR "/neural_ca --headless --frames 3 --set resolution=12 --set hidden=8 "
                          "--set batch=2 --set pool=4 --set least=6 --set most=8 " +
             arguments + " > /dev/null 2>&1")
                .c_str()));
    };
    const auto content = [&](const std::string& name) {
        std::ifstream in(folder + "/" + name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(run("--seed 5 --out " + folder + "/a.png"), 0);
    EXPECT_EQ(run("--seed 5 --out " + folder + "/b.png"), 0);
    EXPECT_GT(content("a.png").size(), 1000u);
    EXPECT_EQ(content("a.png"), content("b.png"));
    EXPECT_EQ(run("--set batch=5"), 2);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn::neural_ca
