// The C interface of Firn.
/* It runs saved programs from C, and from every language that calls C: on a Vulkan device that the
 * caller made, inside its own command buffers, or on a device of Firn's own.
 *
 * Rules that hold for all functions:
 * - A function that can fail returns an int32_t: FIRN_OK, or one of the negative codes below. The
 *   text of the last error of a context is firn_message(context). No exception leaves a function,
 *   nothing is printed, and no error ends the process.
 * - Every struct that may grow begins with struct_size, which the caller sets to its sizeof.
 *   Members that a newer version of this header adds come behind, and are 0 for callers that do not
 *   know them. Structs of which arrays are passed (firn_shape, firn_binding, firn_semaphore,
 *   firn_slot, firn_kernel_binding) never change.
 * - A context, and all that was made on it, is used by one thread at a time. A call while another
 *   thread is inside gets FIRN_ERROR_BUSY.
 * - Pointers that are returned to texts and arrays live as long as the object that they describe.
 * - Vulkan handles are void * where Vulkan has pointers (VkInstance, VkPhysicalDevice, VkDevice,
 *   VkQueue, VkCommandBuffer), and uint64_t where it has numbers (VkBuffer, VkImage, VkSemaphore,
 *   VkPipelineCache). Flags, layouts and formats have Vulkan's numbers. <vulkan/vulkan.h> is not
 *   needed, and may be included before or after.
 * - Sizes are in bytes, shapes in elements, row-major with the last extent contiguous.
 * - Nothing is released by itself: what a function gave by a pointer is released once. A context is
 *   destroyed last. */
#ifndef FIRN_C_H
#define FIRN_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FIRN_API __attribute__((visibility("default")))
#else
#define FIRN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct firn_context firn_context; /* a device, and what was made on it */
typedef struct firn_program firn_program; /* a saved program on a context */
typedef struct firn_call firn_call;       /* a program at certain sizes, with its memory */
typedef struct firn_buffer firn_buffer;   /* memory of Firn, or a buffer of the host */
typedef struct firn_image firn_image;     /* an image of the host */

/* Codes. */
#define FIRN_OK 0
#define FIRN_ERROR_ARGUMENT (-1)      /* what was given is wrong; the text says how to mend it */
#define FIRN_ERROR_FILE (-2)          /* a program is damaged, cut, or of a newer format */
#define FIRN_ERROR_UNSUPPORTED (-3)   /* the device lacks what the program needs */
#define FIRN_ERROR_DEVICE (-4)        /* Vulkan said no */
#define FIRN_ERROR_DEVICE_LOST (-5)   /* the device is lost, for good */
#define FIRN_ERROR_OUT_OF_MEMORY (-6) /* of the device or of the host; all is as it was */
#define FIRN_ERROR_IN_USE (-7)        /* what is to be destroyed is still used */
#define FIRN_ERROR_BUSY (-8)          /* another thread is inside */
#define FIRN_ERROR_INTERNAL (-9)      /* a fault of Firn */

/* Types of elements. A bool is 4 bytes, 0 or 1; bf16 is the upper half of an f32. */
#define FIRN_F32 0
#define FIRN_F16 1
#define FIRN_BF16 2
#define FIRN_F64 3
#define FIRN_I32 4
#define FIRN_U32 5
#define FIRN_I64 6
#define FIRN_U64 7
#define FIRN_I16 8
#define FIRN_U16 9
#define FIRN_I8 10
#define FIRN_U8 11
#define FIRN_BOOL 12

#define FIRN_MAX_RANK 8

/* The version of the library: 65536 * major + 256 * minor + patch. From any thread. */
FIRN_API uint32_t firn_version(void);
/* The name of a code: "FIRN_ERROR_FILE". From any thread. */
FIRN_API const char* firn_code_name(int32_t code);

/* ---- What a device must have, before it is made ---- */

#define FIRN_REQUIREMENT_VERSION 0   /* of Vulkan, of instance and device: `version` */
#define FIRN_REQUIREMENT_EXTENSION 1 /* a device extension: `name` */
#define FIRN_REQUIREMENT_FEATURE 2   /* a member of a struct of features: `name`, of `structure` */

