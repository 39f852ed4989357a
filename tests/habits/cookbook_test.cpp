// Short programs for what people often want. compiler/cookbook.md shows them as they stand here:
// FIRN_WRITE_README=1 writes the page anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "compiler/shading.h"
#include "engine/firn/device_session.h"
#include "tests/habits/page.h"
#include "tests/ir/near.h"

namespace firn {
namespace {

struct Recipe {
    const char* title;
    void (*run)();
};
std::vector<Recipe>& recipes() {
    static std::vector<Recipe> all;
    return all;
}
struct Registered {
    Registered(const char* title, void (*run)()) { recipes().push_back({title, run}); }
};

/// x has these elements.
void shows(const Tensor& x, const std::vector<double>& elements, double tolerance = 1e-4) {
    const std::vector<double> got = x.to_vector<double>();
    ASSERT_EQ(got.size(), elements.size());
    for (size_t k = 0; k < got.size(); ++k)
        EXPECT_TRUE(near(got[k], elements[k], tolerance))
            << "element " << k << ": " << got[k] << " instead of " << elements[k];
}

#define JOIN_LINE(name, line) name##line
#define NAME_BY_LINE(name, line) JOIN_LINE(name, line)
#define RECIPE(title)                                                                           \
    void NAME_BY_LINE(recipe, __LINE__)();                                                      \
    const Registered NAME_BY_LINE(registered, __LINE__)(title, NAME_BY_LINE(recipe, __LINE__)); \
    void NAME_BY_LINE(recipe, __LINE__)()

RECIPE("Columns with mean 0 and deviation 1") {
    Tensor table = tensor({1.0f, 10.0f, 3.0f, 30.0f}, {2, 2});
    Tensor centred = table - mean(table, {0});
    shows(centred / sqrt(mean(square(centred), {0})), {-1, -1, 1, 1});
}

RECIPE("Arguments by name, with defaults") {
    struct Weather {
        Tensor wind = 1.0f, rain = 0.25f, heat = 0.0f;
    };
    auto step = compile([](Tensor x, Weather w) { return x * w.wind - w.rain + 10.0f * w.heat; },
                        {f32("n"), f32(), f32(), f32()});
    shows(step(tensor({1.0f, 2.0f}), Weather{.wind = 3.0f, .heat = 0.5f}), {7.75, 10.75});
}

RECIPE("A function as a member of a class") {
    struct Pendulum {
        struct State {
            Tensor angle, speed;
        };
        State now{1.0f, 0.0f};
        Compiled<State(State, Tensor)> step = compile(
            [](State s, Tensor dt) {
                const Tensor speed = s.speed - dt * sin(s.angle);
                return State{s.angle + dt * speed, speed};
            },
            {f32(), f32(), f32()});
    } pendulum;
    for (int k = 0; k < 100; ++k) pendulum.now = pendulum.step(pendulum.now, 0.02f);
    shows(pendulum.now.angle, {-0.3153}, 1e-3);
}

RECIPE("A network of any depth as one value") {
    struct Layer {
        Tensor weight, bias;
    };
    struct Net {
        std::vector<Layer> layers;
    };
    auto run = jit([](Net net, Tensor x) {
        for (const Layer& layer : net.layers) x = max(x * layer.weight + layer.bias, 0.0f);
        return x;
    });
    shows(run(Net{{{2.0f, 1.0f}, {-1.0f, 4.0f}}}, tensor({1.0f, 3.0f})), {1, 0});
}

RECIPE("Elements that the host reads and writes, without a copy where memory is shared") {
    Tensor x = host_tensor<float>({2, 3}, [](HostSpan<float> to) {
        for (size_t k = 0; k < to.size(); ++k) to[k] = float(k);
    });
    HostView<float> view = host_view<float>(x * 2.0f);
    Tensor largest = *std::max_element(view.begin(), view.end());
    shows(largest + view(1, 0), {16});
}

RECIPE("Roots of a polynomial") {
    // x^3 - 6 x^2 + 11 x - 6 by its companion matrix.
    Tensor companion = tensor({6.0f, -11.0f, 6.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f}, {3, 3});
    Complex roots = eig(companion).values;
    shows(sort(roots.re), {1, 2, 3});
}

RECIPE("A moving average") {
    Tensor x = tensor({1.0f, 2.0f, 4.0f, 8.0f, 16.0f});
    shows(convolve(x, full({2}, 0.5f), ConvolveMode::Valid), {1.5, 3, 6, 12});
}

RECIPE("Rows of a table in the order of a column") {
    Tensor table = tensor({3, 30, 1, 10, 2, 20}, {3, 2});
    shows(take(table, argsort(table(all, 0)), {.axis = 0}), {1, 10, 2, 20, 3, 30});
}

RECIPE("Counts of each number") { shows(bincount(tensor({2, 0, 2, 2, 1}), 4), {1, 1, 3, 0}); }

RECIPE("A confusion matrix") {
    Tensor truth = tensor({0, 1, 1, 2}), guess = tensor({0, 1, 2, 2});
    Tensor counts = zeros({3, 3}, i32);
    scatter_add(counts(truth, guess), 1);
    shows(counts, {1, 0, 0, 0, 1, 1, 0, 0, 1});
}

RECIPE("The nearest of many points") {
    Tensor points = tensor({0.0f, 0.0f, 5.0f, 5.0f, 9.0f, 0.0f}, {3, 2});
    Tensor asked = tensor({4.0f, 4.0f, 8.0f, 1.0f}, {2, 2});
    Tensor apart = unsqueeze(asked, 1) - unsqueeze(points, 0);  // [asked, points, 2]
    shows(argmin(sum(square(apart), {2}), {.axis = 1}), {1, 2});
}

RECIPE("Missing values replaced by the mean of the others") {
    Tensor x = tensor({1.0f, NAN, 3.0f});
    x(is_nan(x)) = nanmean(x);
    shows(x, {1, 2, 3});
}

RECIPE("Sums of any range after one pass") {
    Tensor x = tensor({3.0f, 1.0f, 4.0f, 1.0f, 5.0f});
    Tensor before = concat({zeros({1}), cumsum(x)});
    Tensor begin = tensor({0, 1, 2}), end = tensor({2, 5, 3});
    shows(before(end) - before(begin), {4, 11, 4});
}

RECIPE("Sign changes of a signal") {
    Tensor x = tensor({1.0f, 2.0f, -1.0f, -3.0f, 4.0f});
    Tensor changes = (x(range(0, -1)) < 0.0f) != (x(range(1, none)) < 0.0f);
    shows(nonzero(changes), {1, 3});
}

RECIPE("The three largest, and where they are") {
    TopK best = topk(tensor({5.0f, 1.0f, 9.0f, 7.0f}), 3);
    shows(best.values, {9, 7, 5});
    shows(best.indices, {2, 3, 0});
}

RECIPE("A table looked up between its entries") {
    Tensor places = tensor({0.0f, 10.0f, 20.0f}), values = tensor({0.0f, 1.0f, 4.0f});
    shows(interp(tensor({5.0f, 15.0f}), places, values), {0.5, 2.5});
}

RECIPE("A softmax that does not overflow") {
    Tensor x = tensor({1000.0f, 1000.0f});
    Tensor weights = exp(x - max(x));
    shows(weights / sum(weights), {0.5, 0.5});
}

RECIPE("A batch of matrix products") {
    Tensor a = ones({2, 1, 3}), b = reshape(arange(12).as(f32), {2, 3, 2});
    shows(einsum("bij,bjk->bik", a, b), {6, 9, 24, 27});
}

RECIPE("A line through points") {
    Tensor x = tensor({0.0f, 1.0f, 2.0f, 3.0f}), y = 2.0f * x + 1.0f;
    shows(lstsq(stack({x, ones({4})}, {.axis = 1}), y), {2, 1});
}

RECIPE("The direction in which points spread most") {
    Tensor t = linspace(-1.0f, 1.0f, 9);
    Tensor points = stack({3.0f * t, 4.0f * t});  // variables are rows
    Tensor main = eigh(cov(points)).vectors(all, 1);
    shows(abs(main), {0.6, 0.8});
}

RECIPE("The largest eigenvalue by repeated products") {
    Tensor a = tensor({2.0f, 1.0f, 1.0f, 2.0f}, {2, 2}), v = tensor({1.0f, 0.0f});
    for (Tensor k : loop(20)) {
        v = matmul(a, v);
        v = v / norm(v);
    }
    shows(sum(v * matmul(a, v)), {3});
}

RECIPE("A turn about an axis, as a matrix") {
    Tensor turn = expm(tensor({0.0f, -1.0f, 1.0f, 0.0f}, {2, 2}) * 1.5707963f);
    shows(matmul(turn, tensor({1.0f, 0.0f})), {0, 1});
}

RECIPE("Heat in a rod") {
    Tensor u = zeros({5});
    u(2) = 16.0f;
    for (Tensor step : loop(2)) {
        Tensor i = index(u, 0);
        u += 0.25f * (u(i - 1) - 2.0f * u + u(i + 1));  // outside is the element at the edge
    }
    shows(u, {1, 4, 6, 4, 1});
}

RECIPE("A step of the Game of Life") {
    Tensor cells = zeros({5, 5}, i32);
    cells(2, range(1, 4)) = 1;  // a blinker
    Tensor i = index(cells, 0), j = index(cells, 1), around = zeros({5, 5}, i32);
    for (int di = -1; di <= 1; ++di)
        for (int dj = -1; dj <= 1; ++dj)
            if (di != 0 || dj != 0) around += wrap(cells)(i + di, j + dj);
    Tensor next = ((around == 3) | ((around == 2) & (cells == 1))).as(i32);
    shows(next(all, 2), {0, 1, 1, 1, 0});
}

RECIPE("Bodies that attract each other") {
    Tensor x = tensor({0.0f, 1.0f, 3.0f}), mass = tensor({1.0f, 2.0f, 4.0f});
    Tensor apart = unsqueeze(x, 0) - unsqueeze(x, 1);  // from row to column
    Tensor cubed = pow(square(apart) + 1e-6f, 1.5f);
    shows(sum(unsqueeze(mass, 0) * apart / cubed, {1}), {2.44444, 0, -0.61111}, 1e-3);
}

RECIPE("Newton's method, as long as each element needs") {
    Tensor a = tensor({4.0f, 9.0f, 100.0f}), x = a;
    while_([&] { return abs(x * x - a) > 1e-4f * a; }, [&] { x = 0.5f * (x + a / x); });
    shows(x, {2, 3, 10}, 1e-3);
}

RECIPE("Lengths of Collatz sequences") {
    Tensor n = tensor({1, 6, 27}), steps = zeros({3}, i32);
    while_([&] { return n != 1; },
           [&] {
               n = select(n % 2 == 0, n / 2, 3 * n + 1);
               steps += 1;
           });
    shows(steps, {0, 8, 111});
}

RECIPE("When a point leaves the Mandelbrot set") {
    Tensor cx = tensor({0.0f, 1.0f, 0.5f}), x = zeros({3}), y = zeros({3}), count = zeros({3}, i32);
    for (Tensor k : loop(50)) {
        if_(x * x + y * y > 4.0f, [&] { break_(); });
        Tensor next = x * x - y * y + cx;
        y = 2.0f * x * y;
        x = next;
        count += 1;
    }
    shows(count, {50, 3, 5});
}

RECIPE("Prime numbers by a sieve") {
    Tensor n = arange(20), prime = n > 1;
    for (Tensor k : loop(2, 5)) prime = prime & ((n % k != 0) | (n == k));
    shows(compact(n, prime), {2, 3, 5, 7, 11, 13, 17, 19});
}

RECIPE("Shortest ways from the first node") {
    Tensor from = tensor({0, 0, 1, 2}), to = tensor({1, 2, 3, 3});
    Tensor length = tensor({1.0f, 4.0f, 6.0f, 1.0f}), way = tensor({0.0f, 99.0f, 99.0f, 99.0f});
    for (Tensor k : loop(3)) scatter_min(way(to), way(from) + length);
    shows(way, {0, 1, 4, 5});
}

RECIPE("The area of a circle by chance") {
    Tensor x = rand({20000}, {.seed = 1}), y = rand({20000}, {.seed = 2});
    shows(4.0f * mean((x * x + y * y < 1.0f).as(f32)), {3.14}, 0.02);
}

RECIPE("A random walk that is the same every time") {
    Tensor way = cumsum(randint(0, 2, {100}, {.seed = 7}) * 2 - 1);
    shows(max(abs(diff(way))), {1});
}

RECIPE("Steepest descent") {
    Tensor x = tensor({3.0f, -2.0f});
    for (Tensor step : loop(60)) {
        Tensor loss = sum(square(x - tensor({1.0f, 2.0f})));
        x -= 0.1f * grad(loss, x);
    }
    shows(x, {1, 2});
}

RECIPE("All first and second derivatives") {
    Tensor x = tensor({2.0f, 3.0f});
    Tensor y = x(0) * x(0) * x(1);
    shows(grad(y, x), {12, 4});
    shows(hessian(y, x), {6, 4, 4, 0});
}

RECIPE("A gradient for each sample") {
    Tensor w = tensor({1.0f, 2.0f}), samples = tensor({1.0f, 0.0f, 0.0f, 3.0f}, {2, 2});
    auto gradient_of = [&](const std::vector<Tensor>& s) { return grad(square(sum(w * s[0])), w); };
    shows(vmap(gradient_of, {samples}), {2, 0, 0, 36});
}

RECIPE("A low pass by the Fourier transform") {
    Tensor t = arange(32).as(f32) * (6.2831853f / 32.0f);
    Complex waves = fft(sin(t) + sin(10.0f * t));
    Tensor k = arange(32), low = ((k < 5) | (k > 27)).as(f32);
    Tensor back = ifft(Complex{waves.re * low, waves.im * low}).re;
    shows(max(abs(back - sin(t))), {0});
}

RECIPE("Edges in a picture") {
    Tensor picture = (index({4, 6}, 1) >= 3).as(f32);
    auto [i, j] = indices<2>(picture.shape());
    Tensor across = picture(i, j + 1) - picture(i, j - 1),
           down = picture(i + 1, j) - picture(i - 1, j);
    shows(sqrt(across * across + down * down)(0), {0, 0, 1, 1, 0, 0});
}

RECIPE("A picture at half its size, without speckles") {
    Tensor picture = full({4, 4}, 8.0f);
    picture(1, 1) = 1000.0f;
    shows(resize(median_filter(picture, 3), 2, 2, {.mode = ResizeMode::Area}), {8, 8, 8, 8});
}

RECIPE("A disc with a soft edge") {
    auto [i, j] = indices<2>(Shape{7, 7});
    Tensor distance = length(vec2((i - 3).as(f32), (j - 3).as(f32))) - 2.0f;
    Tensor disc = 1.0f - smoothstep(-0.5f, 0.5f, distance);
    shows(disc(3), {0, 0.5, 1, 1, 1, 0.5, 0});
}

RECIPE("One program for all sizes") {
    auto mean_of = compile([](Tensor x) { return mean(x); }, {f32("n")});
    shows(mean_of(tensor({1.0f, 2.0f})), {1.5});
    shows(mean_of(tensor({1.0f, 2.0f, 6.0f})), {3});
}

RECIPE("A kernel by hand: one invocation for each element") {
    Tensor x = tensor({1.0f, 2.0f, 3.0f}), y = zeros({3});
    kernel({3}, [&](Tensor i) { y(i) = x(2 - i) * 10.0f; });
    shows(y, {30, 20, 10});
}

// --- the page and the runs -----------------------------------------------------------------------

/// The recipes as this file has them.
std::string page() {
    std::ostringstream out;
    out << R"(# Cookbook

Short programs, each run by `tests/habits`, which writes this page. `shows(x, {..})` says what the elements of x then are.
They begin with `#include <firn/firn.h>`, those with pictures and vectors also with `<firn/shading.h>`, and `using namespace
firn;`.
)";
    std::ifstream in(FIRN_SOURCE_DIR "/tests/habits/cookbook_test.cpp");
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("RECIPE(\"", 0) == 0) {
            const size_t end = line.find("\") {");
            out << "\n## " << line.substr(8, end - 8) << "\n\n```cpp\n";
            inside = line.back() != '}';
            if (!inside) out << line.substr(end + 5, line.size() - end - 7) << "\n```\n";
        } else if (inside && line == "}") {
            out << "```\n";
            inside = false;
        } else if (inside)
            out << (line.size() > 4 ? line.substr(4) : "") << "\n";
    }
    return out.str();
}

TEST(Cookbook, ThePageHasEveryRecipe) {
    const std::string made = page();
    expect_page("compiler/cookbook.md", made);
    for (const Recipe& recipe : recipes())
        EXPECT_NE(made.find("## " + std::string(recipe.title) + "\n"), std::string::npos)
            << recipe.title;
}

void run_recipes(const Session& session) {
    EXPECT_GE(recipes().size(), 30u);
    for (const Recipe& recipe : recipes()) {
        SCOPED_TRACE(recipe.title);
        SessionScope scope(session);
        try {
            recipe.run();
        } catch (const UserError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Cookbook, HoldsByTheOracle) { run_recipes(Session::oracle()); }
TEST(Cookbook, HoldsByTheKernelInterpreter) { run_recipes(Session::interpreter()); }
TEST(Cookbook, HoldsOnTheDevice) {
    try {
        run_recipes(device_session({.validation = true}));
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace
}  // namespace firn
