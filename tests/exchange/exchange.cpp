// Turns a file into another by Firn's readers and writers, for producers.py.
#include <firn/files.h>
#include <firn/firn.h>

#include <cstdio>
#include <string>

using namespace firn;

namespace {

Tensor part_of_mesh(const Mesh& mesh, const std::string& part) {
    if (part == "positions") return mesh.positions;
    const std::optional<Tensor>& found = part == "triangles" ? mesh.triangles
                                         : part == "normals" ? mesh.normals
                                                             : mesh.colours;
    if (!found) throw UserError("the mesh has no " + part);
    return *found;
}

Tensor loaded(const std::string& file, const std::string& part) {
    for (const char* ending : {".ply", ".obj", ".gltf", ".glb"})
        if (file.ends_with(ending)) return part_of_mesh(load_mesh(file), part);
    if (file.ends_with(".h5")) return load_hdf5(file, part);
    if (file.ends_with(".cube")) return load_cube(file).values;
    if (file.ends_with(".npy")) return load_npy(file);
    if (file.ends_with(".npz")) return load_npz(file, part);
    if (file.ends_with(".safetensors")) return load_safetensors(file, part);
    if (file.ends_with(".csv")) return load_csv(file).values;
    if (file.ends_with(".idx") || file.ends_with(".idx.gz")) return load_idx(file);
    return load_image(file, {.layer = part == "alpha" ? "" : part, .alpha = part == "alpha"});
}

void save(const std::string& file, const Tensor& x) {
    if (file.ends_with(".npy")) return save_npy(file, x);
    if (file.ends_with(".npz")) return save_npz(file, {{"x", x}});
    if (file.ends_with(".safetensors")) return save_safetensors(file, {{"x", x}});
    if (file.ends_with(".csv")) return save_csv(file, x);
    if (file.ends_with(".ply")) return save_ply(file, {.positions = x}, {.text = file[0] == 't'});
    if (file.ends_with(".vti")) return save_fields(file, {{"x", x}});
    if (file.ends_with(".vtp")) return save_vtp(file, {.positions = x});
    if (file.ends_with(".h5")) return save_hdf5(file, {{"x", x}});
    if (file.ends_with(".cube")) return save_cube(file, {.values = x});
    if (file.ends_with(".idx")) return save_idx(file, x);
    save_image(file, x);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s IN OUT [NAME OF TENSOR OR LAYER | alpha]\n", argv[0]);
        return 2;
    }
    try {
        SessionScope scope(Session::interpreter());
        save(argv[2], loaded(argv[1], argc > 3 ? argv[3] : ""));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
