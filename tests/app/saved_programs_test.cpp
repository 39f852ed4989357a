// The files of save_program: their parameters with all options, and how a host changes them.
#include <firn/firn.h>
#include <firn/saved_programs.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/program/make_call.h"
#include "compiler/program/saved_program.h"
#include "engine/window/program_parameters.h"

namespace firn {
namespace {

enum class Look : uint8_t { Dye, Speed };

class SavedParams : public testing::Test {
  protected:
    ~SavedParams() override { std::filesystem::remove(path); }
    std::string message_of(const Callback<void()>& action) {
        try {
            action();
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }
    std::string path = testing::TempDir() + "firn_saved_params.firn";
    App app{{.name = "params", .help = "A program."}};
    SessionScope scope{Session::interpreter()};
    Param<float> dt{app,
                    "dt",
                    0.1f,
                    {.min = 0,
                     .max = 0.5,
                     .soft_max = 0.25,
                     .log = true,
                     .unit = "s",
                     .label = "Time step",
                     .group = "Fluid",
                     .help = "of one frame"}};
    Param<int> rounds{app, "rounds", 3, {.min = 1, .max = 8}};
    Param<bool> walls{app, "walls", true};
    Param<Angle> turn{app, "turn", 0.5f};
    Param<Colour> tint{app, "tint", {1, 0.5f, 0.25f}};
    Param<vec2> wind{app, "wind", {3, -4}};
    Param<OneOf> rule{app, "rule", 1, {"life", "maze"}};
    Param<Look> look{app, "look", Look::Speed, {"dye", "speed"}};

    static auto mixed() {
        return compile(
            [](Tensor x, Tensor dt, Tensor rounds, Tensor walls, Tensor turn, vec3 tint, vec2 wind,
               Tensor rule, Tensor look, Tensor fixed) {
                Tensor y = x * dt + select(walls, 1.0f, 0.0f) + turn + tint.x + tint.z * wind.y;
                return y + (rounds + rule * 10 + look * 100).as(f32) + fixed;
            },
            {f32("n"), f32(), i32(), boolean(), f32(), f32(), f32(), f32(), f32(), f32(), i32(),
             i32(), f32()});
    }
    SavedProgram saved() {
        save_program(path, mixed(), zeros({4}), dt, rounds, walls, turn, tint, wind, rule, look,
                     dt + 0.5f);
        return read_program(path);
    }
};

TEST_F(SavedParams, AreFoundAmongTheArguments) {
    const SavedProgram read = saved();
    EXPECT_EQ(read.name, "firn_saved_params");
    using Kind = ProgramParameter::Kind;
    const std::vector<std::pair<std::string, Kind>> kinds{
        {"dt", Kind::Float},    {"rounds", Kind::Int},  {"walls", Kind::Bool},
        {"turn", Kind::Angle},  {"tint", Kind::Colour}, {"wind", Kind::Vector},
        {"rule", Kind::Choice}, {"look", Kind::Choice}};
    ASSERT_EQ(read.parameters.size(), kinds.size());
    for (size_t k = 0; k < kinds.size(); ++k) {
        EXPECT_EQ(read.parameters[k].name, kinds[k].first);
        EXPECT_EQ(read.parameters[k].kind, kinds[k].second) << kinds[k].first;
    }
    EXPECT_EQ(read.parameters[4].arguments, (std::vector<int>{5, 6, 7}));
    EXPECT_EQ(read.parameters[5].value, (std::vector<double>{3, -4}));
    EXPECT_EQ(read.parameters[7].names, (std::vector<std::string>{"dye", "speed"}));
    EXPECT_EQ(read.program->arguments[6].name, "tint");
    // A number that is computed of a parameter is none.
    EXPECT_EQ(read.scalars[12], scalar_float(0.6f));
    EXPECT_EQ(read.program->arguments[12].name, "argument 12");
}

TEST_F(SavedParams, KeepWhatIsSaidOfThem) {
    const ProgramParameter read = saved().parameters[0];
    EXPECT_EQ(read.value, (std::vector<double>{0.1f}));
    EXPECT_EQ(read.min, 0.0);
    EXPECT_EQ(read.max, 0.5);
    EXPECT_EQ(read.soft_min, 0.0);
    EXPECT_EQ(read.soft_max, 0.25);
    EXPECT_TRUE(read.log);
    EXPECT_EQ(read.unit, "s");
    EXPECT_EQ(read.label, "Time step");
    EXPECT_EQ(read.group, "Fluid");
    EXPECT_EQ(read.help, "of one frame");
}

TEST_F(SavedParams, ArePartOfAPanelThatOwnsThem) {
    Gui panel;
    {
        const SavedProgram read = saved();
        add_parameters(panel, read);
    }
    Parameters& all = panel.parameters();
    EXPECT_EQ(all.values(), app.gui().parameters()->values());
    EXPECT_EQ(describe(*all.find("dt")), describe(*app.gui().parameters().find("dt")));
    all.set("tint", "#ff0000");
    all.set("turn", "90");
    const SavedProgram read = saved();
    std::vector<Scalar> now = scalars_now(read, all);
    EXPECT_EQ(now[1], scalar_float(0.1f));
    EXPECT_EQ(now[3], scalar_bool(true));
    EXPECT_NEAR(now[4].f, 1.5708, 1e-4);
    EXPECT_EQ(now[5], scalar_float(1));
    EXPECT_EQ(now[6], scalar_float(0));
    EXPECT_EQ(now[11], scalar_int(1));
    EXPECT_EQ(now[12], scalar_float(0.6f));
    all.reset();
    EXPECT_EQ(scalars_now(read, all), read.scalars);
}

TEST_F(SavedParams, RefuseWhatIsOutOfTheirRange) {
    Gui panel;
    const SavedProgram read = saved();
    add_parameters(panel, read);
    EXPECT_NE(message_of([&] { panel.parameters().set("dt", "0.6"); }).find("[0, 0.5]"),
              std::string::npos);
    EXPECT_NE(message_of([&] { panel.parameters().set("look", "heat"); }).find("dye, speed"),
              std::string::npos);
    EXPECT_EQ(scalars_now(read, panel.parameters()), read.scalars);
}

TEST_F(SavedParams, TakePresetsOfTheirProgramAlone) {
    Gui panel;
    const SavedProgram read = saved();
    add_parameters(panel, read);
    dt = 0.3f;
    const std::string own = preset_text(app.gui().parameters(), read.name);
    apply_preset(panel.parameters(), own, "own.json", read.name);
    EXPECT_EQ(scalars_now(read, panel.parameters())[1], scalar_float(0.3f));
    const std::string other = preset_text(app.gui().parameters(), "fluid");
    EXPECT_NE(message_of([&] {
                  apply_preset(panel.parameters(), other, "o.json", read.name);
              }).find("one of the program \"fluid\""),
              std::string::npos);
}

TEST_F(SavedParams, WithoutAPlaceAreNamed) {
    const SavedProgram read = saved();
    Gui empty;
    EXPECT_NE(message_of([&] {
                  scalars_now(read, empty.parameters());
              }).find("parameter dt of the program firn_saved_params is not among those"),
              std::string::npos);
    // One of this name that the program itself has.
    EXPECT_NE(
        message_of([&] { add_parameters(app.gui(), read); }).find("parameter dt: there is one"),
        std::string::npos);
}

TEST_F(SavedParams, ThatAnArgumentCannotHoldAreNamed) {
    auto rounded = compile([](Tensor x, Tensor n) { return x * n.as(f32); }, {f32("n"), i32()});
    Param<float> share{app, "share", 2.0f};
    save_program(path, rounded, zeros({4}), share);
    const SavedProgram read = read_program(path);
    Gui panel;
    add_parameters(panel, read);
    EXPECT_EQ(scalars_now(read, panel.parameters())[1], scalar_int(2));
    panel.parameters().set("share", "2.5");
    EXPECT_NE(message_of([&] { scalars_now(read, panel.parameters()); }).find("2.5"),
              std::string::npos);
}

TEST_F(SavedParams, OneMayFeedSeveralArguments) {
    auto f =
        compile([](Tensor x, Tensor a, Tensor b) { return x * a + b; }, {f32("n"), f32(), f32()});
    save_program(path, f, zeros({4}), dt, dt);
    const SavedProgram read = read_program(path);
    ASSERT_EQ(read.parameters.size(), 1u);
    EXPECT_EQ(read.parameters[0].arguments, (std::vector<int>{1, 2}));
}

TEST_F(SavedParams, OfTwoPanelsNeedNamesOfTheirOwn) {
    auto f =
        compile([](Tensor x, Tensor a, Tensor b) { return x * a + b; }, {f32("n"), f32(), f32()});
    Gui other;
    Param<float> same{other, "dt", 0.2f};
    EXPECT_NE(message_of([&] {
                  save_program(path, f, zeros({4}), dt, same);
              }).find("two parameters are called dt"),
              std::string::npos);
}

TEST_F(SavedParams, OfStructuralProgramsAndLists) {
    const auto blur = structural(
        [](int rounds) {
            return compile(
                [=](Tensor x, Tensor dt) {
                    for (int k = 0; k < rounds; ++k) x = x * dt;
                    return x;
                },
                {f32("n"), f32()});
        },
        rounds);
    EXPECT_THROW(save_program(path, blur, zeros({4}), dt), UserError);  // none yet
    auto runs = blur;
    runs(ones({4}), dt);
    save_program(path, runs, zeros({4}), dt);
    EXPECT_EQ(read_program(path).parameters[0].name, "dt");
    auto twice = jit([](Tensor x) { return x + x; });
    twice(ones({3}));
    save_program(path, *twice.last(), {ones({3})});
    EXPECT_EQ(read_program(path).shapes[0], (std::vector<int64_t>{3}));
}

/// The assumptions of the program that serves n x m numbers.
std::string assumed_for(const SavedProgram& saved, int64_t n, int64_t m) {
    const auto runs = [](const Program&) { return std::string(); };
    const auto program = program_for(saved, "a device", runs, {{n, m}}, {Scalar()});
    for (const SavedVariant& variant : saved.variants)
        if (variant.program == program) return text(variant.facts);
    return "nothing";
}

TEST(SavedMultiples, ServeTheSizesThatTheyDivide) {
    SessionScope scope(Session::interpreter());
    const auto twice = compile([](Tensor x) { return x + x; }, {f32("n", "m")});
    const std::string path = testing::TempDir() + "firn_saved_multiples.firn";
    save_program(path, twice, zeros({10, 6}));
    const SavedProgram saved = read_program(path);
    EXPECT_NE(assumed_for(saved, 10, 6).find("n==10"), std::string::npos);
    EXPECT_NE(assumed_for(saved, 128, 192).find("n%64"), std::string::npos);
    EXPECT_NE(assumed_for(saved, 128, 12).find("m%4"), std::string::npos);
    EXPECT_EQ(assumed_for(saved, 128, 7), "nothing");
    EXPECT_EQ(assumed_for(saved, 16448, 128), "nothing");
    EXPECT_THROW(save_program(path, twice, {.multiples = {1}}, zeros({10, 6})), UserError);
    std::filesystem::remove(path);
}

TEST(SavedNames, AreThoseOfTheOptions) {
    SessionScope scope(Session::interpreter());
    const auto both = compile(
        [](Tensor x, Tensor y) {
            return std::tuple{x + y, x - y};
        },
        {f32("n"), f32("n")});
    const std::string path = testing::TempDir() + "firn_saved_names.firn";
    const auto save = [&](std::vector<std::string> arguments, std::vector<std::string> results) {
        SaveOptions options;
        options.arguments = std::move(arguments);
        options.results = std::move(results);
        save_program(path, both, options, zeros({4}), zeros({4}));
    };
    save({"left", "right"}, {"", "difference"});
    const SavedProgram saved = read_program(path);
    EXPECT_EQ(saved.program->arguments[1].name, "right");
    EXPECT_EQ(saved.result_names, (std::vector<std::string>{"", "difference"}));
    EXPECT_THROW(save({"a", "b", "c"}, {}), UserError);
    EXPECT_THROW(save({}, {"a", "a"}), UserError);
    EXPECT_EQ(read_program(path).result_names[1], "difference");  // the file that was there stays
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace firn
