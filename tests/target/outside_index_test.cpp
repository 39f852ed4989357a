// Kernels that would store outside wherever they came to it compile: no condition lets them.
#include <gtest/gtest.h>

#include "compiler/language.h"
#include "compiler/program/program.h"
#include "compiler/target/glsl/spirv.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// Rows go down as columns go up: where the column is inside, the row is not, and the flat place is
/// -1 for all.
template <class Store>
void expect_compiles(DType dtype, const Store& store) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(emitting(profile));
        auto f = compile(
            [&](Tensor x) {
                const Tensor row = 1 - index({3, 1}, 0), column = index({3, 1}, 0) - 2;
                store(x(row, column));
                return x;
            },
            {ArgSpec{dtype, {3, 1}}});
        for (const KernelInfo& kernel : f.program()->kernels)
            EXPECT_NO_THROW(glsl_to_spirv(kernel.artefact.text, kernel.name))
                << dtype.name() << "\n"
                << kernel.artefact.text;
        const Tensor stored = f(zeros({3, 1}, dtype));
        EXPECT_EQ(stored.to_vector<double>(), std::vector<double>(3));
    }
}

TEST(OutsideIndex, OfAStoreCompiles) {
    for (const DType dtype : {i32, f32, u8})
        expect_compiles(dtype, [](Access&& place) { std::move(place) += 1; });
}

TEST(OutsideIndex, OfWhatCombinesCompiles) {
    for (const DType dtype : {i32, f32}) {
        expect_compiles(dtype, [](Access&& place) { scatter_add(place, 1); });
        expect_compiles(dtype, [](Access&& place) { scatter_mul(place, 2); });
    }
}

}  // namespace
}  // namespace firn
