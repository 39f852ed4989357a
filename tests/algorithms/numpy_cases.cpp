// Reads the stored cases, and runs functions on their inputs.
#include "tests/algorithms/numpy_cases.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/program/size_env.h"

namespace firn {
namespace {

DType type_of(const std::string& name) {
    for (DType type : kAllTypes)
        if (name == type.name()) return type;
    throw std::runtime_error("no type is called " + name);
}

/// `f32 2,3 0 1 nan ..`: a type, sizes (`-` where there are none), elements.
NumpyArray array_of(std::istringstream& words) {
    NumpyArray out;
    std::string type, sizes, word;
    words >> type >> sizes;
    out.dtype = type_of(type);
    std::istringstream each(sizes == "-" ? "" : sizes);
    while (std::getline(each, word, ',')) out.shape.push_back(Size(std::atoi(word.c_str())));
    while (words >> word)
        out.values.push_back(out.dtype == f32
                                 ? static_cast<double>(std::strtof(word.c_str(), nullptr))
                                 : std::strtod(word.c_str(), nullptr));
    if (!(element_count(out.shape) == Size(out.values.size())))
        throw std::runtime_error("a stored array has not as many elements as its shape");
    return out;
}

void read_cases(const std::string& path, std::map<std::string, NumpyCase>& out) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path);
    NumpyCase* current = nullptr;
    for (std::string line, word; std::getline(in, line);) {
        std::istringstream words(line);
        words >> word;
        if (word == "case") {
            words >> word;
            current = &out[word];
        } else {
            (word == "in" ? current->in : current->out).push_back(array_of(words));
        }
    }
}

std::map<std::string, NumpyCase> read_cases() {
    std::map<std::string, NumpyCase> out;
    for (const char* of : {"numpy", "torch"})
        read_cases(std::string(FIRN_SOURCE_DIR "/tests/algorithms/") + of + "_expected.txt", out);
    return out;
}

Tensor tensor_of(const NumpyArray& array) {
    Tensor out = tensor(array.values, array.shape);
    if (array.dtype == f64) return out;
    // Other types are not converted from f64, which a device may lack.
    if (array.dtype.is_float())
        return tensor(Floats(array.values.begin(), array.values.end()), array.shape)
            .as(array.dtype);
    return tensor(Ints(array.values.begin(), array.values.end()), array.shape).as(array.dtype);
}

/// A symbol for every size but 1, which broadcasts: equal ones for equal sizes.
ArgSpec spec_of(const NumpyArray& array, bool symbolic) {
    ArgSpec spec{array.dtype, array.shape};
    for (Size& size : spec.shape)
        if (symbolic && !size.is(1)) size = Size::symbol("n" + size.text());
    return spec;
}

void expect_arrays(const Tensors& got, const std::vector<NumpyArray>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
        SCOPED_TRACE("result " + std::to_string(k));
        EXPECT_STREQ(got[k].dtype().name(), expected[k].dtype.name());
        EXPECT_EQ(text(got[k].shape()), text(expected[k].shape));
        expect_near(got[k].to_vector<double>(), expected[k].values, tolerance);
    }
}

}  // namespace

const std::map<std::string, NumpyCase>& numpy_cases() {
    static const std::map<std::string, NumpyCase> cases = read_cases();
    return cases;
}

void expect_numpy(const NumpyRow& row) {
    ASSERT_TRUE(numpy_cases().count(row.name))
        << row.name << " is not in numpy_expected.txt or torch_expected.txt";
    const NumpyCase& known = numpy_cases().at(row.name);
    for (const Way& way : ways()) {
        SessionScope scope(way.session);
        Tensors in;
        std::vector<ArgSpec> specs;
        for (const NumpyArray& array : known.in) {
            in.push_back(tensor_of(array));
            specs.push_back(spec_of(array, row.symbolic));
        }
        {
            SCOPED_TRACE(std::string(way.name) + ", lazily");
            expect_arrays(row.make(in), known.out, row.tolerance);
        }
        SCOPED_TRACE(std::string(way.name) + ", compiled");
        auto compiled = compile([&](const Tensors& args) { return row.make(args); }, specs);
        expect_arrays(compiled(in), known.out, row.tolerance);
    }
}

}  // namespace firn
