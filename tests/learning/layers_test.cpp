// Layers: values against plain C++, gradients against differences, and refusals.
#include "tests/learning/layer_checks.h"

namespace firn {
namespace {

TEST(Layers, Convolutions) {
    SessionScope scope(Session::interpreter());
    Conv2d conv(4, 6, {3, 2}, {.stride = 2, .padding = {1, 0}, .groups = 2});
    const HostArray x{numbers(2 * 4 * 5 * 6), {2, 4, 5, 6}}, w{host(conv.weight), {6, 2, 3, 2}};
    const Tensor in = tensor(x.values, {2, 4, 5, 6});
    const Floats bias = host(conv.bias);
    Floats expected;
    for (int b = 0; b < 2; ++b)
        for (int o = 0; o < 6; ++o)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    double sum = bias[size_t(o)];
                    for (int c = 0; c < 2; ++c)
                        for (int k = 0; k < 3; ++k)
                            for (int l = 0; l < 2; ++l)
                                sum += x.at({b, o / 3 * 2 + c, 2 * i - 1 + k, 2 * j + l}) *
                                       w.at({o, c, k, l});
                    expected.push_back(float(sum));
                }
    EXPECT_EQ(Shape(conv(in).shape()), (Shape{2, 6, 3, 3}));
    expect_near(conv(in).to_vector<float>(), expected);
    expect_gradients(conv, [&](const Tensors& a) { return conv(a[0]); }, {some({1, 4, 4, 3})});

    Conv1d line(3, 2, 3, {.padding = 1});
    const HostArray y{numbers(15), {1, 3, 5}}, v{host(line.weight), {2, 3, 3}};
    expected.clear();
    for (int o = 0; o < 2; ++o)
        for (int i = 0; i < 5; ++i) {
            double sum = host(line.bias)[size_t(o)];
            for (int c = 0; c < 3; ++c)
                for (int k = 0; k < 3; ++k) sum += y.at({0, c, i - 1 + k}) * v.at({o, c, k});
            expected.push_back(float(sum));
        }
    expect_near(line(tensor(y.values, {1, 3, 5})).to_vector<float>(), expected);
    expect_gradients(line, [&](const Tensors& a) { return line(a[0]); }, {some({1, 3, 4})});
    expect_parts(user_error([&] {
                     conv(some({1, 3, 5, 6}));
                 }),
                 {"[1, 3, 5, 6]", "layers_test.cpp"});
    expect_parts(user_error([&] { Conv2d(3, 4, 3, {.groups = 2}); }), {"groups that divide both"});
}

// Stores that meet are atomics: slower, and in another order in every run.
TEST(Layers, GradientsOfConvolutionsAndPoolsAreSumsAndNoStores) {
    SessionScope scope(Session::interpreter());
    const auto expect_no_store = [](const Module& module, const Layer& layer) {
        const auto gradients = compile(module,
                                       [&](Tensor x) {
                                           Tensors all{x};
                                           for (const NamedVariable& each : module.parameters())
                                               all.push_back(each.variable.value());
                                           return grad(sum(square(layer({x}))), all);
                                       },
                                       {f32(2, 4, 8, 8)});
        for (const VerdictInfo& v : gradients.function().program()->verdicts)
            EXPECT_EQ(v.value.find("Scatter"), std::string::npos) << v.value;
    };
    for (int groups : {1, 2}) {
        const Conv2d conv(4, 6, 3, {.stride = 2, .padding = 1, .groups = groups});
        expect_no_store(conv, [&](const Tensors& x) { return conv(x[0]); });
        const ConvTranspose2d up(4, 6, 3, {.stride = 2, .padding = 1, .groups = groups});
        expect_no_store(up, [&](const Tensors& x) { return up(x[0]); });
        const Conv1d line(4, 6, 3, {.padding = 1, .groups = groups});
        expect_no_store(line, [&](const Tensors& x) { return line(reshape(x[0], {2, 4, 64})); });
    }
    const Module none;
    expect_no_store(none, [](const Tensors& x) { return max_pool2d(x[0], 3, {.stride = 2}); });
    expect_no_store(none, [](const Tensors& x) { return avg_pool2d(x[0], 2); });
}

TEST(Layers, TransposedConvolutions) {
    SessionScope scope(Session::interpreter());
    ConvTranspose2d up(
        4, 6, {3, 2}, {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 0}, .groups = 2});
    const HostArray x{numbers(2 * 4 * 3 * 2), {2, 4, 3, 2}}, w{host(up.weight), {4, 3, 3, 2}};
    const int rows = 2 * 2 - 2 + 2 + 1 + 1, columns = 3 + 1 + 1;
    const Floats bias = host(up.bias);
    std::vector<double> sums;
    for (int b = 0; b < 2; ++b)
        for (int o = 0; o < 6; ++o)
            sums.insert(sums.end(), size_t(rows * columns), bias[size_t(o)]);
    // Every element of x adds the kernel at its place.
    for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 4; ++c)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 2; ++j)
                    for (int o = 0; o < 3; ++o)
                        for (int k = 0; k < 3; ++k)
                            for (int l = 0; l < 2; ++l) {
                                const int p = 2 * i - 1 + k, q = 3 * j + l, out = c / 2 * 3 + o;
                                if (p < 0 || p >= rows || q >= columns) continue;
                                sums[size_t(((b * 6 + out) * rows + p) * columns + q)] +=
                                    x.at({b, c, i, j}) * w.at({c, o, k, l});
                            }
    const Tensor y = up(tensor(x.values, {2, 4, 3, 2}));
    EXPECT_EQ(Shape(y.shape()), (Shape{2, 6, rows, columns}));
    expect_near(y.to_vector<float>(), Floats(sums.begin(), sums.end()));
    expect_gradients(up, [&](const Tensors& a) { return sin(up(a[0])); }, {some({1, 4, 2, 2})});
    expect_parts(user_error([&] { up(some({1, 3, 5, 6})); }), {"[1, 3, 5, 6]", "channels of x"});
    const ConvTranspose2d beyond(1, 1, 2, {.stride = 2, .output_padding = 2});
    expect_parts(user_error([&] { beyond(some({1, 1, 2, 2})); }), {"above the output padding"});
}

