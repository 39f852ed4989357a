// Shows the progress of a run on a terminal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/shared_ptr.h"

namespace firn {

/// A number with its name: "loss", "accuracy".
struct Metric {
    std::string name;
    double value = 0;
};

/// The numbers of a run as text: `step 120/400  loss 0.0312  accuracy 97.1  85.2 steps/s  3 s
/// left`. Without a total (0) it has no remaining time, without a speed (0) neither speed nor
/// remaining time.
///
/// Example: `progress_text(120, 400, {{"loss", 0.0312}}, 100)` is
/// `"step 120/400  loss 0.0312  100 steps/s  3 s left"`.
std::string progress_text(int64_t step, int64_t total, const std::vector<Metric>& metrics,
                          double steps_per_second);

/// A line on stderr that says how far a run is: where that is a terminal the line is rewritten, ten
/// times a second at most; else a line is written every ten seconds. The windows of its thread show
/// it, and answer meanwhile.
class Progress {
  public:
    /// `total`: steps; 0 if unknown.
    explicit Progress(int64_t total = 0);
    /// Ends the line, as finish().
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// So many steps are done. The speed is that of about the last second.
    void show(int64_t step, const std::vector<Metric>& metrics);
    /// The speed that is shown; 0 before there is one.
    double steps_per_second() const;
    /// Writes the newest numbers, and ends the line.
    void finish();

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
