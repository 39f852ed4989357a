// Lazy evaluation: what is computed, what is cached, and the cost of a frame loop.
#include "compiler/frontend/cut.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/text.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Lazy = OracleTest;

TEST_F(Lazy, NothingIsComputedBeforeItIsAskedFor) {
    Tensor c = sum(ones({4}) * 2.0f);
    EXPECT_EQ(c.node()->op, Op::Reduce);
    c.item<float>();
    EXPECT_EQ(c.node()->op, Op::Buffer);
}

TEST_F(Lazy, RealizeComputesTogether) {
    Tensor a = ones({2}) + 1.0f, b = a * 3.0f;
    realize(a, b);
    EXPECT_EQ(a.node()->op, Op::Buffer);
    EXPECT_EQ(b.node()->op, Op::Buffer);
    EXPECT_EQ(b.to_vector<float>(), (Floats{6, 6}));
}

TEST_F(Lazy, ValueComputedOnceIsRemembered) {
    Tensor a = sqrt(tensor({16.0f}));
    Tensor b = a + 1.0f;
    a.item<float>();
    EXPECT_EQ(b.node()->inputs[0]->computed, a.node());
    EXPECT_EQ(b.item<float>(), 5);
}

TEST_F(Lazy, FrameLoopDoesNotGrow) {
    Tensor u = tensor({1.0f, 2.0f}), v = zeros({2});
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 10; ++frame) {
        v = v + u * 0.125f;
        u = u - v;
        u.to_vector<float>();
        nodes.push_back(session.node_count());
    }
    EXPECT_EQ(nodes[9], nodes[4]);
}

TEST_F(Lazy, FrameLoopWithARecordedLoopDoesNotGrow) {
    Tensor u = tensor({1.0f, 2.0f}), v = zeros({2});
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 10; ++frame) {
        for (Tensor i : loop(3)) {
            v = v + u * 0.125f;
            u = u - v;
        }
        u.to_vector<float>();
        nodes.push_back(session.node_count());
    }
    EXPECT_EQ(nodes[9], nodes[4]);
}

TEST_F(Lazy, RunningTotalDoesNotGrow) {
    Tensor w = tensor({1.0f, 2.0f}), total = 0.0f;
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 10; ++frame) {
        w = w * 0.9f;
        Tensor loss = sum(w * w);
        total += loss;
        loss.item<float>();
        nodes.push_back(session.node_count());
    }
    EXPECT_EQ(nodes[9], nodes[4]);
}

TEST_F(Lazy, UnrelatedPendingTensorsStayPending) {
    Tensor a = tensor({1.0f}), b = tensor({2.0f});
    a = sqrt(a);
    b = sqrt(b);
    a.item<float>();
    EXPECT_EQ(b.node()->op, Op::Sqrt);
}

TEST_F(Lazy, MemoryOfATensorIsItsData) {
    TensorMemory got = memory_of(ones({2, 3}) * 2.0f);
    std::vector<float> data(6);
    session.executor().read(*got.memory, 0, std::as_writable_bytes(std::span(data)));
    EXPECT_EQ(got.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(data, Floats(6, 2.0f));
}

TEST_F(Lazy, TensorOverMemoryCopiesNothing) {
    TensorMemory got = memory_of(ones({4}) * 3.0f);
    Tensor same = tensor_over(got.memory, f32, {2, 2});
    EXPECT_EQ(memory_of(same).memory, got.memory);
    EXPECT_EQ((same + 1.0f).to_vector<float>(), Floats(4, 4.0f));
}

TEST_F(Lazy, TensorOverTooLittleMemoryIsAnError) {
    TensorMemory got = memory_of(ones({4}) * 3.0f);
    expect_parts(user_error([&] { tensor_over(got.memory, f32, {5}); }),
                 {"needs 32 bytes", "has 16", "lazy_test.cpp:"});
}

TEST_F(Lazy, StateThatNobodyReadsIsComputedWithWhatUsesIt) {
    Tensor u = tensor({1.0f}), v = zeros({1});
    v = v + u;
    u = u - v;
    u.to_vector<float>();
    EXPECT_EQ(v.node()->op, Op::Buffer);
}

TEST_F(Lazy, OtherConstantsAndDataGiveTheSameGraph) {
    auto graph_text = [&](float dt, const Tensor& data) {
        Tensor x = data * dt + 1.0f;
        return print(cut_graph(*std::make_unique<NodeTable>(), {x.node()}, {}).graph);
    };
    EXPECT_EQ(graph_text(0.1f, tensor({1.0f, 2.0f})), graph_text(0.3f, tensor({3.0f, 4.0f})));
}

TEST_F(Lazy, ConstantsWorthFoldingStay) {
    Tensor x = tensor({1.0f}) * 2.0f;
    NodeTable table;
    EXPECT_EQ(cut_graph(table, {x.node()}, {}).graph.args.size(), 1u);
}

TEST_F(Lazy, LoopIsComputed) {
    Tensor x = tensor({1.0f, 2.0f});
    for (Tensor i : loop(3)) x = x * 0.5f + 0.3f;
    std::vector<float> got = x.to_vector<float>();
    float a = 1;
    for (int i = 0; i < 3; ++i) a = a * 0.5f + 0.3f;
    EXPECT_FLOAT_EQ(got[0], a);
}

TEST_F(Lazy, EmptyTensorHasNoData) {
    EXPECT_TRUE((zeros({0, 3}) + 1.0f).to_vector<float>().empty());
}

TEST_F(Lazy, ConstantNeedsNoProgram) { EXPECT_EQ(Tensor(2.5f).item<float>(), 2.5f); }

TEST_F(Lazy, UploadedDataComesBack) {
    EXPECT_EQ(tensor(std::vector<float>{1, 2, 3}).to_vector<double>(),
              (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace firn