/* A row of what a device has to have, or what makes programs faster. Every feature that is missing
 * costs the programs, or the forms of a program, that use it; the text says what. */
typedef struct firn_requirement {
    uint32_t struct_size;
    int32_t kind;          /* FIRN_REQUIREMENT_... */
    int32_t needed;        /* 1: nothing runs without it; 0: it helps */
    uint32_t version;      /* as VK_MAKE_API_VERSION gives it */
    const char* name;      /* "VK_EXT_shader_atomic_float", "timelineSemaphore" */
    const char* structure; /* "VkPhysicalDeviceVulkan12Features"; NULL: no feature */
    const char* reason;    /* what it is for */
} firn_requirement;

/* Writes the rows for a program, whose file is `bytes` bytes at `file`, or with file NULL for every
 * program. `rows` may be NULL, to get the count alone; else *count is its room, and becomes the
 * number of rows that there are. The texts live for ever. `message`, of `room` bytes, gets the text
 * of an error; NULL: none. From any thread. */
FIRN_API int32_t firn_requirements(const void* file, size_t bytes, firn_requirement* rows,
                                   uint32_t* count, char* message, size_t room);

/* ---- Contexts ---- */

/* Firn may run small kernels on the queue when the context is made, once for each driver if there
 * is a cache folder, to see whether the driver computes right. Without it Firn does not use what
 * only such a kernel could show to be right (lanes that exchange values, matrix units). */
#define FIRN_HOST_MAY_PROBE 1u
/* Buffers of the host have the usage STORAGE_BUFFER alone: forms of programs that read through
 * texel views or addresses are not used. */
#define FIRN_HOST_STORAGE_BUFFERS_ONLY 2u

#define FIRN_LOG_WARNING 1
#define FIRN_LOG_ERROR 2

/* The device of a host. Firn uses only what is stated here, creates and destroys only objects of
 * its own, and never waits for the whole device. All handles outlive the context. */
typedef struct firn_host {
    uint32_t struct_size;
    uint32_t flags;               /* FIRN_HOST_... */
    void* instance;               /* VkInstance */
    void* physical_device;        /* VkPhysicalDevice */
    void* device;                 /* VkDevice */
    void* get_instance_proc_addr; /* PFN_vkGetInstanceProcAddr, cast */
    uint32_t api_version;         /* VkApplicationInfo::apiVersion of the instance: 1.2 at least */
    uint32_t instance_extension_count;
    const char* const* instance_extensions; /* that the instance was made with */
    uint32_t extension_count;
    uint32_t queue_family;         /* of `queue`; not read without one */
    const char* const* extensions; /* that the device was made with */
    const void* features;      /* VkDeviceCreateInfo::pNext of the device, or NULL; read at once */
    const void* core_features; /* VkDeviceCreateInfo::pEnabledFeatures, or NULL; read at once */
    void* queue; /* VkQueue on which Firn may submit; NULL: it records, and submits nothing */
    /* Called around every use of the queue; NULL: nobody else uses it. */
    void (*lock_queue)(void* user);
    void (*unlock_queue)(void* user);
    const void* allocator;    /* VkAllocationCallbacks for Firn's Vulkan objects, or NULL; copied */
    uint64_t pipeline_cache;  /* VkPipelineCache of the host, or 0: Firn has its own */
    const char* cache_folder; /* for pipelines and answers of drivers between runs; NULL: none */
    /* Told of every error with its text; NULL: nobody is. Does not call Firn. */
    void (*log)(void* user, int32_t level, const char* text);
    void* user; /* the first argument of the callbacks */
} firn_host;

/* Makes a context on a device of the host. `message`, of `room` bytes, gets the text of an error;
 * NULL: none. Without a queue nothing is submitted or waited for until firn_context_destroy. */
FIRN_API int32_t firn_context_create(const firn_host* host, firn_context** context, char* message,
                                     size_t room);

/* Programs run by forms that need no feature of a device, for engines that take their kernels
 * (firn_kernel) and made their device with none. */
#define FIRN_OWN_NO_FEATURES 1u

