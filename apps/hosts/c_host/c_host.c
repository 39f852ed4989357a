// A host that has a renderer of its own and shows the picture of a saved program on a cube. All
// that concerns Firn is in this file; renderer.c knows nothing of it.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <firn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "renderer.h"

#define MAX_TENSORS 32
#define MAX_SETTINGS 32

// ---- The saved program on the device of the host ----

// A call reads one state of the program and writes the other one: two calls take turns.
struct effect {
    firn_context* context;
    firn_program* program;
    firn_program_info info;
    firn_call* calls[2];
    struct buffer states[2][MAX_TENSORS];  // by argument
    firn_buffer* firn_states[2][MAX_TENSORS];
    struct buffer picture;
    firn_buffer* firn_picture;
    uint32_t time;                 // the parameter that is called `time`; UINT32_MAX: none
    double* values[MAX_SETTINGS];  // of each parameter
    uint64_t steps;                // that were recorded
    int use_own_barriers;
    firn_record_done done;  // of the record before
};

static void say(void* user, int32_t level, const char* text) {
    (void)user;
    fprintf(stderr, "c_host: firn: %s%s\n", level == FIRN_LOG_ERROR ? "" : "warning: ", text);
}

static void firn_check(struct effect* effect, int32_t code, const char* what) {
    if (code != FIRN_OK)
        stop("%s: %s: %s", what, firn_code_name(code), firn_message(effect->context));
}

static void* read_file(const char* path, size_t* bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) stop("there is no file %s, or it cannot be read", path);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    void* data = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        stop("the file %s cannot be read", path);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

// Prints what a device must have, or should have, for the program. A host that can choose asks this
// before it makes its device; this one has only what its drawing takes.
static void print_requirements(const char* path, const void* file, size_t bytes) {
    char message[512];
    firn_requirement rows[64] = {{.struct_size = sizeof(firn_requirement)}};
    uint32_t count = sizeof rows / sizeof *rows;
    const int32_t code = firn_requirements(file, bytes, rows, &count, message, sizeof message);
    if (code != FIRN_OK) stop("%s: %s: %s", path, firn_code_name(code), message);
    printf("%s\n", path);
    for (uint32_t k = 0; k < count && k < sizeof rows / sizeof *rows; ++k) {
        printf("  %s %s", rows[k].needed ? "needs  " : "can use", rows[k].name);
        if (rows[k].kind == FIRN_REQUIREMENT_VERSION)
            printf(" %u.%u", rows[k].version >> 22, rows[k].version >> 12 & 0x3ff);
        printf(": %s\n", rows[k].reason);
    }
}

// Gives Firn the device, as it was made. Firn records only: it gets no queue.
static void make_context(struct effect* effect, const struct renderer* r) {
    char message[512];
    const firn_host host = {.struct_size = sizeof host,
                            .instance = r->instance,
                            .physical_device = r->physical,
                            .device = r->device,
                            .get_instance_proc_addr = (void*)vkGetInstanceProcAddr,
                            .api_version = VK_API_VERSION_1_2,
                            .instance_extension_count = r->instance_extension_count,
                            .instance_extensions = r->instance_extensions,
                            .extension_count = r->extension_count,
                            .extensions = r->extensions,
                            .queue_family = r->queue_family,
                            .log = say};
    const int32_t code = firn_context_create(&host, &effect->context, message, sizeof message);
    if (code != FIRN_OK) stop("firn_context_create: %s: %s", firn_code_name(code), message);
    printf("device: %s\n", firn_context_device(effect->context));
}

static firn_memory_info memory_of(struct effect* effect, int32_t what, uint32_t index) {
    firn_memory_info out = {.struct_size = sizeof out};
    firn_check(effect, firn_call_memory(effect->calls[0], what, index, &out), "firn_call_memory");
    return out;
}

static firn_tensor_info argument_of(struct effect* effect, uint32_t index) {
    firn_tensor_info out = {.struct_size = sizeof out};
    firn_check(effect, firn_argument_describe(effect->program, index, &out),
               "firn_argument_describe");
    return out;
}

static firn_tensor_info result_of(struct effect* effect, uint32_t index) {
    firn_tensor_info out = {.struct_size = sizeof out};
    firn_check(effect, firn_result_describe(effect->program, index, &out), "firn_result_describe");
    return out;
}

