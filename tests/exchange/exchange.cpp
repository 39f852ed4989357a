// Turns a file into another by Firn's readers and writers, for producers.py.
#include <firn/files.h>
#include <firn/firn.h>

#include <cstdio>
#include <string>

using namespace firn;

namespace {

Tensor loaded(const std::string& file, const std::string& part) {
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
