// An element of GStreamer that filters video by a saved program, on the device and the queue of the
// pipeline: ... ! vulkanupload ! firnfilter program=edges.firn ! vulkandownload ! ...
#define GST_USE_UNSTABLE_API
#include <firn.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gst/vulkan/vulkan.h>
#include <string.h>

#define FIRN_TYPE_FILTER (firn_filter_get_type())
G_DECLARE_FINAL_TYPE(FirnFilter, firn_filter, FIRN, FILTER, GstVulkanVideoFilter)

struct _FirnFilter {
    GstVulkanVideoFilter parent;
    gchar *program_path, *parameters;  // properties
    firn_context* context;
    firn_program* program;
    firn_call* call;  // for the present size of the video
    firn_program_info info;
};

G_DEFINE_TYPE(FirnFilter, firn_filter, GST_TYPE_VULKAN_VIDEO_FILTER)

#define CAPS \
    GST_VIDEO_CAPS_MAKE_WITH_FEATURES(GST_CAPS_FEATURE_MEMORY_VULKAN_IMAGE, "{ RGBA, BGRA }")
static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));

// ---- Firn on the device of the pipeline ----

// Posts the error of Firn; returns whether there was none.
static gboolean firn_check(FirnFilter* self, int32_t code, const char* what) {
    if (code == FIRN_OK) return TRUE;
    GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                      ("%s: %s: %s", what, firn_code_name(code), firn_message(self->context)),
                      (NULL));
    return FALSE;
}

static void lock_queue(void* queue) { gst_vulkan_queue_submit_lock(queue); }
static void unlock_queue(void* queue) { gst_vulkan_queue_submit_unlock(queue); }

// GStreamer makes its devices without features; what it enables of extensions Firn need not know.
static gboolean make_context(FirnFilter* self) {
    GstVulkanVideoFilter* video = GST_VULKAN_VIDEO_FILTER(self);
    GstVulkanInstance* instance = video->instance;
    if (!gst_vulkan_instance_check_version(instance, 1, 2, 0)) {
        GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("the pipeline's Vulkan is older than 1.2"),
                          (NULL));
        return FALSE;
    }
    char message[512];
    const firn_host host = {.struct_size = sizeof host,
                            .instance = instance->instance,
                            .physical_device = gst_vulkan_device_get_physical_device(video->device),
                            .device = video->device->device,
                            .get_instance_proc_addr = gst_vulkan_instance_get_proc_address(
                                instance, "vkGetInstanceProcAddr"),
                            .api_version = VK_API_VERSION_1_2,
                            .queue = video->queue->queue,
                            .queue_family = video->queue->family,
                            .lock_queue = lock_queue,
                            .unlock_queue = unlock_queue,
                            .user = video->queue};
    const int32_t code = firn_context_create(&host, &self->context, message, sizeof message);
    if (code != FIRN_OK)
        GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                          ("firn_context_create: %s: %s", firn_code_name(code), message), (NULL));
    return code == FIRN_OK;
}

static gboolean load_program(FirnFilter* self) {
    gchar* file = NULL;
    gsize bytes = 0;
    GError* error = NULL;
    if (!self->program_path || !g_file_get_contents(self->program_path, &file, &bytes, &error)) {
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                          ("%s", error ? error->message : "set the property program to a file"),
                          (NULL));
        g_clear_error(&error);
        return FALSE;
    }
    const int32_t code = firn_program_load(self->context, file, bytes, &self->program);
    g_free(file);
    self->info.struct_size = sizeof self->info;
    firn_tensor_info argument = {.struct_size = sizeof argument};
    if (!firn_check(self, code, self->program_path) ||
        !firn_check(self, firn_program_describe(self->program, &self->info),
                    "firn_program_describe"))
        return FALSE;
    if (self->info.argument_count == 0 || self->info.result_count != 1 ||
        firn_argument_describe(self->program, 0, &argument) != FIRN_OK || argument.is_scalar) {
        GST_ELEMENT_ERROR(
            self, RESOURCE, FAILED,
            ("%s is no filter: it has to take a picture f32[h, w, 4] and numbers, and "
             "give a picture",
             self->program_path),
            (NULL));
        return FALSE;
    }
    return TRUE;
}

