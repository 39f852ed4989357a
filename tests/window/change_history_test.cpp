// Undo and redo of changes of parameters.
#include "engine/window/change_history.h"

#include <gtest/gtest.h>

#include "engine/parameters/parameters.h"

namespace firn {
namespace {

TEST(ChangeHistory, StepsAreUndoneAndDoneAgain) {
    float dt = 0.1f;
    int steps = 2;
    Parameters parameters;
    parameters.add({"dt", "time step", &dt, 0, 0.5});
    parameters.add({"steps", "", &steps, 1, 8});
    ChangeHistory history;
    EXPECT_EQ(history.undo(parameters, {}), "");
    for (const char* value : {"0.2", "0.3"}) {
        const ParameterValues before = parameters.values();
        parameters.set("dt", value);
        parameters.set("steps", "7");  // the program's own business
        history.note(parameters, before, {"dt"});
    }
    history.note(parameters, parameters.values(), {"dt"});  // nothing has changed
    EXPECT_EQ(history.undo(parameters, {}), "dt");
    EXPECT_EQ(dt, 0.2f);
    EXPECT_EQ(history.undo(parameters, {}), "dt");
    EXPECT_EQ(dt, 0.1f);
    EXPECT_EQ(steps, 7);
    EXPECT_EQ(history.redo(parameters, {}), "dt");
    EXPECT_EQ(dt, 0.2f);
    const ParameterValues before = parameters.values();
    parameters.set("dt", "0.5");
    history.note(parameters, before, {"dt"});
    EXPECT_EQ(history.redo(parameters, {}), "");
    EXPECT_EQ(history.undo(parameters, {}), "dt");
    EXPECT_EQ(dt, 0.2f);
}

}  // namespace
}  // namespace firn
