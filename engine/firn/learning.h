// Firn's modules, losses and optimizers, beside firn/firn.h.
#pragma once
#include "compiler/learning/learning.h"
