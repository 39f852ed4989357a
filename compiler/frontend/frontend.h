// Everything that a user of the compiler includes: tensors, functions on them, control, compile.
#pragma once
#include "compiler/algorithms/matmul.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/session.h"
#include "compiler/frontend/tensor.h"
