// The readers of files, each with files that it reads.
#include "tests/fuzz/formats.h"

#include <unistd.h>
#ifdef FIRN_WITH_HDF5
#include <hdf5.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/files/csv.h"
#include "compiler/files/cube.h"
#include "compiler/files/inflate.h"
#include "compiler/files/ply.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/session.h"
#include "compiler/interchange/hdf5.h"
#include "compiler/interchange/hdf5_reader.h"
#include "compiler/interchange/mesh_files.h"
#include "compiler/language.h"
#include "compiler/program/make_call.h"
#include "compiler/program/program.h"
#include "compiler/program/saved_program.h"
#include "compiler/program/walk_steps.h"
#include "engine/app/exr.h"
#include "engine/pictures/formats.h"
#include "engine/pictures/hdr_file.h"
#include "engine/pictures/jpeg_file.h"
#include "engine/pictures/png_file.h"

namespace firn {
namespace {

/// A file of this process, which is written anew for each run.
std::string scratch(const char* ending) {
    return (std::filesystem::temp_directory_path() / ("fuzz_" + std::to_string(getpid()) + ending))
        .string();
}
void put_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}
std::string get_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Samples noise(int width, int height, int channels, bool wide) {
    Samples out;
    out.width = width, out.height = height, out.channels = channels;
    for (size_t k = 0; k < count_of(out); ++k) {
        if (wide)
            out.wide.push_back(static_cast<uint16_t>(k * k * 7));
        else
            out.narrow.push_back(static_cast<uint8_t>(k * k * 7 >> 2));
    }
    return out;
}

std::string in_file(bool (*write)(FILE*, const Samples&), const Samples& picture) {
    const std::string path = scratch(".picture");
    FILE* file = std::fopen(path.c_str(), "wb");
    write(file, picture);
    std::fclose(file);
    return get_file(path);
}

void read_picture_bytes(const std::string& bytes) {
    const Samples picture = parse_samples("fuzz", bytes);
    std::vector<float> floats(count_of(picture) / static_cast<size_t>(picture.channels) * 4);
    to_floats(picture, 4, floats.data());
}

/// Reads them as pictures in general, and straight to floats.
void read_hdr_bytes(const std::string& bytes) {
    read_picture_bytes(bytes);
    std::vector<float> floats;
    if (is_hdr(bytes))
        read_hdr("fuzz", bytes, 4, [&](int width, int height) {
            floats.resize(size_t{4} * static_cast<size_t>(width) * static_cast<size_t>(height));
            return floats.data();
        });
}

std::vector<std::string> png_seeds() {
    std::vector<std::string> out;
    for (int channels = 1; channels <= 4; ++channels)
        for (const bool wide : {false, true})
            out.push_back(in_file(write_png_to, noise(9, 5, channels, wide)));
    return out;
}

/// The checksums of all chunks.
void mend_png(std::string& bytes) {
    const auto number = [&](size_t at) {
        uint32_t out = 0;
        for (size_t k = 0; k < 4; ++k) out = out << 8 | static_cast<uint8_t>(bytes[at + k]);
        return out;
    };
    for (size_t at = 8; at + 12 <= bytes.size();) {
        const size_t size = number(at);
        if (size > bytes.size() - at - 12) return;
        const uint32_t crc = crc32_of(std::string_view(bytes).substr(at + 4, size + 4));
        for (size_t k = 0; k < 4; ++k)
            bytes[at + 8 + size + k] = static_cast<char>(crc >> (24 - 8 * k));
        at += 12 + size;
    }
}

std::vector<std::string> jpeg_seeds() {
    std::string turned = in_file(write_jpeg_to, noise(20, 9, 3, false));
    const std::string exif = std::string(
                                 "\xff\xe1\0\x22"
                                 "Exif\0\0MM\0\x2a\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6",
                                 30) +
                             std::string(6, '\0');
    turned.insert(2, exif);
    return {in_file(write_jpeg_to, noise(17, 9, 1, false)), turned};
}

std::vector<std::string> hdr_seeds() {
    std::vector<float> light;
    for (size_t k = 0; k < 40 * 3 * 3; ++k) light.push_back(static_cast<float>(k % 31) * 0.3f);
    const std::string old = "#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n+Y 2 +X 300\n" +
                            std::string("\x80\x40\x20\x81\1\1\1\x2b\1\1\1\1", 12) +
                            std::string("\x80\x40\x20\x81\1\1\1\x2b\1\1\1\1", 12);
    return {hdr_bytes(40, 3, 3, light.data()), hdr_bytes(5, 4, 1, light.data()), old};
}

std::vector<std::string> pnm_seeds() {
    return {"P1 3 2 # bits\n0 1 1\n1 0 0\n",
            "P2\n2 2\n15\n0 15 7 3\n",
            "P3 1 1 255 1 2 3",
            std::string("P4\n9 2\n\xaa\x80\x55\0", 11),
            "P5 3 2 255\nabcdef",
            std::string("P6 1 2 1023\n\3\xff\0\1\2\2\1\1\0\0\3\0", 24)};
}

/// BMP, TGA and GIF of a few pixels.
std::vector<std::string> stb_seeds() {
    const std::string bmp(
        "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0\x18\0\0\0\0\0"
        "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0abcdef\0\0ghijkl\0\0",
        70);
    const std::string tga("\0\0\2\0\0\0\0\0\0\0\0\0\2\0\2\0\x18\0abcdefghijkl", 30);
    const std::string gif(
        "GIF89a\2\0\2\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\2\0\2\0\0\2\3\x44\2\5\0;", 35);
    return {bmp, tga, gif};
}

std::vector<std::string> exr_seeds() {
    std::vector<float> light(4 * 9 * 7);
    for (size_t k = 0; k < light.size(); ++k) light[k] = static_cast<float>(k * k % 97);
    const auto* elements = reinterpret_cast<const std::byte*>(light.data());
    const std::string path = scratch(".exr");
    write_exr(path, 9, 7, {{"", 4, ExrType::Float, elements}});
    std::vector<std::string> out{get_file(path)};
    write_exr(path, 9, 7,
              {{"", 3, ExrType::Half, elements}, {"depth", 1, ExrType::Uint, elements}});
    out.push_back(get_file(path));
    return out;
}

StoredTensor counted(const std::string& name, DType dtype, const std::vector<int64_t>& shape) {
    StoredTensor out{name, dtype, shape, {}};
    const auto size =
        static_cast<size_t>(elements_of(shape)) * static_cast<size_t>(file_bytes(dtype));
    for (size_t k = 0; k < size; ++k) out.bytes.push_back(static_cast<std::byte>(k));
    return out;
}

std::vector<std::string> npy_seeds() {
    std::string fortran = npy_bytes(counted("", f64, {3, 2, 4}));
    fortran.replace(fortran.find("False"), 5, "True ");
    return {npy_bytes(counted("", f32, {2, 3})), npy_bytes(counted("", boolean, {})), fortran};
}

std::vector<std::byte> as_bytes(const std::string& bytes) {
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
}

/// Returns the bytes that `write(path)` writes.
template <class Write>
std::string written_by(const char* ending, const Write& write) {
    write(scratch(ending));
    return get_file(scratch(ending));
}

/// `read(path)` of a file of the bytes.
std::function<void(const std::string&)> through_a_file(
    const char* ending, std::function<void(const std::string&)> read) {
    return [path = scratch(ending), read = std::move(read)](const std::string& bytes) {
        put_file(path, bytes);
        read(path);
    };
}

std::vector<std::string> cube_seeds() {
    return {
        "# a look\nTITLE \"x\"\nLUT_1D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 2 1\n0 0 0\n1 1e0 "
        ".5\n",
        "LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 1\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 "
        "1 1\n"};
}

std::vector<std::string> ply_seeds() {
    Mesh mesh{.positions = tensor({0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 2.0f, 0.5f}, {3, 3})};
    mesh.triangles = tensor({0, 1, 2}, {1, 3});
    mesh.colours = full({3, 4}, 0.25f);
    mesh.attributes.push_back({"height", tensor({1, 2, 3})});
    std::vector<std::string> out;
    for (const bool text : {false, true})
        out.push_back(written_by(
            ".ply", [&](const std::string& path) { save_ply(path, mesh, {.text = text}); }));
    std::string big_endian = "ply\nformat binary_big_endian 1.0\nelement vertex 4\n";
    for (const char* name : {"x", "y", "z"})
        big_endian += std::string("property float ") + name + "\n";
    big_endian += "element face 1\nproperty list uchar ushort vertex_indices\nend_header\n" +
                  std::string(
                      "\x3f\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0\0\0\0\0"
                      "\0\0\0\0\0\0\0\0\x3f\x80\0\0\x40\0\0\0\0\0\0\0\0\0\0\0"
                      "\4\0\0\0\1\0\2\0\3",
                      57);
    out.push_back(big_endian);
    return out;
}

std::vector<std::string> obj_seeds() {
    return {
        "# a square\nmtllib none.mtl\no square\nv 0 0 0\nv 2 0 0\nv 2 1.5e0 0\nv 0 1 0\nv 9 9 9\n"
        "usemtl red\ns 1\nf 1 2 3 4\nf -5 -3 -2\n",
        "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n"
        "g a b\nf 1/1/1 2/2/1 3/3/1\nf 1//1 2//1 3//1\nl 1 2 3\np 1\n",
        "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\nv -1 1 0\nf 1 2 3 4 5 6\n"};
}

/// A triangle with normals and colours, and its points once more as points.
std::string gltf_json(const std::string& uri) {
    return R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
"nodes": [{"scale": [2, 2, 2], "children": [1]}, {"rotation": [0, 0, 0.6, 0.8], "translation": [0, 0, 5], "mesh": 0}],
"buffers": [{)" +
           uri + R"("byteLength": 92}],
"bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 36},
 {"buffer": 0, "byteOffset": 72, "byteLength": 8}, {"buffer": 0, "byteOffset": 80, "byteLength": 12}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 2, 0]},
 {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
 {"bufferView": 2, "componentType": 5123, "count": 3, "type": "SCALAR"},
 {"bufferView": 3, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC4"}],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 3}, "indices": 2, "mode": 5},
 {"attributes": {"POSITION": 0}, "mode": 0}]}]})";
}

