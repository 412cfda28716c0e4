// SPDX-License-Identifier: MIT
//
// The rows of this module.
#pragma once

#include "driver/user_modem/bell103.h"
#include "driver/user_modem/v21.h"
#include "driver/user_modem/v23.h"
