// Files of VTK: their contents, and that VTK itself reads them.
#include <cmath>

#include "tests/files/file_test.h"

namespace firn {
namespace {

using VtkFiles = FileTest;

Mesh tetrahedron() {
    return {.positions = tensor(
                {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.5f}, {4, 3}),
            .triangles = tensor({0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}, {4, 3}),
            .normals = tensor(
                {0.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.6f, 0.8f, 0.0f}, {4, 3}),
            .colours = tensor(
                {1.0f, 0.0f, 0.2f, 1.0f, 0.0f, 0.4f, 0.6f, 0.8f, 1.0f, 0.0f, 0.0f, 1.0f}, {4, 3}),
            .attributes = {{"heat", tensor({0.5f, 1.5f, 2.5f, 3.5f}).as(f16)}}};
}

// Reads appended arrays by the XML before them, without VTK.
constexpr const char* kByNumpy = R"(
import sys, numpy, xml.etree.ElementTree as tree
def arrays(name):
    data = open(sys.argv[1] + '/' + name, 'rb').read()
    head, rest = data.split(b'<AppendedData encoding="raw">\n_', 1)
    root = tree.fromstring(head + b'</VTKFile>')
    assert root.attrib['header_type'] == 'UInt64' and root.attrib['byte_order'] == 'LittleEndian'
    assert rest.endswith(b'\n</AppendedData>\n</VTKFile>\n')
    out = {}
    for part in root.iter():
        for each in part.findall('DataArray'):
            at = int(each.attrib['offset'])
            size = int(numpy.frombuffer(rest, '<u8', 1, at)[0])
            kind = numpy.dtype(each.attrib['type'].lower())
            values = numpy.frombuffer(rest[at + 8:at + 8 + size], kind)
            out[part.tag + '.' + each.attrib['Name']] = values.reshape(-1, int(each.attrib['NumberOfComponents']))
    return root, out
)";

TEST_F(VtkFiles, NumpyReadsFields) {
    if (!python_has("numpy")) GTEST_SKIP() << "python3-numpy is not installed";
    save_fields(path("x.vti"),
                {{"speed & more", reshape(arange(24), {2, 3, 4}).as(f32) * 0.5f},
                 {"inside", reshape(arange(24), {2, 3, 4}) > 20},
                 {"flow", reshape(arange(48), {2, 3, 4, 2}).as(i16), true},
                 {"half", full({2, 3, 4}, 1.5f).as(f16)}},
                {.spacing = {0.5, 0.25, 0.1}, .origin = {1, 2, 3}});
    EXPECT_EQ(
        python(std::string(kByNumpy) + R"(
root, a = arrays('x.vti')
image = root.find('ImageData')
print(image.attrib['WholeExtent'], '|', image.attrib['Spacing'], '|', image.attrib['Origin'])
print({k: (v.dtype.name, v.shape) for k, v in a.items()})
print(a['PointData.speed & more'][-1], a['PointData.inside'].ravel()[-4:], a['PointData.flow'][-1], a['PointData.half'][3])
)"),
        "0 3 0 2 0 1 | 0.1 0.25 0.5 | 3 2 1\n"
        "{'PointData.speed & more': ('float32', (24, 1)), 'PointData.inside': ('uint8', (24, 1)), "
        "'PointData.flow': ('int16', (24, 3)), 'PointData.half': ('float32', (24, 1))}\n"
        "[11.5] [0 1 1 1] [46 47  0] [1.5]\n");
}

TEST_F(VtkFiles, NumpyReadsMeshes) {
    if (!python_has("numpy")) GTEST_SKIP() << "python3-numpy is not installed";
    save_vtp(path("x.vtp"), tetrahedron());
    save_vtp(path("y.vtp"), {.positions = ones({3, 3})});
    EXPECT_EQ(python(std::string(kByNumpy) + R"(
root, a = arrays('x.vtp')
print(root.find('PolyData/Piece').attrib['NumberOfPolys'], root.find('PolyData/Piece/PointData').attrib)
print(a['Polys.connectivity'].ravel(), a['Polys.offsets'].ravel(), a['Verts.offsets'].size)
print(a['Points.points'][3], a['PointData.colours'][1], a['PointData.heat'].ravel())
root, a = arrays('y.vtp')
print(a['Verts.connectivity'].ravel(), a['Verts.offsets'].ravel(), a['Polys.offsets'].size)
)"),
              "4 {'Normals': 'normals'}\n"
              "[0 2 1 0 1 3 0 3 2 1 2 3] [ 3  6  9 12] 0\n"
              "[0.  0.  1.5] [255   0 102] [0.5 1.5 2.5 3.5]\n"
              "[0 1 2] [1 2 3] 0\n");
}

TEST_F(VtkFiles, VtkReadsWhatIsWritten) {
    if (!python_has("vtk")) GTEST_SKIP() << "python3-vtk9 is not installed";
    save_fields(path("x.vti"),
                {{"speed", reshape(arange(24), {2, 3, 4}).as(f32)},
                 {"flow", reshape(arange(48), {2, 3, 4, 2}).as(f32), true}},
                {.spacing = {0.5, 0.25, 0.1}});
    save_fields(path("c.vti"), {{"speed", reshape(arange(6), {2, 3})}}, {.cells = true});
    save_vtp(path("x.vtp"), tetrahedron());
    Mesh ply = tetrahedron();
    ply.attributes.clear();  // halves, which PLY has not
    save_ply(path("x.ply"), ply);
    EXPECT_EQ(python(R"(
import sys, vtk
def read(reader, name):
    reader.SetFileName(sys.argv[1] + '/' + name)
    reader.Update()
    return reader.GetOutput()
x = read(vtk.vtkXMLImageDataReader(), 'x.vti')
speed, flow = (x.GetPointData().GetArray(n) for n in ('speed', 'flow'))
print(x.GetDimensions(), x.GetSpacing(), x.GetPoint(23))
print(speed.GetTuple(x.ComputePointId((1, 2, 1))), flow.GetTuple(23))
c = read(vtk.vtkXMLImageDataReader(), 'c.vti')
print(c.GetDimensions(), c.GetNumberOfCells(), [c.GetCellData().GetArray('speed').GetValue(k) for k in range(6)])
x = read(vtk.vtkXMLPolyDataReader(), 'x.vtp')
print(x.GetNumberOfPoints(), x.GetNumberOfPolys(), x.GetPoint(3), [x.GetCell(3).GetPointId(k) for k in range(3)])
print(x.GetPointData().GetNormals().GetTuple(1), x.GetPointData().GetArray('colours').GetTuple(1), x.GetPointData().GetArray('heat').GetValue(2))
x = read(vtk.vtkPLYReader(), 'x.ply')
print(x.GetNumberOfPoints(), x.GetNumberOfPolys(), x.GetPoint(3), x.GetPointData().GetNormals().GetTuple(1))
)"),
              "(4, 3, 2) (0.1, 0.25, 0.5) (0.30000000000000004, 0.5, 0.5)\n"
              "(21.0,) (46.0, 47.0, 0.0)\n"
              "(4, 3, 1) 6 [0, 1, 2, 3, 4, 5]\n"
              "4 4 (0.0, 0.0, 1.5) [1, 2, 3]\n"
              "(0.0, 1.0, 0.0) (255.0, 0.0, 102.0) 2.5\n"
              "4 4 (0.0, 0.0, 1.5) (0.0, 1.0, 0.0)\n");
}

constexpr const char* kHead =
    "<?xml version=\"1.0\"?>\n"
    "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n";

TEST_F(VtkFiles, SeriesHaveAListBesideThem) {
    const Tensor u = zeros({2, 2});
    for (int k = 0; k < 3; ++k)
        save_fields(path("run & jump_%03d.vti"), {{"u", u}}, {.frame = k, .time = 0.5 * k});
    EXPECT_EQ(content(path("run & jump.pvd")),
              std::string(kHead) +
                  "<DataSet timestep=\"0\" part=\"0\" file=\"run &amp; jump_000.vti\"/>\n"
                  "<DataSet timestep=\"0.5\" part=\"0\" file=\"run &amp; jump_001.vti\"/>\n"
                  "<DataSet timestep=\"1\" part=\"0\" file=\"run &amp; jump_002.vti\"/>\n"
                  "</Collection>\n</VTKFile>\n");
    EXPECT_TRUE(std::filesystem::exists(path("run & jump_002.vti")));
    // A run that goes on from frame 1 makes the later ones anew.
    save_fields(path("run & jump_%03d.vti"), {{"u", u}}, {.frame = 1, .time = 7});
    EXPECT_EQ(content(path("run & jump.pvd")),
              std::string(kHead) +
                  "<DataSet timestep=\"0\" part=\"0\" file=\"run &amp; jump_000.vti\"/>\n"
                  "<DataSet timestep=\"7\" part=\"0\" file=\"run &amp; jump_001.vti\"/>\n"
                  "</Collection>\n</VTKFile>\n");
    // Points too; the time is the number of the frame where none is given.
    save_vtp(path("%d.vtp"), {.positions = zeros({1, 3})}, {.frame = 12});
    EXPECT_EQ(
        content(path("series.pvd")),
        std::string(kHead) +
            "<DataSet timestep=\"12\" part=\"0\" file=\"12.vtp\"/>\n</Collection>\n</VTKFile>\n");
}

TEST_F(VtkFiles, RefusesWhatNoGridHolds) {
    const Tensor u = zeros({2, 3});
    const struct {
        const char* name;
        std::vector<Field> fields;
        SaveFieldsOptions options;
        std::vector<std::string> said;
    } cases[] = {
        {"x.vtk", {{"u", u}}, {}, {"x.vtk", ".vti", "vtk_test.cpp"}},
        {"x.vti", {}, {}, {"no fields"}},
        {"x.vti", {{"u", u}, {"u", u}}, {}, {"two fields", "'u'"}},
        {"x.vti", {{"u", u}, {"v", zeros({3, 2})}}, {}, {"'u' [2, 3]", "'v' [3, 2]"}},
        {"x.vti", {{"u", zeros({4})}}, {}, {"'u' [4]", "two or three"}},
        {"x.vti", {{"u", zeros({2, 2, 2, 3})}}, {}, {".vector = true"}},
        {"x.vti", {{"u", zeros({2, 0})}}, {}, {"no elements"}},
        {"x.vti", {{"u", zeros({2, 2, 4}), true}}, {}, {"4 components"}},
        {"x.vti", {{"u", zeros({2, 2, 0}), true}}, {}, {"0 components"}},
        {"x.vti", {{"u", Tensor(1.0f), true}}, {}, {"one number"}},
        {"x.vti", {{"a\nb", u}}, {}, {"XML"}},
        {"x.vti", {{"u", u}}, {.spacing = {1}}, {"spacing", "1 numbers", "2 axes"}},
        {"x.vti", {{"u", u}}, {.spacing = {1, 0}}, {"spacing", "axis 1"}},
        {"x.vti", {{"u", u}}, {.origin = {NAN, 0}}, {"origin", "nan"}},
        {"x.vti", {{"u", u}}, {.frame = 1}, {"no place", "run_%04d.vti"}},
        {"x%d.vti", {{"u", u}}, {}, {".frame = k"}},
        {"x%d.vti", {{"u", u}}, {.frame = -1}, {".frame = k"}},
        {"x%d.vti", {{"u", u}}, {.frame = 1, .time = NAN}, {"time"}},
        {"x%s.vti", {{"u", u}}, {.frame = 1}, {"%04d"}},
        {"x%d%d.vti", {{"u", u}}, {.frame = 1}, {"%04d"}},
    };
    for (const auto& each : cases)
        expect_parts(user_error([&] { save_fields(path(each.name), each.fields, each.options); }),
                     each.said);
    EXPECT_TRUE(std::filesystem::is_empty(path("")));
    // A list of another kind stays unchanged.
    written("x.pvd", "mine");
    expect_parts(user_error([&] {
                     save_fields(path("x_%d.vti"), {{"u", u}}, {.frame = 0});
                 }),
                 {"x.pvd", "remove it"});
    EXPECT_EQ(content(path("x.pvd")), "mine");
    EXPECT_FALSE(std::filesystem::exists(path("x_0.vti")));
}

}  // namespace
}  // namespace firn
