// Fields on grids and meshes as files of VTK, which ParaView and its kin show.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/files/mesh.h"

namespace firn {

/// A number or a vector at each point of a grid.
struct Field {
    std::string name;
    Tensor value;         ///< [h, w] or [d, h, w]; of vectors [h, w, c] or [d, h, w, c]
    bool vector = false;  ///< the last axis holds components: of 2, VTK gets 0 as the third
};

/// The position of a grid, and the frame of a series.
struct SaveFieldsOptions {
    /// Between neighbours along the axes of the tensors, in order: {dz, dy, dx} or {dy, dx}. Empty:
    /// 1 along each.
    std::vector<double> spacing = {};
    /// The place of the first element along the same axes. Empty: 0.
    std::vector<double> origin = {};
    /// Values belong to cells, not to the points between them: a simulation on cell centres.
    bool cells = false;
    /// The number of this file in a series, whose name has a %d or %04d for it.
    std::optional<int> frame = {};
    std::optional<double> time = {};  ///< the time of the frame; absent: its number
};
/// Writes fields of one shape as a `.vti` file, an image of VTK: the last axis of the tensors is x,
/// the one before y, and z before that. Binary, as appended raw data; f16 and bf16 become f32,
/// bools u8. Whole or not at all.
///
/// With a `frame` the file is part of a series (`run_%04d.vti`): the file `run.pvd` beside it lists
/// all frames up to this one with their times, so that ParaView opens the series. Frames of greater
/// numbers, which an earlier run left, are removed from the list.
///
/// UserError: fields of several shapes, of other ranks or without elements; two of one name; a name
/// without a number for the frame, or with one and no frame; another ending; a `.pvd` beside it
/// that is no list of this series.
///
/// Example: after `save_fields("run_%04d.vti", {{"speed", zeros({2, 3})}}, {.frame = 7});`
/// `load_raw("run_0007.vti", {-1}, u8)(0).as(i32)` is `60`.
void save_fields(const std::string& path, const std::vector<Field>& fields,
                 const SaveFieldsOptions& options = {}, SourceLine line = here());

/// The frame of a series.
struct SaveVtpOptions {
    std::optional<int> frame = {};    ///< its number, for which the name has a %d or %04d
    std::optional<double> time = {};  ///< the time of the frame; absent: its number
};
/// Writes points, or triangles, as a `.vtp` file, the polygons of VTK, with normals, texture
/// coordinates, colours (8 bits each) and attributes as data of the points; series as save_fields.
///
/// Example: after `save_vtp("p.vtp", {.positions = zeros({5, 3})});`
/// `load_raw("p.vtp", {-1}, u8)(0).as(i32)` is `60`.
void save_vtp(const std::string& path, const Mesh& mesh, const SaveVtpOptions& options = {},
              SourceLine line = here());

}  // namespace firn
