// PassView: shows the text that a pass produced, with the changed lines marked.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/compile_trace.h"

namespace firn {

/// Marks the lines of `after` that are not in `before`; numbers of nodes are not compared.
std::vector<bool> new_lines(const std::string& before, const std::string& after);

/// A list of passes beside the text of the selected one, as items of Dear ImGui.
class PassView {
  public:
    /// `of` names the kernel or graph of the passes; when it changes, the pass of the same name
    /// stays selected. `note` is called with the name of the item drawn before.
    void draw(const std::string& of, const std::vector<CompileTrace::Pass>& passes, float height,
              const std::function<void(const char*)>& note);
    /// The text that is shown now.
    const std::string& text() const { return text_; }

  private:
    void choose(const std::vector<CompileTrace::Pass>& passes, size_t pass);
    void draw_list(const std::vector<CompileTrace::Pass>& passes,
                   const std::function<void(const char*)>& note);
    void draw_text(const CompileTrace::Pass& pass) const;

    std::string of_, picked_, text_;
    size_t pass_ = 0;
    std::vector<bool> unchanged_;                      // by pass: true if it changed nothing
    std::vector<std::pair<std::string, bool>> lines_;  // lines of the text; true if the pass
                                                       // changed it
};

}  // namespace firn
