// Firn for its users: tensors, compile, and windows that show them, on the Vulkan device.
#pragma once
#include "compiler/language.h"
#include "engine/firn/app.h"
#include "engine/firn/device_session.h"
#include "engine/firn/drawing.h"
#include "engine/firn/image_files.h"
#include "engine/firn/param.h"
#include "engine/firn/structural.h"
#include "engine/firn/window.h"
