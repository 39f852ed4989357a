// GIF89a: a palette by median cut for every frame, and its codes.
#include "engine/app/gif.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The shortest and the longest time of a frame, in hundredths of a second: players take less for a
/// mistake, and the format cannot hold more.
constexpr double kLeastHundredths = 2, kMostHundredths = 65535;
constexpr size_t kColours = 256, kLargestSide = 65535, kLongestBlock = 255;

/// A colour of 5 bits a channel, and how often it is there.
struct Bin {
    std::array<int, 3> colour{};
    uint32_t count = 0;
};

size_t bin_of(const uint8_t* pixel) {
    return static_cast<size_t>((pixel[0] >> 3) << 10 | (pixel[1] >> 3) << 5 | pixel[2] >> 3);
}

/// Bins that become one colour.
struct Box {
    size_t begin = 0, end = 0;
    int axis = 0, extent = 0;  // its axis of the largest extent, and that extent
    uint64_t count = 0;
};

Box box_of(const std::vector<Bin>& bins, size_t begin, size_t end) {
    Box box{begin, end};
    std::array<int, 3> low{31, 31, 31}, high{};
    for (size_t k = begin; k < end; ++k) {
        box.count += bins[k].count;
        for (size_t c = 0; c < 3; ++c) {
            low[c] = std::min(low[c], bins[k].colour[c]);
            high[c] = std::max(high[c], bins[k].colour[c]);
        }
    }
    for (size_t c = 0; c < 3; ++c)
        if (high[c] - low[c] > box.extent)
            box.axis = static_cast<int>(c), box.extent = high[c] - low[c];
    return box;
}

/// Cuts a box where half of its pixels lie on either side.
std::array<Box, 2> cut(std::vector<Bin>& bins, const Box& box) {
    const auto axis = static_cast<size_t>(box.axis);
    std::sort(bins.begin() + static_cast<std::ptrdiff_t>(box.begin),
              bins.begin() + static_cast<std::ptrdiff_t>(box.end), [&](const Bin& a, const Bin& b) {
                  return a.colour[axis] != b.colour[axis] ? a.colour[axis] < b.colour[axis]
                                                          : a.colour < b.colour;
              });
    uint64_t passed = 0;
    size_t middle = box.begin;
    while (middle + 1 < box.end && 2 * passed < box.count) passed += bins[middle++].count;
    middle = std::max(middle, box.begin + 1);
    return {box_of(bins, box.begin, middle), box_of(bins, middle, box.end)};
}

}  // namespace

Palette palette_of(const Picture& picture) {
    std::vector<Bin> all(size_t{1} << 15);
    // Means are of the pixels themselves, not of the bins.
    std::vector<std::array<uint64_t, 3>> sums(all.size());
    for (size_t at = 0; at < picture.rgba.size(); at += 4) {
        const size_t bin = bin_of(&picture.rgba[at]);
        ++all[bin].count;
        for (size_t c = 0; c < 3; ++c) sums[bin][c] += picture.rgba[at + c];
    }
    std::vector<Bin> bins;
    for (size_t k = 0; k < all.size(); ++k) {
        if (all[k].count == 0) continue;
        all[k].colour = {static_cast<int>(k >> 10), static_cast<int>(k >> 5 & 31),
                         static_cast<int>(k & 31)};
        bins.push_back(all[k]);
    }
    std::vector<Box> boxes;
    if (!bins.empty()) boxes.push_back(box_of(bins, 0, bins.size()));
    while (boxes.size() < kColours) {
        const auto largest =
            std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
                return a.count * static_cast<uint64_t>(a.extent) <
                       b.count * static_cast<uint64_t>(b.extent);
            });
        if (largest == boxes.end() || largest->extent == 0) break;
        const auto [first, second] = cut(bins, *largest);
        *largest = first;
        boxes.push_back(second);
    }
    Palette palette;
    palette.colours.resize(3 * kColours);
    palette.index.resize(all.size());
    for (size_t box = 0; box < boxes.size(); ++box) {
        std::array<uint64_t, 3> sum{};
        for (size_t k = boxes[box].begin; k < boxes[box].end; ++k) {
            const auto& [red, green, blue] = bins[k].colour;
            const auto bin = static_cast<size_t>(red << 10 | green << 5 | blue);
            palette.index[bin] = static_cast<uint8_t>(box);
            for (size_t c = 0; c < 3; ++c) sum[c] += sums[bin][c];
        }
        for (size_t c = 0; c < 3; ++c)
            palette.colours[3 * box + c] = static_cast<uint8_t>(sum[c] / boxes[box].count);
    }
    return palette;
}

