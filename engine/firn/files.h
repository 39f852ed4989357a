// Reads and writes files of tensors; not part of firn/firn.h.
#pragma once
#include "compiler/files/files.h"
#include "compiler/interchange/interchange.h"
