// Checks functions against numbers of numpy and PyTorch, stored by numpy_expected.py and
// torch_expected.py.
#pragma once
#include <map>

#include "tests/algorithms/agreement.h"

namespace firn {

/// An array of numpy's: elements in row-major order.
struct NumpyArray {
    DType dtype = f32;
    Shape shape;
    std::vector<double> values;
};
struct NumpyCase {
    std::vector<NumpyArray> in, out;
};
/// The cases of numpy_expected.txt and torch_expected.txt by name, read once.
const std::map<std::string, NumpyCase>& numpy_cases();

using Tensors = std::vector<Tensor>;
/// Functions of the inputs of a case, in their order.
using Make = Tensors (*)(const Tensors&);

struct NumpyRow {
    const char* name;  // of the case
    Make make;
    double tolerance = 0;
    bool symbolic = true;  // compiled with symbols for all sizes but 1, too
    friend std::ostream& operator<<(std::ostream& out, const NumpyRow& row) {
        return out << row.name;
    }
};
inline std::string name_of_row(const ::testing::TestParamInfo<NumpyRow>& info) {
    return info.param.name;
}

/// In every way of evaluation, lazily and compiled, the results have the types, shapes and values
/// of the case.
void expect_numpy(const NumpyRow& row);

}  // namespace firn
