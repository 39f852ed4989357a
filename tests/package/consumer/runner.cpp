// Runs a saved program with the runtime alone, as a plugin does that has no compiler and no window:
// FILE [NAME=VALUE
// ..] fills its tensors with ones and prints how much each result is, and its first element.
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/make_call.h"
#include "engine/parameters/program_parameters.h"
#include "engine/runtime/open_executor.h"

using namespace firn;

static int run(int count, char** words) {
    const SavedProgram saved = read_program(words[1]);
    Parameters parameters;
    add_parameters(parameters, saved);
    for (int k = 2; k < count; ++k) {
        const std::string word = words[k];
        const size_t equals = word.find('=');
        parameters.set(word.substr(0, equals), word.substr(equals + 1));
    }
    const auto executor = open_executor({.validation = true});
    std::vector<std::shared_ptr<Memory>> arguments;
    for (size_t k = 0; k < saved.shapes.size(); ++k) {
        std::vector<float> ones(1, 1.0f);
        for (int64_t size : saved.shapes[k]) ones.resize(ones.size() * size_t(size), 1.0f);
        ones.resize((ones.size() + 3) / 4 * 4);
        arguments.push_back(saved.program->arguments[k].scalar
                                ? nullptr
                                : executor->allocate(4 * ones.size(), "argument"));
        if (arguments.back()) executor->write(*arguments.back(), 0, std::as_bytes(std::span(ones)));
    }
    const Call call = make_call(*executor, *saved.program, arguments, saved.shapes,
                                scalars_now(saved, parameters));
    executor->run(saved.program, call);
    for (size_t k = 0; k < call.results.size(); ++k) {
        float first = 0;
        executor->read(*call.results[k], 0, std::as_writable_bytes(std::span(&first, 1)));
        int64_t elements = 1;
        for (const Size& size : saved.program->results[k].shape)
            elements *= size.evaluate(call.symbols);
        std::printf("result %zu: %lld elements, the first is %g\n", k,
                    static_cast<long long>(elements), double(first));
    }
    std::fputs(validation_report(*executor).c_str(), stdout);
    return validation_report(*executor).empty() ? 0 : 1;
}

int main(int count, char** words) {
    try {
        return run(count, words);
    } catch (const std::exception& error) {
        std::printf("refused: %s\n", error.what());
        return 2;
    }
}
