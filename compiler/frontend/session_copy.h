// Copies of bytes between the memories of two executors; internal.
#pragma once
#include <cstdint>

namespace firn {

class Executor;
class Memory;

/// Bytes that wait on the host at most while they are copied between two devices neither of whose
/// memories the host sees.
constexpr uint64_t kCopiedPiece = uint64_t{16} << 20;

/// Copies the first `bytes` of `source` to the beginning of `target`. Waits for what has written
/// `source` and for what uses `target`, not for other work of the two. What runs later sees the
/// copy.
void copy_between(Executor& from, const Memory& source, Executor& to, Memory& target,
                  uint64_t bytes);

}  // namespace firn
