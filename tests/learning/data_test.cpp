// Data from files, and to them.
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "compiler/files/stored_tensor.h"
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

class DataFiles : public OracleTest {
  protected:
    DataFiles() { fs::create_directories(folder_); }
    ~DataFiles() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    std::string written(const std::string& name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        std::stringstream out;
        out << in.rdbuf();
        return out.str();
    }

  private:
    fs::path folder_ = fs::path(testing::TempDir()) /
                       ("firn_data_" + std::to_string(getpid()) + "_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name());
};

using std::string_literals::operator""s;

TEST_F(DataFiles, ReadsIdxAsMnistHasIt) {
    const Tensor x =
        load_idx(written("x", "\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3"s + "\1\2\3\xfd\xfe\xff"));
    EXPECT_EQ(x.dtype(), u8);
    EXPECT_EQ(Shape(x.shape()), (Shape{2, 1, 3}));
    EXPECT_EQ(x.as(i32).to_vector<int>(), (Ints{1, 2, 3, 253, 254, 255}));
    // Elements of several bytes are big-endian.
    EXPECT_EQ(
        load_idx(written("y", "\0\0\x0c\1\0\0\0\2\0\0\1\2\xff\xff\xff\xff"s)).to_vector<int>(),
        (Ints{258, -1}));
}

TEST_F(DataFiles, WritesIdxThatItReads) {
    const Tensor x = some({3, 2});
    save_idx(path("x"), x);
    EXPECT_EQ(content(path("x")).substr(0, 12), "\0\0\x0d\2\0\0\0\3\0\0\0\2"s);
    EXPECT_EQ(load_idx(path("x")).to_vector<float>(), x.to_vector<float>());
    expect_parts(user_error([&] { save_idx(path("y"), x > 0.0f); }),
                 {"y", "bool", "data_test.cpp"});
}

/// Bytes that are written as two digits each.
std::string bytes_of(const std::string& digits) {
    std::string out;
    for (size_t k = 0; k + 1 < digits.size(); k += 2)
        out += static_cast<char>(std::stoi(digits.substr(k, 2), nullptr, 16));
    return out;
}

TEST_F(DataFiles, ReadsIdxAsGzipMadeItSmaller) {
    // Made by Python's gzip.compress.
    const std::string packed =
        bytes_of("1f8b08000000000002036360e0606260600061664626661656360048943ee512000000");
    const Tensor x = load_idx(written("x.gz", packed));
    EXPECT_EQ(Shape(x.shape()), (Shape{2, 3}));
    EXPECT_EQ(x.as(i32).to_vector<int>(), (Ints{1, 2, 3, 4, 5, 6}));
    for (size_t size : {size_t{12}, size_t{25}})
        expect_parts(user_error([&] { load_idx(written("y.gz", packed.substr(0, size))); }),
                     {"y.gz", "no whole IDX file", "data_test.cpp"});
    EXPECT_EQ(load_idx(written("z", "\0\0\x08\1\0\0\0\2abc"s)).shape()[0], Size(2))
        << "what stands behind the elements is left";
}

TEST_F(DataFiles, RefusesIdxThatIsDamaged) {
    const std::string good = "\0\0\x08\1\0\0\0\2ab"s;
    EXPECT_EQ(user_error([&] { load_idx(written("x", good)); }), "");
    for (const auto& [bytes, why] :
         {std::pair{good.substr(0, 9), "1 bytes, which its sizes do not fill"s},
          {good.substr(0, 6), "cut short"},
          {"\x89PNG\r\n", "does not begin as one"},
          {"\0\0\x07\1\0\0\0\2ab"s, "type 7"},
          {"\0\0\x08\2\xff\xff\xff\xff\xff\xff\xff\xff"s, "more elements than a file could hold"},
          {"\x1f\x8b\x08\0", "gzip"},
          {"", "does not begin"}})
        expect_parts(user_error([&] { load_idx(written("x", bytes)); }),
                     {path("x"), why, "data_test.cpp"});
    expect_parts(user_error([&] { load_idx(path("none")); }), {"none", "No such file"});
}

TEST_F(DataFiles, ReadsTablesWithAndWithoutNames) {
    const Csv named = load_csv(written("x", "\"step\", loss\r\n1, 0.5\r\n\r\n2, -2.5e-1\r\n"));
    EXPECT_EQ(named.names, (std::vector<std::string>{"step", "loss"}));
    EXPECT_EQ(Shape(named.values.shape()), (Shape{2, 2}));
    EXPECT_EQ(named.values.to_vector<float>(), (Floats{1, 0.5f, 2, -0.25f}));
    const Csv bare = load_csv(written("y", "1;2;+3"), {.separator = ';'});
    EXPECT_TRUE(bare.names.empty());
    EXPECT_EQ(bare.values.to_vector<float>(), (Floats{1, 2, 3}));
}

TEST_F(DataFiles, ReadsTablesAsOthersWriteThem) {
    const auto is_nan = [](float value) { return std::isnan(value); };
    const Csv marked = load_csv(written("x",
                                        "\xef\xbb\xbf"
                                        "a,b\n1,2\n"));
    EXPECT_EQ(marked.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(load_csv(written("x",
                               "\xef\xbb\xbf"
                               "1,2\n3,4\n"))
                  .values.size(0),
              Size(2));
    // A row that lacks a number is a row; so does pandas have it, and numpy.genfromtxt.
    const Csv gaps = load_csv(written("x", "1,,3\n,5,\"\"\n"));
    EXPECT_TRUE(gaps.names.empty());
    const std::vector<float> values = gaps.values.to_vector<float>();
    EXPECT_EQ(std::count_if(values.begin(), values.end(), is_nan), 3);
    EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[3]) && std::isnan(values[5]));
    // Names that are numbers, as pandas writes columns without names.
    const Csv numbers = load_csv(written("x", ",0,1\n0,5,6\n"), {.header = true});
    EXPECT_EQ(numbers.names, (std::vector<std::string>{"", "0", "1"}));
    EXPECT_EQ(numbers.values.to_vector<float>(), (Floats{0, 5, 6}));
    expect_parts(user_error([&] { load_csv(written("x", "a,b\n1,2\n"), {.header = false}); }),
                 {"line 1, field 1: 'a' is no number"});
}

