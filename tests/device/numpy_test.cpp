// Functions by numpy's names on the device give what the oracle gives.
#include <cmath>

#include "tests/device/on_device.h"

namespace firn {
namespace {

/// A fifth of them is nan.
Tensor with_gaps(const Shape& shape) {
    return select(random_tensor(shape, 3) < -0.6f, std::nanf(""), random_tensor(shape));
}
Tensor digits(int64_t count) { return tensor(random_ints(static_cast<size_t>(count), 2, -20, 20)); }

const DeviceCase kStatistics[] = {
    {"quantile",
     [] {
         return quantile(random_tensor({37, 50}), tensor({0.1f, 0.5f, 0.95f}), {.axis = 1});
     },
     1e-6},
    {"median", [] { return median(random_tensor({999})); }},
    {"nanvar",
     [] {
         return nanvar(with_gaps({40, 70}), {.axis = 1});
     },
     1e-5},
    {"nanmax",
     [] {
         return nanmax(with_gaps({40, 70}), {.axis = 0});
     }},
    {"corrcoef",
     [] {
         return corrcoef(random_tensor({9, 400}));
     },
     1e-5},
    {"searchsorted",
     [] { return searchsorted(sort(random_tensor({500})), random_tensor({3000}, 8)); }},
    {"interp",
     [] {
         return interp(random_tensor({3000}, 8), sort(random_tensor({500})),
                       random_tensor({500}, 9));
     },
     1e-3},
    {"unique", [] { return unique(digits(3000)); }},
    {"unique_counts", [] { return unique_all(digits(3000)).counts; }},
    {"unique_inverse", [] { return unique_all(digits(3000)).inverse; }},
};
const DeviceCase kDifferences[] = {
    {"diff",
     [] {
         return diff(random_tensor({30, 70}), {.n = 2, .axis = 0});
     },
     1e-6},
    {"gradient",
     [] {
         return gradient(random_tensor({30, 70}), {.spacing = 0.1f, .edge_order = 2});
     },
     1e-5},
    {"cumulative_trapezoid", [] { return cumulative_trapezoid(random_tensor({3000})); }, 1e-4},
    {"isclose",
     [] { return isclose(random_tensor({3000}), random_tensor({3000}) * 1.00001f).as(i32); }},
};
const DeviceCase kProducts[] = {
    {"tensordot",
     [] {
         return tensordot(random_tensor({9, 8, 7}), random_tensor({7, 8, 5}), {1, 2}, {1, 0});
     },
     1e-5},
    {"kron",
     [] {
         return kron(random_tensor({5, 6}), random_tensor({7, 8}));
     },
     1e-6},
    {"cross",
     [] {
         return cross(random_tensor({500, 3}), random_tensor({500, 3}, 8));
     },
     1e-6},
    {"matrix_power",
     [] {
         return matrix_power(random_tensor({4, 6, 6}), 5);
     },
     1e-4},
    {"convolve", [] { return convolve(random_tensor({700}), random_tensor({30})); }, 1e-5},
    {"correlate",
     [] { return correlate(random_tensor({30}), random_tensor({701}), ConvolveMode::Same); }, 1e-5},
};
Tensor spread() { return (random_tensor({3000}) * 20.0f) * exp(random_tensor({3000}, 8) * 20.0f); }
const DeviceCase kElementwiseCases[] = {
    {"asinh", [] { return asinh(spread()); }, 1e-5},
    {"acosh", [] { return acosh(spread()); }, 1e-5},
    {"atanh", [] { return atanh(random_tensor({3000}) * 1.1f); }, 1e-5},
    {"cbrt", [] { return cbrt(spread()); }, 1e-5},
    {"sinc", [] { return sinc(random_tensor({3000}) * 40.0f); }, 1e-5},
    {"nan_to_num", [] { return nan_to_num(log(random_tensor({3000}))); }, 1e-5},
    {"copysign", [] { return copysign(random_tensor({3000}), random_tensor({3000}, 8)); }},
    {"fmod_of_ugly",
     [] {
         return fmod(tensor({3.0f, INFINITY, 5.0f, -0.0f, -7.5f, NAN}),
                     tensor({INFINITY, 2.0f, 0.0f, 1.0f, 2.0f, 1.0f}));
     }},
    {"fmod", [] { return fmod(round(random_tensor({3000}) * 900.0f), 8.0f); }},
};
const DeviceCase kMakers[] = {
    {"logspace", [] { return logspace(-3, 3, 500); }, 1e-5},
    {"geomspace", [] { return geomspace(-1, -1000, 500); }, 1e-5},
    {"vander", [] { return vander(random_tensor({300}), 6); }, 1e-5},
    {"diag", [] { return diag(random_tensor({90}), {.offset = -3}); }},
    {"pad",
     [] {
         return pad(random_tensor({30, 20}), PadMode::Reflect,
                    {.before = {40, 3}, .after = {2, 70}});
     }},
    {"roll",
     [] {
         return roll(random_tensor({30, 20}), {4, -3}, {0, 1});
     }},
    {"rot90",
     [] {
         return rot90(random_tensor({30, 20}));
     }},
};

INSTANTIATE_TEST_SUITE_P(NumpyStatistics, OnDevice, ::testing::ValuesIn(kStatistics), name_of);
INSTANTIATE_TEST_SUITE_P(NumpyDifferences, OnDevice, ::testing::ValuesIn(kDifferences), name_of);
INSTANTIATE_TEST_SUITE_P(NumpyProducts, OnDevice, ::testing::ValuesIn(kProducts), name_of);
INSTANTIATE_TEST_SUITE_P(NumpyElementwise, OnDevice, ::testing::ValuesIn(kElementwiseCases),
                         name_of);
INSTANTIATE_TEST_SUITE_P(NumpyMakers, OnDevice, ::testing::ValuesIn(kMakers), name_of);

}  // namespace
}  // namespace firn
