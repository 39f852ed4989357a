// A host that loads the plugin, calls it and unloads it: PLUGIN FILE.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

/// Returns whether a file whose name has `part` is mapped into this process.
static bool mapped(const char* part) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

int main(int, char** words) {
    for (int round = 0; round < 2; ++round) {
        void* plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            std::printf("it does not load: %s\n", dlerror());
            return 2;
        }
        const auto run =
            reinterpret_cast<int (*)(const char*, float*)>(dlsym(plugin, "plugin_first_result"));
        float first = 0;
        if (run(words[2], &first) != 0 || first != 11) {
            std::printf("the first element is %g, and it should be 11\n", double(first));
            return 3;
        }
        dlclose(plugin);
        if (mapped("libplugin.so")) {
            std::printf("the plugin is still in memory\n");
            return 4;
        }
    }
}