TEST_F(DataFiles, NamesOfTablesStandInQuotesWhereTheyMust) {
    const std::vector<std::string> names{"", "a, b", "say \"c\"", " d"};
    save_csv(path("x"), ones({1, 4}), names);
    EXPECT_EQ(content(path("x")), ",\"a, b\",\"say \"\"c\"\"\",\" d\"\n1,1,1,1\n");
    EXPECT_EQ(load_csv(path("x")).names, names);
    CsvWriter(path("y"), names).add({1, 2, 3, 4});
    EXPECT_EQ(load_csv(path("y")).names, names);
}

TEST_F(DataFiles, RoundsNumbersOfTablesThatAreBeyondF32) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    save_csv(path("x"), tensor(std::vector<double>{1e-50, 2, 3}));
    const Csv saved = load_csv(path("x"));
    EXPECT_TRUE(saved.names.empty());
    EXPECT_EQ(saved.values.to_vector<float>(), (Floats{0, 2, 3}));
    CsvWriter writer(path("y"), {"t", "loss"});
    writer.add({1e60, -1e-60});
    const std::vector<float> row = load_csv(path("y")).values.to_vector<float>();
    EXPECT_EQ(row, (Floats{kInf, 0}));
    EXPECT_TRUE(std::signbit(row[1]));
    const std::string zeros(400, '0');
    const std::pair<std::string, float> cases[] = {
        {"-1e60", -kInf},
        {"1E+400", kInf},
        {"1e-400", 0},
        {"1e99999999999999999999", kInf},
        {"-1e-99999999999999999999", 0},
        {"1" + zeros, kInf},
        {"0." + zeros + "1", 0},
        {"0." + zeros + "1e300", 0},
        {"0." + zeros + "1e500", kInf},
        {"." + zeros + "1e401", 1},
        {"1" + zeros + ".5e-500", 0},
        {"12345.5e39", kInf},
        {"0e999", 0},
        {"1e-42", 1e-42f},
        {"3.5e38", kInf},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(load_csv(written("z", text + ",2")).values.to_vector<float>(),
                  (Floats{expected, 2}))
            << text;
    EXPECT_EQ(load_csv(written("z", "1e60x,2\n3,4")).names[0], "1e60x");
}

