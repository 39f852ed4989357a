// Sizes and orientations of pictures.
#include "engine/pictures/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "compiler/base/error.h"

namespace firn {

void fail_picture(const std::string& path, const std::string& why) {
    throw UserError("picture " + path + ": " + why);
}

void check_picture_size(const std::string& path, int64_t width, int64_t height) {
    if (width > 0 && height > 0 && width <= kMostPixels / height) return;
    fail_picture(path, "its header says " + std::to_string(width) + " x " + std::to_string(height) +
                           " pixels, and 1 to " + std::to_string(kMostPixels) +
                           " can be read; name another file, or make it smaller");
}

namespace {

/// `convert` of every number, as so many channels; `opaque` where there is no alpha.
template <class From, class To, class Convert>
void spread(const std::vector<From>& from, size_t channels, size_t wanted, To opaque, To* to,
            const Convert& convert) {
    if (channels == wanted) {  // in one go, which compilers make vectors of
        std::transform(from.begin(), from.end(), to, convert);
        return;
    }
    const size_t pixels = from.size() / channels;
    const bool grey = channels < 3, alpha = channels % 2 == 0;
    const From* pixel = from.data();
    for (size_t k = 0; k < pixels; ++k, pixel += channels, to += wanted) {
        for (size_t c = 0; c < 3; ++c) to[c] = convert(pixel[grey ? 0 : c]);
        if (wanted == 4) to[3] = alpha ? convert(pixel[channels - 1]) : opaque;
    }
}

/// A number counts as a part of the largest one of its type.
float part_of(uint16_t value) { return static_cast<float>(value) / 65535.0f; }
float part_of(uint8_t value) {
    static const auto parts = [] {
        std::array<float, 256> out{};
        for (size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(k) / 255.0f;
        return out;
    }();
    return parts[value];
}

/// IEC 61966-2-1, in 8 bits.
uint8_t shown_light(float light) {
    if (!(light > 0)) return 0;  // nan too
    light = std::min(light, 1.0f);
    const float shown =
        light <= 0.0031308f ? 12.92f * light : 1.055f * std::pow(light, 1 / 2.4f) - 0.055f;
    return static_cast<uint8_t>(shown * 255 + 0.5f);
}

/// An orientation as steps from the stored picture: rows become columns, and then the order of rows
/// or of columns is reversed.
struct Turn {
    bool transposed, from_last_row, from_last_column;
};
constexpr Turn kTurns[] = {{false, false, false}, {false, false, true}, {false, true, true},
                           {false, true, false},  {true, false, false}, {true, true, false},
                           {true, true, true},    {true, false, true}};

template <class T>
std::vector<T> turned(const std::vector<T>& from, const Samples& picture, const Turn& turn) {
    const auto width = static_cast<size_t>(picture.width),
               height = static_cast<size_t>(picture.height),
               channels = static_cast<size_t>(picture.channels);
    std::vector<T> out(from.size());
    const size_t rows = turn.transposed ? width : height,
                 columns = turn.transposed ? height : width;
    T* to = out.data();
    for (size_t y = 0; y < rows; ++y)
        for (size_t x = 0; x < columns; ++x, to += channels) {
            size_t row = turn.transposed ? x : y, column = turn.transposed ? y : x;
            if (turn.from_last_row) row = height - 1 - row;
            if (turn.from_last_column) column = width - 1 - column;
            std::copy_n(from.data() + (row * width + column) * channels, channels, to);
        }
    return out;
}

/// Numbers of a TIFF block at places that are checked.
struct TiffBytes {
    const uint8_t* block;
    size_t size;
    bool big_endian;

    std::optional<uint32_t> number(uint64_t at, size_t width) const {
        if (at > size || width > size - at) return std::nullopt;
        uint32_t out = 0;
        for (size_t k = 0; k < width; ++k)
            out = out << 8 | block[at + (big_endian ? k : width - 1 - k)];
        return out;
    }
};

}  // namespace

void to_floats(const Samples& picture, int channels, float* to) {
    const auto own = static_cast<size_t>(picture.channels), wanted = static_cast<size_t>(channels);
    spread(picture.narrow, own, wanted, 1.0f, to, [](uint8_t value) { return part_of(value); });
    spread(picture.wide, own, wanted, 1.0f, to, [](uint16_t value) { return part_of(value); });
    spread(picture.light, own, wanted, 1.0f, to, [](float value) { return value; });
}

std::vector<uint8_t> to_rgba(const Samples& picture) {
    const auto own = static_cast<size_t>(picture.channels);
    std::vector<uint8_t> out(count_of(picture) / own * 4);
    const uint8_t opaque = 255;
    spread(picture.narrow, own, 4, opaque, out.data(), [](uint8_t value) { return value; });
    spread(picture.wide, own, 4, opaque, out.data(),
           [](uint16_t value) { return static_cast<uint8_t>((value * 255u + 32767) / 65535); });
    spread(picture.light, own, 4, opaque, out.data(), shown_light);
    return out;
}

void orient(Samples& picture, int orientation) {
    if (orientation < 2 || orientation > int(std::size(kTurns))) return;
    const Turn& turn = kTurns[orientation - 1];
    if (!picture.narrow.empty()) picture.narrow = turned(picture.narrow, picture, turn);
    if (!picture.wide.empty()) picture.wide = turned(picture.wide, picture, turn);
    if (!picture.light.empty()) picture.light = turned(picture.light, picture, turn);
    if (turn.transposed) std::swap(picture.width, picture.height);
}

int exif_orientation(const uint8_t* block, size_t size) {
    constexpr uint32_t kOrientation = 0x0112, kShort = 3, kEntryBytes = 12;
    if (size < 8 || block[0] != block[1] || (block[0] != 'I' && block[0] != 'M')) return 1;
    const TiffBytes bytes{block, size, block[0] == 'M'};
    const uint64_t first = *bytes.number(4, 4);
    const uint32_t entries = bytes.number(first, 2).value_or(0);
    for (uint64_t at = first + 2, k = 0; k < entries; ++k, at += kEntryBytes) {
        const auto tag = bytes.number(at, 2), type = bytes.number(at + 2, 2),
                   value = bytes.number(at + 8, 2);
        if (!value) return 1;
        if (tag == kOrientation && type == kShort) return static_cast<int>(*value);
    }
    return 1;
}

}  // namespace firn
