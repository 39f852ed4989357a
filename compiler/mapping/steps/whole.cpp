// The step `whole`: short innermost loops are unrolled as a whole.
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/grow_tile.h"
#include "compiler/mapping/steps.h"

namespace firn {
namespace {

void choose(Choice& c) {
    if (!c.traits.loops) return;
    const TileModel model = c.model ? *c.model : TileModel(c.ready, false);
    const auto fits = [&](int64_t iterations) {
        return fits_written_out(model, c.m.tile, iterations, c.profile.max_body_operations);
    };
    while (c.m.written_out < c.longest_written_out && fits(c.m.written_out + 1)) ++c.m.written_out;
}

}  // namespace

const StepRules mapping_step::whole{.choose = choose};

}  // namespace firn