/* A device of Firn's own. */
typedef struct firn_own {
    uint32_t struct_size;
    uint32_t validation;      /* 1: with the validation layers, whose messages `log` gets */
    const char* device;       /* number or part of a name; NULL: the best there is */
    const char* cache_folder; /* NULL: none */
    void (*log)(void* user, int32_t level, const char* text);
    void* user;
    uint32_t flags; /* FIRN_OWN_... */
} firn_own;
/* Makes a context on a device of Firn's own; `own` may be NULL, for the best device. */
FIRN_API int32_t firn_context_create_own(const firn_own* own, firn_context** context, char* message,
                                         size_t room);

/* The device of a context, for a host that can take one. Valid until the context is destroyed. */
typedef struct firn_handles {
    uint32_t struct_size;
    uint32_t queue_family;
    void *instance, *physical_device, *device, *queue;
} firn_handles;
FIRN_API int32_t firn_context_handles(firn_context* context, firn_handles* handles);

/* The name of its device. */
FIRN_API const char* firn_context_device(firn_context* context);
/* Text of the last error; "" if there was none. Valid until the next call that fails. */
FIRN_API const char* firn_message(firn_context* context);
/* FIRN_OK; FIRN_ERROR_DEVICE_LOST from the call on that found the device lost. */
FIRN_API int32_t firn_status(firn_context* context);
/* Says that the commands of all frames up to `frame` (see firn_record) are complete: what was
 * released and used by no later one is destroyed. */
FIRN_API int32_t firn_collect(firn_context* context, uint64_t frame);
/* Destroys a context. All of its commands are complete; FIRN_ERROR_IN_USE while programs, calls,
 * buffers or images of it are not released. NULL is nothing. */
FIRN_API int32_t firn_context_destroy(firn_context* context);

/* ---- Programs ---- */

/* Loads a program from the bytes of its file, which may be freed afterwards. */
FIRN_API int32_t firn_program_load(firn_context* context, const void* file, size_t bytes,
                                   firn_program** program);
/* Calls of the program may be released later. NULL is nothing. */
FIRN_API void firn_program_release(firn_program* program);

typedef struct firn_program_info {
    uint32_t struct_size;
    uint32_t argument_count, result_count, parameter_count;
    uint32_t form_count; /* programs in the file, for certain devices and sizes */
    const char* name;
} firn_program_info;
FIRN_API int32_t firn_program_describe(firn_program* program, firn_program_info* info);

/* An argument or a result. */
typedef struct firn_tensor_info {
    uint32_t struct_size;
    int32_t dtype;                /* FIRN_F32, ... */
    int32_t is_scalar;            /* 1: a number, given by firn_call_set_number; it has no memory */
    uint32_t rank;                /* of a tensor */
    const char* name;             /* "" where it has none */
    const char* shape;            /* as a formula of the symbols: "[n, 4*m]" */
    int64_t saved[FIRN_MAX_RANK]; /* an argument: the extents of the call that it was saved with */
    double number;                /* a scalar argument: its value in that call */
} firn_tensor_info;
FIRN_API int32_t firn_argument_describe(firn_program* program, uint32_t index,
                                        firn_tensor_info* info);
FIRN_API int32_t firn_result_describe(firn_program* program, uint32_t index,
                                      firn_tensor_info* info);

#define FIRN_PARAMETER_FLOAT 0
#define FIRN_PARAMETER_INT 1
#define FIRN_PARAMETER_BOOL 2
#define FIRN_PARAMETER_CHOICE 3
#define FIRN_PARAMETER_VECTOR 4
#define FIRN_PARAMETER_COLOUR 5 /* red, green, blue from 0 to 1 */
#define FIRN_PARAMETER_ANGLE 6  /* radians; people see degrees */

