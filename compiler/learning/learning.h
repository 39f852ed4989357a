// Everything for learning: modules, losses, optimizers, and steps as one program.
#pragma once
#include "compiler/learning/activations.h"
#include "compiler/learning/averaged.h"
#include "compiler/learning/initialise.h"
#include "compiler/learning/linear.h"
#include "compiler/learning/losses.h"
#include "compiler/learning/module.h"
#include "compiler/learning/optimizer.h"
#include "compiler/learning/optimizers.h"
#include "compiler/learning/schedule.h"
#include "compiler/learning/state_file.h"
#include "compiler/learning/state_function.h"
#include "compiler/learning/variable.h"
