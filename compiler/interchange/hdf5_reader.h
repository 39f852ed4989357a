// Reads HDF5 in a process of its own: the library does not withstand forged files; internal.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/confined_process.h"
#include "compiler/program/dtype.h"

namespace firn {

/// A data set whose shape and type fit its bytes, which are there for the time of a call.
struct Hdf5Set {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;  ///< as of StoredTensor
};

/// Reads one file after the other in the same process; a file that ends the process is followed by
/// a new one.
class Hdf5Reader {
  public:
    using Take = std::function<void(const Hdf5Set&)>;
    /// `work` replaces the work of the process, for tests of forged answers; empty: it reads.
    explicit Hdf5Reader(const ReplyTimeout& timeout = {}, ConfinedProcess::Work work = {})
        : timeout_(timeout), work_(std::move(work)) {}
    /// Gives `take` the data set of this name; without one each data set in alphabetical order.
    /// UserError where the file is refused, or ended the process; and in a build without HDF5.
    void read(const std::string& path, const std::optional<std::string>& name, const Take& take);
    /// Returns how the process ended in the last read; none: it did not.
    std::optional<ProcessEnded::Why> last_end() const { return last_end_; }
    /// Lets the process go; the next read starts another.
    void renew() { process_.reset(); }

  private:
    ReplyTimeout timeout_;
    ConfinedProcess::Work work_;
    std::unique_ptr<ConfinedProcess> process_;
    std::optional<ProcessEnded::Why> last_end_;
};

/// UserError of a build without the library.
[[noreturn]] void refuse_without_hdf5(const std::string& path);

}  // namespace firn
