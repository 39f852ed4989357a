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

/// Reads a file from its front.
class HdrReader {
  public:
    HdrReader(const std::string& path, std::string_view bytes) : path_(path), rest_(bytes) {}

    Samples read() {
        header();
        Samples out;
        const int orientation = sizes(out);
        out.channels = 3;
        // What a damaged header claims is asked for as rows come.
        std::vector<Rgbe> row(static_cast<size_t>(out.width));
        out.light.reserve(count_of(out));
        for (row_ = 0, rows_ = out.height; row_ < rows_; ++row_) {
            read_row(row);
            out.light.resize(out.light.size() + 3 * row.size());
            float* to = &out.light[out.light.size() - 3 * row.size()];
            for (const Rgbe& pixel : row)
                for (size_t c = 0; c < 3; ++c)
                    *to++ = static_cast<float>(pixel[c]) * unit_of(pixel[3]);
        }
        orient(out, orientation);
        return out;
    }

  private:
    [[noreturn]] void fail_hdr(const std::string& why) {
        fail_picture(path_, "cannot be read (" + why + "); name a whole Radiance HDR file");
    }

    static float unit_of(uint8_t exponent) {
        // The numbers of an exponent of 0 are 0, whatever the three bytes say.
        static const auto units = [] {
            std::array<float, 256> out{};
            for (int e = 1; e < 256; ++e) out[static_cast<size_t>(e)] = std::ldexp(1.0f, e - 136);
            return out;
        }();
        return units[exponent];
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

    void read_row(std::vector<Rgbe>& row) {
        const size_t width = row.size();
        const auto* first = reinterpret_cast<const uint8_t*>(rest_.data());
        const bool by_channel = width >= kShortestRun && width <= kLongestRun &&
                                rest_.size() >= 4 && first[0] == 2 && first[1] == 2 &&
                                first[2] < 128;
        if (!by_channel) return read_old_row(row);
        if (static_cast<size_t>(first[2] << 8 | first[3]) != width)
            fail_hdr("row " + std::to_string(row_ + 1) + " has another width than the picture");
        take(4);
        for (size_t channel = 0; channel < 4; ++channel)
            for (size_t x = 0; x < width;) {
                const size_t code = *take(1), run = code > 128 ? code - 128 : code;
                if (run == 0 || run > width - x)
                    fail_hdr("row " + std::to_string(row_ + 1) +
                             " has a run of no length, or one "
                             "that goes on behind its end");
                const uint8_t* from = take(code > 128 ? 1 : run);
                for (size_t k = 0; k < run; ++k, ++x) row[x][channel] = from[code > 128 ? 0 : k];
            }
    }

    /// Pixels one by one; one of red, green and blue 1 repeats the one before it, as often as its
    /// exponent says, of which several in a row are the digits of a number, the lowest first.
    void read_old_row(std::vector<Rgbe>& row) {
        int shift = 0;
        for (size_t x = 0; x < row.size();) {
            Rgbe pixel;
            std::memcpy(pixel.data(), take(4), 4);
            if (pixel[0] != 1 || pixel[1] != 1 || pixel[2] != 1) {
                row[x++] = last_ = pixel;
                shift = 0;
                continue;
            }
            const size_t count = shift < 32 ? size_t{pixel[3]} << shift : 0;
            if (count > row.size() - x)
                fail_hdr("row " + std::to_string(row_ + 1) +
                         " has a run that goes on behind its "
                         "end");
            std::fill_n(row.begin() + static_cast<long>(x), count, last_);
            x += count;
            shift += 8;
        }
    }

    std::string path_;
    std::string_view rest_;
    Rgbe last_{};
    int row_ = 0, rows_ = 0;
};

/// The nearest pixel whose largest number has 8 bits.
Rgbe rgbe_of(std::array<float, 3> rgb) {
    constexpr float kMost = 0x1.fep126f;                                      // 255/256 * 2^127
    for (float& value : rgb) value = value > 0 ? std::min(value, kMost) : 0;  // nan is 0
    const float most = std::max({rgb[0], rgb[1], rgb[2]});
    // As std::frexp has it, which takes ten times as long: the bits of a float's exponent are 1 to
    // 254, and numbers below 2^-126 are close enough to 0.
    int exponent = static_cast<int>(std::bit_cast<uint32_t>(most) >> 23) - 126;
    const auto power_of_2 = [](int e) {
        return std::bit_cast<double>(static_cast<uint64_t>(e + 1023) << 52);
    };
    if (exponent == -126) return {};
    // Rounded up, the largest number may need another bit.
    if (most * power_of_2(8 - exponent) >= 255.5) ++exponent;
    Rgbe out;
    const double scale = power_of_2(8 - exponent);
    for (size_t c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(rgb[c] * scale + 0.5);
    out[3] = static_cast<uint8_t>(exponent + 128);
    return out;
}

/// One channel of a row: runs of 4 and more equal bytes, and what lies between them.
void put_channel(std::string& to, std::string_view row) {
    constexpr size_t kWorthARun = 4, kMostRun = 127, kMostOthers = 128;
    const auto run_at = [&](size_t x) {
        size_t end = x + 1;
        while (end < row.size() && end - x < kMostRun && row[end] == row[x]) ++end;
        return end - x;
    };
    for (size_t x = 0; x < row.size();) {
        size_t others = x, run = 0;
        while (others < row.size() && (run = run_at(others)) < kWorthARun) others += run, run = 0;
        while (x < others) {
            const size_t count = std::min(others - x, kMostOthers);
            to += static_cast<char>(count);
            to += row.substr(x, count);
            x += count;
        }
        if (run == 0) continue;
        to += static_cast<char>(128 + run);
        to += row[x];
        x += run;
    }
}

}  // namespace

bool is_hdr(std::string_view bytes) { return bytes.starts_with("#?"); }

Samples read_hdr(const std::string& path, std::string_view bytes) {
    return HdrReader(path, bytes).read();
}

std::string hdr_bytes(int width, int height, size_t channels, const float* pixels) {
    std::string out = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(height) +
                      " +X " + std::to_string(width) + "\n";
    const auto row_size = static_cast<size_t>(width);
    // The most that it can be: a byte more for each 128, and four in front of a row.
    out.reserve(out.size() + static_cast<size_t>(height) * (4 * row_size + row_size / 32 + 8));
    const bool by_channel = width >= kShortestRun && width <= kLongestRun;
    const size_t green = std::min<size_t>(1, channels - 1),
                 blue = std::min<size_t>(2, channels - 1);
    std::array<std::string, 4> row;  // one channel behind the other
    for (std::string& channel : row) channel.resize(row_size);
    for (int y = 0; y < height; ++y) {
        if (by_channel)
            out += {2, 2, static_cast<char>(width >> 8), static_cast<char>(width & 255)};
        for (size_t x = 0; x < row_size; ++x, pixels += channels) {
            const Rgbe pixel = rgbe_of({pixels[0], pixels[green], pixels[blue]});
            if (by_channel)
                for (size_t c = 0; c < 4; ++c) row[c][x] = static_cast<char>(pixel[c]);
            else
                out.append(reinterpret_cast<const char*>(pixel.data()), pixel.size());
        }
        if (by_channel)
            for (const std::string& channel : row) put_channel(out, channel);
    }
    return out;
}

}  // namespace firn