/* A value that a user changes while the program runs: a slider, a box, a choice. */
typedef struct firn_parameter_info {
    uint32_t struct_size;
    int32_t kind;          /* FIRN_PARAMETER_... */
    uint32_t count;        /* of numbers: components; 1 for all but vectors and colours */
    uint32_t choice_count; /* of a choice */
    const char *name, *label, *group, *unit, *help; /* "" where there is none */
    const double* values; /* `count` numbers: those that it was saved with */
    const char* const* choices;
    int32_t has_min, has_max;
    double min, max;           /* the accepted range, ends included */
    double soft_min, soft_max; /* the ends of a slider; equal: there is none */
    int32_t logarithmic;       /* 1: the slider moves in powers */
    float step;                /* above 0: change for each pixel that the mouse is dragged */
} firn_parameter_info;
FIRN_API int32_t firn_parameter_describe(firn_program* program, uint32_t index,
                                         firn_parameter_info* info);

/* ---- Memory ---- */

/* Memory of Firn's own for a tensor. On a host's device without a queue, the host sees it and
 * firn_buffer_write copies into it at once. */
FIRN_API int32_t firn_buffer_create(firn_context* context, uint64_t bytes, firn_buffer** buffer);

/* A buffer of the host, which stays the host's and outlives the firn_buffer. */
typedef struct firn_host_buffer {
    uint32_t struct_size;
    uint32_t usage;  /* VkBufferCreateInfo::usage */
    uint64_t buffer; /* VkBuffer */
    uint64_t bytes;  /* VkBufferCreateInfo::size */
} firn_host_buffer;
FIRN_API int32_t firn_buffer_import(firn_context* context, const firn_host_buffer* from,
                                    firn_buffer** buffer);

/* The VkBuffer, and the range of it, of a buffer. */
typedef struct firn_buffer_info {
    uint32_t struct_size;
    uint32_t usage;
    uint64_t buffer;
    uint64_t offset, bytes;
} firn_buffer_info;
FIRN_API int32_t firn_buffer_describe(firn_buffer* buffer, firn_buffer_info* info);

/* Copies to or from a buffer of Firn's own; reading waits for what Firn submitted. */
FIRN_API int32_t firn_buffer_write(firn_buffer* buffer, uint64_t offset, const void* data,
                                   size_t bytes);
FIRN_API int32_t firn_buffer_read(firn_buffer* buffer, uint64_t offset, void* data, size_t bytes);
/* Frees it as soon as no commands use it. NULL is nothing. */
FIRN_API void firn_buffer_release(firn_buffer* buffer);

/* An image of the host, in place of the memory of an argument or result of f32: a 2D image with one
 * sample, one level and one layer, of one of the formats (VkFormat)
 *   R8G8B8A8 and B8G8R8A8, UNORM or SRGB: tensors [height, width, 4 or 3]; the values of SRGB
 * images are linear in the tensor, those of UNORM images are as they are; R16G16B16A16_SFLOAT:
 * tensors [height, width, 4 or 3]; R32G32B32A32_SFLOAT: tensors [height, width, 4]; R32_SFLOAT:
 * tensors [height, width] or [height, width, 1]. With 3 channels the image's alpha is left out,
 * or 1. */
typedef struct firn_host_image {
    uint32_t struct_size;
    uint32_t usage;         /* VkImageCreateInfo::usage: TRANSFER_SRC to be read, TRANSFER_DST to be
                               written */
    uint64_t image;         /* VkImage; it stays the host's and outlives the firn_image */
    uint32_t format;        /* VkFormat */
    uint32_t width, height; /* in pixels */
    uint32_t layout_before; /* VkImageLayout when the call's commands begin; UNDEFINED: what is in
                               the image is not kept (results) */
    uint32_t layout_after;  /* the layout that it is left in */
} firn_host_image;
FIRN_API int32_t firn_image_import(firn_context* context, const firn_host_image* from,
                                   firn_image** image);
/* Calls keep what they were bound to. NULL is nothing. */
FIRN_API void firn_image_release(firn_image* image);

/* ---- Calls ---- */

typedef struct firn_shape {
    uint32_t rank;
    int64_t extents[FIRN_MAX_RANK];
} firn_shape;

/* A call of the program with arguments of these shapes, one for each argument in order (those of
 * scalars are ignored); NULL: the shapes that it was saved with. The form of the program that fits
 * best is chosen, and its pipelines are made. It has no memory yet. */
FIRN_API int32_t firn_call_create(firn_program* program, const firn_shape* shapes, uint32_t count,
                                  firn_call** call);
