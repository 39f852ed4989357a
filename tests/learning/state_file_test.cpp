// State in files: the same run afterwards, and refusals that change nothing.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/files/stored_tensor.h"
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
class StateFiles : public testing::Test {
  protected:
    StateFiles() { fs::create_directories(folder_); }
    ~StateFiles() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        std::stringstream out;
        out << in.rdbuf();
        return out.str();
    }
    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }

  private:
    fs::path folder_ = fs::path(testing::TempDir()) /
                       ("firn_state_" + std::to_string(getpid()) + "_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name());
};

struct Net : Module {
    explicit Net(int width = 5) : width_(width) {}
    Tensor operator()(const Tensor& x) const { return second(tanh(first(x))); }
    int width_;
    Linear first = add("first", Linear(2, width_)), second = add("second", Linear(width_, 1));
};

struct Training {
    Net net;
    AdamW optimizer{net.parameters(), {.lr = 0.03f}};
    explicit Training(int width = 5) : net(width) {}
    Floats advance(int steps) {
        const auto step =
            compile({net, optimizer},
                    [&](Tensor x, Tensor y) { return optimizer.step(mse_loss(net(x), y)); },
                    {f32(6, 2), f32(6, 1)});
        Floats losses;
        for (int k = 0; k < steps; ++k)
            losses.push_back(step(some({6, 2}), some({6, 1}, 0, 2)).template item<float>());
        return losses;
    }
};

TEST_F(StateFiles, GoOnWithTheSameBits) {
    SessionScope scope(Session::interpreter());
    for (const char* ending : {"run.safetensors", "run.npz"}) {
        Training run;
        run.advance(3);
        run.optimizer["lr"] = 0.07f;
        save_state(path(ending), {run.net, run.optimizer});
        const Floats expected = run.advance(4);
        Training other;
        load_state(path(ending), {other.net, other.optimizer});
        EXPECT_EQ(other.optimizer["lr"], 0.07f);
        EXPECT_EQ(other.optimizer.steps(), 3);
        EXPECT_EQ(other.advance(4), expected) << ending;
        EXPECT_EQ(values_of(other.net.variables()), values_of(run.net.variables()));
    }
}

TEST_F(StateFiles, HaveThePathsAndBytesOfSafetensors) {
    SessionScope scope(Session::oracle());
    struct One : Module {
        Variable half = add_parameter("half", {2}, [](const Shape&, const RandomOptions&) {
            return tensor({1.0f, -2.0f}).as(f16);
        });
        Variable flag = add_buffer("flag", {3}, [](const Shape&, const RandomOptions&) {
            return tensor(std::vector<bool>{true, false, true});
        });
    } one;
    save_state(path("one.safetensors"), one);
    const std::string header = R"({"half":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                               R"("flag":{"dtype":"BOOL","shape":[3],"data_offsets":[4,7]}})";
    std::string text = content(path("one.safetensors"));
    EXPECT_EQ(text.substr(8, header.size()), header);
    EXPECT_EQ(static_cast<uint8_t>(text[0]) % 8, 0);
    EXPECT_EQ(text.substr(text.size() - 7),
              std::string({0x00, 0x3c, 0x00, char(0xc0), 0x01, 0x00, 0x01}));
    one.half.set(tensor({7.0f, 7.0f}).as(f16));
    one.flag.set(tensor(std::vector<bool>{false, false, false}));
    load_state(path("one.safetensors"), one);
    EXPECT_EQ(one.half.value().to_vector<float>(), (Floats{1, -2}));
    EXPECT_EQ(one.flag.value().to_vector<int>(), (std::vector<int>{1, 0, 1}));
}

