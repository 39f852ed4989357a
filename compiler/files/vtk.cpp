// Files of VTK: XML that describes arrays, and the arrays behind it as they lie in memory.
#include "compiler/files/vtk.h"

#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

#include "compiler/files/file.h"
#include "compiler/files/stored_mesh.h"
#include "compiler/files/vtk_series.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

[[noreturn]] void fields_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": " + why);
}

struct VtkType {
    DType dtype;
    const char* name;
};
// A bool has one byte in a StoredTensor.
constexpr VtkType kVtkTypes[] = {{f32, "Float32"}, {f64, "Float64"},  {i8, "Int8"},
                                 {u8, "UInt8"},    {i16, "Int16"},    {u16, "UInt16"},
                                 {i32, "Int32"},   {u32, "UInt32"},   {i64, "Int64"},
                                 {u64, "UInt64"},  {boolean, "UInt8"}};

/// The XML, and the arrays that it describes, each after its length in bytes.
class VtkWriter {
  public:
    explicit VtkWriter(const std::string& path) : path_(path) {}

    std::string xml;

    /// An array of `components` numbers for each element.
    void add_array(const std::string& name, DType dtype, size_t components,
                   std::string_view bytes) {
        const char* type = "";
        for (const VtkType& each : kVtkTypes)
            if (each.dtype == dtype) type = each.name;
        xml += std::string("<DataArray type=\"") + type + "\" Name=\"" + as_xml(path_, name) +
               "\" NumberOfComponents=\"" + std::to_string(components) +
               "\" format=\"appended\" offset=\"" + std::to_string(data_.size()) + "\"/>\n";
        const uint64_t size = bytes.size();
        data_.append(reinterpret_cast<const char*>(&size), sizeof size);
        data_ += bytes;
    }
    template <class T>
    void add_array(const std::string& name, DType dtype, size_t components,
                   const std::vector<T>& values) {
        add_array(name, dtype, components,
                  std::string_view(reinterpret_cast<const char*>(values.data()),
                                   values.size() * sizeof(T)));
    }

    /// Writes the file, and then the list of its series.
    void write(const VtkFile& file, const std::string& type) const {
        const std::string begin = "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type +
                                  "\" version=\"1.0\" byte_order=\"LittleEndian\" "
                                  "header_type=\"UInt64\">\n";
        write_file(file.path, {begin, xml, "<AppendedData encoding=\"raw\">\n_", data_,
                               "\n</AppendedData>\n</VTKFile>\n"});
        if (!file.list.empty()) write_file(file.list, {file.text});
    }

  private:
    std::string path_, data_;
};

/// A tensor whose type VTK has.
StoredTensor stored_for_vtk(const NamedTensor& x) {
    return stored(x.name, x.value.dtype().is_half() ? x.value.as(f32) : x.value);
}

/// Returns the values as x, y and z; axes that are missing get `rest`.
std::array<double, 3> along_xyz(const std::string& path, const char* what,
                                const std::vector<double>& values, size_t rank, double rest) {
    std::array<double, 3> out{rest, rest, rest};
    if (!values.empty() && values.size() != rank)
        fields_fault(path, std::string("the ") + what + " has " + std::to_string(values.size()) +
                               " numbers, and the fields have " + std::to_string(rank) + " axes");
    for (size_t k = 0; k < values.size(); ++k) {
        out[rank - 1 - k] = values[k];
        if (!std::isfinite(values[k]) || (rest == 1 && !(values[k] > 0)))
            fields_fault(path, std::string("the ") + what + " along axis " + std::to_string(k) +
                                   " is " + vtk_number(values[k]));
    }
    return out;
}

std::string joined(const std::array<double, 3>& values) {
    return vtk_number(values[0]) + ' ' + vtk_number(values[1]) + ' ' + vtk_number(values[2]);
}

/// The elements of a vector field with three components each.
StoredTensor with_three(const std::string& path, StoredTensor x) {
    const auto components = static_cast<size_t>(x.shape.back());
    if (components < 1 || components > 3)
        fields_fault(path, "the vectors of '" + x.name + "' have " + std::to_string(components) +
                               " components; VTK has up to 3");
    const auto width = static_cast<size_t>(file_bytes(x.dtype));
    std::vector<std::byte> wide(x.bytes.size() / components * 3);
    for (size_t k = 0; k * width < x.bytes.size(); ++k)
        std::memcpy(&wide[(k / components * 3 + k % components) * width], &x.bytes[k * width],
                    width);
    x.bytes = std::move(wide);
    x.shape.pop_back();
    return x;
}

void check_shape(const std::string& path, const StoredTensor& x, const StoredTensor& first) {
    const auto shape_text = [](const StoredTensor& of) {
        return "'" + of.name + "' " + text(Shape(of.shape.begin(), of.shape.end()));
    };
    if (x.shape.size() < 2 || x.shape.size() > 3)
        fields_fault(path, "the field " + shape_text(x) +
                               " is no grid of two or three axes; where the last axis holds "
                               "components, say {.vector = true}");
    if (elements_of(x.shape) <= 0)
        fields_fault(path, "the field " + shape_text(x) + " has no elements");
    if (x.shape != first.shape)
        fields_fault(path, "the fields " + shape_text(first) + " and " + shape_text(x) +
                               " have different grids; write a file for each");
}

