// Makes assets/fluid.png, the dye that apps/fluid starts from: drops of ink on water, by
// mathematics.
#include <firn/firn.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace firn;

namespace {

/// Ink that was dropped: it pushes aside all that was there before, and keeps its area.
struct Drops {
    std::vector<float> y, x, area;  // area: radius squared; the shorter side of the picture is 1
    std::vector<int> colour;
};

/// Numbers in [0, 1) that are the same everywhere.
struct Numbers {
    uint32_t state = 1;
    float next() {
        state = state * 747796405u + 2891336453u;
        uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
        return static_cast<float>((word ^ (word >> 22)) >> 8) / 16777216.0f;
    }
};

/// Rings around a few places, each of drops in turn of two or three colours.
Drops rings(float width) {
    Drops drops;
    Numbers numbers{7};
    struct Place {
        float y, x;
        int first;
    };
    std::vector<Place> places;
    for (int k = 0; k < 13; ++k)
        places.push_back({(k % 2 ? 0.70f : 0.20f) + 0.16f * numbers.next(),
                          width * (float(k) + 0.2f + 0.6f * numbers.next()) / 13,
                          static_cast<int>(6 * numbers.next())});
    for (int drop = 0; drop < 12; ++drop)
        for (const Place& place : places) {
            float radius = 0.035f + 0.055f * numbers.next();
            drops.y.push_back(place.y + 0.02f * (numbers.next() - 0.5f));
            drops.x.push_back(place.x + 0.02f * (numbers.next() - 0.5f));
            drops.area.push_back(radius * radius);
            drops.colour.push_back(1 + (place.first + (drop % 2 ? 0 : drop / 2)) % 6);
        }
    return drops;
}

/// The ink at every point of a picture, followed back through the drops, the newest first: a drop
/// of area a around c moved what was at p to c + (p - c) sqrt(1 + a / |p - c|^2).
Tensor marbled(int h, int w, const Drops& drops) {
    auto [i, j] = indices<2>(Shape{h, w});
    Tensor y = (i + 0.5f) / float(h), x = (j + 0.5f) / float(h);
    Tensor centre_y = tensor(drops.y), centre_x = tensor(drops.x), area = tensor(drops.area);
    Tensor colours = tensor(drops.colour);
    Tensor ink = zeros({h, w}, i32);
    int count = static_cast<int>(drops.y.size());
    for (Tensor drop : loop(count)) {
        Tensor k = count - 1 - drop;
        Tensor dy = y - centre_y(k), dx = x - centre_x(k),
               distance = max(dy * dy + dx * dx, 1e-12f);
        Tensor shrink = sqrt(max(1.0f - area(k) / distance, 0.0f));
        ink = select((ink == 0) & (distance < area(k)), colours(k), ink);
        y = centre_y(k) + dy * shrink;
        x = centre_x(k) + dx * shrink;
    }
    return ink;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s OUT.png\n", argv[0]);
        return 2;
    }
    try {
        constexpr int kHeight = 720, kWidth = 1280,
                      kSamples = 3;  // samples along each side of a pixel
        Tensor ink = marbled(kHeight * kSamples, kWidth * kSamples, rings(float(kWidth) / kHeight));
        Tensor palette =
            tensor({0.055, 0.075, 0.150, 0.035, 0.330, 0.420, 0.930, 0.360, 0.250, 0.960, 0.930,
                    0.860, 0.970, 0.690, 0.250, 0.120, 0.130, 0.340, 0.300, 0.660, 0.640},
                   {7, 3});
        Tensor colours = palette(unsqueeze(ink, 2), arange(3));
        Tensor pixels = reshape(colours, {kHeight, kSamples, kWidth, kSamples, 3});
        save_image(argv[1], mean(pixels, {.axis = {1, 3}}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