// Sets "name=value,name=value".
static gboolean set_parameters(FirnFilter* self) {
    gchar** settings = g_strsplit(self->parameters ? self->parameters : "", ",", -1);
    gboolean is_set = TRUE;
    for (gchar** setting = settings; *setting && is_set; ++setting) {
        gchar** parts = g_strsplit(*setting, "=", 2);
        const double value = parts[0] && parts[1] ? g_ascii_strtod(parts[1], NULL) : 0;
        uint32_t k = 0;
        firn_parameter_info info = {.struct_size = sizeof info};
        while (k < self->info.parameter_count &&
               (firn_parameter_describe(self->program, k, &info) != FIRN_OK ||
                g_strcmp0(info.name, parts[0]) != 0))
            ++k;
        if (k < self->info.parameter_count) {
            is_set = firn_check(self, firn_call_set_parameter(self->call, k, &value, 1), *setting);
        } else {
            GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                              ("the program has no parameter '%s'", *setting), (NULL));
            is_set = FALSE;
        }
        g_strfreev(parts);
    }
    g_strfreev(settings);
    return is_set;
}

// Makes the call for a picture of `height` x `width`.
static gboolean make_call(FirnFilter* self, int64_t height, int64_t width) {
    firn_call_release(self->call);
    self->call = NULL;
    firn_shape* shapes = g_new0(firn_shape, self->info.argument_count);  // numbers have none
    shapes[0].rank = 3;
    shapes[0].extents[0] = height;
    shapes[0].extents[1] = width;
    shapes[0].extents[2] = 4;
    const int32_t code =
        firn_call_create(self->program, shapes, self->info.argument_count, &self->call);
    g_free(shapes);
    return firn_check(self, code, "firn_call_create") && set_parameters(self);
}

// No frame is under way yet: what can be wrong without the size of the video is said here, since
// vulkanupload releases a frame that is refused while the device still writes it.
static gboolean firn_filter_start(GstBaseTransform* base) {
    FirnFilter* self = FIRN_FILTER(base);
    return GST_BASE_TRANSFORM_CLASS(firn_filter_parent_class)->start(base) && make_context(self) &&
           load_program(self) && make_call(self, 64, 64);
}

// The size of the video is known.
static gboolean firn_filter_set_caps(GstBaseTransform* base, GstCaps* in, GstCaps* out) {
    const GstVideoInfo* info = &GST_VULKAN_VIDEO_FILTER(base)->in_info;
    return GST_BASE_TRANSFORM_CLASS(firn_filter_parent_class)->set_caps(base, in, out) &&
           make_call(FIRN_FILTER(base), GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_WIDTH(info));
}

static gboolean firn_filter_stop(GstBaseTransform* base) {
    FirnFilter* self = FIRN_FILTER(base);
    firn_call_release(self->call);
    firn_program_release(self->program);
    if (firn_context_destroy(self->context) != FIRN_OK)
        GST_WARNING_OBJECT(self, "%s", firn_message(self->context));
    self->call = NULL;
    self->program = NULL;
    self->context = NULL;
    return GST_BASE_TRANSFORM_CLASS(firn_filter_parent_class)->stop(base);
}

// ---- Frames ----

// The bytes of video are what they are, whatever curve they stand for.
static VkFormat as_plain(VkFormat format) {
    return format == VK_FORMAT_R8G8B8A8_SRGB   ? VK_FORMAT_R8G8B8A8_UNORM
           : format == VK_FORMAT_B8G8R8A8_SRGB ? VK_FORMAT_B8G8R8A8_UNORM
                                               : format;
}

static firn_image* import(FirnFilter* self, GstVulkanImageMemory* memory, gboolean is_read,
                          VkImageLayout after) {
    const firn_host_image from = {
        .struct_size = sizeof from,
        .usage = memory->create_info.usage,
        .image = (uint64_t)memory->image,
        .format = as_plain(memory->create_info.format),
        .width = memory->create_info.extent.width,
        .height = memory->create_info.extent.height,
        .layout_before = is_read ? memory->barrier.image_layout : VK_IMAGE_LAYOUT_UNDEFINED,
        .layout_after = after};
    firn_image* image = NULL;
    firn_check(self, firn_image_import(self->context, &from, &image), "firn_image_import");
    return image;
}

// Says to the next element in which layout the image is, and that all commands may have used it.
static void note_use(GstVulkanImageMemory* memory, GstVulkanQueue* queue, VkImageLayout layout) {
    memory->barrier.image_layout = layout;
    memory->barrier.parent.queue = queue;
    memory->barrier.parent.pipeline_stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    memory->barrier.parent.access_flags = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
}

