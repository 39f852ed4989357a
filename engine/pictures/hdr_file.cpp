// Radiance HDR files, with every read checked against the end of the file.
#include "engine/pictures/hdr_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace firn {
namespace {

using Rgbe = std::array<uint8_t, 4>;

/// Rows of other widths have no run lengths by channel.
constexpr int kShortestRun = 8, kLongestRun = 0x7fff;
/// Bytes of a row, whichever form it has.
constexpr size_t kShortestRow = 4;

/// Reads a file from its front.
class HdrReader {
  public:
    HdrReader(const std::string& path, std::string_view bytes) : path_(path), rest_(bytes) {}

    /// Reads up to the pixels; of `out` the size becomes known. Gives its orientation.
    int read_header(Samples& out) {
        header();
        const int orientation = sizes(out);
        out.channels = 3;
        rows_ = out.height;
        // Checks the size before memory is allocated for it.
        if (static_cast<size_t>(rows_) * kShortestRow > rest_.size())
            fail_hdr("its " + std::to_string(rest_.size()) + " bytes of pixels are too few for " +
                     std::to_string(rows_) + " rows");
        return orientation;
    }

    void read_pixels(size_t width, size_t channels, float* to) {
        Planes row;
        for (std::string& plane : row) plane.resize(width);
        for (row_ = 0; row_ < rows_; ++row_, to += width * channels) {
            read_row(row);
            if (channels == 3)
                put_row<3>(row, to);
            else
                put_row<4>(row, to);
        }
    }

  private:
    [[noreturn]] void fail_hdr(const std::string& why) {
        fail_picture(path_, "cannot be read (" + why + "); name a whole Radiance HDR file");
    }

    /// The bytes of a row, channel by channel.
    using Planes = std::array<std::string, 4>;

    template <size_t kChannels>
    static void put_row(const Planes& row, float* to) {
        // An exponent of 0 makes the numbers 0, for any values of the three bytes.
        static const auto units = [] {
            std::array<float, 256> out{};
            for (int e = 1; e < 256; ++e) out[static_cast<size_t>(e)] = std::ldexp(1.0f, e - 136);
            return out;
        }();
        const auto byte = [&](size_t c, size_t x) { return static_cast<uint8_t>(row[c][x]); };
        for (size_t x = 0; x < row[0].size(); ++x, to += kChannels) {
            const float unit = units[byte(3, x)];
            for (size_t c = 0; c < 3; ++c) to[c] = static_cast<float>(byte(c, x)) * unit;
            if (kChannels == 4) to[3] = 1;
        }
    }

    std::string_view line() {
        const size_t end = rest_.find('\n');
        if (end == rest_.npos) fail_hdr("its header has no end");
        const std::string_view out = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return out;
    }

    /// Up to the empty line.
    void header() {
        constexpr std::string_view kFormat = "FORMAT=";
        line();
        for (std::string_view each = line(); !each.empty(); each = line()) {
            if (each.ends_with('\r')) each.remove_suffix(1);
            if (each.empty()) return;
            if (!each.starts_with(kFormat)) continue;
            const std::string format(each.substr(kFormat.size()));
            if (format == "32-bit_rle_xyze")
                fail_picture(path_,
                             "its pixels are XYZ and not red, green and blue; convert it by "
                             "Radiance's ra_xyze -r");
            if (format != "32-bit_rle_rgbe") fail_hdr("its format is '" + format + "'");
        }
    }

    /// "-Y 256 +X 512" says that rows go down and pixels to the right.
    int sizes(Samples& out) {
        struct Order {
            std::string_view first, second;
            int orientation;
        };
        constexpr Order kOrders[] = {{"-Y", "+X", 1}, {"-Y", "-X", 2}, {"+Y", "-X", 3},
                                     {"+Y", "+X", 4}, {"+X", "-Y", 5}, {"+X", "+Y", 8},
                                     {"-X", "+Y", 7}, {"-X", "-Y", 6}};
        const std::string_view text = line();
        std::string_view words[4], left = text;
        for (std::string_view& word : words) {
            left.remove_prefix(std::min(left.find_first_not_of(" \t\r"), left.size()));
            word = left.substr(0, left.find_first_of(" \t\r"));
            left.remove_prefix(word.size());
        }
        const auto order = std::find_if(std::begin(kOrders), std::end(kOrders), [&](auto& each) {
            return each.first == words[0] && each.second == words[2];
        });
        int64_t rows = 0, columns = 0;
        for (auto [word, number] : {std::pair{words[1], &rows}, {words[3], &columns}})
            if (std::from_chars(word.data(), word.data() + word.size(), *number).ptr !=
                    word.data() + word.size() ||
                word.empty())
                *number = -1;
        if (order == std::end(kOrders) || rows < 0 || columns < 0)
            fail_hdr("'" + std::string(text.substr(0, 40)) + "' is no size such as -Y 256 +X 512");
        check_picture_size(path_, columns, rows);
        out.width = static_cast<int>(columns), out.height = static_cast<int>(rows);
        return order->orientation;
    }