TEST(Layers, Pooling) {
    SessionScope scope(Session::interpreter());
    const HostArray x{numbers(2 * 5 * 6, -2, -0.5f), {1, 2, 5, 6}};
    const Tensor in = tensor(x.values, {1, 2, 5, 6});
    Floats largest, means;
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double high = -1e30, sum = 0;
                for (int k = 0; k < 3; ++k)
                    for (int l = 0; l < 2; ++l) {
                        const int p = 2 * i - 1 + k, q = 2 * j + l;
                        if (p >= 0 && p < 5) high = std::max(high, x.at({0, c, p, q}));
                        sum += x.at({0, c, p, q});
                    }
                largest.push_back(float(high));
                means.push_back(float(sum / 6));
            }
    const Pool2dOptions options{.stride = 2, .padding = {1, 0}};
    expect_near(MaxPool2d({3, 2}, options)(in).to_vector<float>(), largest);
    expect_near(AvgPool2d({3, 2}, options)(in).to_vector<float>(), means);
    const Tensor line = tensor({3.0f, 1.0f, 2.0f, 5.0f, 4.0f}, {1, 1, 5});
    EXPECT_EQ(MaxPool1d(2)(line).to_vector<float>(), (Floats{3, 5}));
    EXPECT_EQ(AvgPool1d(2, {.stride = 1})(line).to_vector<float>(), (Floats{2, 1.5f, 3.5f, 4.5f}));
    const Module none;
    expect_gradients(none,
                     [&](const Tensors& a) {
                         return max_pool2d(a[0], {3, 2}, options);
                     },
                     {some({1, 2, 5, 6})});
    expect_gradients(none,
                     [&](const Tensors& a) {
                         return avg_pool2d(a[0], {3, 2}, options);
                     },
                     {some({1, 2, 5, 6})});
    expect_parts(user_error([&] { max_pool2d(in, 7); }), {"max_pool", "window of 7", "5"});
    expect_parts(user_error([&] { max_pool2d(in, 2, {.padding = 2}); }), {"padding 2"});
}

