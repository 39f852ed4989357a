// The functions that the plugin for Unity exports to scripts, besides those that Unity itself
// calls.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that return an int return a number above 0, or 0 where they failed: FirnError has the
 * text then. They may be called from the thread of scripts while the render thread runs events.
 * `what` is 0 for an argument of the program and 1 for a result. Native pointers come from
 * GetNativeBufferPtr and GetNativeTexturePtr. */

int FirnLoad(const void* file, int bytes); /* a program */
void FirnUnload(int program);
/* A call with arguments of these shapes, whose extents follow each other; `ranks` null: as the
 * program was saved. */
int FirnCall(int program, const int* ranks, const int64_t* extents, int count);
void FirnRelease(int call); /* behind the last event that runs it */
int FirnBuffer(int call, int what, int index, void* native);
int FirnTexture(int call, int what, int index, void* native);
int FirnParameter(int call, const char* name, const double* values, int count);

/* For CommandBuffer.IssuePluginEventAndData(FirnEvent(), FirnEventId(), (IntPtr)call). */
void (*FirnEvent(void))(int event, void* call);
int FirnEventId(void);
/* 1: commands go into Unity's command buffer; 0: into command buffers of the plugin (the default).
 */
void FirnIntoUnitysCommands(int yes);
/* Copies the text of the last error. Returns how many errors there were. */
int FirnError(char* text, int room);

#ifdef __cplusplus
}
#endif
