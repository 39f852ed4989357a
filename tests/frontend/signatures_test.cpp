// Parameters and results of compiled functions: vectors of any length, vec and mat alone, defaults.
#include <array>
#include <utility>
#include <vector>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Signatures : public OracleTest {};

struct Layer {
    Tensor weight, bias;
};
struct Net {
    std::vector<Layer> layers;
    Tensor scale;
};
Tensor apply(const Net& net, Tensor x) {
    for (const Layer& layer : net.layers) x = x * layer.weight + layer.bias;
    return x * net.scale;
}
Net net_of(size_t layers) {
    Net out{{}, 10.0f};
    for (size_t k = 0; k < layers; ++k) out.layers.push_back({2.0f, Tensor(1.0f)});
    return out;
}

TEST_F(Signatures, VectorsInsideOfStructs) {
    auto f = jit(apply);
    EXPECT_EQ(f(net_of(1), 3.0f).item<float>(), 70);
    EXPECT_EQ(f(net_of(2), 3.0f).item<float>(), 150);
    EXPECT_EQ(f(net_of(0), 3.0f).item<float>(), 30);
    EXPECT_EQ(f.shape_count(), 3u);  // each length is a program
}

TEST_F(Signatures, VectorsInResults) {
    auto step = jit([](Net net) {
        for (Layer& layer : net.layers) layer.weight += layer.bias;
        net.layers.push_back({net.scale, net.scale + 1.0f});
        return std::pair{net, std::vector<Tensor>{net.scale, net.scale * 2.0f}};
    });
    auto [net, scales] = step(net_of(2));
    ASSERT_EQ(net.layers.size(), 3u);
    EXPECT_EQ(net.layers[1].weight.item<float>(), 3);
    EXPECT_EQ(net.layers[2].bias.item<float>(), 11);
    EXPECT_EQ(net.scale.item<float>(), 10);
    ASSERT_EQ(scales.size(), 2u);
    EXPECT_EQ(scales[1].item<float>(), 20);
}

// The lists have as many tensors, divided differently.
TEST_F(Signatures, LengthsTellProgramsApart) {
    auto f = jit([](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
        return Tensor(static_cast<int>(10 * a.size() + b.size())) + a[0] + b[0];
    });
    using List = std::vector<Tensor>;
    EXPECT_EQ(f(List{1, 1}, List{2}).item<int>(), 24);
    EXPECT_EQ(f(List{1}, List{1, 2}).item<int>(), 14);
    EXPECT_EQ(f.shape_count(), 2u);
}

TEST_F(Signatures, SpecsSayHowLongTheOnlyVectorIs) {
    auto f = compile(apply, {f32(), f32(), f32(), f32(), f32(), f32("n")});
    EXPECT_EQ(f(net_of(2), tensor({3.0f, 4.0f})).to_vector<float>(), (Floats{150, 190}));
    EXPECT_NE(user_error([&] { f(net_of(3), tensor({3.0f})); }), "");
}

TEST_F(Signatures, VectorsThatAreMovedAreGivenAway) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    struct Fields {
        std::vector<Tensor> all;
    };
    auto next = jit([](Fields f) {
        for (Tensor& each : f.all) each += 1.0f;
        return f;
    });
    Fields fields = next(Fields{{zeros({4}), ones({4})}});
    fields = next(std::move(fields));  // compiled for a call that gives memory away
    const float* before = host_view<float>(fields.all[1]).data();
    fields = next(std::move(fields));
    EXPECT_EQ(host_view<float>(fields.all[1]).data(), before);
    EXPECT_EQ(fields.all[1].to_vector<float>(), (Floats{4, 4, 4, 4}));
}

TEST_F(Signatures, VecAndMatAlone) {
    auto scaled = jit([](vec3 v, Tensor by) { return v * by; });
    EXPECT_EQ(scaled(vec3(1.0f, 2.0f, 3.0f), 2.0f).z.item<float>(), 6);
    auto turned = jit([](mat2 m, vec2 v) { return std::pair{m * m, m * v}; });
    auto [square, at] = turned(mat2(vec2(0.0f, 1.0f), vec2(-1.0f, 0.0f)), vec2(3.0f, 4.0f));
    EXPECT_EQ(square[0].x.item<float>(), -1);
    EXPECT_EQ(square[1].x.item<float>(), 0);
    EXPECT_EQ(at.x.item<float>(), -4);
    auto compiled = compile([](mat2 m) { return m * 2.0f; }, {f32(), f32(), f32(), f32()});
    EXPECT_EQ(compiled(mat2(3.0f))[1].y.item<float>(), 6);
}

TEST_F(Signatures, DefaultsMayBeLeftOut) {
    auto f = jit([](Tensor a, Tensor b = 2.0f, vec2 c = vec2(1.0f, 5.0f)) { return a * b + c.y; });
    EXPECT_EQ(f(3.0f).item<float>(), 11);
    EXPECT_EQ(f(3.0f, 4.0f).item<float>(), 17);
    EXPECT_EQ(f(3.0f, 4.0f, vec2(0.0f, 1.0f)).item<float>(), 13);
    auto g = [](Tensor a, Tensor b = 2.0f) { return a * b; };
    EXPECT_EQ(compile(g, {f32()})(3.0f).item<float>(), 6);
    EXPECT_EQ(compile(g, {f32(), f32()})(3.0f, 4.0f).item<float>(), 12);
}

// Inside of another function, and of a loop, they are values like others.
TEST_F(Signatures, WhileSomethingElseIsRecorded) {
    auto inner = jit([](Net net, Tensor x = 1.0f) {
        net.scale = apply(net, x);
        return net;
    });
    auto outer = jit([&](Tensor x) {
        Net net = net_of(2);
        for (Tensor k : loop(2)) net = inner(net, x);
        return net.scale;
    });
    EXPECT_EQ(outer(3.0f).item<float>(), 15 * 150);
}

}  // namespace
}  // namespace firn
