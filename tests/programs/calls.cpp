// The calls of a program in each way.
#include "tests/programs/calls.h"

#include "tests/programs/reference.h"

namespace firn::programs {
namespace {

Call new_call(const Program& program, const Sizes& sizes, size_t first, bool given = false) {
    Call call{.sizes = sizes, .arguments = argument_values(program, sizes, first)};
    call.fed.assign(call.arguments.size(), -1);
    call.given.assign(call.arguments.size(), given);
    return call;
}

/// Results of the type and shape of an argument take its place, each of them once.
Call next_frame(const Call& before, bool given) {
    Call call = before;
    std::vector<bool> taken(before.outputs.size());
    for (size_t k = 0; k < call.arguments.size(); ++k) {
        call.fed[k] = -1, call.given[k] = false;
        for (size_t r = 0; r < before.outputs.size() && call.fed[k] < 0; ++r) {
            const Array& result = before.outputs[r];
            if (taken[r] || result.dtype != call.arguments[k].dtype ||
                result.shape != call.arguments[k].shape)
                continue;
            call.arguments[k] = result, call.fed[k] = static_cast<int>(r), call.given[k] = given,
            taken[r] = true;
        }
    }
    return call;
}

std::vector<Call> planned(const Program& program, Way way) {
    auto own = [&](size_t first, bool given = false) {
        return new_call(program, program.sizes, first, given);
    };
    auto again = [&] { return new_call(program, program.sizes_again, 1); };
    switch (way) {
        case Way::Lazy:
        case Way::Compiled:
        case Way::Frames:
        case Way::Fed: return {own(0)};
        case Way::Symbolic:
            return {own(0), again(), new_call(program, program.sizes_third, 2), own(3)};
        case Way::Repeated: return {own(0), own(1), own(0)};
        case Way::Jit: return {own(0), again(), own(2)};
        case Way::Donated: {
            std::vector<Call> calls{own(0, true), own(1)};
            for (size_t k = 0; k < calls[1].given.size(); k += 2) calls[1].given[k] = true;
            return calls;
        }
    }
    return {};
}

}  // namespace

const char* name(Way way) {
    static constexpr const char* kNames[] = {"lazy",    "frames",   "compiled", "symbolic",
                                             "donated", "repeated", "fed",      "jit"};
    return kNames[static_cast<size_t>(way)];
}

std::vector<Call> calls_of(const Program& program, Way way) {
    std::vector<Call> calls = planned(program, way), made;
    const size_t frames = way == Way::Frames || way == Way::Fed ? 3 : calls.size();
    for (size_t k = 0; k < frames; ++k) {
        Call call =
            k < calls.size() ? std::move(calls[k]) : next_frame(made.back(), way == Way::Fed);
        try {
            call.outputs = reference(program, call.arguments, call.sizes);
        } catch (const std::runtime_error&) {  // it says nothing, or never ends
            if (made.empty()) throw;
            continue;
        }
        made.push_back(std::move(call));
    }
    return made;
}

}  // namespace firn::programs