TEST_F(StateFiles, OfEveryTypeAndShape) {
    SessionScope scope(Session::oracle());
    for (const DType type : kAllTypes) {
        if (type == bf16) continue;  // numpy has none
        for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 3}, Shape{1, 2, 2}}) {
            const Tensor x = some(shape, 0, 90).as(type);
            save_npy(path("x.npy"), x);
            const Tensor y = load_npy(path("x.npy"));
            EXPECT_EQ(y.dtype(), type);
            EXPECT_EQ(Shape(y.shape()), shape);
            EXPECT_EQ(y.to_vector<double>(), x.to_vector<double>()) << type.name();
            EXPECT_EQ(content(path("x.npy")).size() % 64,
                      size_t(element_count(shape).constant() * file_bytes(type)) % 64);
        }
    }
    expect_parts(user_error([&] { save_npy(path("x.npy"), zeros({2}, bf16)); }),
                 {"numpy", "bf16", "x.as(f32)", ".safetensors"});
}

TEST_F(StateFiles, OfAnotherModelSayWhatDiffers) {
    SessionScope scope(Session::interpreter());
    Training run(5), other(4);
    save_state(path("run.npz"), {run.net, run.optimizer});
    const Floats before = values_of(State({other.net, other.optimizer}).variables);
    expect_parts(user_error([&] {
                     load_state(path("run.npz"), {other.net, other.optimizer});
                 }),
                 {"another model", "'first.weight' is f32[5, 2], and here f32[4, 2]", "and 1 more",
                  "nothing was changed", "state_file_test.cpp:"});
    EXPECT_EQ(values_of(State({other.net, other.optimizer}).variables), before);

    Linear single(2, 3);
    save_state(path("single.safetensors"), single);
    expect_parts(user_error([&] { load_state(path("single.safetensors"), run.net); }),
                 {"'first.weight' is missing", "'weight' f32[3, 2] is not here"});
    const Floats kept = values_of(run.net.variables());
    load_state(path("single.safetensors"), run.net, {.allow_missing = true, .allow_extra = true});
    EXPECT_EQ(values_of(run.net.variables()), kept);

    struct Integer : Module {
        Variable weight =
            add_buffer("weight", {3, 2},
                       [](const Shape& shape, const RandomOptions&) { return zeros(shape, i32); });
        Variable bias = add_buffer("bias", {3}, constant_init(0));
    } integer;
    expect_parts(user_error([&] { load_state(path("single.safetensors"), integer); }),
                 {"'weight' is f32[3, 2], and here i32[3, 2]"});
    expect_parts(user_error([&] {
                     save_state(path("two.npz"), {run.net, Training().net});
                 }),
                 {"two are called 'first.weight'", "prefixed"});
    save_state(path("two.npz"), {prefixed("a", run.net), prefixed("b", Training().net)});
    expect_parts(user_error([&] { save_state(path("run.txt"), run.net); }), {".safetensors"});
    expect_parts(user_error([&] { load_state(path("none.npz"), run.net); }),
                 {"none.npz", "cannot be read", "No such file"});
}

/// Every way to cut or damage a file is an error, or gives a file of the same kind.
template <class Read>
void expect_no_harm(const std::string& path, const std::string& whole, const Read& read) {
    int refused = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
        std::ofstream(path, std::ios::binary) << whole.substr(0, length);
        const std::string error = user_error([&] { read(path); });
        EXPECT_NE(error, "") << "cut to " << length;
    }
    uint32_t random = 1;
    for (int iteration = 0; iteration < 1000; ++iteration) {
        std::string damaged = whole;
        for (int k = 0; k <= iteration % 3; ++k) {
            random = random * 1664525u + 1013904223u;
            damaged[(random >> 8) % std::min<size_t>(damaged.size(), 400)] =
                static_cast<char>(iteration % 5 ? random >> 3 : 255);
        }
        std::ofstream(path, std::ios::binary) << damaged;
        refused += !user_error([&] { read(path); }).empty();
    }
    EXPECT_GT(refused, 200);
}

