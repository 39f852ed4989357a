// Tables of colours as text, a colour per line.
#include "compiler/files/cube.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "compiler/files/file.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

constexpr size_t kMostOfOneAxis = 65536, kMostOfThreeAxes = 256;  // of the specification

/// Reads one line after the other.
class CubeReader {
  public:
    explicit CubeReader(const std::string& path) : path_(path) {}

    ColourTable read(std::string_view text) {
        for (line_ = 1; !text.empty(); ++line_) {
            const size_t end = std::min(text.find('\n'), text.size());
            add(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (size_ == 0) whole_fault("it has no LUT_1D_SIZE and no LUT_3D_SIZE");
        if (values_.size() != 3 * rows())
            whole_fault("it has " + std::to_string(values_.size() / 3) + " colours in place of " +
                        std::to_string(rows()));
        for (size_t c = 0; c < 3; ++c)
            if (!(lower_[c] < upper_[c])) whole_fault("its domain has no width");
        const auto n = static_cast<int64_t>(size_);
        return {.values = tensor(values_, axes_ == 3 ? Shape{n, n, n, 3} : Shape{n, 3}),
                .lower = tensor(lower_),
                .upper = tensor(upper_)};
    }

  private:
    [[noreturn]] void whole_fault(const std::string& why) const {
        refuse("file " + path_ + ": is no table of colours that can be read: " + why);
    }
    [[noreturn]] void line_fault(const std::string& why) const {
        whole_fault("line " + std::to_string(line_) + " " + why);
    }
    size_t rows() const { return axes_ == 3 ? size_ * size_ * size_ : size_; }

    void add(std::string_view line) {
        constexpr std::string_view kBlanks = " \t\r";
        std::vector<std::string_view> words;
        for (size_t at = line.find_first_not_of(kBlanks); at < line.size();) {
            const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
            words.push_back(line.substr(at, end - at));
            at = line.find_first_not_of(kBlanks, end);
        }
        if (words.empty() || words[0][0] == '#' || words[0] == "TITLE") return;
        if (words[0] == "LUT_1D_SIZE" || words[0] == "LUT_3D_SIZE")
            set_size(words, words[0] == "LUT_3D_SIZE" ? 3 : 1);
        else if (words[0] == "DOMAIN_MIN")
            lower_ = three(words, 1);
        else if (words[0] == "DOMAIN_MAX")
            upper_ = three(words, 1);
        else if (words[0] == "LUT_1D_INPUT_RANGE" || words[0] == "LUT_3D_INPUT_RANGE")
            set_range(words);
        else
            add_colour(words);
    }

    void set_size(const std::vector<std::string_view>& words, int axes) {
        if (size_ > 0) line_fault("begins a second table; write each to a file of its own");
        const size_t most = axes == 3 ? kMostOfThreeAxes : kMostOfOneAxis;
        size_t size = 0;
        if (words.size() == 2)
            std::from_chars(words[1].data(), words[1].data() + words[1].size(), size);
        if (size < 2 || size > most)
            line_fault("has a size that is not from 2 to " + std::to_string(most));
        size_ = size;
        axes_ = axes;
    }
    void set_range(const std::vector<std::string_view>& words) {
        if (words.size() != 3) line_fault("has no two numbers");
        lower_.fill(number(words[1]));
        upper_.fill(number(words[2]));
    }
    void add_colour(const std::vector<std::string_view>& words) {
        const std::array<float, 3> colour = three(words, 0);
        if (size_ == 0) line_fault("is a colour before LUT_1D_SIZE or LUT_3D_SIZE");
        if (values_.size() == 3 * rows()) line_fault("is a colour more than the table has");
        values_.insert(values_.end(), colour.begin(), colour.end());
    }
    std::array<float, 3> three(const std::vector<std::string_view>& words, size_t first) const {
        if (words.size() != first + 3)
            line_fault("begins with '" + std::string(words[0].substr(0, 40)) +
                       "' and is no row of three numbers");
        return {number(words[first]), number(words[first + 1]), number(words[first + 2])};
    }
    float number(std::string_view word) const {
        std::string_view digits = word;
        if (digits.starts_with('+')) digits.remove_prefix(1);
        float value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error == std::errc{} && end == digits.data() + digits.size()) return value;
        line_fault("has '" + std::string(word.substr(0, 40)) + "' in place of a number");
    }

    std::string path_;
    size_t line_ = 0, size_ = 0;
    int axes_ = 1;
    std::array<float, 3> lower_{0, 0, 0}, upper_{1, 1, 1};
    std::vector<float> values_;
};

void add_cube_row(std::string& to, const float* values) {
    for (int c = 0; c < 3; ++c) {
        std::array<char, 40> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), values[c]);
        to.append(digits.data(), end.ptr);
        to += c < 2 ? ' ' : '\n';
    }
}

/// Returns a number for each channel, from one number for all or one for each.
std::vector<float> for_channels(const std::string& path, const Tensor& x) {
    std::vector<float> out = x.to_vector<float>();
    if (out.size() == 1) out.resize(3, out[0]);
    if (out.size() != 3)
        refuse("file " + path + ": the domain of a table has one number, or one for each channel");
    return out;
}

}  // namespace

ColourTable load_cube(const std::string& path, SourceLine line) {
    LineScope at(line);
    const std::vector<std::byte> bytes = read_file(path);
    return CubeReader(path).read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void save_cube(const std::string& path, const ColourTable& table, SourceLine line) {
    LineScope at(line);
    const Shape shape = table.values.shape();
    const auto size_at = [&](size_t axis) { return shape[axis].constant(); };
    const bool three = shape.size() == 4;
    const int64_t most = static_cast<int64_t>(three ? kMostOfThreeAxes : kMostOfOneAxis);
    if ((shape.size() != 2 && !three) || size_at(shape.size() - 1) != 3 || size_at(0) < 2 ||
        size_at(0) > most || (three && (size_at(1) != size_at(0) || size_at(2) != size_at(0))))
        refuse("file " + path + ": the table is " + text(shape) +
               "; it must be [n, 3] with n from 2 to 65536, or [n, n, n, 3] with n from 2 to 256");
    const std::vector<float> lower = for_channels(path, table.lower),
                             upper = for_channels(path, table.upper),
                             values = table.values.to_vector<float>();
    for (size_t c = 0; c < 3; ++c)
        if (!(lower[c] < upper[c]))
            refuse("file " + path +
                   ": the domain of the table has no width; `upper` must be above "
                   "`lower`");
    std::string out = std::string(three ? "LUT_3D_SIZE " : "LUT_1D_SIZE ") +
                      std::to_string(size_at(0)) + "\nDOMAIN_MIN ";
    add_cube_row(out, lower.data());
    out += "DOMAIN_MAX ";
    add_cube_row(out, upper.data());
    for (size_t k = 0; k < values.size(); k += 3) add_cube_row(out, &values[k]);
    write_file(path, {out});
}

}  // namespace firn
