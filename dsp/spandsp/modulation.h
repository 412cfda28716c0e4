// SPDX-License-Identifier: MIT
//
// The rows of this room.
#pragma once

#include "dsp/spandsp/bell103.h"
#include "dsp/spandsp/v21.h"
#include "dsp/spandsp/v23.h"
