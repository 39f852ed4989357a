// Users' actions while calls fail.
#include "tests/faults/scenarios.h"

#include "engine/gpu/buffer.h"
#include "engine/window/view_window.h"
#include "tests/window/display.h"

namespace firn {
namespace {

std::vector<float> ramp(int n, float step = 1) {
    std::vector<float> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i) * step);
    return values;
}
std::vector<float> times(std::vector<float> values, float factor) {
    for (float& value : values) value *= factor;
    return values;
}

const std::vector<float> kValues = ramp(300);

const Scenario kScenarios[] = {
    {"allocate",
     [](World& world) {
         return std::function([&world] {
             const auto small = world.executor->allocate(1000, "small"),
                        large = world.executor->allocate(3 << 20, "large");
             EXPECT_NE(small, nullptr);
         });
     }},
    {"upload",
     [](World&) {
         return std::function(
             [] { EXPECT_EQ(tensor(kValues, {300}).to_vector<float>(), kValues); });
     }},
    {"upload_staged",
     [](World&) {
         return std::function([] {
             const std::vector<float> large = ramp(20'000);
             EXPECT_EQ(tensor(large, {20'000}).to_vector<float>(), large);
         });
     },
     false},
    {"lazy",
     [](World& world) {
         return std::function([x = world.keep(kValues)] {
             Tensor y = x * 2.0f;
             EXPECT_EQ(y.to_vector<float>(), times(kValues, 2));
         });
     }},
    {"lazy_assigned",
     [](World& world) {
         auto x = std::make_shared<Tensor>(world.keep(kValues));
         *x = *x * 2.0f;  // not computed yet
         return std::function([x] { EXPECT_EQ(x->to_vector<float>(), times(kValues, 2)); });
     }},
    {"replayed",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 3.0f; }, {f32("n")});
         Tensor x = world.keep(kValues);
         for (int k = 0; k < 2; ++k) EXPECT_EQ(f(x).to_vector<float>(), times(kValues, 3));
         return std::function([f, x] { EXPECT_EQ(f(x).to_vector<float>(), times(kValues, 3)); });
     }},
    {"changed_scalars",
     [](World& world) {
         auto f = compile([](Tensor x, Tensor s) { return x * s; }, {f32("n"), f32()});
         Tensor x = world.keep(kValues);
         EXPECT_EQ(f(x, 2.0f).to_vector<float>(), times(kValues, 2));
         return std::function([f, x, s = std::make_shared<float>(2.0f)] {
             *s += 1;
             EXPECT_EQ(f(x, *s).to_vector<float>(), times(kValues, *s));
         });
     }},
    {"enqueued",
     [](World& world) {
         // Several calls travel in one submission, as in a window.
         world.device->set_batch_limit(3);
         auto f = compile([](Tensor x, Tensor s) { return x * s; }, {f32("n"), f32()});
         Tensor x = world.keep(kValues);
         auto made = std::make_shared<std::vector<std::pair<Tensor, float>>>();
         return std::function([f, x, made] {
             for (float s = 2; s < 9; ++s) made->emplace_back(f(x, s), s);
             for (const auto& [tensor, s] : *made)
                 EXPECT_EQ(tensor.to_vector<float>(), times(kValues, s));
         });
     }},
    {"donated",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
         auto x = std::make_shared<Tensor>(world.keep(kValues) + 0.0f);
         x->to_vector<float>();
         return std::function([f, x, factor = std::make_shared<float>(1.0f)] {
             *x = f(std::move(*x));
             *factor *= 2;
             EXPECT_EQ(x->to_vector<float>(), times(kValues, *factor));
         });
     }},
    {"donated_in_parts",
     [](World& world) {
         // The second of three submissions writes over the argument.
         world.executor->engine->set_submission_seconds(0);
         const Tensor share = reshape(world.keep(std::vector<float>(64 * 16, 1.0f / 16)), {64, 16});
         auto f = compile(
             [share](Tensor x) {
                 Tensor means = matmul(transpose(share), x) * (16.0f / 64);
                 Tensor y = matmul(share, means) + 1.0f;
                 return std::pair{y, matmul(y, transpose(y))};
             },
             {f32(64, 16)});
         auto x = std::make_shared<Tensor>(zeros({64, 16}) + share * 16.0f);
         EXPECT_EQ(x->to_vector<float>()[0], 1);
         return std::function([f, x, iterations = std::make_shared<float>(1.0f)] {
             auto [more, product] = f(std::move(*x));
             *x = more;
             *iterations += 1;
             EXPECT_EQ(x->to_vector<float>(), std::vector<float>(64 * 16, *iterations));
             EXPECT_EQ(product.to_vector<float>()[0], 16 * *iterations * *iterations);
         });
     },
     true, 2},
    {"two_stages",
     [](World& world) {
         return std::function([x = world.keep(ramp(1 << 13, 0.5f))] {
             const float mean = 0.25f * ((1 << 13) - 1);
             Tensor centred = x - sum(x) / static_cast<float>(1 << 13);
             EXPECT_EQ(centred.to_vector<float>()[1], 0.5f - mean);
         });
     }},
    {"while",
     [](World& world) {
         // Neighbours are read, so that it is a loop of kernels, and the data says when it ends.
         auto f = compile(
             [](Tensor x) {
                 Tensor n = 0;
                 while_([&] { return n < 40; },
                        [&] {
                            x = max(x, roll(x, 1));
                            n += 1;
                        });
                 return x;
             },
             {f32("n")});
         Tensor x = world.keep(kValues);
         return std::function([f, x] { EXPECT_EQ(f(x).to_vector<float>()[1], 299.0f); });
     },
     true, 2},
    {"while_donated",
     [](World& world) {
         auto f = compile(
             [](Tensor x) {
                 Tensor n = 0;
                 while_([&] { return n < 40; },
                        [&] {
                            x = roll(x, 1) + 1.0f;
                            n += 1;
                        });
                 return x;
             },
             {f32("n")});
         const std::vector<float> ones(300, 1.0f);
         auto x = std::make_shared<Tensor>(world.keep(ones) + 0.0f);
         EXPECT_EQ(x->to_vector<float>(), ones);
         return std::function([f, x, iterations = std::make_shared<float>(0.0f)] {
             *x = f(std::move(*x));
             *iterations += 40;
             EXPECT_EQ(x->to_vector<float>(), std::vector<float>(300, 1 + *iterations));
         });
     },
     true, 2},
    {"readback_staged",
     [](World& world) {
         const std::vector<float> large = ramp(20'000);
         return std::function(
             [x = world.keep(large), large] { EXPECT_EQ(x.to_vector<float>(), large); });
     },
     false},
    {"explain",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 3.0f; }, {f32("n")});
         Tensor x = world.keep(kValues);
         return std::function(
             [f, x] { EXPECT_NE(f.explain({x}).find("measured"), std::string::npos); });
     }},
    {"tune",
     [](World& world) {
         auto f = compile([](Tensor x) { return sum(x * 3.0f, {.axis = 1}); }, {f32("n", "m")});
         Tensor x = reshape(world.keep(kValues), {20, 15});
         return std::function([f, x] {
             int tried = 0;
             f.tune({x},
                    {.seconds = 5, .progress = [&](const TuneProgress&) { return ++tried < 4; }});
             EXPECT_EQ(f(x).to_vector<float>()[0], 3 * 105.0f);
         });
     },
     true, 10},
    {"picture",
     [](World& world) {
         Tensor x = world.keep(std::vector<float>(64, 1.0f));
         const BufferView view{memory_of(x).memory, 0, f32, {8, 8}};
         return std::function([&world, view] {
             const AllocationsFail here;
             ViewWindow window(world.executor->engine, {.size = {8, 8}, .headless = true});
             EXPECT_TRUE(window.open());
             window.show(view);
             EXPECT_EQ(window.picture().rgba[0], 255);
         });
     },
     true, 2},
    {"late_reads",
     [](World& world) {
         Tensor x = world.keep(std::vector<float>(64, 1.0f));
         const BufferView view{memory_of(x).memory, 0, f32, {64}};
         return std::function([&world, view] {
             int taken = 0;
             const std::vector<BufferView> views{view};
             const Callback<void(const std::vector<std::vector<float>>&)> take(
                 [&](const std::vector<std::vector<float>>& read) {
                     EXPECT_EQ(read[0][63], 1.0f);
                     ++taken;
                 });
             const AllocationsFail here;
             ViewWindow window(world.executor->engine, {.size = {8, 8}, .headless = true});
             EXPECT_TRUE(window.open());
             for (int k = 0; k < 3; ++k) window.read_later(views, take);
             window.finish_reads();
             EXPECT_EQ(taken, 3);
         });
     },
     true, 2},
    {"drawing",
     [](World& world) {
         Tensor x = world.keep(std::vector<float>(6, 0.0f));
         DrawScene scene;
         DrawLayer& layer = scene.layers.emplace_back();
         layer.places = {memory_of(x).memory, 0, f32, {2, 3}};
         layer.size = 8;
         return std::function([&world, scene] {
             const AllocationsFail here;
             ViewWindow window(world.executor->engine, {.size = {3, 3}, .headless = true});
             EXPECT_TRUE(window.open());
             window.show_scene(scene);
             EXPECT_EQ(window.picture().rgba[16], 255);
         });
     },
     true, 2},
    {"window",
     [](World& world) {
         static const VirtualDisplay display;
         Tensor x = world.keep(std::vector<float>(64, 1.0f));
         auto window = std::make_shared<ViewWindow>(
             world.executor->engine, WindowOptions{.title = "faults", .size = {32, 32}});
         return std::function([&world, x, window] {
             auto f = compile([](Tensor x) { return x * 0.5f; }, {f32("n")});
             for (int frame = 0; frame < 4; ++frame) {
                 EXPECT_TRUE(window->open());
                 window->show({memory_of(f(x)).memory, 0, f32, {8, 8}});
             }
         });
     },
     true, 2},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace firn
