// Iterations of a loop that exchange elements at distances of powers of two, several of them in one
// kernel: butterflies of a higher radix.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_list.h"
#include "compiler/program/size_env.h"

namespace firn {

/// An axis of a kernel's points: a range of its grid or a dimension in one, or a group's range and
/// that of its invocations.
struct PointAxis {
    RangeId grid, group, lane;
    int64_t group_size = 1;
    Size extent;
    int64_t stride = 1;  // in its range
};

/// A loop of one kernel, the stages of a transform or a sorting network: it reads buffers and
/// writes others, which take their names after each iteration. Elements 2^exponent apart meet, and
/// the exponent grows or falls by 1 from iteration to iteration.
struct RadixStages {
    const KernelCode* code = nullptr;
    std::string induction;
    std::map<int, int> next;  // the program's buffers: the one read, and the one written for it
    std::vector<PointAxis> axes;
    size_t axis = 0;  // along which the elements lie that meet
    Size exponent;    // of the induction
    bool falls = false;
    int64_t per_point = 1;  // elements of each buffer that a point writes
};

/// Bands that an invocation takes side by side where distances are multiples of as many.
inline constexpr int kBandsInBlock = 4;

/// The distance of a band's elements from one another.
enum class BandDistance {
    Any,
    One,     // a band is a run of neighbours
    Blocks,  // a multiple of kBandsInBlock
};

/// Returns all stages that the loop of the program may be; join_stages tries each.
std::vector<RadixStages> find_stages(const Program& program, const ListedLoop& loop);

/// The exponent of the least distance of `count` iterations from `first` on.
Size least_exponent(const RadixStages& stages, int count, const Size& first);

struct JoinedStages {
    KernelCode code;    // Ready
    int64_t scale = 1;  // elements of a buffer between neighbours along the axis
};
/// Makes one kernel of `count` iterations from `first` on. Let 2^exponent be the least of their
/// distances: elements whose indices along the axis differ by multiples of it, and by less than
/// 2^count of it, are a band: an invocation loads one, runs the iterations on it in registers, and
/// stores it. Returns nothing if it cannot prove that each iteration reads only the band and writes
/// each of its elements once.
///
/// The caller makes sure that 2^exponent is at least 1 and, times the points of a band, divides the
/// extent of the axis, and that `distance` is right.
std::optional<JoinedStages> join_stages(const RadixStages& stages, int count, const Size& first,
                                        BandDistance distance, const SymbolFacts& facts);

}  // namespace firn
