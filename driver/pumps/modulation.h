// SPDX-License-Identifier: MIT
//
// The rows of this room.
#pragma once

#include "driver/pumps/bell103.h"
#include "driver/pumps/v21.h"
#include "driver/pumps/v23.h"