TEST_F(DataFiles, RefusesTablesByLineAndField) {
    expect_parts(user_error([&] { load_csv(written("x", "a,b\n1,2\n3\n")); }),
                 {"line 3 has 1 fields, and those before 2", "data_test.cpp"});
    expect_parts(user_error([&] { load_csv(written("x", "a,b\n1,2\n3,four\n")); }),
                 {"line 3, field 2: 'four' is no number"});
    expect_parts(user_error([&] { load_csv(written("x", "a,b\n")); }), {"no rows"});
    expect_parts(user_error([&] { load_csv(written("x", "")); }), {"no rows"});
}

TEST_F(DataFiles, WritesTablesThatItReads) {
    const Tensor x = tensor({0.1f, -1e-30f, 3.0f, 1.0f / 3.0f}, {2, 2});
    save_csv(path("x"), x, {"a", "b"});
    EXPECT_EQ(content(path("x")), "a,b\n0.1,-1e-30\n3,0.33333334\n");
    EXPECT_EQ(load_csv(path("x")).values.to_vector<float>(), x.to_vector<float>());
    save_csv(path("y"), tensor({1, -2}));
    EXPECT_EQ(content(path("y")), "1\n-2\n");
    save_csv(path("z"), tensor(std::vector<uint64_t>{~uint64_t{0}, 1}, {1, 2}), {},
             {.separator = ';'});
    EXPECT_EQ(content(path("z")), "18446744073709551615;1\n");
    expect_parts(user_error([&] {
                     save_csv(path("x"), zeros({1, 1, 1}));
                 }),
                 {"save_csv", "[1, 1, 1]", "two axes", "data_test.cpp:"});
    expect_parts(user_error([&] { save_csv(path("x"), x, {"a"}); }),
                 {"1 names", "2 columns", "data_test.cpp:"});
}

TEST_F(DataFiles, TensorsByName) {
    save_npz(path("x.npz"), {{"u", tensor({1, 2})}, {"on", tensor({true, false, true})}});
    const std::vector<NamedTensor> all = load_npz(path("x.npz"));
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "u");
    EXPECT_EQ(all[0].value.to_vector<int>(), (Ints{1, 2}));
    EXPECT_EQ(load_npz(path("x.npz"), "on").dtype(), boolean);
    EXPECT_EQ(load_npz(path("x.npz"), "on").to_vector<int>(), (Ints{1, 0, 1}));
    expect_parts(user_error([&] { load_npz(path("x.npz"), "w"); }),
                 {"x.npz", "no tensor 'w'", "u, on", "data_test.cpp:"});
    expect_parts(user_error([&] {
                     save_npz(path("y.npz"), {{"u", ones({1})}, {"u", ones({1})}});
                 }),
                 {"two tensors", "'u'", "data_test.cpp:"});
}

