/* SPDX-License-Identifier: MIT
 *
 * Automode: one pump that determines the far end's modulations and then is the pump of the chosen one.
 *
 *   V.8 at both ends     CM and JM name all modulations; the best that both have begins after V.8's 75 ms of silence.
 *   caller, plain ANS    AA (V.32bis) once ANS lasted 1 s; then AC: V.32bis; or unscrambled ones (USB1): V.22bis; or
 *                        the mark of an answerer in V.21, V.23 or, without any ANS, Bell's. 2225 Hz is the mark of two
 *                        modulations: the caller tries Bell 212A for 3 s, and then has Bell 103.
 *   answerer, no CM      AA during the answer tone: V.32bis. Else USB1 for 3 s; S1 or scrambled ones: V.22bis. Else AC
 *                        for 3 s, and then each mark for 3 s, from the fastest to the slowest, Bell's after the others;
 *                        the last stays. With Bell 212A's tone, the mark of a caller in Bell 103 ends it.
 *
 * For V.32bis and V.22bis that is ITU-T V.32bis Annex A (figures ), whose time marks are in procedure.cpp; it
 * ends with AC. No Recommendation defines an order for the others: they follow it, so that they disturb no modem. V.8
 * has no Bell 103 and no Bell 212A; a modem limited to them does without V.8.
 *
 * On a V.90 card (16 000 samples/s received, or the network's octets), V.90 also takes part if the far end's V.8 menu
 * shows the other side of V.90. Pumps with linear samples at 8000 Hz alone get those, converted from the card's.
 *
 * V.92's Quick Connect takes part in V.8: QC comes before the caller's menu, QCA in place of the answerer's. If both
 * ends have exchanged them, V.90 begins at once. Its own V.8, with V.34 and V.90, follows if Quick Connect fails.
 *
 * Modem-on-hold belongs to the chosen modulation. If that does not support it, an order fails and allowing it has no
 * effect.
 *
 * The modulations of automode are a table (dsp/modulation), from the slowest to the fastest. A freestanding module has
 * a freestanding table (V.32bis, V.34), and driver/user_modem has one of all modulations. All that take part are
 * initialised at the same time; after the decision, the chosen pump runs process().
 */
#ifndef OFFHOOK_DSP_AUTOMODE_AUTOMODE_H
#define OFFHOOK_DSP_AUTOMODE_AUTOMODE_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Automode over V.34 and V.32bis. For all others see driver/user_modem/automode.h. A modulation takes part if
 * oh_pump_config.modulations has it (0: all), its pump accepts the configuration (or needs only a conversion of the
 * format), and it can reach min_bit_rate. If none is left, size() is 0. */
OH_API const struct oh_pump_type* oh_automode_type(void);

#ifdef __cplusplus
}

#include "dsp/modulation/modulation.h"
#include "dsp/pump/pump_type.h"

namespace offhook::automode {

/// The modulations of automode: rows with begin().
struct Table {
  const Modulation* rows;
  int n;
};
inline constexpr int kMaxMembers = 10;
inline constexpr int kMaxMarks = 4;  ///< rows with mark_hz

size_t size(const oh_pump_config* config, const Table& table);
int init(void* self, const oh_pump_config* config, const Table& table);
void process(void* self, const void* rx, void* tx, size_t n);
void report_gap(void* self, size_t n);
void status(const void* self, oh_pump_status* status);
void release(void* self);
void hang_up(void* self);
int hold(void* self, oh_hold_order order);
int allow_hold(void* self, uint32_t timeout);
void note_frames(void* self, uint32_t good, uint32_t bad);
/// Operations of the modulation in use.
extern const Loops kLoops;
/// Those of the member V.90. Quick Connect with a short Phase 1 requires V.8.
extern const V92Choices kV92Choices;

inline constexpr oh_pump_format kFormats[] = {kLinear8000, kLinear16000To8000, kMuLaw8000, kALaw8000};

/// Automode over the table that kTable() returns.
template <Table (*kTable)()>
const oh_pump_type* type() {
  static constexpr oh_pump_type kType = {
      .format_count = sizeof kFormats / sizeof kFormats[0],
      .name = "auto",
      .formats = kFormats,
      .roles = kBothRoles,
      .fpu = kEveryOperation,
      .longest_step = 4000,  // for V.90, the most of all members
      .size = [](const oh_pump_config* c) { return size(c, kTable()); },
      .init = [](void* self, const oh_pump_config* c) { return init(self, c, kTable()); },
      .process = process,
      .report_gap = report_gap,
      .status = status,
      .hang_up = hang_up,
      .release = release,
      .advance = oh_pump_advance_each,
      .hold = hold,
      .allow_hold = allow_hold,
      .note_frames = note_frames};
  return &kType;
}

}  // namespace offhook::automode
#endif
#endif
