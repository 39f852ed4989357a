// How the indices of a lowered kernel's loads move with its ranges.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// How an index moves with a range.
enum class Stride { None, One, Other };

/// Nodes share their arguments: each is asked once for each range.
class Strides {
  public:
    explicit Strides(const KernelCode& code) : code_(code) {}
    Stride along(int id, int range);

  private:
    Stride find(const KernelNode& n, int range);

    const KernelCode& code_;
    std::map<std::pair<int, int>, Stride> known_;
};

/// Some load in a loop of at least `lanes` iterations walks along it, and is the same for
/// neighbours along x; the kernel's effects are stores.
bool reads_in_turn(KernelCode code, int64_t lanes);
/// Loads in loops walk in strides, and none along a loop.
bool strides_far(KernelCode code);
/// Loops do nothing but read columns: neighbours along x, rows far apart.
bool walks_columns(KernelCode code);

}  // namespace firn
