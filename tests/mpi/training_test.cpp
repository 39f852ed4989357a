// Training on several processes gives what one with the whole batch gives.
#include <firn/distributed.h>
#include <firn/firn.h>
#include <firn/learning.h>
#include <gtest/gtest.h>

#include "tests/frontend/oracle_session.h"
#include "tests/mpi/world.h"

namespace firn {
namespace {

class Training : public ::testing::Test {
  protected:
    Session session_ = why_no_cpu_session().empty() ? cpu_session() : Session::interpreter();
    SessionScope scope_{session_};
};

struct Network {
    Variable hidden{{6, 16}, normal_init(0.5f), true}, bias{{16}, constant_init(0), true},
        out{{16, 3}, normal_init(0.5f), true};
    std::vector<NamedVariable> parameters() const {
        return {{"hidden", hidden}, {"bias", bias}, {"out", out}};
    }
    Tensor operator()(const Tensor& x) const {
        return matmul(tanh(matmul(x, hidden.value()) + bias.value()), out.value());
    }
};

struct Data {
    Tensor inputs = randn({48, 6}, {.seed = 3}), wanted = randn({48, 3}, {.seed = 4});
};

/// The losses and the weights after some steps.
std::vector<float> trained(const BatchesOptions& part, const Communicator* all,
                           const DistributedOptions& options = {}) {
    // A session of its own: its random numbers begin again.
    Session session = why_no_cpu_session().empty() ? cpu_session() : Session::interpreter();
    SessionScope scope(session);
    const Network net;
    Adam adam(net.parameters(), {.lr = 1e-2f});
    adam.clip_norm(0.5f);
    if (all) distributed(adam, *all, options);
    const Data data;
    Batches batches(48, 12, part);
    std::vector<float> out;
    for (int k = 0; k < 12; ++k) {
        const Tensor chosen = batches.next();
        const Tensor error =
            net(take(data.inputs, chosen, {.axis = 0})) - take(data.wanted, chosen, {.axis = 0});
        Tensor loss = adam.step(mean(square(error)));
        if (all) loss = mean_of(loss, *all);
        out.push_back(loss.item<float>());
    }
    for (const NamedVariable& each : net.parameters())
        for (const float weight : each.variable.value().to_vector<float>()) out.push_back(weight);
    return out;
}

TEST_F(Training, StepsAreThoseOfTheWholeBatch) {
    if (12 % world().size() != 0) GTEST_SKIP() << "the batch of 12 has other parts";
    const std::vector<float> alone = trained({.seed = 5}, nullptr);
    for (const int64_t bytes : {int64_t{1}, int64_t{200}, int64_t{4} << 20})
        for (const bool in_order : {false, true}) {
            const std::vector<float> together =
                trained(part_of(world(), {.seed = 5}), &world(),
                        {.message_bytes = bytes, .in_order = in_order});
            ASSERT_EQ(together.size(), alone.size());
            for (size_t k = 0; k < alone.size(); ++k)
                EXPECT_NEAR(together[k], alone[k], 2e-4f) << "number " << k;
        }
}

TEST_F(Training, ParametersBeginAsThoseOfTheFirst) {
    // Other random numbers in every process.
    for (int k = 0; k < world().rank(); ++k) rand({1});
    const Network net;
    SGD sgd(net.parameters(), {.lr = 0.1f});
    distributed(sgd, world());
    const Tensor own = net.hidden.value();
    EXPECT_EQ(all_reduce(abs(own - broadcast(own, world())), world(), {.op = Combine::Max})
                  .to_vector<float>(),
              Floats(96, 0.0f));
}

TEST_F(Training, PartsOfBatchesAreDisjoint) {
    if (12 % world().size() != 0) GTEST_SKIP() << "the batch of 12 has other parts";
    Batches whole(48, 12, {.seed = 2}), part(48, 12, part_of(world(), {.seed = 2}));
    for (int k = 0; k < 5; ++k)
        EXPECT_EQ(all_gather(part.next(), world()).to_vector<int>(), whole.next().to_vector<int>());
    expect_parts(user_error([] { Batches(48, 13, {.part = 0, .parts = 2}); }),
                 {"a batch of 13 cannot be divided into 2 parts"});
}

TEST_F(Training, ACompiledStepLearns) {
    if (12 % world().size() != 0) GTEST_SKIP() << "the batch of 12 has other parts";
    const Network net;
    Adam adam(net.parameters(), {.lr = 1e-2f});
    distributed(adam, world(), {.message_bytes = 1});
    State state = adam;
    auto step =
        compile(state, [&](Tensor x, Tensor y) { return adam.step(mean(square(net(x) - y))); },
                {f32("n", 6), f32("n", 3)});
    const Data data;
    Batches batches(48, 12, part_of(world(), {.seed = 5}));
    float first = 0, last = 0;
    for (int k = 0; k < 20; ++k) {
        const Tensor chosen = batches.next();
        last = mean_of(step(take(data.inputs, chosen, {.axis = 0}),
                            take(data.wanted, chosen, {.axis = 0})),
                       world())
                   .item<float>();
        if (k == 0) first = last;
    }
    EXPECT_LT(last, first);
}

}  // namespace
}  // namespace firn