static struct buffer make_tensor(struct renderer* r, struct effect* effect, firn_memory_info memory,
                                 firn_buffer** imported) {
    struct buffer made = renderer_buffer(
        r, memory.bytes,
        memory.usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const firn_host_buffer given = {.struct_size = sizeof given,
                                    .usage = made.usage,
                                    .buffer = (uint64_t)made.buffer,
                                    .bytes = made.bytes};
    firn_check(effect, firn_buffer_import(effect->context, &given, imported), "firn_buffer_import");
    return made;
}

// Result k becomes the argument k of the next frame, as far as both have one type and shape; the
// last result is the picture, f32[h, w, 4]. Returns its shape.
static firn_memory_info bind_memory(struct effect* effect, struct renderer* r) {
    const uint32_t arguments = effect->info.argument_count, results = effect->info.result_count;
    if (arguments > MAX_TENSORS || results > MAX_TENSORS)
        stop("the program has %u arguments and %u results; this host takes at most %d", arguments,
             results, MAX_TENSORS);
    const uint32_t last = results - 1;
    const firn_memory_info picture =
        results > 0 ? memory_of(effect, FIRN_RESULT, last) : (firn_memory_info){0};
    if (results == 0 || result_of(effect, last).dtype != FIRN_F32 || picture.rank != 3 ||
        picture.extents[2] != 4)
        stop("the program has no picture: its last result has to be f32 [h, w, 4]%s%s",
             results > 0 ? ", and is " : "", results > 0 ? result_of(effect, last).shape : "");
    effect->picture = make_tensor(r, effect, picture, &effect->firn_picture);

    firn_binding bound[2][2][MAX_TENSORS];  // by call, as argument or result, by index
    memset(bound, 0, sizeof bound);
    for (uint32_t k = 0; k < arguments; ++k) {
        const firn_tensor_info argument = argument_of(effect, k);
        if (argument.is_scalar) continue;
        firn_memory_info memory = memory_of(effect, FIRN_ARGUMENT, k);
        int is_fed = 0;
        if (k < last && result_of(effect, k).dtype == argument.dtype) {
            const firn_memory_info result = memory_of(effect, FIRN_RESULT, k);
            is_fed = result.rank == memory.rank &&
                     memcmp(result.extents, memory.extents, sizeof memory.extents) == 0;
            memory.usage |= result.usage;
        }
        for (int side = 0; side < (is_fed ? 2 : 1); ++side)
            effect->states[side][k] = make_tensor(r, effect, memory, &effect->firn_states[side][k]);
        for (int call = 0; call < 2; ++call) {
            bound[call][FIRN_ARGUMENT][k].buffer = effect->firn_states[is_fed ? call : 0][k];
            if (is_fed) bound[call][FIRN_RESULT][k].buffer = effect->firn_states[1 - call][k];
        }
    }
    for (int call = 0; call < 2; ++call) {
        bound[call][FIRN_RESULT][last].buffer = effect->firn_picture;
        firn_check(effect,
                   firn_call_bind(effect->calls[call], bound[call][FIRN_ARGUMENT], arguments,
                                  bound[call][FIRN_RESULT], results, NULL),
                   "firn_call_bind");
    }
    return picture;
}

static void make_effect(struct effect* effect, struct renderer* r, const char* path,
                        const void* file, size_t bytes) {
    make_context(effect, r);
    firn_check(effect, firn_program_load(effect->context, file, bytes, &effect->program), path);
    effect->info.struct_size = sizeof effect->info;
    firn_check(effect, firn_program_describe(effect->program, &effect->info),
               "firn_program_describe");
    // NULL: the sizes that the program was saved with.
    for (int k = 0; k < 2; ++k)
        firn_check(effect, firn_call_create(effect->program, NULL, 0, &effect->calls[k]), path);
    const firn_memory_info picture = bind_memory(effect, r);
    renderer_make_texture(r, (uint32_t)picture.extents[1], (uint32_t)picture.extents[0]);
    // Nothing is known yet of how the memory is used: as everything.
    effect->done.stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    effect->done.read_access = VK_ACCESS_MEMORY_READ_BIT;
    effect->done.write_access = VK_ACCESS_MEMORY_WRITE_BIT;
}

// All commands are complete.
static void free_effect(struct effect* effect, struct renderer* r) {
    for (int k = 0; k < 2; ++k) firn_call_release(effect->calls[k]);
    for (int side = 0; side < 2; ++side)
        for (uint32_t k = 0; k < MAX_TENSORS; ++k) {
            firn_buffer_release(effect->firn_states[side][k]);
            renderer_free(r, &effect->states[side][k]);
        }
    firn_buffer_release(effect->firn_picture);
    firn_program_release(effect->program);
    firn_check(effect, firn_context_destroy(effect->context), "firn_context_destroy");
    renderer_free(r, &effect->picture);
    for (int k = 0; k < MAX_SETTINGS; ++k) free(effect->values[k]);
}

// A program starts from zeros.
static void record_start(struct effect* effect, VkCommandBuffer commands) {
    for (int side = 0; side < 2; ++side)
        for (uint32_t k = 0; k < MAX_TENSORS; ++k)
            if (effect->states[side][k].buffer)
                vkCmdFillBuffer(commands, effect->states[side][k].buffer, 0, VK_WHOLE_SIZE, 0);
}

static void record_barrier(VkCommandBuffer commands, VkPipelineStageFlags after,
                           VkAccessFlags wrote, VkPipelineStageFlags before, VkAccessFlags uses) {
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = uses};
    vkCmdPipelineBarrier(commands, after, before, 0, 1, &barrier, 0, NULL, 0, NULL);
}

