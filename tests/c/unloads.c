/* Loads and unloads the library a thousand times at flat memory, and some times with a device. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static long resident_pages(void) {
    long size = 0, resident = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) return -1;
    fclose(file);
    return resident;
}

static int is_mapped(const char* name) {
    char line[4096];
    int found = 0;
    FILE* file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file)) found |= strstr(line, name) != NULL;
    if (file) fclose(file);
    return found;
}

/* A context on a device of Firn's own, from its making to its end. */
static int use_device(void* library) {
    int32_t (*create)(const void*, void**, char*, size_t);
    int32_t (*destroy)(void*);
    void* context = NULL;
    char message[512];
    *(void**)&create = dlsym(library, "firn_context_create_own");
    *(void**)&destroy = dlsym(library, "firn_context_destroy");
    if (!create || !destroy) return puts("a function is missing"), 1;
    if (create(NULL, &context, message, sizeof message) != 0) return puts(message), 1;
    return destroy(context) != 0;
}

int main(int argc, char** argv) {
    long after_warm_up = 0;
    if (argc != 2) return 2;
    for (int turn = 0; turn < 1000; ++turn) {
        void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        uint32_t (*version)(void);
        if (!library) return puts(dlerror()), 1;
        *(void**)&version = dlsym(library, "firn_version");
        if (!version || version() == 0) return puts("firn_version is missing"), 1;
        if (turn >= 995 && use_device(library) != 0) return 1;
        if (dlclose(library) != 0) return puts(dlerror()), 1;
        if (is_mapped("libfirn_runtime")) return puts("the library stays in memory"), 1;
        if (turn == 100) after_warm_up = resident_pages();
        if (turn == 990 && resident_pages() > after_warm_up + 64)
            return puts("memory grows with every load"), 1;
    }
    return 0;
}
