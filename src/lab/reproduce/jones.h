// SPDX-License-Identifier: MIT
//
// The experiments of Jones and Saroiu, by what they look at: one call over time, the 1 ms timer, the transfer tables.
#pragma once

#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

// jones_call.cpp: one call over time.
Outcome jones_fig1(const Run& run);   ///< interrupt rate
Outcome jones_fig2(const Run& run);   ///< time in the handler, CPU share: Figures 2 and 3
Outcome jones_fig4(const Run& run);   ///< the DPC version
Outcome jones_fig5(const Run& run);   ///< samples pending: Figures 5, 6, 7 and 14
Outcome jones_fig15(const Run& run);  ///< elapsed times in the thread: Figures 8, 9 and 15

// jones_timer.cpp
Outcome jones_fig10(const Run& run);  ///< the 1 ms callback: Figures 10 to 13 and 16

// jones_tables.cpp
Outcome jones_table1(const Run& run);
Outcome jones_table2(const Run& run);
Outcome jones_table3(const Run& run);  ///< and Figure 17

}  // namespace offhook::reproduce
