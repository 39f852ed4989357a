// The parameters of a saved program on a panel.
#include "engine/window/program_parameters.h"

namespace firn {

void add_parameters(Gui& panel, const SavedProgram& saved) {
    for (const HeldParameter& held : held_parameters(saved))
        panel.bind(held.name, held.variable, held.options);
}

}  // namespace firn
