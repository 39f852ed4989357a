// The parameters of a saved program in a registry without a panel.
#include "engine/parameters/program_parameters.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// A program with a vector that feeds two arguments, and a number of rounds; a third argument is no
/// parameter.
SavedProgram wind() {
    using Kind = ProgramParameter::Kind;
    SavedProgram saved;
    saved.name = "wind";
    saved.scalars = {scalar_float(3), scalar_float(-4), scalar_int(2), scalar_float(0.5)};
    saved.parameters = {
        {.name = "wind", .kind = Kind::Vector, .arguments = {0, 1}, .value = {3, -4}},
        {.name = "rounds",
         .kind = Kind::Int,
         .arguments = {2},
         .value = {2},
         .min = 1,
         .max = 8,
         .soft_max = 4,
         .unit = "times",
         .help = "of smoothing"}};
    return saved;
}

TEST(ProgramParameters, AreParametersOfTheRegistryThatOwnsThem) {
    Parameters parameters;
    {
        const SavedProgram saved = wind();
        add_parameters(parameters, saved);
    }
    ASSERT_EQ(parameters.all().size(), 2u);
    const Parameter& rounds = *parameters.find("rounds");
    EXPECT_EQ(text_of(rounds), "2");
    EXPECT_EQ(rounds.low, 1);
    EXPECT_EQ(rounds.high, 8);
    EXPECT_EQ(rounds.soft_low, 1);
    EXPECT_EQ(rounds.soft_high, 4);
    EXPECT_EQ(rounds.unit, "times");
    EXPECT_EQ(rounds.help, "of smoothing");
    EXPECT_THROW(parameters.set("rounds", "9"), UserError);
    EXPECT_EQ(parameters.initial("rounds"), "2");
}

TEST(ProgramParameters, GiveTheNumbersOfACall) {
    Parameters parameters;
    add_parameters(parameters, wind());
    EXPECT_EQ(scalars_now(wind(), parameters), wind().scalars);
    parameters.set("rounds", "7");
    parameters.set("wind", "1,2");
    EXPECT_EQ(
        scalars_now(wind(), parameters),
        (std::vector<Scalar>{scalar_float(1), scalar_float(2), scalar_int(7), scalar_float(0.5)}));
    EXPECT_THROW(scalars_now(wind(), Parameters()), UserError);
}

TEST(ProgramParameters, LeaveThoseOfOthersAlone) {
    const auto mine = std::make_shared<int>(5);
    Parameter parameter{.name = "rounds", .variable = mine.get()};
    parameter.owner = mine;
    Parameters parameters;
    parameters.add(parameter);
    EXPECT_THROW(add_parameters(parameters, wind()), UserError);
    EXPECT_EQ(text_of(*parameters.find("rounds")), "5");
}

TEST(ProgramParameters, AddedAgainHaveTheValuesOfTheFile) {
    Parameters parameters;
    add_parameters(parameters, wind());
    parameters.set("rounds", "7");
    add_parameters(parameters, wind());
    EXPECT_EQ(text_of(*parameters.find("rounds")), "2");
}

}  // namespace
}  // namespace firn
