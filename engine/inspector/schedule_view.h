// ScheduleView: shows the schedule of a program as a picture to zoom and pan.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"
#include "engine/inspector/schedule_layout.h"

namespace firn {

class ScheduleView {
  public:
    /// Draws the picture as an item of Dear ImGui that fills the rest of its window; `note` is
    /// called with its name, and with the names of the values in it.
    void draw(const std::shared_ptr<const Program>& program, const CompileTrace& trace, float scale,
              const std::function<void(const char*)>& note);

    const ScheduleLayout& layout() const { return layout_; }
    float zoom() const { return zoom_; }
    /// The row of the value under the mouse in the last frame, -1: none.
    int hovered() const { return hovered_; }
    /// Offset of the picture's corner from the canvas' corner, in pixels at scale 1.
    float shift_x() const { return shift_x_; }
    float shift_y() const { return shift_y_; }

  private:
    struct Canvas;
    void take_mouse(const Canvas& canvas);
    /// Folds or unfolds a group at a click on its title, or on the node of its values.
    void take_click(float x, float y);
    void fit(const Canvas& canvas);
    void draw_groups(const Canvas& canvas) const;
    void draw_edges(const Canvas& canvas, size_t under_mouse) const;
    void draw_nodes(const Canvas& canvas) const;
    size_t node_at(const Canvas& canvas, float x, float y) const;
    void draw_tooltip(const ScheduleNode& node) const;

    std::shared_ptr<const Program> program_;
    ScheduleLayout layout_;
    float zoom_ = 1, shift_x_ = 0, shift_y_ = 0;  // shift of the picture's corner in pixels at
                                                  // scale 1
    std::map<int, bool> folded_;  // groups that the user has folded or unfolded, by dispatch
    bool fitted_ = false, laid_out_ = false;
    int hovered_ = -1;
};

}  // namespace firn