    const uint8_t* take(size_t count) {
        if (count > rest_.size())
            fail_hdr("it ends in row " + std::to_string(row_ + 1) + " of " + std::to_string(rows_));
        const auto* out = reinterpret_cast<const uint8_t*>(rest_.data());
        rest_.remove_prefix(count);
        return out;
    }

    void read_row(Planes& row) {
        const size_t width = row[0].size();
        const auto* first = reinterpret_cast<const uint8_t*>(rest_.data());
        const bool by_channel = width >= kShortestRun && width <= kLongestRun &&
                                rest_.size() >= 4 && first[0] == 2 && first[1] == 2 &&
                                first[2] < 128;
        if (!by_channel) return read_old_row(row);
        if (static_cast<size_t>(first[2] << 8 | first[3]) != width)
            fail_hdr("row " + std::to_string(row_ + 1) + " has another width than the picture");
        take(4);
        for (std::string& plane : row)
            for (size_t x = 0; x < width;) {
                const size_t code = *take(1), run = code > 128 ? code - 128 : code;
                if (run == 0 || run > width - x)
                    fail_hdr("row " + std::to_string(row_ + 1) +
                             " has a run of no length, or one "
                             "that goes on behind its end");
                if (code > 128)
                    std::memset(&plane[x], *take(1), run);
                else
                    std::memcpy(&plane[x], take(run), run);
                x += run;
            }
    }

    /// Pixels one by one; one of red, green and blue 1 repeats the one before it, as often as its
    /// exponent says, of which several in a row are the digits of a number, the lowest first.
    void read_old_row(Planes& row) {
        const size_t width = row[0].size();
        int shift = 0;
        for (size_t x = 0; x < width;) {
            Rgbe pixel;
            std::memcpy(pixel.data(), take(4), 4);
            if (pixel[0] != 1 || pixel[1] != 1 || pixel[2] != 1) {
                for (size_t c = 0; c < 4; ++c) row[c][x] = static_cast<char>(pixel[c]);
                ++x;
                last_ = pixel;
                shift = 0;
                continue;
            }
            const size_t count = shift < 32 ? size_t{pixel[3]} << shift : 0;
            if (count > width - x)
                fail_hdr("row " + std::to_string(row_ + 1) +
                         " has a run that goes on behind its "
                         "end");
            for (size_t c = 0; c < 4; ++c) std::memset(row[c].data() + x, last_[c], count);
            x += count;
            shift += 8;
        }
    }

