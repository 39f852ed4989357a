// An image filter of one's own: before on the left, after on the right.
#include <firn/firn.h>

using namespace firn;

int main(int argc, char** argv) {
    App app({.name = "filter", .help = "A picture, sharpened and toned.", .headless_frames = 1});
    Param<File> file{app, "picture", "", {.help = "PNG or JPEG"}};
    Param<int> radius{app, "radius", 2, {.min = 0, .max = 8, .unit = "pixels"}};
    Param<float> sharpen{app, "sharpen", 1.0f, {.min = -1, .max = 4, .group = "Tone"}};
    Param<Colour> tint{app, "tint", {1, 0.9f, 0.8f}, {.group = "Tone"}};
    return app.run(argc, argv, [&](Window& window) {
        const Tensor picture = load_image(file);
        auto filter = compile(
            [](Tensor before, Tensor radius, Tensor sharpen, vec3 tint) {
                auto [i, j, c] = indices<3>(before.shape());
                Tensor blurred = before * 0.0f;
                for (Tensor di : loop(-radius, radius + 1))
                    for (Tensor dj : loop(-radius, radius + 1))
                        blurred += before(i + di, j + dj, c);
                blurred /= square(2.0f * radius.as(f32) + 1.0f);
                Tensor after = stack(tint) * (before + sharpen * (before - blurred));
                return concat({before, clamp(after, 0.0f, 1.0f)}, {.axis = 1});
            },
            {f32("h", "w", 3), i32(), f32(), f32(), f32(), f32()});
        while (window.open()) window.show(filter(picture, radius, sharpen, tint));
    });
}
