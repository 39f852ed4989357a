// PNM files, as netpbm's manual pages pbm(5), pgm(5) and ppm(5) describe them.
#include "engine/pictures/pnm_file.h"

#include <algorithm>

namespace firn {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class PnmReader {
  public:
    PnmReader(const std::string& path, std::string_view bytes) : path_(path), rest_(bytes) {}

    Samples read() {
        const int kind = rest_[1] - '0';
        const bool as_text = kind <= 3, bits = kind == 1 || kind == 4;
        rest_.remove_prefix(2);
        Samples out;
        const uint32_t width = number(), height = number(), most = bits ? 1 : number();
        check_picture_size(path_, width, height);
        if (most < 1 || most > 65535)
            fail_pnm("its largest number would be " + std::to_string(most));
        out.width = static_cast<int>(width), out.height = static_cast<int>(height);
        out.channels = kind % 3 == 0 ? 3 : 1;
        if (!as_text) take(1);  // one blank stands before the pixels
        if (bits)
            read_bits(out, as_text);
        else if (most <= 255)
            read_numbers(out, out.narrow, as_text, most);
        else
            read_numbers(out, out.wide, as_text, most);
        return out;
    }

  private:
    [[noreturn]] void fail_pnm(const std::string& why) {
        fail_picture(path_, "cannot be read (" + why + "); name a whole PNM file");
    }

    const uint8_t* take(size_t count) {
        if (count > rest_.size()) fail_pnm("it is cut short");
        const auto* out = reinterpret_cast<const uint8_t*>(rest_.data());
        rest_.remove_prefix(count);
        return out;
    }

    /// Past blanks, and comments up to the ends of their lines.
    void skip_blanks() {
        while (!rest_.empty() && (is_blank(rest_[0]) || rest_[0] == '#'))
            rest_.remove_prefix(rest_[0] == '#' ? std::min(rest_.find('\n'), rest_.size()) : 1);
    }

    uint32_t number() {
        constexpr uint32_t kMost = 1'000'000'000;
        skip_blanks();
        if (rest_.empty()) fail_pnm("it is cut short");
        uint32_t out = 0;
        size_t digits = 0;
        for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
            out = std::min(out, kMost / 10) * 10 + static_cast<uint32_t>(rest_[digits] - '0');
        if (digits == 0) fail_pnm("it has something else where a number should be");
        rest_.remove_prefix(digits);
        return out;
    }

    /// A bit of 1 is black.
    void read_bits(Samples& out, bool as_text) {
        const size_t width = static_cast<size_t>(out.width), row_bytes = (width + 7) / 8;
        check_left(as_text ? count_of(out) : row_bytes * static_cast<size_t>(out.height));
        out.narrow.reserve(count_of(out));
        for (int y = 0; y < out.height; ++y) {
            const uint8_t* row = as_text ? nullptr : take(row_bytes);
            for (size_t x = 0; x < width; ++x) {
                bool black = false;
                if (as_text) {
                    skip_blanks();
                    black = *take(1) == '1';
                } else {
                    black = (row[x / 8] >> (7 - x % 8) & 1) != 0;
                }
                out.narrow.push_back(black ? 0 : 255);
            }
        }
    }

    /// Checks the size before memory is allocated for it.
    void check_left(size_t bytes) {
        if (bytes > rest_.size()) fail_pnm("it is cut short");
    }

    template <class T>
    void read_numbers(const Samples& picture, std::vector<T>& to, bool as_text, uint32_t most) {
        constexpr uint32_t kWhite = static_cast<T>(-1);
        const size_t count = count_of(picture);
        check_left(count * (as_text ? 1 : sizeof(T)));
        to.resize(count);
        const uint8_t* from = as_text ? nullptr : take(count * sizeof(T));
        for (size_t k = 0; k < count; ++k) {
            uint32_t value = 0;
            if (as_text)
                value = number();
            else
                for (size_t byte = 0; byte < sizeof(T); ++byte) value = value << 8 | *from++;
            if (most != kWhite) value = (std::min(value, most) * kWhite + most / 2) / most;
            to[k] = static_cast<T>(value);
        }
    }

    std::string path_;
    std::string_view rest_;
};

}  // namespace

bool is_pnm(std::string_view bytes) {
    return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
           (is_blank(bytes[2]) || bytes[2] == '#');
}

Samples read_pnm(const std::string& path, std::string_view bytes) {
    return PnmReader(path, bytes).read();
}

}  // namespace firn