// Records a step of the program into the commands of the frame with this number.
static void record_effect(struct effect* effect, VkCommandBuffer commands, uint64_t frame) {
    if (effect->steps == 0) record_start(effect, commands);
    firn_call* call = effect->calls[effect->steps++ % 2];
    const firn_record_info info = {.struct_size = sizeof info,
                                   .flags = effect->use_own_barriers ? 0 : FIRN_RECORD_BARRIERS,
                                   .command_buffer = commands,
                                   .frame = frame};
    firn_record_done* done = &effect->done;
    // With FIRN_RECORD_BARRIERS Firn records all of these. A host that knows what its commands do
    // records narrower ones: the program waits for the step before, and for the copy of its
    // picture;
    if (effect->use_own_barriers)
        record_barrier(commands, done->stages | VK_PIPELINE_STAGE_TRANSFER_BIT,
                       done->write_access | VK_ACCESS_TRANSFER_WRITE_BIT, done->stages,
                       done->read_access | done->write_access);
    done->struct_size = sizeof *done;
    firn_check(effect, firn_record(call, &info, done), "firn_record");
    // and the copy of the picture waits for the program.
    if (effect->use_own_barriers)
        record_barrier(commands, done->stages, done->write_access, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_ACCESS_TRANSFER_READ_BIT);
}

// ---- Parameters ----

static firn_parameter_info parameter_of(struct effect* effect, uint32_t index) {
    firn_parameter_info out = {.struct_size = sizeof out};
    firn_check(effect, firn_parameter_describe(effect->program, index, &out),
               "firn_parameter_describe");
    return out;
}

// Returns 0 where the parameter cannot have these values; Firn's log has said why.
static int set_values(struct effect* effect, uint32_t index, const double* values) {
    const uint32_t count = parameter_of(effect, index).count;
    for (int k = 0; k < 2; ++k)
        if (firn_call_set_parameter(effect->calls[k], index, values, count) != FIRN_OK) return 0;
    memcpy(effect->values[index], values, count * sizeof *values);
    return 1;
}

static void print_parameters(struct effect* effect) {
    for (uint32_t k = 0; k < effect->info.parameter_count; ++k) {
        const firn_parameter_info info = parameter_of(effect, k);
        printf("  %s =", info.name);
        for (uint32_t c = 0; c < info.count; ++c) printf(" %g", effect->values[k][c]);
        printf(" %s", info.unit);
        if (info.has_min && info.has_max) printf(" [%g to %g]", info.min, info.max);
        printf("%s%s\n", *info.help ? ": " : "", info.help);
    }
}

static void find_parameters(struct effect* effect) {
    effect->time = UINT32_MAX;
    if (effect->info.parameter_count > MAX_SETTINGS)
        stop("the program has %u parameters; this host takes at most %d",
             effect->info.parameter_count, MAX_SETTINGS);
    for (uint32_t k = 0; k < effect->info.parameter_count; ++k) {
        const firn_parameter_info info = parameter_of(effect, k);
        effect->values[k] = calloc(info.count, sizeof(double));
        if (!effect->values[k]) stop("there is no memory");
        memcpy(effect->values[k], info.values, info.count * sizeof(double));
        if (strcmp(info.name, "time") == 0 && info.count == 1) effect->time = k;
    }
}

