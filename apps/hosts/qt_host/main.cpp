// A program of Qt Quick, whose scene graph draws by Vulkan, with an item that shows a saved
// program.
#include <QCommandLineParser>
#include <QGuiApplication>
#include <QQmlEngine>
#include <QQmlError>
#include <QQuickGraphicsConfiguration>
#include <QQuickItem>
#include <QQuickView>
#include <QVulkanInstance>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "firn_item.h"

namespace {

[[noreturn]] void stop(const QString& text) {
    std::fprintf(stderr, "qt_host: %s\n", text.toUtf8().constData());
    std::exit(1);
}

// ---- Vulkan ----

std::atomic<int> messages{0};

VkBool32 VKAPI_PTR count_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                 VkDebugUtilsMessageTypeFlagsEXT,
                                 const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
    ++messages;
    std::fprintf(stderr, "qt_host: validation: %s\n", data->pMessage);
    return VK_FALSE;
}

/// The instance that Qt makes its device with. Firn needs one of Vulkan 1.2.
void make_instance(QVulkanInstance& instance, bool validates) {
    instance.setApiVersion(QVersionNumber(1, 2));
    QByteArrayList extensions = QQuickGraphicsConfiguration::preferredInstanceExtensions();
    if (validates) {
        const QByteArray layer = "VK_LAYER_KHRONOS_validation";
        if (!instance.supportedLayers().contains(layer))
            stop("there is no " + layer + "; install vulkan-validationlayers");
        qputenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT");
        instance.setLayers({layer});
        instance.setFlags(QVulkanInstance::NoDebugOutputRedirect);
        extensions.append(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    }
    instance.setExtensions(extensions);
    if (!instance.create())
        stop("there is no instance of Vulkan; it gave the VkResult " +
             QString::number(instance.errorCode()));
}

/// Counts the messages of the validation layers while it lives.
class Messenger {
  public:
    explicit Messenger(QVulkanInstance& instance) : instance_(instance) {
        VkDebugUtilsMessengerCreateInfoEXT info{};
        info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
        info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                               VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
        info.pfnUserCallback = count_message;
        const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
            instance.getInstanceProcAddr("vkCreateDebugUtilsMessengerEXT"));
        if (!create || create(instance.vkInstance(), &info, nullptr, &messenger_) != VK_SUCCESS)
            stop("the messages of the validation layers cannot be heard");
    }
    ~Messenger() {
        const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
            instance_.getInstanceProcAddr("vkDestroyDebugUtilsMessengerEXT"));
        destroy(instance_.vkInstance(), messenger_, nullptr);
    }
    Messenger(const Messenger&) = delete;
    Messenger& operator=(const Messenger&) = delete;

  private:
    QVulkanInstance& instance_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

// ---- The program ----

struct Options {
    QString source, picture;
    QVariantMap values;
    int frames = 0;  // 0: until the window is closed
    bool validates = false;
};

Options read_options(const QCoreApplication& app) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Shows the picture of a saved program in a scene of Qt Quick, with sliders for its "
        "parameters. Escape ends it.");
    const QCommandLineOption set("set", "set a parameter of the program", "NAME=VALUE");
    const QCommandLineOption frames("frames", "end after N frames", "N");
    const QCommandLineOption picture("picture", "write the window as a PNG file at the end",
                                     "FILE");
    const QCommandLineOption validate(
        "validate", "run with Vulkan's validation layers; a message makes the exit code 1");
    parser.addOptions({set, frames, picture, validate});
    parser.addPositionalArgument("FILE.firn", "the program; without it " DEFAULT_PROGRAM);
    parser.addHelpOption();
    parser.process(app);

    Options out;
    const QStringList files = parser.positionalArguments();
    out.source = files.isEmpty() ? QString(DEFAULT_PROGRAM) : files.first();
    out.picture = parser.value(picture);
    out.validates = parser.isSet(validate);
    bool is_number = true;
    if (parser.isSet(frames)) out.frames = parser.value(frames).toInt(&is_number);
    if (!is_number || (parser.isSet(frames) && out.frames <= 0))
        stop("--frames takes a number above 0, and got '" + parser.value(frames) + "'");
    for (const QString& each : parser.values(set)) {
        const qsizetype equals = each.indexOf('=');
        const double value = each.mid(equals + 1).toDouble(&is_number);
        if (equals < 0 || !is_number) stop("--set takes NAME=VALUE, and got '" + each + "'");
        out.values[each.left(equals)] = value;
    }
    return out;
}

/// Shows the window, and returns the exit code.
int show(const QGuiApplication& app, QVulkanInstance& instance, const Options& options) {
    QQuickView view;
    view.setVulkanInstance(&instance);
    view.setResizeMode(QQuickView::SizeRootObjectToView);
    view.resize(760, 512);
    view.setTitle("qt_host");
    view.setInitialProperties({{"source", options.source}, {"values", options.values}});
    view.setSource(QUrl("qrc:/main.qml"));
    if (view.status() != QQuickView::Ready) {
        QString text = "main.qml cannot be shown";
        for (const QQmlError& error : view.errors()) text += "\n" + error.toString();
        stop(text);
    }

    int frames = 0;
    bool is_over = false;
    const auto end = [&] {
        if (std::exchange(is_over, true)) return;
        const bool is_written =
            options.picture.isEmpty() || view.grabWindow().save(options.picture);
        if (!is_written)
            std::fprintf(stderr, "qt_host: %s cannot be written\n",
                         options.picture.toUtf8().constData());
        app.exit(is_written ? 0 : 1);
    };
    QObject::connect(view.engine(), &QQmlEngine::quit, &view, end, Qt::QueuedConnection);
    QObject::connect(
        &view, &QQuickWindow::frameSwapped, &view,
        [&] {
            const QString error = view.rootObject()->property("error").toString();
            if (error.isEmpty()) {
                if (!is_over && ++frames == options.frames) end();
            } else if (!std::exchange(is_over, true)) {
                std::fprintf(stderr, "qt_host: %s\n", error.toUtf8().constData());
                app.exit(1);
            }
        },
        Qt::QueuedConnection);
    QObject::connect(&view, &QQuickWindow::sceneGraphError, &view,
                     [](QQuickWindow::SceneGraphError, const QString& text) { stop(text); });
    view.show();
    const int code = app.exec();
    std::printf("%d frames of %d x %d\n", frames, view.width(), view.height());
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    QQuickWindow::setGraphicsApi(QSGRendererInterface::Vulkan);
    QGuiApplication app(argc, argv);
    const Options options = read_options(app);
    qmlRegisterType<FirnItem>("Firn", 1, 0, "FirnItem");
    qmlRegisterUncreatableType<FirnParameter>("Firn", 1, 0, "FirnParameter",
                                              "FirnItem.parameters has them");
    QVulkanInstance instance;
    make_instance(instance, options.validates);
    int code = 0;
    if (options.validates) {
        const Messenger messenger(instance);
        code = show(app, instance, options);
    } else {
        code = show(app, instance, options);
    }
    if (options.validates) std::printf("%d messages of the validation layers\n", messages.load());
    if (std::fflush(stdout) != 0) return 1;
    return messages > 0 ? 1 : code;
}
