// A plugin whose only function runs a saved program on the device, with ones as arguments.
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "compiler/program/make_call.h"
#include "engine/parameters/program_parameters.h"
#include "engine/runtime/open_executor.h"

using namespace firn;

/// Writes the first element of the first result. Returns 0, or 1 for any error.
extern "C" __attribute__((visibility("default"))) int plugin_first_result(const char* file,
                                                                          float* first) {
    try {
        const SavedProgram saved = read_program(file);
        Parameters parameters;
        add_parameters(parameters, saved);
        const auto executor = open_executor({});
        std::vector<std::shared_ptr<Memory>> arguments;
        for (size_t k = 0; k < saved.shapes.size(); ++k) {
            int64_t count = 1;
            for (int64_t size : saved.shapes[k]) count *= size;
            const std::vector<float> ones(static_cast<size_t>((count + 3) / 4 * 4), 1.0f);
            arguments.push_back(saved.program->arguments[k].scalar
                                    ? nullptr
                                    : executor->allocate(4 * ones.size(), "argument"));
            if (arguments.back())
                executor->write(*arguments.back(), 0, std::as_bytes(std::span(ones)));
        }
        const Call call = make_call(*executor, *saved.program, arguments, saved.shapes,
                                    scalars_now(saved, parameters));
        executor->run(saved.program, call);
        executor->read(*call.results[0], 0, std::as_writable_bytes(std::span(first, 1)));
        return 0;
    } catch (const std::exception&) {
        return 1;
    }
}
