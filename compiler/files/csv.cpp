// Tables of numbers as text, read as a whole and written a row at a time.
#include "compiler/files/csv.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "compiler/files/file.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

/// A field without the blanks and quotes around it.
std::string_view trimmed(std::string_view field) {
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t'))
        field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t' || field.back() == '\r'))
        field.remove_suffix(1);
    return field;
}

/// The field without the quotes around it, if it has them; inside, two quotes stand for one.
std::string without_quotes(std::string_view field) {
    if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
    std::string out;
    for (size_t k = 1; k + 1 < field.size(); ++k) {
        out += field[k];
        if (field[k] == '"' && field[k + 1] == '"') ++k;
    }
    return out;
}

/// A name as a field: in quotes where it would be read otherwise (RFC 4180).
std::string as_field(const std::string& name, char separator) {
    if (name == trimmed(name) && name.find_first_of(std::string("\"\r\n") + separator) == name.npos)
        return name;
    std::string out = "\"";
    for (char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

/// The first row of a table with these names; nothing where there are none.
std::string header_of(const std::vector<std::string>& names, char separator) {
    std::string out;
    for (const std::string& name : names)
        out += as_field(name, separator) + (&name == &names.back() ? '\n' : separator);
    return out;
}

std::vector<std::string> fields_of(std::string_view row, char separator) {
    std::vector<std::string> out;
    bool quoted = false;
    size_t begin = 0;
    for (size_t k = 0; k <= row.size(); ++k) {
        if (k < row.size() && row[k] == '"') quoted = !quoted;
        if (k < row.size() && (quoted || row[k] != separator)) continue;
        out.push_back(without_quotes(trimmed(row.substr(begin, k - begin))));
        begin = k + 1;
    }
    return out;
}

/// The rounded value of a number beyond the range of f32: infinity, or 0.
float beyond_range(std::string_view number) {
    const bool negative = number.starts_with('-');
    const size_t e = std::min(number.find_first_of("eE"), number.size());
    const std::string_view digits = number.substr(negative, e - negative);
    // The power of ten of the first digit: the digits before the point, negative for zeros behind
    // it.
    const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
    const auto first = static_cast<int64_t>(digits.find_first_not_of("0."));
    const int64_t before = first < point ? point - first : point + 1 - first;
    std::string_view power = number.substr(std::min(e + 1, number.size()));
    if (power.starts_with('+')) power.remove_prefix(1);
    int64_t exponent = 0;
    const auto read = std::from_chars(power.data(), power.data() + power.size(), exponent);
    const bool huge = read.ec == std::errc::result_out_of_range;
    const bool large = huge ? !power.starts_with('-') : exponent > -before;
    const float size = large ? std::numeric_limits<float>::infinity() : 0.0f;
    return negative ? -size : size;
}

/// nan where the field is empty.
std::optional<float> number(std::string_view field) {
    if (field.empty()) return std::numeric_limits<float>::quiet_NaN();
    if (field.starts_with('+')) field.remove_prefix(1);
    float value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return beyond_range(field);
    if (error != std::errc{}) return std::nullopt;
    return value;
}

/// The UTF-8 mark with which some editors begin a text.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Reads one line after the other.
class CsvReader {
  public:
    CsvReader(const std::string& path, const CsvOptions& options)
        : path_(path), options_(options) {}

    Csv read(std::string_view text) {
        if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
        for (int line = 1; !text.empty(); ++line) {
            const size_t end = std::min(text.find('\n'), text.size());
            const std::string_view row = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (!trimmed(row).empty()) add(fields_of(row, options_.separator), line);
        }
        if (values_.empty()) refuse("file " + path_ + ": has no rows of numbers");
        const int64_t rows = int64_t(values_.size() / columns_);
        return {names_, tensor(values_, {rows, int64_t(columns_)})};
    }

  private:
    void add(const std::vector<std::string>& fields, int line) {
        const std::string where = "file " + path_ + ": line " + std::to_string(line);
        if (columns_ != 0 && fields.size() != columns_)
            refuse(where + " has " + std::to_string(fields.size()) + " fields, and those before " +
                   std::to_string(columns_));
        const bool first = columns_ == 0;
        columns_ = fields.size();
        const auto is_name = [](const std::string& field) { return !number(field); };
        if (first && options_.header.value_or(std::any_of(fields.begin(), fields.end(), is_name))) {
            names_ = fields;
            return;
        }
        std::vector<float> row;
        for (const std::string& field : fields) {
            const std::optional<float> value = number(field);
            if (!value)
                refuse(where + ", field " + std::to_string(row.size() + 1) + ": '" +
                       field.substr(0, 40) + "' is no number");
            row.push_back(*value);
        }
        values_.insert(values_.end(), row.begin(), row.end());
    }

    std::string path_;
    CsvOptions options_;
    size_t columns_ = 0;
    std::vector<std::string> names_;
    std::vector<float> values_;
};

}  // namespace

Csv load_csv(const std::string& path, const CsvOptions& options, SourceLine line) {
    LineScope at(line);
    const std::vector<std::byte> bytes = read_file(path);
    return CsvReader(path, options)
        .read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

namespace {

template <class T>
std::string table(const Tensor& x, size_t columns, char separator) {
    const std::vector<T> values = x.to_vector<T>();
    std::string text;
    for (size_t k = 0; k < values.size(); ++k) {
        char digits[32];
        // The sign of a nan says nothing.
        T value = values[k];
        if constexpr (std::is_floating_point_v<T>)
            if (std::isnan(value)) value = std::abs(value);
        const auto written = std::to_chars(digits, digits + sizeof digits, value);
        text.append(digits, written.ptr);
        text += (k + 1) % columns == 0 ? '\n' : separator;
    }
    return text;
}

}  // namespace

void save_csv(const std::string& path, const Tensor& x, const std::vector<std::string>& names,
              const CsvOptions& options, SourceLine line) {
    LineScope at(line);
    const Shape shape = x.shape();
    if (shape.empty() || shape.size() > 2)
        refuse("save_csv: the tensor is " + text(shape) +
               "; a table has rows and columns: index it, or reshape it to two axes");
    const size_t columns = shape.size() == 1 ? 1 : static_cast<size_t>(shape[1].constant());
    if (!names.empty() && names.size() != columns)
        refuse("save_csv: " + std::to_string(names.size()) + " names are given for " +
               std::to_string(columns) + " columns; give one for each, or none");
    const auto rows_as = [&]<class T>(T) { return table<T>(x, columns, options.separator); };
    const DType type = x.dtype();
    const std::string rows = type == f64       ? rows_as(0.0)
                             : type.is_float() ? rows_as(0.0f)
                             : type == u64     ? rows_as(uint64_t{0})
                                               : rows_as(int64_t{0});
    write_file(path, {header_of(names, options.separator), rows});
}

CsvWriter::CsvWriter(const std::string& path, const std::vector<std::string>& names,
                     SourceLine line)
    : path_(path),
      columns_(names.size()),
      file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    LineScope at(line);
    if (file_ < 0)
        refuse("file " + path_ + ": cannot be written: " + std::string(std::strerror(errno)));
    write(names.empty() ? "\n" : header_of(names, ','));
}

CsvWriter::~CsvWriter() {
    if (file_ >= 0) close(file_);
}

void CsvWriter::add(const std::vector<double>& row, SourceLine line) {
    LineScope at(line);
    if (row.size() != columns_)
        refuse("file " + path_ + ": a row of " + std::to_string(row.size()) +
               " numbers, and it has " + std::to_string(columns_) + " columns");
    std::string text;
    for (double value : row) {
        char digits[32];
        // The sign of a nan says nothing.
        std::snprintf(digits, sizeof digits, "%.9g", std::isnan(value) ? std::abs(value) : value);
        text += (text.empty() ? "" : ",") + std::string(digits);
    }
    write(text + "\n");
}

void CsvWriter::write(const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0)
            refuse("file " + path_ + ": cannot be written: " + std::string(std::strerror(errno)));
        done += static_cast<size_t>(count);
    }
}

}  // namespace firn