TEST_F(DataFiles, ReadsWhatNumpyMadeSmaller) {
    // numpy.savez_compressed of numpy 1.24: `a` in Fortran order, `text` of texts, `gr\u00fc\u00df`
    // of zeros.
    const std::string packed = bytes_of(
        "504b030414000000080000002100ce2ce0d3560000009800000005001400612e6e707901001000980000000000"
        "00"
        "0056000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f5452949817"
        "9f"
        "5f94920a120f292a4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e06307070606068b0076207108781"
        "61"
        "810300504b0304140000000800000021003fbc391b480000008400000008001400746578742e6e707901001000"
        "84"
        "0000000000000048000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e136aa8aea3a09e96"
        "5f"
        "54529498179f5f94920a12774bcc294e058a17672416a402f91a863a9a3a0ab50a1400ae0a06060600504b0304"
        "14"
        "000008080000002100f091043148000000a80000000a0014006772c3bcc39f2e6e707901001000a80000000000"
        "00"
        "0048000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f5452949817"
        "9f"
        "5f94920a12774bcc294e058a17672416a402f91a26063a9a3a0ab50ae4032e06220100504b0102140314000000"
        "08"
        "0000002100ce2ce0d35600000098000000050000000000000000000000800100000000612e6e7079504b010214"
        "03"
        "140000000800000021003fbc391b480000008400000008000000000000000000000080018d000000746578742e"
        "6e"
        "7079504b0102140314000008080000002100f091043148000000a80000000a000000000000000000000080010f"
        "01"
        "00006772c3bcc39f2e6e7079504b05060000000003000300a1000000930100000000");
    const std::string file = written("x.npz", packed);
    const Tensor a = load_npz(file, "a");
    EXPECT_EQ(Shape(a.shape()), (Shape{2, 3}));
    EXPECT_EQ(a.to_vector<float>(), (Floats{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(load_npz(file, "grüß").as(i32).to_vector<int>(), Ints(40, 0));
    expect_parts(user_error([&] { load_npz(file); }), {"text.npy", "'<U1'"});
    expect_parts(user_error([&] { load_npz(file, "b"); }), {"a, text, grüß"});
}

TEST_F(DataFiles, SaysWhereNamesAreUtf8) {
    save_npz(path("x.npz"), {{"u", ones({1})}, {"grüß", ones({2})}});
    const std::string bytes = content(path("x.npz"));
    const size_t first = bytes.find("PK\x01\x02"), second = bytes.find("PK\x01\x02", first + 1);
    EXPECT_EQ(bytes[first + 9], 0) << "bit 11 of the flags";
    EXPECT_EQ(bytes[second + 9], 8);
    EXPECT_EQ(load_npz(path("x.npz"), "grüß").shape()[0], Size(2));
}

TEST_F(DataFiles, ReadsFortranOrderOfAnyRank) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{5}, {70, 33}, {1, 4}, {3, 4, 5}, {2, 3, 4, 5}, {0, 3}}) {
        int64_t count = 1;
        for (int64_t size : shape) count *= size;
        // The element of C order at k is k; in the file the first axis is innermost.
        std::vector<int> file(static_cast<size_t>(count)), expected(file.size());
        for (int64_t k = 0; k < count; ++k) {
            int64_t rest = k, place = 0, stride = count;
            for (size_t axis = shape.size(); axis-- > 0;) {
                stride /= shape[axis];
                place += rest % shape[axis] * stride;
                rest /= shape[axis];
            }
            file[static_cast<size_t>(place)] = expected[static_cast<size_t>(k)] =
                static_cast<int>(k);
        }
        StoredTensor x{"", i32, shape, std::vector<std::byte>(file.size() * 4)};
        if (count > 0) std::memcpy(x.bytes.data(), file.data(), x.bytes.size());
        std::string bytes = npy_bytes(x);
        const size_t order = bytes.find("False,");
        bytes.replace(order, 6, "True, ");
        EXPECT_EQ(load_npy(written("x.npy", bytes + "behind")).to_vector<int>(), expected)
            << shape.size();
    }
}

TEST_F(DataFiles, LargeArraysAreReadWhereTheyStay) {
    for (const DType type : {f32, u8, f64}) {
        const Tensor x = (arange(1'100'000) % 251).as(type);
        save_npy(path("large.npy"), x);
        EXPECT_EQ(load_npy(path("large.npy")).dtype(), type);
        EXPECT_EQ(load_npy(path("large.npy")).to_vector<float>(), x.to_vector<float>());
    }
    std::string bytes = content(path("large.npy"));
    EXPECT_EQ(load_npy(written("x.npy", bytes + "behind")).size(0), 1'100'000);
    expect_parts(
        user_error([&] { load_npy(written("cut.npy", bytes.substr(0, bytes.size() - 1))); }),
        {"cut.npy", "which its shape does not fill", "data_test.cpp:"});
    bytes.replace(bytes.find("(1100000,)"), 10, "(4, 275000)"s.substr(0, 10));
    expect_parts(user_error([&] { load_npy(written("bad.npy", bytes)); }), {"bad.npy"});
}