std::vector<std::string> gltf_seeds() {
    const auto number = [](size_t n) {
        std::string out;
        for (int k = 0; k < 4; ++k) out += static_cast<char>(n >> 8 * k & 255);
        return out;
    };
    // The indices 0, 1 and 2 stand behind 72 bytes.
    const std::string binary = std::string(74, '\0') + '\1' + '\0' + '\2' + std::string(15, '\0'),
                      as_text = "\"uri\": \"data:application/octet-stream;base64," +
                                std::string(99, 'A') + "BAAI" + std::string(20, 'A') + "=\", ";
    std::string json = gltf_json("");
    while (json.size() % 4 != 0) json += ' ';
    return {gltf_json(as_text), "glTF" + number(2) + number(28 + json.size() + binary.size()) +
                                    number(json.size()) + "JSON" + json + number(binary.size()) +
                                    std::string("BIN\0", 4) + binary};
}

#ifdef FIRN_WITH_HDF5
/// Writes parts of the format that save_hdf5 does not: attributes, texts, filters, links, and
/// headers of the new kind.
void write_other_hdf5(const std::string& path, bool newest) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t sizes[] = {8, 6}, chunk[] = {4, 3}, most[] = {H5S_UNLIMITED, 6};
    const hid_t space = H5Screate_simple(2, sizes, most), one = H5Screate(H5S_SCALAR);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 2, chunk);
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, 4);
    H5Pset_fletcher32(layout);
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set =
        H5Dcreate2(group, "u", H5T_STD_I32BE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    const std::vector<int> values(48, 7);
    H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const char* unit = "m/s";
    for (const hid_t owner : {file, group, set}) {
        const hid_t words = H5Acreate2(owner, "unit", text, one, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(words, text, &unit);
        const hid_t number =
            H5Acreate2(owner, "step", H5T_IEEE_F64LE, one, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(number, H5T_NATIVE_INT, values.data());
        H5Aclose(words), H5Aclose(number);
    }
    H5Lcreate_soft("/g/u", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(group, "u", file, "hard", H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(text), H5Dclose(set), H5Gclose(group), H5Pclose(layout);
    H5Sclose(one), H5Sclose(space), H5Fclose(file), H5Pclose(access);
}

std::vector<std::string> hdf5_seeds() {
    const std::vector<NamedTensor> all{
        {"run/7/u", zeros({4, 3}) + 0.5f}, {"run/t", tensor({1, 2, 3})},
        {"half", ones({2, 2}).as(f16)},    {"truth", tensor({true, false})},
        {"wide", tensor({1, 2}).as(i64)},  {"none", zeros({0, 4})}};
    std::vector<std::string> out;
    for (const SaveHdf5Options& options :
         {SaveHdf5Options{}, SaveHdf5Options{.chunks = {2, 2}}, SaveHdf5Options{.deflate = 6}})
        for (const auto& some : {all, std::vector<NamedTensor>{all[0]}})
            out.push_back(written_by(
                ".h5", [&](const std::string& path) { save_hdf5(path, some, options); }));
    for (const bool newest : {false, true})
        out.push_back(
            written_by(".h5", [&](const std::string& path) { write_other_hdf5(path, newest); }));
    return out;
}

struct Hdf5Counts {
    uint64_t read = 0, refused = 0, broke = 0, late = 0;
};
Hdf5Counts hdf5_counts;

/// Reads by a process, which is replaced after 1,024 files or when a file ends it.
void read_hdf5(const std::string& path) {
    static Hdf5Reader reader(ReplyTimeout{1, 20});
    static int reads = 0;
    if (++reads % 1024 == 0) reader.renew();
    try {
        reader.read(path, std::nullopt,
                    [](const Hdf5Set& set) { from_stored(set.bytes, set.shape, set.dtype); });
        ++hdf5_counts.read;
    } catch (const UserError&) {
        if (!reader.last_end())
            ++hdf5_counts.refused;
        else if (*reader.last_end() == ProcessEnded::Why::Late)
            ++hdf5_counts.late;
        else
            ++hdf5_counts.broke;
        throw;
    }
}

std::string hdf5_notes() {
    const auto descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                           std::filesystem::directory_iterator());
    return std::to_string(hdf5_counts.read) + " read, " + std::to_string(hdf5_counts.refused) +
           " refused, " + std::to_string(hdf5_counts.broke) +
           " broke the process of the library, " + std::to_string(hdf5_counts.late) +
           " kept it for 1 s; " + std::to_string(descriptors) + " descriptors are open";
}
#endif

/// Files of save_program: loops of kernels, forms for certain sizes, parameters, constants.
std::vector<std::string> program_seeds() {
    SessionScope scope(Session::interpreter());
    const Tensor captured = arange(4).as(f32);
    const auto step = compile(
        [&](Tensor x, Tensor gain, Tensor rounds) {
            for (Tensor k : loop(rounds))
                x = x * gain + x(indices<1>(x.shape())[0] - 1) + captured(3);
            return x;
        },
        {f32("n"), f32(), i32()});
    SavedProgram saved = step.saved({zeros({8}), Tensor(2.0f), Tensor(3)}, {.multiples = {4}});
    ProgramParameter gain;
    gain.name = "gain";
    gain.arguments = {1};
    gain.value = {2};
    gain.max = 4;
    saved.parameters = {gain};
    const std::vector<std::byte> bytes = program_bytes(saved);
    return {std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

/// What a host does with a file before anything runs.
void read_program_bytes(const std::string& bytes) {
    const SavedProgram saved = program_from_bytes(as_bytes(bytes), "fuzz");
    const auto runs = [](const Program&) { return std::string(); };
    const auto program = program_for(saved, "fuzz", runs, saved.shapes, saved.scalars);
    const SizeEnv env = bind_symbols(*program, saved.shapes, saved.scalars);
    if (can_be_flat(*program, env)) plan_memory(*program, flatten(*program, env), env);
    plan_rotating_memory(*program, env);
}

void mend_program(std::string& bytes) {
    constexpr size_t kHeaderBytes = 48, kSizeAt = 32, kChecksumAt = 40;
    if (bytes.size() < kHeaderBytes) return;
    const uint64_t size = bytes.size() - kHeaderBytes;
    const uint64_t sum = XXH3_64bits(bytes.data() + kHeaderBytes, size);
    std::memcpy(&bytes[kSizeAt], &size, sizeof size);
    std::memcpy(&bytes[kChecksumAt], &sum, sizeof sum);
}

std::vector<FuzzFormat> all_formats() {
    const std::vector<StoredTensor> two{counted("u", f32, {2, 3}), counted("v", u8, {5})};
    return {
        {"firn", program_seeds, read_program_bytes, mend_program, 32768},
        {"png", png_seeds, read_picture_bytes, mend_png},
        {"jpeg", jpeg_seeds, read_picture_bytes, nullptr},
        {"hdr", hdr_seeds, read_hdr_bytes, nullptr},
        {"pnm", pnm_seeds, read_picture_bytes, nullptr},
        {"stb", stb_seeds, read_picture_bytes, nullptr},
        {"exr", exr_seeds, through_a_file(".exr", [](const std::string& path) { read_exr(path); }),
         nullptr},
        {"npy", npy_seeds, [](const std::string& bytes) { parse_npy(as_bytes(bytes), "fuzz"); },
         nullptr},
        {"npz",
         [two] {
             return std::vector{
                 written_by(".npz", [&](const std::string& path) { write_npz(path, two); })};
         },
         through_a_file(".npz", [](const std::string& path) { read_npz(path); }), nullptr},
        {"safetensors",
         [two] {
             return std::vector{written_by(
                 ".safetensors", [&](const std::string& path) { write_safetensors(path, two); })};
         },
         through_a_file(".safetensors", [](const std::string& path) { read_safetensors(path); }),
         nullptr},
        {"idx",
         [two] {
             return std::vector{
                 written_by(".idx", [&](const std::string& path) { write_idx(path, two[0]); }),
                 written_by(".idx", [&](const std::string& path) { write_idx(path, two[1]); })};
         },
         [](const std::string& bytes) { parse_idx(as_bytes(bytes), "fuzz"); }, nullptr},
        {"csv",
         [] {
             return std::vector<std::string>{"a,b\n1,2.5e3\n-3,nan\n",
                                             "\"x, y\",\"say \"\"z\"\"\"\n1,\n",
                                             "1e39,-1e-60\r\n+0.5,inf\r\n"};
         },
         through_a_file(".csv", [](const std::string& path) { load_csv(path); }), nullptr},
        {"cube", cube_seeds,
         through_a_file(".cube", [](const std::string& path) { load_cube(path); }), nullptr},
        {"ply", ply_seeds, through_a_file(".ply", [](const std::string& path) { load_ply(path); }),
         nullptr},
        {"obj", obj_seeds, through_a_file(".obj", [](const std::string& path) { load_obj(path); }),
         nullptr},
#ifdef FIRN_WITH_HDF5
        {"hdf5", hdf5_seeds, through_a_file(".h5", read_hdf5), nullptr, 16384, hdf5_notes},
#endif
        {"gltf", gltf_seeds,
         through_a_file(".gltf", [](const std::string& path) { load_gltf(path); }), nullptr}};
}

}  // namespace

const std::vector<FuzzFormat>& fuzz_formats() {
    static const std::vector<FuzzFormat> formats = all_formats();
    return formats;
}

}  // namespace firn
