// Makes the trace of a program in the background.
#include "engine/inspector/trace_maker.h"

#include <chrono>
#include <exception>
#include <utility>

namespace firn {

const CompileTrace* TraceMaker::trace(const std::shared_ptr<const Program>& program) {
    if (making_.valid()) {
        if (making_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return nullptr;
        made_ = making_.get();
    }
    if (program != program_) {
        program_ = program;
        made_ = {};
        making_ = std::async(std::launch::async, [make = make_, program] {
            Made made;
            try {
                made.trace = make(*program);
            } catch (const std::exception& error) {
                made.refused = error.what();
            }
            return made;
        });
        return nullptr;
    }
    return made_.trace ? &*made_.trace : nullptr;
}

}  // namespace firn
