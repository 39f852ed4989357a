// An item of QML that shows the picture of a saved program.
#pragma once
#include <QList>
#include <QPointer>
#include <QQuickItem>
#include <QString>
#include <QVariantMap>
#include <vector>

#include "effect.h"

class FirnItem;
class FirnRenderer;

/// A parameter of one number, which a slider can be bound to.
class FirnParameter : public QObject {
    Q_OBJECT
    Q_PROPERTY(QString name READ name CONSTANT)
    Q_PROPERTY(QString unit READ unit CONSTANT)
    Q_PROPERTY(QString help READ help CONSTANT)
    Q_PROPERTY(double min READ min CONSTANT)
    Q_PROPERTY(double max READ max CONSTANT)
    Q_PROPERTY(bool isWhole READ is_whole CONSTANT)
    Q_PROPERTY(double value READ value WRITE set_value NOTIFY valueChanged)

  public:
    FirnParameter(FirnItem* item, const Setting& setting);
    QString name() const { return setting_.name; }
    QString unit() const { return setting_.unit; }
    QString help() const { return setting_.help; }
    double min() const { return setting_.min; }
    double max() const { return setting_.max; }
    bool is_whole() const { return setting_.is_whole; }
    double value() const;
    void set_value(double value);

  Q_SIGNALS:
    void valueChanged();

  private:
    FirnItem* item_;
    Setting setting_;
};

/// Runs a step of the program in each frame of its window, which draws by Vulkan.
class FirnItem : public QQuickItem {
    Q_OBJECT
    /// The file of the program.
    Q_PROPERTY(QString source READ source WRITE set_source NOTIFY sourceChanged)
    /// Values of parameters by name; those that are missing are as the program was saved.
    Q_PROPERTY(QVariantMap values READ values WRITE set_values NOTIFY valuesChanged)
    /// The parameters of the program; empty until its first frame.
    Q_PROPERTY(QList<FirnParameter*> parameters READ parameters NOTIFY parametersChanged)
    /// Why nothing is shown; empty where all is well.
    Q_PROPERTY(QString error READ error NOTIFY errorChanged)

  public:
    explicit FirnItem(QQuickItem* parent = nullptr);
    QString source() const { return source_; }
    void set_source(const QString& source);
    QVariantMap values() const { return values_; }
    void set_values(const QVariantMap& values);
    QList<FirnParameter*> parameters() const { return parameters_; }
    QString error() const { return error_; }

  Q_SIGNALS:
    void sourceChanged();
    void valuesChanged();
    void parametersChanged();
    void errorChanged();

  protected:
    QSGNode* updatePaintNode(QSGNode* node, UpdatePaintNodeData* data) override;
    void itemChange(ItemChange change, const ItemChangeData& data) override;
    void releaseResources() override;

  private:
    void drop_renderer();
    void show_settings(const QString& source, const std::vector<Setting>& settings);
    void show_error(const QString& source, const QString& error);

    QString source_, error_;
    QVariantMap values_;
    QList<FirnParameter*> parameters_;
    QPointer<QQuickWindow> shown_in_;
    FirnRenderer* renderer_ = nullptr;  // of the thread that renders
};