static GstFlowReturn firn_filter_transform(GstBaseTransform* base, GstBuffer* in, GstBuffer* out) {
    FirnFilter* self = FIRN_FILTER(base);
    GstVulkanVideoFilter* video = GST_VULKAN_VIDEO_FILTER(base);
    GstMemory *in_memory = gst_buffer_peek_memory(in, 0),
              *out_memory = gst_buffer_peek_memory(out, 0);
    if (!gst_is_vulkan_image_memory(in_memory) || !gst_is_vulkan_image_memory(out_memory)) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("the frames are no Vulkan images"), (NULL));
        return GST_FLOW_ERROR;
    }
    GstVulkanImageMemory *from = (GstVulkanImageMemory*)in_memory,
                         *to = (GstVulkanImageMemory*)out_memory;
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    firn_image *read = import(self, from, TRUE, layout),
               *written = read ? import(self, to, FALSE, layout) : NULL;
    gboolean is_done = FALSE;
    if (written) {
        firn_binding* arguments = g_new0(firn_binding, self->info.argument_count);
        arguments[0].image = read;
        const firn_binding result = {.image = written};
        uint64_t point = 0;
        // Buffers of GStreamer are used again when they are released: the frame is complete first.
        is_done = firn_check(self,
                             firn_call_bind(self->call, arguments, self->info.argument_count,
                                            &result, 1, NULL),
                             "firn_call_bind") &&
                  firn_check(self, firn_submit(self->call, NULL, &point), "firn_submit") &&
                  firn_check(self, firn_wait(self->context, point), "firn_wait");
        g_free(arguments);
    }
    firn_image_release(read);
    firn_image_release(written);
    if (!is_done) return GST_FLOW_ERROR;
    note_use(from, video->queue, layout);
    note_use(to, video->queue, layout);
    return GST_FLOW_OK;
}

// ---- The element ----

enum { PROPERTY_PROGRAM = 1, PROPERTY_PARAMETERS };

static void firn_filter_set_property(GObject* object, guint id, const GValue* value,
                                     GParamSpec* spec) {
    FirnFilter* self = FIRN_FILTER(object);
    gchar** text = id == PROPERTY_PROGRAM      ? &self->program_path
                   : id == PROPERTY_PARAMETERS ? &self->parameters
                                               : NULL;
    if (!text) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        return;
    }
    g_free(*text);
    *text = g_value_dup_string(value);
}

static void firn_filter_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    FirnFilter* self = FIRN_FILTER(object);
    if (id == PROPERTY_PROGRAM)
        g_value_set_string(value, self->program_path);
    else if (id == PROPERTY_PARAMETERS)
        g_value_set_string(value, self->parameters);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void firn_filter_finalize(GObject* object) {
    FirnFilter* self = FIRN_FILTER(object);
    g_free(self->program_path);
    g_free(self->parameters);
    G_OBJECT_CLASS(firn_filter_parent_class)->finalize(object);
}

static void firn_filter_init(FirnFilter* self) { (void)self; }

static void firn_filter_class_init(FirnFilterClass* klass) {
    GObjectClass* object = G_OBJECT_CLASS(klass);
    GstElementClass* element = GST_ELEMENT_CLASS(klass);
    GstBaseTransformClass* transform = GST_BASE_TRANSFORM_CLASS(klass);
    object->set_property = firn_filter_set_property;
    object->get_property = firn_filter_get_property;
    object->finalize = firn_filter_finalize;
    g_object_class_install_property(
        object, PROPERTY_PROGRAM,
        g_param_spec_string("program", "program", "File of the saved program", NULL,
                            G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
    g_object_class_install_property(
        object, PROPERTY_PARAMETERS,
        g_param_spec_string("parameters", "parameters",
                            "Values of parameters of the program: name=value,name=value", NULL,
                            G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
    gst_element_class_set_static_metadata(element, "Firn filter", "Filter/Video",
                                          "Filters video by a saved program of Firn", "Firn");
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);
    transform->start = firn_filter_start;
    transform->set_caps = firn_filter_set_caps;
    transform->stop = firn_filter_stop;
    transform->transform = firn_filter_transform;
}

static gboolean register_elements(GstPlugin* plugin) {
    return gst_element_register(plugin, "firnfilter", GST_RANK_NONE, FIRN_TYPE_FILTER);
}

#define PACKAGE "firn"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, firnfilter,
                  "Filters video by saved programs of Firn", register_elements, "0.1", "MIT/X11",
                  PACKAGE, "https://example.invalid/firn")
