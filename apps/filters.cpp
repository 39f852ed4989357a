// Any picture before and after a filter; the line between them follows the mouse.
#include <firn/files.h>
#include <firn/firn.h>

#include <filesystem>

using namespace firn;

namespace {

enum class Filter { Blur, Sharpen, Edges, Tone, Table };

/// The picture of the fluid's dye, beside the sources.
std::string ink() {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "../assets/fluid.png";
    return path.lexically_normal().string();
}

/// Blurs by a Gaussian of standard deviation `sigma`, first down and then across.
Tensor blurred(const Tensor& x, const Tensor& sigma) {
    const auto along = [&](const Tensor& of, bool down) {
        auto [i, j, c] = indices<3>(of.shape());
        Tensor sum = 0.0f * of, weights = 0.0f, reach = ceil(3.0f * sigma).as(i32);
        for (Tensor k : loop(-reach, reach + 1)) {
            Tensor weight = exp(-0.5f * square(k.as(f32) / sigma));
            sum += weight * (down ? of(i + k, j, c) : of(i, j + k, c));
            weights += weight;
        }
        return sum / weights;
    };
    return along(along(x, true), false);
}

/// The length of the gradient by Sobel's masks, in every channel.
Tensor edges(const Tensor& x) {
    auto [i, j, c] = indices<3>(x.shape());
    const auto across = [&](const Tensor& row) { return x(row, j + 1, c) - x(row, j - 1, c); };
    const auto down = [&](const Tensor& column) {
        return x(i + 1, column, c) - x(i - 1, column, c);
    };
    return 0.25f * sqrt(square(across(i - 1) + 2.0f * across(i) + across(i + 1)) +
                        square(down(j - 1) + 2.0f * down(j) + down(j + 1)));
}

/// Light as film shows it: K. Narkowicz, ACES Filmic Tone Mapping Curve (2016).
Tensor toned(const Tensor& x, const Tensor& exposure) {
    Tensor light = pow(x, 2.2f) * exp2(exposure);
    Tensor film = light * (2.51f * light + 0.03f) / (light * (2.43f * light + 0.59f) + 0.14f);
    return pow(clamp(film, 0.0f, 1.0f), 1 / 2.2f);
}

/// The table of colours in a .cube file; without one, warm lights and cold shadows.
ColourTable look(const std::string& file) {
    if (!file.empty()) return load_cube(file);
    auto [b, g, r] = indices<3>(Shape{17, 17, 17});
    vec3 colour = vec3(r.as(f32), g.as(f32), b.as(f32)) / 16.0f;
    Tensor light = dot(colour, vec3(0.2126f, 0.7152f, 0.0722f));
    return {.values = stack(colour + (light - 0.4f) * vec3(0.3f, 0.05f, -0.3f))};
}

}  // namespace

int main(int argc, char** argv) {
    App app({.name = "filters",
             .help = "A picture before and after a filter; the line between follows the mouse.",
             .headless_frames = 1});
    Param<File> file{app, "picture", ink(), {.help = "PNG or JPEG"}};
    Param<Filter> filter{
        app, "filter", Filter::Edges, {"blur", "sharpen", "edges", "tone", "table"}};
    Param<float> sigma{
        app,
        "sigma",
        3.0f,
        {.min = 0.3, .max = 20, .log = true, .unit = "pixels", .group = "Blur and sharpen"}};
    Param<float> amount{app, "amount", 1.5f, {.min = 0, .max = 5, .group = "Blur and sharpen"}};
    Param<float> exposure{
        app, "exposure", 1.0f, {.min = -4, .max = 4, .unit = "stops", .group = "Tone"}};
    Param<File> cube{app, "table", "", {.group = "Table", .help = "a table of colours (.cube)"}};
    return app.run(argc, argv, [&](Window& window) {
        auto blur = compile(blurred, {f32("h", "w", 3), f32()});
        auto edge = compile(edges, {f32("h", "w", 3)});
        auto tone = compile(toned, {f32("h", "w", 3), f32()});
        // A table of one or of three axes: compiled for what comes.
        auto grade = jit([](Tensor x, ColourTable table) { return colours_from_table(x, table); });
        auto sharpen =
            compile([](Tensor x, Tensor soft,
                       Tensor amount) { return clamp(x + amount * (x - soft), 0.0f, 1.0f); },
                    {f32("h", "w", 3), f32("h", "w", 3), f32()});
        // Bytes, as a screen shows them: a device may read no more than 128 MiB of a view at once.
        auto both = compile(
            [](Tensor before, Tensor after, Tensor split) {
                Tensor shown = select(index(before, 1).as(f32) < split, before, after);
                return (clamp(shown, 0.0f, 1.0f) * 255.0f + 0.5f).as(u8);
            },
            {f32("h", "w", 3), f32("h", "w", 3), f32()});
        Tensor picture = load_image(file);
        ColourTable table = look(cube);
        float split = 0.5f * float(picture.size(1));
        while (window.open()) {
            if (file.changed()) picture = load_image(file);
            if (cube.changed()) table = look(cube);
            if (window.mouse().inside) split = window.mouse().j;
            Tensor after = picture;
            switch (filter.value()) {
                case Filter::Blur: after = blur(picture, sigma); break;
                case Filter::Sharpen: after = sharpen(picture, blur(picture, sigma), amount); break;
                case Filter::Edges: after = edge(picture); break;
                case Filter::Tone: after = tone(picture, exposure); break;
                case Filter::Table: after = grade(picture, table); break;
            }
            const float height = float(picture.size(0));
            Drawing d;
            d.picture(both(picture, after, split));
            d.path(tensor({split, 0.0f, split, height}, {2, 2}), {.colour = {1, 1, 1, 0.8f}});
            window.show(d);
        }
    });
}
