// SPDX-License-Identifier: MIT
//
// The properties of a modulation as one row, next to its pump. Automode, scenarios, AT commands, sessions and
// measurements read the rows; a new pump is a folder with a row in its modulation.h, and a line in dsp/CMakeLists.txt.
// The rows here need no operating system; the table of all is in driver/user_modem/modulations.h.
#pragma once

#include <stdint.h>

#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "dsp/v8/menu.h"
#include "dsp/v90/session/pump.h"
#include "dsp/v90/session/v92.h"
#include "offhook/loop.h"
#include "offhook/pump.h"

namespace offhook {

/// Test loops of a pump (offhook/loop.h).  Real-time: yes.
struct Loops {
  int (*order)(void* self, oh_loop_order order);  ///< @return 0, or -EINVAL if not possible now
  oh_loop_state (*state)(const void* self);
};

/// V.92's choices of a pump (dsp/v90/session/v92.h).  Real-time: yes.
struct V92Choices {
  int (*allow_pcm_upstream)(void* self);
  int (*prepare_quick_connect)(void* self, const oh_v90_profile* profile, uint32_t phases);
  int (*profile)(const void* self, oh_v90_profile* profile);
  int (*was_quick)(const void* self);
  // For an owner that runs V.8 itself; null for automode, which is one.
  v8::QuickConnect (*quick_connect_octets)(const void* self) = nullptr;
  void (*begin_quick_connect)(void* self, const v8::Result& v8) = nullptr;
};

struct Modulation {
  oh_modulation id;     ///< OH_MODULATION_NONE: automode
  const char* name;     ///< name in pump.modem and --pump
  const char* title;    ///< name as printed: "V.22bis"
  const char* carrier;  ///< name in +MS (V.250 6.4.1); empty: any
  v8::Menu v8;          ///< its share of an analogue modem's menu: modulation bits, PCM availability, PSTN access
  /// bit/s, from the Recommendation; if the directions differ, of the slower and of the faster one.
  uint32_t min_bit_rate, max_bit_rate;
  /// Maximum of unacknowledged V.42 frames: with V.34 a round trip of 1.2 s holds 40 of 128 octets. 0: no V.42, because
  /// bits cross the line without a clock.
  uint8_t v42_window;
  bool alone;   ///< its pump starts a call by V.25 without V.8: for +MS without automode
  int mark_hz;  ///< tone of an answerer without V.8 until the caller replies; 0: no tone
  const oh_pump_type* (*type)();
  /// After init: the modulation's own procedure begins with the next sample. V.8, or without V.8 the answer tone, is
  /// over. @param far_dbm0  level of the far end, -100 if it was not received. Null for automode.  Real-time: yes.
  void (*begin)(void* self, bool after_v8, float far_dbm0);
  /// For a modulation whose directions differ: its pump with these bit rates of the two senders. @return NULL if there
  /// is none. The member itself is NULL for other modulations.
  const oh_pump_type* (*with_rates)(uint32_t caller, uint32_t answerer) = nullptr;
  const Loops* loops = nullptr;     ///< NULL if it has no procedure for test loops
  const V92Choices* v92 = nullptr;  ///< NULL if it is not a pump of V.90
};

inline constexpr Loops kLoopsOfV22bis = {.order = oh_v22bis_loop, .state = oh_v22bis_loop_state};

inline constexpr Modulation kV22 = {.id = OH_MODULATION_V22,
                                    .name = "v22",
                                    .title = "V.22",
                                    .carrier = "V22",
                                    .v8 = {.modulations = v8::kV22bis},
                                    .min_bit_rate = 1'200,
                                    .max_bit_rate = 1'200,
                                    .v42_window = 15,
                                    .alone = true,
                                    .mark_hz = 0,
                                    .type = oh_v22_type,
                                    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); },
                                    .loops = &kLoopsOfV22bis};

inline constexpr Modulation kBell212a = {
    .id = OH_MODULATION_BELL212A,
    .name = "bell212a",
    .title = "Bell 212A",
    .carrier = "B212",
    .v8 = {},
    .min_bit_rate = 1'200,
    .max_bit_rate = 1'200,
    .v42_window = 15,
    .alone = true,
    .mark_hz = 2225,
    .type = oh_bell212a_type,
    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); }};

inline constexpr Modulation kV22bis = {
    .id = OH_MODULATION_V22BIS,
    .name = "v22bis",
    .title = "V.22bis",
    .carrier = "V22B",
    .v8 = {.modulations = v8::kV22bis},
    .min_bit_rate = 1'200,
    .max_bit_rate = 2'400,
    .v42_window = 15,
    .alone = true,
    .mark_hz = 0,
    .type = oh_v22bis_type,
    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); },
    .loops = &kLoopsOfV22bis};

inline constexpr Modulation kV32bis = {
    .id = OH_MODULATION_V32BIS,
    .name = "v32bis",
    .title = "V.32bis",
    .carrier = "V32B",
    .v8 = {.modulations = v8::kV32bis},
    .min_bit_rate = 4'800,
    .max_bit_rate = 14'400,
    .v42_window = 15,
    .alone = false,
    .mark_hz = 0,
    .type = oh_v32bis_type,
    .begin = [](void* self, bool after_v8, float) { oh_v32bis_begin(self, after_v8); }};

inline constexpr Modulation kV34 = {.id = OH_MODULATION_V34,
                                    .name = "v34",
                                    .title = "V.34",
                                    .carrier = "V34",
                                    .v8 = {.modulations = v8::kV34},
                                    .min_bit_rate = 2'400,
                                    .max_bit_rate = 33'600,
                                    .v42_window = 64,
                                    .alone = false,
                                    .mark_hz = 0,
                                    .type = oh_v34_type,
                                    .begin = [](void* self, bool, float) { oh_v34_begin(self); }};

inline constexpr V92Choices kV92ChoicesOfV90 = {.allow_pcm_upstream = v90::allow_pcm_upstream,
                                                .prepare_quick_connect = v90::prepare_quick_connect,
                                                .profile = oh_v90_get_profile,
                                                .was_quick = oh_v90_was_quick,
                                                .quick_connect_octets = v90::quick_connect_octets,
                                                .begin_quick_connect = v90::begin_quick_connect};

inline constexpr Modulation kV90 = {
    .id = OH_MODULATION_V90,
    .name = "v90",
    .title = "V.90",
    .carrier = "V90",
    .v8 = {.modulations = v8::kPcm, .has_access = true, .has_pcm = true, .pcm = v8::kPcmAnalogue},
    .min_bit_rate = 4'800,
    .max_bit_rate = 56'000,
    .v42_window = 64,
    .alone = false,
    .mark_hz = 0,
    .type = oh_v90_type,
    .begin = [](void* self, bool, float) { oh_v90_begin(self); },
    .v92 = &kV92ChoicesOfV90};

}  // namespace offhook