TEST_F(StateFiles, ThatAreDamagedAreRefused) {
    SessionScope scope(Session::oracle());
    const std::vector<StoredTensor> tensors{stored("weight", some({3, 2})),
                                            stored("n", tensor({1, 2}))};
    write_safetensors(path("good.safetensors"), tensors);
    write_npz(path("good.npz"), tensors);
    write_npy(path("good.npy"), tensors[0]);
    expect_no_harm(path("bad"), content(path("good.safetensors")),
                   [](const std::string& path) { read_safetensors(path); });
    expect_no_harm(path("bad"), content(path("good.npz")),
                   [](const std::string& path) { read_npz(path); });
    expect_no_harm(path("bad"), content(path("good.npy")),
                   [](const std::string& path) { read_npy(path); });
}

TEST_F(StateFiles, SayWhyTheyAreRefused) {
    SessionScope scope(Session::oracle());
    const auto error_of = [&](const std::string& header, const std::string& data) {
        std::string text(8, '\0');
        text[0] = static_cast<char>(header.size());
        write(path("x.safetensors"), text + header + data);
        return user_error([&] { read_safetensors(path("x.safetensors")); });
    };
    EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "xy"), "");
    expect_parts(error_of(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "x"),
                 {"'a'", "F8_E4M3", "F32 or F16"});
    expect_parts(error_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,3]}})", "xy"),
                 {"cut short"});
    expect_parts(error_of(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,2]}})", "xy"),
                 {"'a' has an invalid size"});
    expect_parts(
        error_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967297],"data_offsets":[0,2]}})",
                 "xy"),
        {"does not fill"});
    write_npz(path("whole.npz"), {stored("a", some({2, 2}))});
    const auto npz_error = [&](size_t at, char value) {
        std::string text = content(path("whole.npz"));
        text[text.find("PK\x01\x02") + at] = value;
        write(path("x.npz"), text);
        return user_error([&] { read_npz(path("x.npz")); });
    };
    expect_parts(npz_error(10, 99), {"'a.npy' is compressed by method 99", "numpy.savez"});
    expect_parts(npz_error(10, 8), {"'a.npy' is damaged"});   // as if it were compressed
    expect_parts(npz_error(22, 1), {"cut short"});            // its size
    expect_parts(npz_error(16, 99), {"'a.npy' is damaged"});  // its sum
    expect_parts(npz_error(42, 5), {"not where it should be"});
    const std::string npy = npy_bytes(stored("", some({2, 2})));
    const auto npy_error = [&](const std::string& from, const std::string& to) {
        std::string text = npy;
        text.replace(text.find(from), from.size(), to);
        write(path("x.npy"), text);
        return user_error([&] { load_npy(path("x.npy")); });
    };
    expect_parts(npy_error("<f4", ">f4"), {"'>f4'", "little-endian"});
    expect_parts(npy_error("False, ", "Maybe, "), {"its order is neither"});
    expect_parts(npy_error("(2, 2)", "(2, 3)"), {"16 bytes"});
    expect_parts(npy_error("\x93NUMPY", "NUMPYxx"), {"does not begin as one"});
}

TEST_F(StateFiles, StayWhereTheDiskIsFull) {
    SessionScope scope(Session::oracle());
    Linear small(1, 2), large(64, 64);
    for (const char* name : {"x.safetensors", "x.npz"}) {
        save_state(path(name), small);
        const std::string before = content(path(name));
        rlimit old{};
        getrlimit(RLIMIT_FSIZE, &old);
        const rlimit few{4096, old.rlim_max};
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &few);
        const std::string error = user_error([&] { save_state(path(name), large); });
        setrlimit(RLIMIT_FSIZE, &old);
        std::signal(SIGXFSZ, handler);
        expect_parts(error,
                     {"cannot be written", "too large", "stays unchanged", "state_file_test.cpp:"});
        EXPECT_EQ(content(path(name)), before);
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path("x")).parent_path()),
                            fs::directory_iterator()),
              2)
        << "what was begun is removed";
    expect_parts(user_error([&] { save_state(path("no/x.npz"), small); }), {"No such file"});
}

}  // namespace
}  // namespace firn