    std::string path_;
    std::string_view rest_;
    Rgbe last_{};
    int row_ = 0, rows_ = 0;
};

/// So many pixels are converted together, without branches, which compilers make vectors of.
constexpr size_t kBlock = 64;
struct PixelBlock {
    std::array<std::array<float, kBlock>, 3> light;
    std::array<std::array<uint8_t, kBlock>, 4> bytes;  ///< red, green, blue, exponent
};

/// Finds the nearest pixels whose largest number has 8 bits.
void convert(PixelBlock& block) {
    constexpr float kMost = 0x1.fep126f;  // 255/256 * 2^127
    for (auto& channel : block.light)
        for (float& value : channel) {
            value = value > 0 ? value : 0;  // nan is 0
            value = value < kMost ? value : kMost;
        }
    std::array<float, kBlock> scale;
    std::array<uint32_t, kBlock> whole;
    const auto put = [&](size_t channel) {
        for (size_t k = 0; k < kBlock; ++k)
            block.bytes[channel][k] = static_cast<uint8_t>(whole[k]);
    };
    for (size_t k = 0; k < kBlock; ++k) {
        const float red = block.light[0][k], green = block.light[1][k], blue = block.light[2][k];
        const float two = red > green ? red : green, most = two > blue ? two : blue;
        // The exponent is 1 to 253; numbers below 2^-126 are close enough to 0.
        const uint32_t exponent = std::bit_cast<uint32_t>(most) >> 23,
                       is_light = exponent != 0 ? ~0u : 0u;
        // In two factors, each of which is a float: the largest number becomes 128 to 256, and
        // where it is rounded up to that, 128.
        const float unit = std::bit_cast<float>((254 - exponent) << 23);
        const uint32_t up = most * unit * 128.0f >= 255.5f ? 1 : 0;
        scale[k] = std::bit_cast<float>((254 - exponent - up) << 23 & is_light);
        whole[k] = (exponent + 2 + up) & is_light;
    }
    put(3);
    for (size_t c = 0; c < 3; ++c) {
        for (size_t k = 0; k < kBlock; ++k)
            whole[k] = static_cast<uint32_t>(
                static_cast<int>(block.light[c][k] * scale[k] * 128.0f + 0.5f));
        put(c);
    }
}

/// Finds the next run of at least four equal bytes from `x` on: its begin and end, both the end of
/// the row if there is none.
std::pair<size_t, size_t> next_run(std::string_view row, size_t x) {
    constexpr size_t kMinRunLength = 4;
    // Four equal bytes have three equal pairs of neighbours, so every third pair is tested.
    for (size_t pair = x + 2; pair + 1 < row.size(); pair += 3) {
        if (row[pair] != row[pair + 1]) continue;
        size_t begin = pair, end = pair + 2;
        while (begin > x && row[begin - 1] == row[pair]) --begin;
        while (end < row.size() && row[end] == row[pair]) ++end;
        if (end - begin >= kMinRunLength) return {begin, end};
    }
    return {row.size(), row.size()};
}

/// Encodes one channel of a row as runs of equal bytes and the bytes between them. Returns the end.
char* put_channel(char* to, std::string_view row) {
    constexpr size_t kMostRun = 127, kMostOthers = 128, kMinRunLength = 4;
    for (size_t x = 0; x < row.size();) {
        auto [begin, end] = next_run(row, x);
        while (x < begin) {
            const size_t count = std::min(begin - x, kMostOthers);
            *to++ = static_cast<char>(count);
            std::memcpy(to, &row[x], count);
            to += count, x += count;
        }
        for (; end - x >= kMinRunLength; x += std::min(end - x, kMostRun)) {
            *to++ = static_cast<char>(128 + std::min(end - x, kMostRun));
            *to++ = row[x];
        }
    }
    return to;
}

}  // namespace

bool is_hdr(std::string_view bytes) { return bytes.starts_with("#?"); }

Samples read_hdr(const std::string& path, std::string_view bytes) {
    HdrReader reader(path, bytes);
    Samples out;
    const int orientation = reader.read_header(out);
    out.light.resize(count_of(out));
    reader.read_pixels(static_cast<size_t>(out.width), 3, out.light.data());
    orient(out, orientation);
    return out;
}

void read_hdr(const std::string& path, std::string_view bytes, int channels,
              const Callback<float*(int width, int height)>& room) {
    HdrReader reader(path, bytes);
    Samples size;
    if (reader.read_header(size) == 1)
        return reader.read_pixels(static_cast<size_t>(size.width), static_cast<size_t>(channels),
                                  room(size.width, size.height));
    const Samples turned = read_hdr(path, bytes);
    to_floats(turned, channels, room(turned.width, turned.height));
}

std::string hdr_bytes(int width, int height, size_t channels, const float* pixels) {
    std::string out = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(height) +
                      " +X " + std::to_string(width) + "\n";
    const auto row_size = static_cast<size_t>(width);
    const bool by_channel = width >= kShortestRun && width <= kLongestRun;
    const std::array<size_t, 3> from{0, std::min<size_t>(1, channels - 1),
                                     std::min<size_t>(2, channels - 1)};
    std::array<std::string, 4> row;  // one channel behind the other
    for (std::string& plane : row) plane.resize(row_size + kBlock);
    // The most that a row can be: a byte more for each 128, and four in front of it.
    std::string packed(4 + 4 * (row_size + row_size / 128 + 1), '\0');
    out.reserve(out.size() + static_cast<size_t>(height) * packed.size());
    PixelBlock block{};
    for (int y = 0; y < height; ++y, pixels += row_size * channels) {
        for (size_t x = 0; x < row_size; x += kBlock) {
            const size_t count = std::min(kBlock, row_size - x);
            for (size_t c = 0; c < 3; ++c)
                for (size_t k = 0; k < count; ++k)
                    block.light[c][k] = pixels[(x + k) * channels + from[c]];
            convert(block);
            for (size_t c = 0; c < 4; ++c) std::memcpy(&row[c][x], block.bytes[c].data(), kBlock);
        }
        char* to = packed.data();
        if (by_channel) {
            for (int byte : {2, 2, width >> 8, width & 255}) *to++ = static_cast<char>(byte);
            for (const std::string& plane : row)
                to = put_channel(to, std::string_view(plane).substr(0, row_size));
        } else {
            for (size_t x = 0; x < row_size; ++x)
                for (const std::string& plane : row) *to++ = plane[x];
        }
        out.append(packed.data(), to);
    }
    return out;
}

}  // namespace firn
