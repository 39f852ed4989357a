// Neighbours that each lane loads and stores, as rows that native code transposes.
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativeTransposes : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeTransposes, native_levels(), level_name);

/// The running sums of each of `rows` rows, the other way round.
Tensor turned(const Tensor& x, int64_t rows, int width, int64_t stride) {
    Tensor out = full({Size(rows * stride)}, 1).as(x.dtype());
    kernel({Size(rows)}, [&](const Tensor& i) {
        Tensor sum = Tensor(0).as(x.dtype());
        std::vector<Tensor> sums;
        for (int k = 0; k < width; ++k)
            sums.push_back(sum = sum + unchecked(x)(i * stride + k) * (k + 1));
        for (int k = 0; k < width; ++k)
            store(out(i * stride + (width - 1 - k)), sums[static_cast<size_t>(k)]);
    });
    return out;
}

TEST_P(NativeTransposes, RowsOfLanesAreThoseOfTheOracle) {
    for (const int64_t rows : {7, 160, 512})
        for (const int width : {8, 16, 17, 32})
            for (const int64_t more : {0, 3})
                for (const DType type : {f32, i32}) {
                    const int64_t stride = width + more;
                    const std::string what = std::to_string(rows) + " rows of " +
                                             std::to_string(width) + " of " +
                                             std::to_string(stride) + " " + type.name();
                    expect_equal(what, [&] {
                        return turned(small_numbers({Size(rows * stride)}, type), rows, width,
                                      stride);
                    });
                }
}

TEST_P(NativeTransposes, RunningSumsAreThoseOfTheOracle) {
    for (const int64_t count : {256, 5000, 65536})
        for (const bool reverse : {false, true})
            expect_equal(std::to_string(count), [&] {
                return cumsum(small_numbers({Size(count)}, f32), {.reverse = reverse});
            });
}

}  // namespace
}  // namespace firn
