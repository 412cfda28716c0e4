// SPDX-License-Identifier: MIT
//
// One end of an ADSL connection: samples to the receiver, symbols of the procedure to samples.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/dmt/modulator.h"
#include "dsp/dmt/procedure.h"
#include "dsp/dmt/pump.h"
#include "dsp/dmt/receiver.h"
#include "dsp/pump/pump_type.h"

namespace offhook::dmt {

class Modem {
 public:
  /// @param side, config  side and sampling rates select the modem. Not real-time.
  Modem(Side side, const oh_pump_config& config);

  /// n periods of the slower direction. @param[in] rx  @param[out] tx  must not overlap
  void process(const int16_t* rx, int16_t* tx, size_t n);
  void report_gap(size_t n);
  void status(oh_pump_status* s) const;
  void hang_up() { procedure_.hang_up(); }
  void instruments(oh_dmt_instruments* i) const;

 private:
  static ProcedureConfig procedure_config(Side side, const oh_pump_config& config);
  int16_t next_sample();
  void heard();

  const Band rx_band_, tx_band_;
  const int rx_ratio_, tx_ratio_;  // samples of a period
  const oh_pump_observer observer_;
  Modulator modulator_;
  Receiver receiver_;
  Procedure procedure_;
  uint64_t periods_ = 0, filled_in_ = 0;
  Complex points_[kMostTones]{};  // for the symbol that was begun; not on the stack, which may be a kernel's
  int16_t samples_[kFullDown.symbol()]{};
  int length_ = 0, at_ = 0;  // of the current symbol
};

}  // namespace offhook::dmt