std::vector<uint8_t> gif_codes(const std::vector<uint8_t>& indices) {
    constexpr uint32_t kClear = 256, kEnd = 257, kMostCodes = 4096;
    std::vector<uint8_t> bytes, out{8};  // 8: bits of an index
    uint32_t bits = 0, held = 0, width = 9, next = kEnd + 1;
    // For a code and an index, the code of both together; 0: none.
    std::vector<uint16_t> longer(kMostCodes * size_t{256});
    const auto emit = [&](uint32_t code) {
        bits |= code << held;
        for (held += width; held >= 8; held -= 8, bits >>= 8)
            bytes.push_back(static_cast<uint8_t>(bits & 255));
    };
    const auto restart = [&] {
        emit(kClear);
        std::fill(longer.begin(), longer.end(), uint16_t{0});
        width = 9, next = kEnd + 1;
    };
    restart();
    uint32_t code = kClear;
    for (uint8_t index : indices) {
        if (code == kClear) {
            code = index;
            continue;
        }
        uint16_t& known = longer[code * size_t{256} + index];
        if (known != 0) {
            code = known;
            continue;
        }
        emit(code);
        code = index;
        if (next == kMostCodes) {
            restart();
            continue;
        }
        if (next == uint32_t{1} << width) ++width;
        known = static_cast<uint16_t>(next++);
    }
    if (code != kClear) emit(code);
    emit(kEnd);
    if (held > 0) bytes.push_back(static_cast<uint8_t>(bits & 255));
    for (size_t at = 0; at < bytes.size(); at += kLongestBlock) {
        const size_t count = std::min(kLongestBlock, bytes.size() - at);
        out.push_back(static_cast<uint8_t>(count));
        out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
    }
    out.push_back(0);
    return out;
}

GifWriter::GifWriter(const std::string& path, double rate)
    : path_(path),
      temporary_(path + "." + std::to_string(getpid()) + ".part"),
      hundredths_(static_cast<int>(
          std::lround(std::clamp(100 / rate, kLeastHundredths, kMostHundredths)))) {}

GifWriter::~GifWriter() {
    if (!file_.is_open()) return;
    file_.close();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void GifWriter::put(const std::vector<uint8_t>& bytes) {
    file_.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    if (!file_)
        throw UserError("video " + path_ +
                        ": cannot be written (disk full?); name a file in a folder that exists "
                        "and has room");
}

void GifWriter::add(const Picture& picture) {
    const auto byte = [](int value, int place) {
        return static_cast<uint8_t>(value >> (8 * place) & 255);
    };
    const int width = picture.width, height = picture.height;
    if (!file_.is_open()) {
        if (static_cast<size_t>(std::max(width, height)) > kLargestSide)
            throw UserError("video " + path_ + ": a GIF has at most 65535 pixels a side");
        file_.open(temporary_, std::ios::binary);
        width_ = width, height_ = height;
        put({'G', 'I', 'F', '8', '9', 'a', byte(width, 0), byte(width, 1), byte(height, 0),
             byte(height, 1), 0, 0, 0});
        // The animation repeats forever.
        put({0x21, 0xff, 11, 'N', 'E', 'T', 'S', 'C', 'A', 'P', 'E', '2', '.', '0', 3, 1, 0, 0, 0});
    }
    if (width != width_ || height != height_)
        throw UserError("video " + path_ +
                        ": its frames have different sizes; keep the window's size");
    const Palette palette = palette_of(picture);
    std::vector<uint8_t> indices;
    indices.reserve(picture.rgba.size() / 4);
    for (size_t at = 0; at < picture.rgba.size(); at += 4)
        indices.push_back(palette.index[bin_of(&picture.rgba[at])]);
    put({0x21, 0xf9, 4, 0, byte(hundredths_, 0), byte(hundredths_, 1), 0, 0});
    put({0x2c, 0, 0, 0, 0, byte(width, 0), byte(width, 1), byte(height, 0), byte(height, 1), 0x87});
    put(palette.colours);
    put(gif_codes(indices));
}

std::string GifWriter::finish() {
    if (!file_.is_open()) return "nothing: no frame was drawn";
    put({0x3b});
    file_.close();
    std::error_code error;
    if (file_) std::filesystem::rename(temporary_, path_, error);
    if (!file_ || error) {
        std::filesystem::remove(temporary_, error);
        throw UserError("video " + path_ +
                        ": cannot be written; name a file in a folder that exists and has room");
    }
    return path_;
}

}  // namespace firn
