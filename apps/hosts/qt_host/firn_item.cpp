// An item of QML that shows the picture of a saved program.
#include "firn_item.h"

#include <QFile>
#include <QQuickWindow>
#include <QRunnable>
#include <QSGRendererInterface>
#include <QSGSimpleTextureNode>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

template <class Handle>
Handle resource(QQuickWindow* window, QSGRendererInterface::Resource which) {
    void* at = window->rendererInterface()->getResource(window, which);
    if (!at)
        throw std::runtime_error(
            "the scene graph has no Vulkan device; choose Vulkan by "
            "QQuickWindow::setGraphicsApi");
    return *static_cast<Handle*>(at);
}

/// The family of Qt's queue.
uint32_t queue_family_of(QQuickWindow* window, const QtDevice& qt) {
#if QT_VERSION >= QT_VERSION_CHECK(6, 6, 0)
    Q_UNUSED(qt);
    return resource<uint32_t>(window, QSGRendererInterface::GraphicsQueueFamilyIndexResource);
#else
    // Qt does not say it before 6.6, and takes the first family that can draw and present.
    uint32_t count = 0;
    QVulkanFunctions* vk = qt.instance->functions();
    vk->vkGetPhysicalDeviceQueueFamilyProperties(qt.physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk->vkGetPhysicalDeviceQueueFamilyProperties(qt.physical, &count, families.data());
    uint32_t family = 0;
    while (family < count && (!(families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) ||
                              !qt.instance->supportsPresent(qt.physical, family, window)))
        ++family;
    VkQueue queue = VK_NULL_HANDLE;
    if (family < count)
        qt.instance->deviceFunctions(qt.device)->vkGetDeviceQueue(qt.device, family, 0, &queue);
    if (!queue || queue != resource<VkQueue>(window, QSGRendererInterface::CommandQueueResource))
        throw std::runtime_error("the family of Qt's queue is not known; use Qt 6.6 or newer");
    return family;
#endif
}

QtDevice device_of(QQuickWindow* window) {
    if (window->rendererInterface()->graphicsApi() != QSGRendererInterface::Vulkan)
        throw std::runtime_error(
            "the scene graph does not draw by Vulkan; choose it by QQuickWindow::setGraphicsApi");
    QtDevice out;
    out.instance = window->vulkanInstance();
    out.physical = resource<VkPhysicalDevice>(window, QSGRendererInterface::PhysicalDeviceResource);
    out.device = resource<VkDevice>(window, QSGRendererInterface::DeviceResource);
    out.queue_family = queue_family_of(window, out);
    return out;
}

QByteArray read_file(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        throw std::runtime_error("there is no file " + path.toStdString() +
                                 ", or it cannot be read");
    return file.readAll();
}

class DeleteLater : public QRunnable {
  public:
    explicit DeleteLater(FirnRenderer* renderer) : renderer_(renderer) {}
    void run() override;

  private:
    FirnRenderer* renderer_;
};

}  // namespace

// ---- On the thread that renders ----

/// The effect in the frames of a window. The thread that renders makes, uses and deletes it.
class FirnRenderer : public QObject {
  public:
    FirnRenderer(QQuickWindow* window, const QString& path)
        : source(path), window_(window), effect_(device_of(window), read_file(path)) {
        connect(window, &QQuickWindow::beforeRendering, this, &FirnRenderer::record,
                Qt::DirectConnection);
    }

    Effect& effect() { return effect_; }
    void set(const QVariantMap& values) {
        for (auto each = values.begin(); each != values.end(); ++each)
            if (values_.value(each.key()) != each.value())
                effect_.set(each.key(), each.value().toDouble());
        values_ = values;
    }
    /// The error of the last frame; empty: there was none.
    QString take_error() { return std::exchange(error_, QString()); }

    const QString source;

  private:
    /// Runs before the render pass of a frame: its command buffer is recorded.
    void record() {
        window_->beginExternalCommands();
        try {
            effect_.record(
                resource<VkCommandBuffer>(window_, QSGRendererInterface::CommandListResource),
                window_->graphicsStateInfo().framesInFlight);
        } catch (const std::exception& error) {
            error_ = QString::fromUtf8(error.what());
        }
        window_->endExternalCommands();
    }

    QQuickWindow* window_;
    Effect effect_;
    QVariantMap values_;
    QString error_;
};

void DeleteLater::run() { delete renderer_; }

