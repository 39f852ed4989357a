// All passes of the compiler as one list, and the dials that leave some of them out.
#include "compiler/driver/pass_list.h"

#include <algorithm>
#include <set>
#include <span>
#include <sstream>

#include "compiler/base/error.h"
#include "compiler/driver/finish_kernels.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

template <class Pass>
void add_row(std::vector<ListedPass>& out, std::span<const Pass> rows, size_t k,
             const char* changes) {
    out.push_back(
        {pass_label(rows, k), rows[k].info, changes, name(rows[k].takes), name(rows[k].gives)});
}

bool is_named(const ListedPass& pass, const std::string& word) {
    return pass.label == word || pass.info.name == word;
}

/// The names of the passes, each once.
std::string names_of(const std::vector<ListedPass>& all) {
    std::string out;
    std::set<std::string> seen;
    for (const ListedPass& pass : all) {
        if (!seen.insert(pass.info.name).second) continue;
        out += (out.empty() ? "" : ", ") + std::string(pass.info.name);
    }
    return out;
}

/// Throws UserError if no pass has the name.
void check_name(const std::vector<ListedPass>& all, const char* dial, const std::string& word) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& row) { return is_named(row, word); }))
        return;
    throw UserError(std::string(dial) + ": no pass is named '" + word +
                    "'; FIRN_HELP=2 prints the passes, which are " + names_of(all));
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');)
        if (!word.empty()) out.push_back(word);
    return out;
}

void skip_named(const std::vector<ListedPass>& all, const std::string& word, SkippedPasses& out) {
    check_name(all, "FIRN_SKIP", word);
    for (const ListedPass& pass : all) {
        if (!is_named(pass, word)) continue;
        if (pass.info.required)
            throw UserError("FIRN_SKIP: the pass '" + pass.label +
                            "' may not be left out: " + pass.info.required);
        out.insert(pass.label);
    }
}

void skip_behind(const std::vector<ListedPass>& all, const std::string& word, SkippedPasses& out) {
    check_name(all, "FIRN_STOP_AFTER", word);
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [&](const auto& row) { return is_named(row, word); });
    std::for_each(last.base(), all.end(), [&](const ListedPass& pass) {
        if (!pass.info.required) out.insert(pass.label);
    });
}

}  // namespace

std::vector<ListedPass> listed_passes() {
    std::vector<ListedPass> out;
    const auto graph = graph_passes();
    for (size_t k = 0; k < graph.size(); ++k) add_row(out, graph, k, "graph");
    const auto lists = list_passes();
    const auto kernels = kernel_passes();
    size_t next = 0;
    for (size_t k = 0; k < lists.size(); ++k) {
        add_row(out, lists, k, "list of kernels");
        if (lists[k].takes == lists[k].gives) continue;
        for (; next < kernels.size() && kernels[next].gives <= lists[k].gives; ++next)
            add_row(out, kernels, next, "each kernel");
    }
    return out;
}

std::string passes_text() {
    std::string out =
        "The passes of the compiler, in the order in which they run. FIRN_SKIP=name,name leaves\n"
        "some out, FIRN_STOP_AFTER=name all behind one, but never those that `!` marks:\n";
    const auto padded = [](std::string text, size_t width) {
        text.resize(std::max(text.size() + 1, width), ' ');
        return text;
    };
    for (const ListedPass& pass : listed_passes()) {
        const std::string stages =
            pass.takes == pass.gives ? pass.takes : pass.takes + " to " + pass.gives;
        out += (pass.info.required ? "! " : "  ") + padded(pass.label, 24) +
               padded(pass.changes + ", " + stages, 36) + pass.info.file + ".cpp" +
               (pass.info.required ? std::string("; ") + pass.info.required : "") + "\n";
    }
    return out;
}

SkippedPasses skipped_passes(const std::string& skip, const std::string& stop_after) {
    if (skip.empty() && stop_after.empty()) return {};
    const std::vector<ListedPass> all = listed_passes();
    SkippedPasses out;
    for (const std::string& word : words_of(skip)) skip_named(all, word, out);
    if (!stop_after.empty()) skip_behind(all, stop_after, out);
    return out;
}

SkippedPasses optional_passes() {
    SkippedPasses out;
    for (const ListedPass& pass : listed_passes())
        if (!pass.info.required) out.insert(pass.label);
    return out;
}

}  // namespace firn