TEST_F(DataFiles, RecordsAreNamed) {
    const std::string header = "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,), }";
    const std::string bytes =
        "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + "\0"s + header;
    expect_parts(user_error([&] { load_npy(written("records.npy", bytes + "123456789012")); }),
                 {"records.npy", "records [('x', '<f4')]", "one array a field"});
}

TEST_F(DataFiles, OneOfSeveralSafetensors) {
    save_safetensors(path("x"), {{"u", tensor({1, 2})}, {"v", tensor({3})}});
    EXPECT_EQ(load_safetensors(path("x")).size(), 2u);
    std::string bytes = content(path("x"));
    bytes.replace(bytes.find("\"v\":{\"dtype\":\"I32"), 17, "\"v\":{\"dtype\":\"C64");
    EXPECT_EQ(load_safetensors(written("y", bytes), "u").to_vector<int>(), (Ints{1, 2}));
    expect_parts(user_error([&] { load_safetensors(path("y")); }), {"'v'", "C64"});
    expect_parts(user_error([&] { load_safetensors(path("y"), "w"); }),
                 {"no tensor 'w'", "u, v", "data_test.cpp:"});
}

TEST_F(DataFiles, ElementsAlone) {
    const Tensor x = tensor({1.5f, -2.0f, 3.0f, 4.0f}, {2, 2});
    save_raw(path("x"), x);
    EXPECT_EQ(content(path("x")).size(), 16u);
    EXPECT_EQ(content(path("x")).substr(0, 4), "\0\0\xc0\x3f"s);
    EXPECT_EQ(Shape(load_raw(path("x"), {2, -1}).shape()), (Shape{2, 2}));
    EXPECT_EQ(load_raw(path("x"), {4}).to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(load_raw(path("x"), {-1}, i32).size(0), 4);
    save_raw(path("on"), tensor({true, false}));
    EXPECT_EQ(content(path("on")), "\1\0"s);
    EXPECT_EQ(load_raw(path("on"), {2}, boolean).to_vector<int>(), (Ints{1, 0}));
    expect_parts(user_error([&] {
                     load_raw(path("x"), {3, -1});
                 }),
                 {"16 bytes", "f32[3, -1]", "data_test.cpp:"});
    expect_parts(user_error([&] { load_raw(path("x"), {-1, -1}); }), {"more than one -1"});
    expect_parts(user_error([&] { load_raw(path("none"), {1}); }), {"none", "cannot be read"});
}

TEST_F(DataFiles, ATableGrowsByRowsThatAreThereAtOnce) {
    CsvWriter writer(path("x"), {"step", "loss"});
    writer.add({1, 0.25});
    EXPECT_EQ(content(path("x")), "step,loss\n1,0.25\n");
    CsvWriter(path("nan"), {"loss"}).add({-std::nan("")});
    EXPECT_EQ(content(path("nan")), "loss\nnan\n");
    save_csv(path("nan"), tensor({-std::nanf("")}));
    EXPECT_EQ(content(path("nan")), "nan\n");
    writer.add({2, 1e-9});
    EXPECT_EQ(load_csv(path("x")).values.to_vector<float>(), (Floats{1, 0.25f, 2, 1e-9f}));
    expect_parts(user_error([&] { writer.add({3}); }), {"1 numbers", "2 columns"});
    expect_parts(user_error([&] { CsvWriter(path("no/folder"), {"a"}); }), {"cannot be written"});
}

TEST_F(DataFiles, AFullDiskIsSaid) {
    CsvWriter writer(path("x"), {"step"});
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{8, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = user_error([&] {
        for (int k = 0; k < 9; ++k) writer.add({123456});
    });
    setrlimit(RLIMIT_FSIZE, &before);
    expect_parts(message, {path("x"), "cannot be written"});
}

}  // namespace
}  // namespace firn
