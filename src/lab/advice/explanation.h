// SPDX-License-Identifier: MIT
//
// Advice in words: why this context, what it costs everyone else, what else would do.
#pragma once

#include "src/lab/advice/advice.h"

namespace offhook::advice {

/// Headline and reasons of an advice whose trials have been judged (`suffices`, `chosen`, `passed_over`).
void explain(Advice& advice);

}  // namespace offhook::advice