/* Its descriptor sets are freed as soon as no commands use them. NULL is nothing. */
FIRN_API void firn_call_release(firn_call* call);

#define FIRN_ARGUMENT 0
#define FIRN_RESULT 1
#define FIRN_SCRATCH 2 /* memory for values in between; index 0 */

/* The memory that a call takes. */
typedef struct firn_memory_info {
    uint32_t struct_size;
    uint32_t usage;     /* VkBufferUsageFlags that the buffer must have */
    uint64_t bytes;     /* 0: it takes none (a scalar, a result that is not computed apart) */
    uint64_t alignment; /* of the offset in the buffer */
    int32_t written;    /* 1: the call writes it, arguments too */
    uint32_t rank;
    int64_t extents[FIRN_MAX_RANK];
} firn_memory_info;
FIRN_API int32_t firn_call_memory(firn_call* call, int32_t what, uint32_t index,
                                  firn_memory_info* info);

/* A range of a buffer, or an image in its place. */
typedef struct firn_binding {
    firn_buffer* buffer; /* NULL: none */
    firn_image* image;   /* NULL: none; of an argument that is written, the image is only read */
    uint64_t offset;
    uint64_t bytes; /* 0: up to the end of the buffer */
} firn_binding;

/* Gives a call its memory: one binding for each argument (ignored for scalars) and for each result.
 * `results` NULL, or a result without a buffer: Firn makes one, see firn_call_result. `scratch`
 * NULL: Firn makes it. May be called again; commands that were recorded keep what they had. Throws
 * nothing away on an error: the old memory stays. */
FIRN_API int32_t firn_call_bind(firn_call* call, const firn_binding* arguments,
                                uint32_t argument_count, const firn_binding* results,
                                uint32_t result_count, const firn_binding* scratch);
/* The buffer of a result, for the caller to release. */
FIRN_API int32_t firn_call_result(firn_call* call, uint32_t index, firn_buffer** buffer);

/* The value of a scalar argument from the next record on; of its type, or FIRN_ERROR_ARGUMENT where
 * that cannot hold it. */
FIRN_API int32_t firn_call_set_number(firn_call* call, uint32_t argument, double value);
FIRN_API int32_t firn_call_set_integer(firn_call* call, uint32_t argument, int64_t value);
/* The value of a parameter: `count` numbers inside its range. */
FIRN_API int32_t firn_call_set_parameter(firn_call* call, uint32_t parameter, const double* values,
                                         uint32_t count);

/* ---- Running ---- */

/* Barriers are recorded too: before the first command, so that it waits for all commands recorded
 * before, and behind the last one, so that all commands after it see what it wrote. */
#define FIRN_RECORD_BARRIERS 1u

typedef struct firn_record_info {
    uint32_t struct_size;
    uint32_t flags;       /* FIRN_RECORD_... */
    void* command_buffer; /* VkCommandBuffer that is being recorded, outside of a render pass */
    uint64_t frame;       /* the host's number of the frame, which never falls; see firn_collect */
} firn_record_info;
/* How memory of the call was used, for the barriers that the host records. It is the same for every
 * record of a call, and never more than the stages COMPUTE_SHADER, TRANSFER and DRAW_INDIRECT with
 * their reads and writes: barriers in front of the first record name those. */
typedef struct firn_record_done {
    uint32_t struct_size;
    uint32_t stages;       /* VkPipelineStageFlags of all its commands */
    uint32_t read_access;  /* VkAccessFlags with which they read */
    uint32_t write_access; /* and with which they wrote */
    uint32_t dispatches, barriers;
} firn_record_done;
/* Records a call. Submits nothing, waits for nothing, allocates nothing. `done` may be NULL. */
FIRN_API int32_t firn_record(firn_call* call, const firn_record_info* info, firn_record_done* done);

/* A semaphore; `value` is of timelines, and 0 for others. */
typedef struct firn_semaphore {
    uint64_t semaphore; /* VkSemaphore */
    uint64_t value;
} firn_semaphore;
/* The kernels are timed, see firn_times: they run one after the other then. */
#define FIRN_SUBMIT_TIMED 1u

