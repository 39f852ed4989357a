// The picture of a saved program, and a slider for each of its parameters.
import QtQuick
import QtQuick.Controls.Basic
import Firn

Rectangle {
    id: root
    required property string source
    required property var values
    property alias error: picture.error
    color: "#16191d"

    Shortcut {
        sequence: "Escape"
        onActivated: Qt.quit()
    }

    FirnItem {
        id: picture
        source: root.source
        values: root.values
        width: Math.min(root.height, root.width - panel.width)
        height: width
    }

    Column {
        id: panel
        anchors { right: parent.right; top: parent.top; margins: 12 }
        width: 220
        spacing: 2

        Repeater {
            model: picture.parameters

            Column {
                id: row
                required property var modelData
                width: panel.width

                Text {
                    color: "#d6dae0"
                    text: row.modelData.name + " = " + Number(row.modelData.value.toPrecision(3))
                          + " " + row.modelData.unit
                }
                Slider {
                    width: parent.width
                    from: row.modelData.min
                    to: row.modelData.max
                    stepSize: row.modelData.isWhole ? 1 : 0
                    snapMode: Slider.SnapAlways
                    value: row.modelData.value
                    onMoved: row.modelData.value = value
                    ToolTip.visible: hovered && row.modelData.help !== ""
                    ToolTip.text: row.modelData.help
                }
            }
        }
    }
}