// Sets `name=value`, or `name=value,value,value`.
static void set_by_text(struct effect* effect, const char* text) {
    const char* equals = strchr(text, '=');
    if (!equals) stop("--set takes name=value, and got '%s'", text);
    const size_t length = (size_t)(equals - text);
    for (uint32_t k = 0; k < effect->info.parameter_count; ++k) {
        const firn_parameter_info info = parameter_of(effect, k);
        if (strlen(info.name) != length || strncmp(info.name, text, length) != 0) continue;
        double* values = calloc(info.count, sizeof *values);
        const char* at = equals;
        for (uint32_t c = 0; values && c < info.count; ++c) {
            char* end;
            values[c] = strtod(at + 1, &end);
            if (end == at + 1 || *end != (c + 1 < info.count ? ',' : '\0'))
                stop("%s takes %u number%s, and got '%s'", info.name, info.count,
                     info.count == 1 ? "" : "s", equals + 1);
            at = end;
        }
        if (!values || !set_values(effect, k, values)) exit(1);
        free(values);
        return;
    }
    fprintf(stderr, "c_host: the program has no parameter '%.*s'; it has:\n", (int)length, text);
    for (uint32_t k = 0; k < effect->info.parameter_count; ++k)
        fprintf(stderr, "  %s\n", parameter_of(effect, k).name);
    exit(1);
}

// ---- The window ----

struct app {
    struct effect* effect;
    uint32_t selected;  // the parameter that the keys change
    int is_paused;
};

static void show_selected(struct app* app, GLFWwindow* window) {
    if (app->selected >= app->effect->info.parameter_count) return;
    char title[256];
    snprintf(title, sizeof title, "%s: %s = %g", app->effect->info.name,
             parameter_of(app->effect, app->selected).name, app->effect->values[app->selected][0]);
    glfwSetWindowTitle(window, title);
}

static void on_key(GLFWwindow* window, int key, int scan, int action, int mods) {
    (void)scan, (void)mods;
    struct app* app = glfwGetWindowUserPointer(window);
    struct effect* effect = app->effect;
    const uint32_t count = effect->info.parameter_count;
    if (action == GLFW_RELEASE) return;
    if (key == GLFW_KEY_ESCAPE) glfwSetWindowShouldClose(window, GLFW_TRUE);
    if (key == GLFW_KEY_SPACE) app->is_paused = !app->is_paused;
    if (count == 0) return;
    if (key == GLFW_KEY_RIGHT) app->selected = (app->selected + 1) % count;
    if (key == GLFW_KEY_LEFT) app->selected = (app->selected + count - 1) % count;
    if (key == GLFW_KEY_UP || key == GLFW_KEY_DOWN) {
        const firn_parameter_info info = parameter_of(effect, app->selected);
        const double range = info.soft_max > info.soft_min  ? info.soft_max - info.soft_min
                             : info.has_min && info.has_max ? info.max - info.min
                                                            : 1;
        const int is_whole = info.kind == FIRN_PARAMETER_INT || info.kind == FIRN_PARAMETER_BOOL ||
                             info.kind == FIRN_PARAMETER_CHOICE;
        const double step = (is_whole ? 1 : range / 50) * (key == GLFW_KEY_UP ? 1 : -1);
        double values[16];
        for (uint32_t c = 0; c < info.count && c < 16; ++c) {
            values[c] = effect->values[app->selected][c] + step;
            if (info.has_min && values[c] < info.min) values[c] = info.min;
            if (info.has_max && values[c] > info.max) values[c] = info.max;
        }
        set_values(effect, app->selected, values);
    }
    show_selected(app, window);
}

static void on_glfw_error(int code, const char* text) {
    (void)code;
    fprintf(stderr, "c_host: GLFW: %s\n", text);
}

static GLFWwindow* open_window(VkExtent2D extent) {
    glfwSetErrorCallback(on_glfw_error);
    if (!glfwInit()) stop("there is no display; set DISPLAY, or run with --no-window");
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    GLFWwindow* window =
        glfwCreateWindow((int)extent.width, (int)extent.height, "c_host", NULL, NULL);
    if (!window) stop("no window can be opened; run with --no-window");
    return window;
}

// ---- The program ----

static const char* const help =
    "usage: c_host [FILE.firn] [options]\n"
    "\n"
    "Shows the picture of a saved program on a turning cube, drawn by a renderer of its own.\n"
    "Without a file it shows " DEFAULT_PROGRAM
    ".\n"
    "\n"
    "  --set NAME=VALUE  set a parameter of the program; NAME=R,G,B for a colour\n"
    "  --frames N        end after N frames (without a window: 60)\n"
    "  --size WxH        size of the window or picture (640x480)\n"
    "  --no-window       draw without a display\n"
    "  --picture FILE    write the last frame as a PPM file\n"
    "  --own-barriers    record the host's own barriers around the program, not Firn's\n"
    "  --validate        run with Vulkan's validation layers; a message makes the exit code 1\n"
    "  --help            this text\n"
    "\n"
    "Keys: left and right choose a parameter, up and down change it, space pauses, Escape ends.\n";