typedef struct firn_submit_info {
    uint32_t struct_size;
    uint32_t wait_count, signal_count;
    const firn_semaphore *waits, *signals;
    uint32_t flags; /* FIRN_SUBMIT_... */
} firn_submit_info;
/* Runs a call in a command buffer of Firn's own on the context's queue, behind all that was
 * submitted before. `info` may be NULL. *point, unless NULL, becomes the number that firn_wait
 * takes. */
FIRN_API int32_t firn_submit(firn_call* call, const firn_submit_info* info, uint64_t* point);
/* Waits until a submission is complete; 0: all of Firn's. */
FIRN_API int32_t firn_wait(firn_context* context, uint64_t point);

/* The time that a kernel took on the device, all of its dispatches together. */
typedef struct firn_kernel_time {
    const char* name;
    double milliseconds;
    uint32_t dispatches;
    uint32_t reserved;
} firn_kernel_time;
/* Waits for the last submission of the call with FIRN_SUBMIT_TIMED, and writes a row for each
 * kernel. `rows` may be NULL, to get the count alone; else *count is its room, and becomes the
 * number of rows that there are. */
FIRN_API int32_t firn_times(firn_call* call, firn_kernel_time* rows, uint32_t* count);

/* ---- For engines that dispatch kernels themselves ---- */

#define FIRN_BINDING_STORAGE 0 /* a storage buffer */
#define FIRN_BINDING_TEXEL 1   /* a storage texel buffer: of `dtype`, `width` elements a texel */
#define FIRN_BINDING_ADDRESS 2 /* none: an address behind the parameters */

typedef struct firn_kernel_binding {
    int32_t form;    /* FIRN_BINDING_... */
    int32_t dtype;   /* of the elements */
    int32_t width;   /* 1, 2 or 4 */
    int32_t written; /* 1: it is written */
} firn_kernel_binding;
typedef struct firn_kernel_info {
    uint32_t struct_size;
    uint32_t word_count;
    const uint32_t* words; /* SPIR-V; its entry point is "main" */
    const char* name;
    uint32_t group_size[3];
    uint32_t binding_count;
    const firn_kernel_binding* bindings; /* of set 0, from number 0 on */
    uint32_t parameter_bytes;            /* of a dispatch */
    int32_t
        parameters_in_buffer; /* 1: a uniform buffer behind the last binding; 0: push constants */
} firn_kernel_info;
/* A kernel of the form that the call chose. */
FIRN_API int32_t firn_kernel(firn_call* call, uint32_t index, firn_kernel_info* info);

#define FIRN_SLOT_ARGUMENT 0
#define FIRN_SLOT_RESULT 1
#define FIRN_SLOT_SCRATCH 2  /* `offset` bytes into the scratch */
#define FIRN_SLOT_CONSTANT 3 /* `data` */
/* Memory that steps use. */
typedef struct firn_slot {
    int32_t what;   /* FIRN_SLOT_... */
    uint32_t index; /* of the argument or result */
    uint64_t offset, bytes;
    const void* data; /* of a constant */
} firn_slot;
/* Slots of one step may overlap: memory that one binding reads and another writes. */
typedef struct firn_step_info {
    uint32_t struct_size;
    int32_t kernel; /* index for firn_kernel; -1: a copy of slots[0] into slots[1] */
    uint32_t groups[3];
    int32_t barrier_before; /* 1: what steps before it wrote must be visible, and reads be over */
    uint32_t slot_count;
    const firn_slot* slots; /* one for each binding of the kernel */
    const void* parameters; /* of the dispatch, with the present numbers */
    uint32_t parameter_bytes;
} firn_step_info;
/* A step of the call, in order; FIRN_ERROR_ARGUMENT behind the last one. `slots` and `parameters`
 * are valid until the next call of this function or of a setter. FIRN_ERROR_UNSUPPORTED for steps
 * whose groups only the device knows. */
FIRN_API int32_t firn_step(firn_call* call, uint32_t index, firn_step_info* info);
FIRN_API int32_t firn_step_count(firn_call* call, uint32_t* steps, uint32_t* kernels);

#ifdef __cplusplus
}
#endif

#endif
