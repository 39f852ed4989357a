// Lists of steps, short: what tests of passes over lists say of them.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/kernel_list.h"

namespace firn::test {

/// `a b; copy; (c)`: what stands together, in order; loops in brackets.
inline std::string names(const std::vector<ListedStep>& steps) {
    std::string out;
    for (const ListedStep& step : steps) {
        if (!out.empty()) out += "; ";
        if (std::holds_alternative<CopyStep>(step.step)) out += "copy";
        if (std::holds_alternative<ListedSize>(step.step)) out += "size";
        if (const auto* loop = std::get_if<ListedLoop>(&step.step))
            out += "(" + names(loop->body) + ")";
        if (const auto* listed = std::get_if<ListedKernel>(&step.step))
            for (size_t k = 0; k < listed->lines.size(); ++k)
                out += (k > 0 ? " " : "") + listed->lines[k];
    }
    return out;
}

template <class... Steps>
std::vector<ListedStep> steps(Steps... all) {
    std::vector<ListedStep> out;
    ((out.emplace_back().step = std::move(all)), ...);
    return out;
}

}  // namespace firn::test
