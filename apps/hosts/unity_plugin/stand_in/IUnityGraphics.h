// Stand-in of Unity's header of this name: of the published interface, what the plugin uses.
#pragma once

#include "IUnityInterface.h"

enum UnityGfxRenderer { kUnityGfxRendererNull = 4, kUnityGfxRendererVulkan = 21 };

enum UnityGfxDeviceEventType {
    kUnityGfxDeviceEventInitialize = 0,
    kUnityGfxDeviceEventShutdown = 1,
    kUnityGfxDeviceEventBeforeReset = 2,
    kUnityGfxDeviceEventAfterReset = 3
};

typedef void(UNITY_INTERFACE_API* IUnityGraphicsDeviceEventCallback)(UnityGfxDeviceEventType type);
typedef void(UNITY_INTERFACE_API* UnityRenderingEvent)(int event);
typedef void(UNITY_INTERFACE_API* UnityRenderingEventAndData)(int event, void* data);

struct IUnityGraphics : IUnityInterface {
    UnityGfxRenderer(UNITY_INTERFACE_API* GetRenderer)();
    void(UNITY_INTERFACE_API* RegisterDeviceEventCallback)(
        IUnityGraphicsDeviceEventCallback callback);
    void(UNITY_INTERFACE_API* UnregisterDeviceEventCallback)(
        IUnityGraphicsDeviceEventCallback callback);
    int(UNITY_INTERFACE_API* ReserveEventIDRange)(int count);
};

template <>
inline UnityInterfaceGUID GetUnityInterfaceGUID<IUnityGraphics>() {
    return {0x7CBA0A9CA4DDB544ULL, 0x8C5AD4926EB17B11ULL};
}