/// Qt calls it while the thread of the items waits.
QSGNode* FirnItem::updatePaintNode(QSGNode* old, UpdatePaintNodeData*) {
    auto* node = static_cast<QSGSimpleTextureNode*>(old);
    const auto fail = [&](const QString& text) {
        delete node;
        delete std::exchange(renderer_, nullptr);
        QMetaObject::invokeMethod(
            this, [this, text, source = source_] { show_error(source, text); },
            Qt::QueuedConnection);
        return nullptr;
    };
    if (!error_.isEmpty()) return node;
    if (renderer_ && renderer_->source != source_) {
        delete std::exchange(node, nullptr);
        delete std::exchange(renderer_, nullptr);
    }
    if (source_.isEmpty()) return nullptr;
    try {
        if (!renderer_) {
            renderer_ = new FirnRenderer(window(), source_);
            const std::vector<Setting>& settings = renderer_->effect().settings();
            QMetaObject::invokeMethod(
                this, [this, settings, source = source_] { show_settings(source, settings); },
                Qt::QueuedConnection);
        }
        renderer_->set(values_);
    } catch (const std::exception& error) {
        return fail(QString::fromUtf8(error.what()));
    }
    if (const QString error = renderer_->take_error(); !error.isEmpty()) return fail(error);
    if (!node) {
        Effect& effect = renderer_->effect();
        node = new QSGSimpleTextureNode;
        node->setTexture(QNativeInterface::QSGVulkanTexture::fromNative(
            effect.picture(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, window(), effect.size()));
        node->setOwnsTexture(true);
        node->setFiltering(QSGTexture::Linear);
    }
    node->setRect(boundingRect());
    node->markDirty(QSGNode::DirtyMaterial);  // the picture is another one in each frame
    return node;
}

// ---- On the thread of the items ----

FirnParameter::FirnParameter(FirnItem* item, const Setting& setting)
    : QObject(item), item_(item), setting_(setting) {}

double FirnParameter::value() const {
    return item_->values().value(setting_.name, setting_.value).toDouble();
}

void FirnParameter::set_value(double value) {
    QVariantMap values = item_->values();
    values[setting_.name] = value;
    item_->set_values(values);
}

FirnItem::FirnItem(QQuickItem* parent) : QQuickItem(parent) { setFlag(ItemHasContents); }

void FirnItem::set_source(const QString& source) {
    if (source == source_) return;
    source_ = source;
    show_error(source, QString());
    show_settings(source, {});
    update();
    Q_EMIT sourceChanged();
}

void FirnItem::set_values(const QVariantMap& values) {
    if (values == values_) return;
    values_ = values;
    update();
    Q_EMIT valuesChanged();
    for (FirnParameter* each : std::as_const(parameters_)) Q_EMIT each->valueChanged();
}

// A message about a source may arrive after the source has changed.
void FirnItem::show_settings(const QString& source, const std::vector<Setting>& settings) {
    if (source != source_) return;
    for (FirnParameter* each : parameters_) each->deleteLater();
    parameters_.clear();
    for (const Setting& setting : settings) parameters_.append(new FirnParameter(this, setting));
    Q_EMIT parametersChanged();
}

void FirnItem::show_error(const QString& source, const QString& error) {
    if (source != source_ || error == error_) return;
    error_ = error;
    Q_EMIT errorChanged();
}

void FirnItem::itemChange(ItemChange change, const ItemChangeData& data) {
    if (change == ItemSceneChange) {
        if (shown_in_) {
            disconnect(shown_in_, &QQuickWindow::sceneGraphInvalidated, this, nullptr);
            disconnect(shown_in_, &QQuickWindow::frameSwapped, this, nullptr);
        }
        shown_in_ = data.window;
        if (shown_in_) {
            // The thread that renders emits it, where the device ends.
            connect(shown_in_, &QQuickWindow::sceneGraphInvalidated, this, &FirnItem::drop_renderer,
                    Qt::DirectConnection);
            // Each frame asks for the next one.
            connect(shown_in_, &QQuickWindow::frameSwapped, this, &QQuickItem::update,
                    Qt::QueuedConnection);
        }
    }
    QQuickItem::itemChange(change, data);
}

void FirnItem::drop_renderer() { delete std::exchange(renderer_, nullptr); }

/// The item leaves its window: the thread that renders deletes what it made.
void FirnItem::releaseResources() {
    if (renderer_)
        window()->scheduleRenderJob(new DeleteLater(std::exchange(renderer_, nullptr)),
                                    QQuickWindow::BeforeSynchronizingStage);
}
