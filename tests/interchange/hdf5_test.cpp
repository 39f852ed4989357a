// HDF5: what it keeps, files that h5py writes and reads, and refusals.
#include "compiler/interchange/interchange.h"
#include "tests/files/file_test.h"

namespace firn {
namespace {

class Hdf5Files : public FileTest {
  protected:
    void SetUp() override {
        if (!has_hdf5()) GTEST_SKIP() << "this build has no HDF5 (libhdf5-dev)";
    }
};

TEST_F(FileTest, WithoutHdf5TheCallSaysSo) {
    if (has_hdf5()) GTEST_SKIP() << "this build has HDF5";
    expect_parts(user_error([&] {
                     save_hdf5(path("x.h5"), {{"u", zeros({2})}});
                 }),
                 {"x.h5", "libhdf5-dev", "hdf5_test.cpp"});
    expect_parts(user_error([&] { load_hdf5(path("x.h5"), "u"); }), {"x.h5", "libhdf5-dev"});
    expect_parts(user_error([&] { load_hdf5(path("x.h5")); }), {"x.h5", "libhdf5-dev"});
}

std::vector<NamedTensor> one_of_each_type() {
    std::vector<NamedTensor> out;
    for (DType dtype : kAllTypes)
        if (dtype != bf16)
            out.push_back({dtype.name(), tensor({0, 1, 100, 1, 0, 2}, {3, 2}).as(dtype)});
    return out;
}

TEST_F(Hdf5Files, KeepsEveryTypeAndShape) {
    for (const SaveHdf5Options& options :
         {SaveHdf5Options{}, SaveHdf5Options{.chunks = {2, 1}}, SaveHdf5Options{.deflate = 6}}) {
        std::vector<NamedTensor> all = one_of_each_type();
        all.push_back({"run/7/none", zeros({0, 4})});
        all.push_back({"run/7/one", Tensor(0.1)});
        save_hdf5(path("x.h5"), all, options);
        for (const NamedTensor& each : all) {
            const Tensor x = load_hdf5(path("x.h5"), each.name);
            EXPECT_EQ(x.dtype(), each.value.dtype()) << each.name;
            EXPECT_EQ(Shape(x.shape()), Shape(each.value.shape())) << each.name;
            EXPECT_EQ(x.to_vector<double>(), each.value.to_vector<double>()) << each.name;
        }
        EXPECT_EQ(load_hdf5(path("x.h5")).size(), all.size());
    }
    EXPECT_EQ(load_hdf5(path("x.h5"), "/run/7/one").item<float>(), 0.1f);
}

TEST_F(Hdf5Files, H5pyReadsWhatIsWritten) {
    if (!python_has("h5py")) GTEST_SKIP() << "python3-h5py is not installed";
    std::vector<NamedTensor> all = one_of_each_type();
    all.push_back({"run/speed", full({4, 6}, 0.5f)});
    save_hdf5(path("x.h5"), all, {.chunks = {1, 2}, .deflate = 4});
    EXPECT_EQ(python(R"(
import sys, h5py
f = h5py.File(sys.argv[1] + '/x.h5', 'r')
print(sorted(f), f['run/speed'].chunks, f['run/speed'].compression, f['run/speed'][()].sum())
print({str(v.dtype): v[()].ravel().tolist() for k, v in sorted(f.items()) if k in ('bool', 'f16', 'i8', 'u64')})
)"),
              "['bool', 'f16', 'f32', 'f64', 'i16', 'i32', 'i64', 'i8', 'run', 'u16', 'u32', "
              "'u64', 'u8'] (1, 2) gzip 12.0\n"
              "{'bool': [False, True, True, True, False, True], 'float16': [0.0, 1.0, 100.0, 1.0, "
              "0.0, 2.0], "
              "'int8': [0, 1, 100, 1, 0, 2], 'uint64': [0, 1, 100, 1, 0, 2]}\n");
}

TEST_F(Hdf5Files, ReadsWhatH5pyWrites) {
    if (!python_has("h5py")) GTEST_SKIP() << "python3-h5py is not installed";
    EXPECT_EQ(python(R"(
import sys, h5py, numpy
f = h5py.File(sys.argv[1] + '/x.h5', 'w')
f['big'] = numpy.array([[1, -2], [300, 4]], '>i4')
f['half'] = numpy.array([1.5, -2], '>f2')
f['truth'] = numpy.array([True, False])
f.create_dataset('packed', data=numpy.arange(1000, dtype='f8'), chunks=(64,), compression='gzip', shuffle=True, fletcher32=True)
f['number'] = 2.5
f['text'] = 'words'
f['complex'] = numpy.array([1j])
f['nothing'] = h5py.Empty('f')
f['a/b/c'] = numpy.arange(3, dtype='u2')
f['again'] = h5py.SoftLink('/number')
)"),
              "");
    const std::string x = path("x.h5");
    EXPECT_EQ(load_hdf5(x, "big").to_vector<int>(), (Ints{1, -2, 300, 4}));
    EXPECT_EQ(load_hdf5(x, "half").to_vector<float>(), (Floats{1.5f, -2}));
    EXPECT_EQ(load_hdf5(x, "truth").dtype(), boolean);
    EXPECT_EQ(load_hdf5(x, "packed").to_vector<double>()[999], 999);
    EXPECT_EQ(load_hdf5(x, "number").item<double>(), 2.5);
    EXPECT_EQ(load_hdf5(x, "a/b/c").dtype(), u16);
    for (const char* name : {"text", "complex", "nothing"})
        expect_parts(user_error([&] { load_hdf5(x, name); }), {"x.h5", name, "hdf5_test.cpp"});
    expect_parts(user_error([&] { load_hdf5(x, "none"); }), {"'none'", "a/b/c, big"});
}

TEST_F(Hdf5Files, RefusesWhatIsDamaged) {
    save_hdf5(path("x.h5"), one_of_each_type(), {.deflate = 9});
    const std::string whole = content(path("x.h5"));
    expect_parts(user_error([&] { load_hdf5(written("y.h5", "no such thing")); }),
                 {"y.h5", "is no HDF5 file", "hdf5_test.cpp"});
    expect_parts(user_error([&] { load_hdf5(path("none.h5")); }), {"none.h5", "No such file"});
    for (size_t size : {size_t{0}, size_t{9}, size_t{100}, whole.size() / 2, whole.size() - 1})
        expect_parts(user_error([&] { load_hdf5(written("y.h5", whole.substr(0, size))); }),
                     {"y.h5"});
}

TEST_F(Hdf5Files, RefusesWhatItCannotHold) {
    const Tensor u = zeros({2, 3});
    const struct {
        std::vector<NamedTensor> all;
        SaveHdf5Options options;
        const char* said;
    } cases[] = {
        {{{"u", u}, {"u", u}}, {}, "two tensors"},
        {{{"", u}}, {}, "no name"},
        {{{"u", u}, {"u/v", u}}, {}, "'u/v' cannot be written"},
        {{{"u", u.as(bf16)}}, {}, "bf16"},
        {{{"u", u}}, {.chunks = {2, 4}}, "4 of 3"},
        {{{"u", u}}, {.chunks = {0, 1}}, "0 of 2"},
        {{{"u", u}}, {.deflate = 10}, "0 to 9"},
    };
    for (const auto& each : cases)
        expect_parts(user_error([&] { save_hdf5(path("x.h5"), each.all, each.options); }),
                     {"x.h5", each.said, "hdf5_test.cpp"});
    EXPECT_FALSE(std::filesystem::exists(path("x.h5")));
}

}  // namespace
}  // namespace firn
