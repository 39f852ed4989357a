// Tables of numbers as text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The format of a table as text.
struct CsvOptions {
    char separator = ',';  ///< stands between the fields of a row
    /// True: the first row holds the names of the columns. False: it holds numbers. Absent: it
    /// holds names if one of its fields is neither empty nor a number. Only load_csv reads this.
    std::optional<bool> header = {};
};
/// A table of numbers.
struct Csv {
    std::vector<std::string> names;  ///< of the columns; empty if the file has only numbers
    Tensor values;                   ///< f32 [rows, columns]
};
/// Reads a table: a line per row, and names in the first where that has a field which is no number,
/// or `options.header` says so. Fields may stand in double quotes, an empty one is nan; empty lines
/// are left out. Numbers are rounded to f32: what is beyond its range becomes infinity, or 0.
/// UserError with the line and the field: no rows, rows of different length, a field that is no
/// number.
///
/// Examples: after `save_csv("run.csv", tensor({1.0f, 0.5f}, {1, 2}), {"step", "loss"});`
/// `load_csv("run.csv").values` is `{{1, 0.5}}`, `load_csv("run.csv").names[1]` is `"loss"`.
Csv load_csv(const std::string& path, const CsvOptions& options = {}, SourceLine line = here());
/// Writes a matrix, a row per line, or a vector as one column, each number with as many digits as
/// give it back; `names` of the columns come first where there are any, in quotes where they need
/// them. UserError: another rank, another number of names than columns, a file that cannot be
/// written (an old file stays unchanged).
///
/// Example: after `save_csv("v.csv", tensor({1, -2, 3}));` `load_csv("v.csv").values` is
/// `{{1}, {-2}, {3}}`.
void save_csv(const std::string& path, const Tensor& x, const std::vector<std::string>& names = {},
              const CsvOptions& options = {}, SourceLine line = here());

/// A CSV file that grows while something runs: a row at a time, each written when it is added.
/// Numbers have 9 significant digits and commas between them.
///
/// Example: after `CsvWriter log("log.csv", {"step", "loss"}); log.add({1, 0.5}); log.add({2,
/// 0.25});` `load_csv("log.csv").values` is `{{1, 0.5}, {2, 0.25}}`.
class CsvWriter {
  public:
    /// Begins the file anew, with the names of the columns. UserError where it cannot be written.
    CsvWriter(const std::string& path, const std::vector<std::string>& names,
              SourceLine line = here());
    /// Closes the file.
    ~CsvWriter();
    CsvWriter(const CsvWriter&) = delete;
    CsvWriter& operator=(const CsvWriter&) = delete;

    /// A number per column. UserError: another count, or the disk is full.
    void add(const std::vector<double>& row, SourceLine line = here());

  private:
    void write(const std::string& text);
    std::string path_;
    size_t columns_;
    int file_ = -1;
};

}  // namespace firn
