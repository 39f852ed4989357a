// Tables of numbers as text.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

// A file that is damaged, cut short or of another kind is a UserError with the reason and the
// place.

struct CsvOptions {
    char separator = ',';
};
/// A table of numbers.
struct Csv {
    std::vector<std::string> names;  // of the columns; none where the file has only numbers
    Tensor values;                   // f32 [rows, columns]
};
/// Reads a table: a line per row, and names in the first where that has a field which is no number.
/// Fields may stand in double quotes; empty lines are left out. UserError: no rows, rows of
/// different length, a field that is no number.
Csv load_csv(const std::string& path, const CsvOptions& options = {}, SourceLine line = here());
/// Writes a matrix, a row per line, or a vector as one column, each number with as many digits as
/// give it back; `names` of the columns come first where there are any. UserError: another rank,
/// another number of names than columns.
void save_csv(const std::string& path, const Tensor& x, const std::vector<std::string>& names = {},
              const CsvOptions& options = {}, SourceLine line = here());

/// A CSV file that grows while something runs: a row at a time, each written when it is added.
class CsvWriter {
  public:
    /// Begins the file anew, with the names of the columns. UserError where it cannot be written.
    CsvWriter(const std::string& path, const std::vector<std::string>& names,
              SourceLine line = here());
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
