// A graph with a loop that takes no iteration where m is 3.
#pragma once

namespace firn {

inline constexpr const char* kEndingLoop = R"(graph(%0: f32[n, m]) {
    %1: i32 = Constant 0
    %2: i32 = SizeValue m - 3
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0 (%5: i32, %6: f32[n, m]) {
        %7: f32[n, m] = Sin %6
        yield %7
    }
    %8: f32[n, m] = Result %4 index=0
    %9: f32[n, m] = Cos %8
    return %9
}
)";

}  // namespace firn
