// The parameters of a panel by their names, by firn.h alone.
#include <gtest/gtest.h>

#include "engine/firn/firn.h"

namespace firn {
namespace {

TEST(PanelParameters, AreSetAndReadByFirnsHeaderAlone) {
    App app({.name = "panel", .help = "A program."});
    SessionScope scope(Session::interpreter());
    Param<float> dt{app, "dt", 0.25f, {.min = 0, .max = 1}};
    Param<int> steps{app, "steps", 4};
    EXPECT_EQ(app.gui().parameters().names(), (std::vector<std::string>{"dt", "steps"}));
    app.gui().parameters().set("dt", "0.5");
    EXPECT_EQ(app.gui().parameters().value("dt"), "0.5");
    EXPECT_EQ(static_cast<float>(dt), 0.5f);
    app.gui().parameters().reset();
    EXPECT_EQ(app.gui().parameters().value("dt"), "0.25");
    EXPECT_EQ(app.gui().parameters().value("steps"), "4");
}

TEST(PanelParameters, ThatAreNotThereAreNamed) {
    Gui panel;
    float x = 1;
    panel.parameter("x", x);
    std::string message;
    try {
        panel.parameters().value("y");
    } catch (const UserError& error) {
        message = error.what();
    }
    EXPECT_EQ(message, "panel: there is no parameter 'y'; there are x");
}

}  // namespace
}  // namespace firn