TEST(Layers, OfThreeAxes) {
    SessionScope scope(Session::interpreter());
    const Tensor x = some({2, 4, 3, 5, 6});
    const Conv3d conv(4, 6, {1, 3, 2}, {.stride = 2, .groups = 2});
    EXPECT_EQ(Shape(conv.weight.shape()), (Shape{6, 2, 1, 3, 2}));
    EXPECT_EQ(Shape(conv(x).shape()), (Shape{2, 6, 2, 2, 3}));
    const ConvTranspose3d up(4, 2, 2, {.stride = 2});
    EXPECT_EQ(Shape(up(x).shape()), (Shape{2, 2, 6, 10, 12}));
    const ConvTranspose1d line(4, 3, 3, {.stride = 2, .output_padding = 1});
    EXPECT_EQ(Shape(line(some({1, 4, 5})).shape()), (Shape{1, 3, 12}));
    // The largest of a box is that of rows of its planes.
    const Tensor planes = max_pool2d(reshape(x, {8, 3, 5, 6}), {2, 3});
    const Tensor whole = MaxPool3d({3, 2, 3})(x);
    EXPECT_EQ(Shape(whole.shape()), (Shape{2, 4, 1, 2, 2}));
    EXPECT_EQ(whole.to_vector<float>(), max(planes, {.axis = 1}).to_vector<float>());
    expect_near(AvgPool3d({3, 5, 6})(x).to_vector<float>(), mean(x, {2, 3, 4}).to_vector<float>());
    expect_parts(user_error([&] { max_pool3d(some({1, 2, 3}), 2); }), {"[1, 2, 3]", "3 more"});
    expect_parts(user_error([&] { Conv3d(3, 4, 3, {.groups = 2}); }), {"Conv3d", "divide both"});
}

/// (x - mean) / sqrt(variance + eps) of groups of places, each a list of elements.
void normalise(Floats& x, const std::vector<std::vector<size_t>>& groups) {
    for (const std::vector<size_t>& group : groups) {
        double mean = 0, spread = 0;
        for (size_t k : group) mean += double(x[k]) / double(group.size());
        for (size_t k : group) spread += (x[k] - mean) * (x[k] - mean) / double(group.size());
        for (size_t k : group) x[k] = float((x[k] - mean) / std::sqrt(spread + 1e-5));
    }
}

TEST(Layers, LayerAndGroupNorm) {
    SessionScope scope(Session::interpreter());
    LayerNorm layer({2, 3});
    layer.weight.set(some({2, 3}, 0.5f, 2)), layer.bias.set(some({2, 3}));
    Floats expected = numbers(24);
    std::vector<std::vector<size_t>> groups(4);
    for (size_t k = 0; k < 24; ++k) groups[k / 6].push_back(k);
    normalise(expected, groups);
    for (size_t k = 0; k < 24; ++k)
        expected[k] = expected[k] * host(layer.weight)[k % 6] + host(layer.bias)[k % 6];
    expect_near(layer(some({4, 2, 3})).to_vector<float>(), expected, 1e-4);
    expect_gradients(layer, [&](const Tensors& a) { return layer(a[0]); }, {some({2, 2, 3})});

    GroupNorm group(2, 4);
    group.weight.set(some({4}, 0.5f, 2)), group.bias.set(some({4}));
    expected = numbers(24);
    groups.assign(4, {});
    for (size_t k = 0; k < 24; ++k) groups[k / 6].push_back(k);  // [2, 4, 3]: two channels are 6
    normalise(expected, groups);
    for (size_t k = 0; k < 24; ++k)
        expected[k] = expected[k] * host(group.weight)[k / 3 % 4] + host(group.bias)[k / 3 % 4];
    expect_near(group(some({2, 4, 3})).to_vector<float>(), expected, 1e-4);
    expect_gradients(group, [&](const Tensors& a) { return group(a[0]); }, {some({2, 4, 2, 2})});

    RMSNorm rms(4);
    rms.weight.set(some({4}, 0.5f, 2));
    expected = numbers(8);
    for (size_t row = 0; row < 2; ++row) {
        double squares = 0;
        for (size_t k = 0; k < 4; ++k)
            squares += double(expected[4 * row + k]) * expected[4 * row + k] / 4;
        for (size_t k = 0; k < 4; ++k)
            expected[4 * row + k] *= float(host(rms.weight)[k] / std::sqrt(squares + 1e-5));
    }
    expect_near(rms(some({2, 4})).to_vector<float>(), expected);
    expect_gradients(rms, [&](const Tensors& a) { return rms(a[0]); }, {some({2, 4})});
    expect_parts(user_error([&] { layer(some({2, 3, 3})); }), {"LayerNorm", "[2, 3, 3]", "[2, 3]"});
    expect_parts(user_error([&] { GroupNorm(3, 4); }), {"3 groups of 4"});
    expect_parts(user_error([&] { RMSNorm()(some({2})); }), {"no parameters yet"});
}

