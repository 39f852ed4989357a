// Texts that passes left, one at a time, with what each has changed.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/compile_trace.h"

namespace firn {

/// Marks the lines of `after` that `before` has not, whatever the numbers of their nodes.
std::vector<bool> new_lines(const std::string& before, const std::string& after);

/// A list of passes beside the text that the picked one left, as items of Dear ImGui.
class PassView {
  public:
    /// `of` names whose passes they are: of another one, the pass of the same name stays picked.
    /// `note` is told the name of the item before.
    void draw(const std::string& of, const std::vector<CompileTrace::Pass>& passes, float height,
              const std::function<void(const char*)>& note);
    /// What is read now.
    const std::string& text() const { return text_; }

  private:
    void choose(const std::vector<CompileTrace::Pass>& passes, size_t pass);
    void draw_list(const std::vector<CompileTrace::Pass>& passes,
                   const std::function<void(const char*)>& note);
    void draw_text(const CompileTrace::Pass& pass) const;

    std::string of_, picked_, text_;
    size_t pass_ = 0;
    std::vector<bool> unchanged_;                      // by pass: it left what it got
    std::vector<std::pair<std::string, bool>> lines_;  // of the text; true: the pass made it
};

}  // namespace firn
