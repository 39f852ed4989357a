// HDF5: what it keeps, files that h5py writes and reads, and refusals.
#include <sys/inotify.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>

#include "compiler/base/long_work.h"
#include "compiler/interchange/hdf5_reader.h"
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

TEST_F(Hdf5Files, TheFileThatIsReplacedIsNotRead) {
    const std::string x = written("x.h5", std::string(5000, 'x'));
    const int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(inotify_add_watch(events, x.c_str(), IN_OPEN | IN_ACCESS), 0);
    save_hdf5(x, {{"u", tensor({1, 2})}});
    inotify_event event{};  // at most that the old file is no more
    if (read(events, &event, sizeof event) == sizeof event) {
        EXPECT_EQ(event.mask & (IN_OPEN | IN_ACCESS), 0u);
    }
    close(events);
    EXPECT_EQ(load_hdf5(x, "u").to_vector<int>(), (Ints{1, 2}));
}

TEST_F(Hdf5Files, LargeDataSetsAreReadInParts) {
    const std::string x = path("x.h5");
    constexpr int64_t kRows = 5001, kColumns = 4099;  // 82 MB, which no part divides
    const Tensor numbers = reshape(arange(kRows * kColumns), {kRows, kColumns});
    for (const SaveHdf5Options& options :
         {SaveHdf5Options{}, SaveHdf5Options{.chunks = {700, 900}}}) {
        save_hdf5(x, {{"u", numbers}}, options);
        const std::vector<int> all = load_hdf5(x, "u").to_vector<int>();
        ASSERT_EQ(all.size(), static_cast<size_t>(kRows * kColumns));
        size_t wrong = 0;
        for (size_t k = 0; k < all.size(); ++k) wrong += all[k] != static_cast<int>(k);
        EXPECT_EQ(wrong, 0u);
    }
}

/// The refusal of a file whose process does `work`.
std::string said_of(const std::string& path, const ConfinedProcess::Work& work,
                    const ReplyTimeout& timeout = {}) {
    return user_error(
        [&] { Hdf5Reader(timeout, work).read(path, "u", [](const Hdf5Set&) { FAIL(); }); });
}

TEST_F(Hdf5Files, AFileThatBreaksTheLibraryIsRefused) {
    const std::string x = written("x.h5", "any"), way_out = "take it from its source again";
    expect_parts(said_of(x, [](ParentLink&) { std::abort(); }),
                 {"x.h5: cannot be read", "crashed (Aborted)", way_out.c_str()});
    expect_parts(said_of(x,
                         [](ParentLink&) {
                             for (std::atomic<int> k{0};; ++k) {
                             }
                         },
                         {.processor_seconds = 0.2}),
                 {"x.h5: cannot be read", "came no further in 0.2 s", way_out.c_str()});
    expect_parts(said_of(x,
                         [](ParentLink& parent) {
                             parent.limit_memory(1 << 28);
                             std::vector<std::vector<char>> all;
                             for (;;) all.emplace_back(1 << 24);
                         }),
                 {"x.h5: cannot be read", "needed more memory", way_out.c_str()});
}

/// A message of a data set, with numbers of 64 bits before its name.
std::string set_message(const std::vector<uint64_t>& numbers, const std::string& name) {
    std::string out = "s";
    for (uint64_t each : numbers) out.append(reinterpret_cast<const char*>(&each), sizeof each);
    return out + name;
}

TEST_F(Hdf5Files, WhatAProcessForgesIsRefused) {
    const std::string x = written("x.h5", "any");
    const uint64_t most = ~uint64_t{0};
    std::vector<uint64_t> of_33_axes{0, 33};
    of_33_axes.resize(2 + 33, 1);
    const std::vector<std::string> last_words[] = {
        {"e"},
        {"?"},
        {"s"},
        {"rno file is named"},
        {"d"},
        {set_message({99, 0}, "u")},                 // no such type
        {set_message(of_33_axes, "u")},              // no such rank
        {set_message({0, 2, 4}, "u")},               // fewer sizes than axes
        {set_message({0, 1, 4}, "v")},               // another name
        {set_message({0, 1, 4}, "")},                // none
        {set_message({0, 1, 0}, "u"), "p12345678"},  // more bytes than there are
        {set_message({0, 1, 4}, "u"), "p\1", "d"},   // no number
    };
    for (const std::vector<std::string>& words : last_words)
        expect_parts(said_of(x,
                             [&](ParentLink& parent) {
                                 parent.receive();
                                 for (const std::string& each : words) parent.send(each);
                                 parent.receive(), parent.receive();
                             },
                             {.seconds = 2}),
                     {"x.h5: cannot be read", "sent an invalid answer"});
    for (const std::vector<uint64_t>& numbers :
         {std::vector<uint64_t>{0, 1, most}, {0, 2, most, 2}, {3, 2, 1 << 30, 1 << 30}})
        expect_parts(said_of(x,
                             [&](ParentLink& parent) {
                                 parent.send(set_message(numbers, "u"));
                                 parent.receive(), parent.receive();
                             }),
                     {"x.h5: 'u' cannot be read", "do not fit into memory"});
}

TEST_F(Hdf5Files, LoadingEndsWhereTheRunIsAskedToEnd) {
    CancelScope scope([] { return true; });
    const std::string x = written("x.h5", "any");
    EXPECT_THROW(Hdf5Reader({}, [](ParentLink&) { pause(); }).read(x, "u", [](const Hdf5Set&) {}),
                 Cancelled);
}

TEST_F(Hdf5Files, WhatIsNoFileIsRefused) {
    const std::string pipe = path("pipe.h5");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_parts(user_error([&] { load_hdf5(pipe); }), {"pipe.h5", "is no HDF5 file"});
    expect_parts(user_error([&] { load_hdf5(path("")); }), {"cannot be read: Is a directory"});
}

/// A file of a few bytes that says it has more elements than memory holds.
TEST_F(Hdf5Files, ClaimsBeyondTheMemoryAreRefused) {
    if (!python_has("h5py")) GTEST_SKIP() << "python3-h5py is not installed";
    EXPECT_EQ(python(R"(
import sys, h5py
f = h5py.File(sys.argv[1] + '/x.h5', 'w')
f.create_dataset('vast', shape=(1 << 22, 1 << 22), dtype='f8', chunks=(64, 64))
f.create_dataset('small', data=[1, 2])
)"),
              "");
    expect_parts(user_error([&] { load_hdf5(path("x.h5"), "vast"); }),
                 {"'vast' cannot be read", "[4194304, 4194304]", "do not fit into memory"});
    EXPECT_EQ(load_hdf5(path("x.h5"), "small").to_vector<int>(), (Ints{1, 2}));
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