TEST(Layers, BatchNormInTrainingAndAfterwards) {
    SessionScope scope(Session::interpreter());
    BatchNorm norm(3);
    norm.weight.set(some({3}, 0.5f, 2)), norm.bias.set(some({3}));
    const Floats x = numbers(24), weight = host(norm.weight), bias = host(norm.bias);
    Floats expected = x, means(3), spreads(3);
    std::vector<std::vector<size_t>> groups(3);
    for (size_t k = 0; k < 24; ++k) groups[k / 4 % 3].push_back(k);  // [2, 3, 4]
    normalise(expected, groups);
    for (size_t k = 0; k < 24; ++k) {
        expected[k] = expected[k] * weight[k / 4 % 3] + bias[k / 4 % 3];
        means[k / 4 % 3] += x[k] / 8;
    }
    for (size_t k = 0; k < 24; ++k)
        spreads[k / 4 % 3] += (x[k] - means[k / 4 % 3]) * (x[k] - means[k / 4 % 3]) / 7;
    const auto train = compile(norm, [&](Tensor x) { return norm(x); }, {f32("n", 3, 4)});
    for (int k = 0; k < 2; ++k)
        expect_near(Tensor(train(some({2, 3, 4}))).to_vector<float>(), expected, 1e-4);
    Floats running_mean, running_var;
    for (size_t c = 0; c < 3; ++c) {
        running_mean.push_back(means[c] * 0.19f);
        running_var.push_back(0.81f + spreads[c] * 0.19f);
    }
    expect_near(host(norm.running_mean), running_mean);
    expect_near(host(norm.running_var), running_var);
    norm.eval();
    Floats after = x;
    for (size_t k = 0; k < 24; ++k) {
        const size_t c = k / 4 % 3;
        after[k] =
            (x[k] - running_mean[c]) / std::sqrt(running_var[c] + 1e-5f) * weight[c] + bias[c];
    }
    expect_near(norm(some({2, 3, 4})).to_vector<float>(), after, 1e-4);
    expect_near(host(norm.running_mean), running_mean);
    expect_gradients(norm, [&](const Tensors& a) { return norm(a[0]); }, {some({2, 3, 2})});
    norm.train();
    expect_parts(user_error([&] {
                     norm(some({2, 4}));
                 }),
                 {"BatchNorm: x is [2, 4]", "[batch, 3, ..]"});
}

TEST(Layers, BatchNormOfAnEmptyBatchKeepsItsStatistics) {
    SessionScope scope(Session::interpreter());
    BatchNorm norm(2);
    const Tensor none = norm(zeros({0, 2, 3}));
    EXPECT_EQ(Shape(none.shape()), (Shape{0, 2, 3}));
    EXPECT_EQ(host(norm.running_mean), (Floats{0, 0}));
    EXPECT_EQ(host(norm.running_var), (Floats{1, 1}));
    const auto train = compile(norm, [&](Tensor x) { return norm(x); }, {f32("n", 2)});
    train(some({0, 2}));
    EXPECT_EQ(host(norm.running_var), (Floats{1, 1}));
    train(tensor({1.0f, 2.0f, 3.0f, 2.0f}, {2, 2}));
    expect_near(host(norm.running_mean), {0.2f, 0.2f});
    expect_near(host(norm.running_var), {1.1f, 0.9f});
}

TEST(Layers, BatchNormInTrainingOfOneValuePerChannelIsAnError) {
    SessionScope scope(Session::interpreter());
    BatchNorm norm(2);
    for (const Shape& shape : {Shape{1, 2}, Shape{1, 2, 1, 1}})
        expect_parts(user_error([&] { norm(zeros(shape)); }),
                     {"BatchNorm", text(shape), "1 value", "eval()", "layers_test.cpp:"});
    const auto train = compile(norm, [&](Tensor x) { return norm(x); }, {f32("n", 2)});
    expect_parts(user_error([&] {
                     Tensor(train(zeros({1, 2}))).to_vector<float>();
                 }),
                 {"BatchNorm", "1 value", "eval()"});
    EXPECT_EQ(host(norm.running_var), (Floats{1, 1}));
    norm.eval();
    EXPECT_EQ(norm(zeros({1, 2})).to_vector<float>(), (Floats{0, 0}));
}