struct options {
    const char *file, *picture;
    const char* settings[MAX_SETTINGS];
    int setting_count, has_window, validate, use_own_barriers;
    unsigned long frames;  // 0: until the window is closed
    VkExtent2D extent;
};

static struct options read_options(int argc, char** argv) {
    struct options out = {.file = DEFAULT_PROGRAM, .has_window = 1, .extent = {640, 480}};
    for (int k = 1; k < argc; ++k) {
        const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : NULL;
        char rest;
        if (strcmp(word, "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        } else if (strcmp(word, "--no-window") == 0) {
            out.has_window = 0;
        } else if (strcmp(word, "--validate") == 0) {
            out.validate = 1;
        } else if (strcmp(word, "--own-barriers") == 0) {
            out.use_own_barriers = 1;
        } else if (strcmp(word, "--set") == 0 && value) {
            if (out.setting_count == MAX_SETTINGS) stop("--set is given too often");
            out.settings[out.setting_count++] = argv[++k];
        } else if (strcmp(word, "--frames") == 0 && value) {
            if (sscanf(argv[++k], "%lu%c", &out.frames, &rest) != 1 || out.frames == 0)
                stop("--frames takes a number above 0, and got '%s'", value);
        } else if (strcmp(word, "--size") == 0 && value) {
            if (sscanf(argv[++k], "%ux%u%c", &out.extent.width, &out.extent.height, &rest) != 2 ||
                out.extent.width - 1 > 8191 || out.extent.height - 1 > 8191)
                stop("--size takes WIDTHxHEIGHT, each from 1 to 8192, and got '%s'", value);
        } else if (strcmp(word, "--picture") == 0 && value) {
            out.picture = argv[++k];
        } else if (word[0] == '-') {
            stop("%s%s; see --help", word,
                 value ? " is no option" : " is no option, or lacks its value");
        } else {
            out.file = word;
        }
    }
    if (!out.has_window && out.frames == 0) out.frames = 60;
    return out;
}

int main(int argc, char** argv) {
    const struct options options = read_options(argc, argv);
    size_t bytes;
    void* file = read_file(options.file, &bytes);
    print_requirements(options.file, file, bytes);

    GLFWwindow* window = options.has_window ? open_window(options.extent) : NULL;
    struct renderer renderer;
    renderer_create(&renderer, window, options.extent, options.validate);
    struct effect effect = {.use_own_barriers = options.use_own_barriers};
    make_effect(&effect, &renderer, options.file, file, bytes);
    free(file);
    find_parameters(&effect);
    for (int k = 0; k < options.setting_count; ++k) set_by_text(&effect, options.settings[k]);
    print_parameters(&effect);

    struct app app = {.effect = &effect};
    if (window) {
        glfwSetWindowUserPointer(window, &app);
        glfwSetKeyCallback(window, on_key);
        show_selected(&app, window);
    }
    double time = 0;
    int is_closed = 0;
    while (!is_closed && (options.frames == 0 || renderer.frame < options.frames)) {
        if (window) {
            glfwPollEvents();
            is_closed = glfwWindowShouldClose(window);
        }
        const VkCommandBuffer commands = renderer_begin(&renderer);
        if (!commands) {  // the window is an icon
            if (!is_closed) glfwWaitEvents();
            continue;
        }
        firn_check(&effect, firn_collect(effect.context, renderer.frame_done), "firn_collect");
        if (!app.is_paused || effect.steps == 0) {
            if (effect.time != UINT32_MAX) set_values(&effect, effect.time, &time);
            record_effect(&effect, commands, renderer.frame);
            renderer_copy_to_texture(&renderer, effect.picture.buffer, 0);
            time += 1.0 / 60;
        }
        renderer_end(&renderer, 0.01f * (float)renderer.frame);
    }
    printf("%llu frames of %u x %u\n", (unsigned long long)renderer.frame, renderer.extent.width,
           renderer.extent.height);
    if (options.picture && renderer.frame > 0) renderer_write_picture(&renderer, options.picture);
    vkDeviceWaitIdle(renderer.device);
    free_effect(&effect, &renderer);
    renderer_destroy(&renderer);
    if (window) glfwDestroyWindow(window);
    glfwTerminate();
    if (options.validate) printf("%d messages of the validation layers\n", renderer.messages);
    if (fflush(stdout) != 0) return 1;
    return renderer.messages > 0;
}
