// Stand-in of Unity's header of this name: of the published interface, what the plugin uses.
#pragma once

#define UNITY_INTERFACE_API
#define UNITY_INTERFACE_EXPORT __attribute__((visibility("default")))

struct UnityInterfaceGUID {
    unsigned long long m_GUIDHigh, m_GUIDLow;
};

struct IUnityInterface {};

template <typename INTERFACE>
UnityInterfaceGUID GetUnityInterfaceGUID();

struct IUnityInterfaces {
    IUnityInterface*(UNITY_INTERFACE_API* GetInterface)(UnityInterfaceGUID guid);
    void(UNITY_INTERFACE_API* RegisterInterface)(UnityInterfaceGUID guid,
                                                 IUnityInterface* interface);
    IUnityInterface*(UNITY_INTERFACE_API* GetInterfaceSplit)(unsigned long long high,
                                                             unsigned long long low);
    void(UNITY_INTERFACE_API* RegisterInterfaceSplit)(unsigned long long high,
                                                      unsigned long long low,
                                                      IUnityInterface* interface);

    template <typename INTERFACE>
    INTERFACE* Get() {
        return static_cast<INTERFACE*>(GetInterface(GetUnityInterfaceGUID<INTERFACE>()));
    }
};

typedef void* UnityRenderBuffer;
typedef unsigned int UnityTextureID;

// The functions that a plugin exports.
extern "C" {
void UNITY_INTERFACE_EXPORT UNITY_INTERFACE_API UnityPluginLoad(IUnityInterfaces* interfaces);
void UNITY_INTERFACE_EXPORT UNITY_INTERFACE_API UnityPluginUnload();
}