TEST(Layers, BatchNormInTrainingHasTheGradientsOfDifferences) {
    const GradientCheck found = check_gradients(
        [](const Tensors& a) {
            BatchNorm norm(3);
            const Binding bound(norm.variables(), {a[1], a[2], a[1] * 0.0f, a[1] * 0.0f + 1.0f});
            return norm(a[0]);
        },
        {some({2, 3, 2}), some({3}, 0.5f, 2), some({3})});
    EXPECT_TRUE(found) << found.where;
}

TEST(Layers, Embedding) {
    SessionScope scope(Session::interpreter());
    Embedding table(5, 3);
    const Floats rows = host(table.weight);
    const Tensor at = tensor({4, 0, 4, 2}, {2, 2});
    Floats expected;
    for (size_t k : {4, 0, 4, 2})
        expected.insert(expected.end(), rows.begin() + long(3 * k), rows.begin() + long(3 * k + 3));
    EXPECT_EQ(Shape(table(at).shape()), (Shape{2, 2, 3}));
    EXPECT_EQ(table(at).to_vector<float>(), expected);
    expect_gradients(table,
                     [&](const Tensors&) {
                         return table(tensor({4, 0, 4, 2}, {2, 2}));
                     },
                     {});
    expect_parts(user_error([&] {
                     table(tensor({1, 5})).to_vector<float>();
                 }),
                 {"not one of the 5 rows", "layers_test.cpp"});
    expect_parts(user_error([&] { table(some({2})); }), {"f32[2]", "integers"});
    const Embedding clamps(5, 3, {.check_indices = false});
    EXPECT_EQ(clamps(tensor({9})).to_vector<float>(), clamps(tensor({4})).to_vector<float>());
}

