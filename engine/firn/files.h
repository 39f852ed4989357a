// Tensors in files, beside firn/firn.h.
#pragma once
#include "compiler/files/files.h"
#include "compiler/interchange/interchange.h"