std::vector<StoredTensor> stored_fields(const std::string& path, const std::vector<Field>& fields) {
    std::vector<StoredTensor> out;
    std::set<std::string> names;
    if (fields.empty()) fields_fault(path, "there are no fields to write");
    for (const Field& each : fields) {
        if (!names.insert(each.name).second)
            fields_fault(path, "two fields have the name '" + each.name + "'; give each its own");
        StoredTensor x = stored_for_vtk({each.name, each.value});
        if (each.vector && x.shape.empty())
            fields_fault(path, "the field '" + each.name + "' is one number and no vectors");
        out.push_back(each.vector ? with_three(path, std::move(x)) : std::move(x));
        check_shape(path, out.back(), out.front());
    }
    return out;
}

template <class T>
std::vector<T> counted(size_t count, T first, T step) {
    std::vector<T> out(count);
    for (size_t k = 0; k < count; ++k) out[k] = first + step * static_cast<T>(k);
    return out;
}

}  // namespace

void save_fields(const std::string& path, const std::vector<Field>& fields,
                 const SaveFieldsOptions& options, SourceLine line) {
    LineScope at(line);
    const VtkFile file = vtk_file(path, ".vti", options.frame, options.time);
    const std::vector<StoredTensor> all = stored_fields(path, fields);
    const std::vector<int64_t>& shape = all.front().shape;
    const size_t rank = shape.size();
    std::string extent;
    for (size_t k = 0; k < 3; ++k) {
        const int64_t size = k < rank ? shape[rank - 1 - k] : 1;
        // Cells lie between points; a plane of cells has one layer of points.
        const int64_t last = options.cells && k < rank ? size : size - 1;
        extent += (k > 0 ? " 0 " : "0 ") + std::to_string(last);
    }
    VtkWriter out(path);
    out.xml = "<ImageData WholeExtent=\"" + extent + "\" Origin=\"" +
              joined(along_xyz(path, "origin", options.origin, rank, 0)) + "\" Spacing=\"" +
              joined(along_xyz(path, "spacing", options.spacing, rank, 1)) +
              "\">\n<Piece Extent=\"" + extent + "\">\n<" +
              (options.cells ? "CellData" : "PointData") + ">\n";
    for (size_t k = 0; k < all.size(); ++k)
        out.add_array(all[k].name, all[k].dtype, fields[k].vector ? 3 : 1, all[k].bytes);
    out.xml += std::string("</") + (options.cells ? "CellData" : "PointData") +
               ">\n</Piece>\n</ImageData>\n";
    out.write(file, "ImageData");
}

void save_vtp(const std::string& path, const Mesh& mesh, const SaveVtpOptions& options,
              SourceLine line) {
    LineScope at(line);
    const VtkFile file = vtk_file(path, ".vtp", options.frame, options.time);
    Mesh with_types = mesh;
    for (NamedTensor& each : with_types.attributes)
        if (each.value.dtype().is_half()) each.value = each.value.as(f32);
    const StoredMesh from = stored_mesh(path, with_types);
    std::vector<uint8_t> colours;
    for (float each : from.colours) colours.push_back(colour_byte(each));
    const size_t triangles = from.triangles.size() / 3;
    const size_t points = from.has_triangles ? 0 : from.points;  // that are shown as points
    VtkWriter out(path);
    out.xml = "<PolyData>\n<Piece NumberOfPoints=\"" + std::to_string(from.points) +
              "\" NumberOfVerts=\"" + std::to_string(points) +
              "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"" +
              std::to_string(triangles) + "\">\n<PointData";
    if (!from.normals.empty()) out.xml += " Normals=\"normals\"";
    if (!from.texture_coordinates.empty()) out.xml += " TCoords=\"texture_coordinates\"";
    out.xml += ">\n";
    std::set<std::string> taken{"normals", "texture_coordinates", "colours"};
    if (!from.normals.empty()) out.add_array("normals", f32, 3, from.normals);
    if (!from.texture_coordinates.empty())
        out.add_array("texture_coordinates", f32, 2, from.texture_coordinates);
    if (!colours.empty()) out.add_array("colours", u8, from.colour_channels, colours);
    for (const StoredTensor& each : from.attributes) {
        if (taken.count(each.name))
            fields_fault(path, "the attribute '" + each.name +
                                   "' has the name of a part of the mesh; give it another one");
        out.add_array(each.name, each.dtype, 1, each.bytes);
    }
    out.xml += "</PointData>\n<Points>\n";
    out.add_array("points", f32, 3, from.positions);
    out.xml += "</Points>\n<Verts>\n";
    out.add_array("connectivity", i64, 1, counted<int64_t>(points, 0, 1));
    out.add_array("offsets", i64, 1, counted<int64_t>(points, 1, 1));
    out.xml += "</Verts>\n<Polys>\n";
    out.add_array("connectivity", i64, 1,
                  std::vector<int64_t>(from.triangles.begin(), from.triangles.end()));
    out.add_array("offsets", i64, 1, counted<int64_t>(triangles, 3, 3));
    out.xml += "</Polys>\n</Piece>\n</PolyData>\n";
    out.write(file, "PolyData");
}

}  // namespace firn