TEST(Layers, EmbeddingTakesIndicesOfTypesThatDoNotHoldTheNumberOfRows) {
    SessionScope scope(Session::interpreter());
    const auto read = [](int64_t rows, const Tensor& indices) {
        const Initialiser count = [](const Shape& shape, const RandomOptions&) {
            return reshape(arange(shape[0]).as(f32), shape);
        };
        return Embedding(rows, 1, {.init = count})(indices).to_vector<float>();
    };
    const Tensor bytes = tensor(std::vector<uint8_t>{0, 255, 7}),
                 small = tensor(std::vector<int8_t>{0, 127}),
                 negative = tensor(std::vector<int8_t>{0, -1});
    EXPECT_EQ(read(256, bytes), (Floats{0, 255, 7}));
    EXPECT_EQ(read(300, bytes), (Floats{0, 255, 7}));
    EXPECT_EQ(read(200, small), (Floats{0, 127}));
    EXPECT_EQ(read(70'000, tensor(std::vector<uint16_t>{0, 65'535})), (Floats{0, 65'535}));
    expect_parts(user_error([&] { read(200, bytes); }), {"not one of the 200 rows", "[1]"});
    expect_parts(user_error([&] { read(200, negative); }), {"not one of the 200 rows", "[1]"});
    for (const Tensor& wide : {tensor(std::vector<int64_t>{0, int64_t{1} << 32}),
                               tensor(std::vector<uint32_t>{0, 3'000'000'000})})
        expect_parts(user_error([&] { read(200, wide); }), {"not one of the 200 rows", "[1]"});
}

TEST(Layers, Dropout) {
    SessionScope scope(Session::interpreter());
    Dropout drop(0.25f);
    const auto apply = compile(drop, [&](Tensor x) { return drop(x); }, {f32("n")});
    const Tensor x = ones({4000});
    const Floats first = Tensor(apply(x)).to_vector<float>(),
                 second = Tensor(apply(x)).to_vector<float>();
    EXPECT_NE(first, second);
    int zeros = 0;
    for (float value : first) {
        EXPECT_TRUE(value == 0 || std::abs(value - 4.0f / 3) < 1e-6f);
        zeros += value == 0;
    }
    EXPECT_NEAR(zeros, 1000, 100);
    const std::vector<int> state = drop.random.value().to_vector<int>();
    EXPECT_EQ(state[1], 2);
    drop.random.set(tensor({state[0], 0}));
    EXPECT_EQ(Tensor(apply(x)).to_vector<float>(), first) << "as it would have gone on";
    EXPECT_NE(Dropout(0.25f)(x).to_vector<float>(), first);
    drop.eval();
    EXPECT_EQ(drop(x).to_vector<float>(), x.to_vector<float>());
    expect_parts(user_error([&] { Dropout(1.0f); }), {"from 0 to below 1", "layers_test.cpp"});
}

TEST(Layers, Attention) {
    SessionScope scope(Session::interpreter());
    const int length = 4, size = 6, heads = 2, part = 3;
    MultiHeadAttention attention(size, heads);
    attention.in_proj_bias.set(some({3 * size}));
    const HostArray x{numbers(2 * length * size), {2, length, size}},
        w{host(attention.in_proj_weight), {3 * size, size}},
        o{host(attention.out_proj.weight), {size, size}};
    const Floats bias = host(attention.in_proj_bias), out_bias = host(attention.out_proj.bias);
    for (bool causal : {false, true}) {
        Floats expected;
        for (int b = 0; b < 2; ++b) {
            std::vector<std::vector<double>> p(size_t(length), std::vector<double>(3 * size));
            for (int t = 0; t < length; ++t)
                for (int k = 0; k < 3 * size; ++k) {
                    double sum = bias[size_t(k)];
                    for (int e = 0; e < size; ++e) sum += w.at({k, e}) * x.at({b, t, e});
                    p[size_t(t)][size_t(k)] = sum;
                }
            for (int t = 0; t < length; ++t) {
                std::vector<double> joined(size);
                for (int h = 0; h < heads; ++h) {
                    std::vector<double> weights;
                    double total = 0;
                    for (int s = 0; s < (causal ? t + 1 : length); ++s) {
                        double score = 0;
                        for (int e = h * part; e < (h + 1) * part; ++e)
                            score += p[size_t(t)][size_t(e)] * p[size_t(s)][size_t(size + e)];
                        weights.push_back(std::exp(score / std::sqrt(3.0)));
                        total += weights.back();
                    }
                    for (size_t s = 0; s < weights.size(); ++s)
                        for (int e = h * part; e < (h + 1) * part; ++e)
                            joined[size_t(e)] += weights[s] / total * p[s][size_t(2 * size + e)];
                }
                for (int k = 0; k < size; ++k) {
                    double sum = out_bias[size_t(k)];
                    for (int e = 0; e < size; ++e) sum += o.at({k, e}) * joined[size_t(e)];
                    expected.push_back(float(sum));
                }
            }
        }
        const Tensor y = attention(tensor(x.values, {2, length, size}), {.causal = causal});
        expect_near(y.to_vector<float>(), expected, 2e-5);
        expect_gradients(attention,
                         [&](const Tensors& a) { return attention(a[0], {.causal = causal}); },
                         {some({1, 3, size})});
    }
    const Tensor q = some({2, 3});
    const Tensor blind = scaled_dot_product_attention(
        q, q, q, {.mask = tensor({true, false}) & tensor({true, true})});
    expect_near(blind.to_vector<float>(),
                concat({slice(q, {.axis = 0, .end = 1}), slice(q, {.axis = 0, .end = 1})})
                    .to_vector<float>());
    EXPECT_EQ(
        scaled_dot_product_attention(q, q, q, {.mask = full({2, 2}, false)}).to_vector<float>(),
        Floats(6, 0));
    expect_parts(user_error([&] { MultiHeadAttention(6, 4); }), {"4 heads of 6"});
    expect_parts(user_error([&] { attention(some({3, 6})); }), {"[batch, length, 6]"});
    expect_parts(user_error([&] {
                     attention(some({5, 3, 4}));
                 }),
                 {"MultiHeadAttention: x is [5, 3, 4]", "[batch, length, 6]", "layers_test.cpp"});
    // The messages of the product inside it.
    expect_parts(user_error([&] {
                     scaled_dot_product_attention(q, some({2, 4}), q);
                 }),
                 {"inner sizes differ, a is [2, 3] and b is [4, 2]", "layers_test.cpp"});
}

}  // namespace
}  // namespace firn
