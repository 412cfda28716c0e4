// SPDX-License-Identifier: MIT
//
// One fax call, whatever carries it: modem signals on a card (fax_session.h), or packets of T.38
// (driver/sip/sip_fax.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/fax/t30_watch.h"
#include "driver/live/live_card.h"

namespace offhook::modem {

/// Only from the owner's thread.
class FaxCall {
 public:
  virtual ~FaxCall() = default;
  virtual bool ringing() const = 0;
  /// Dials or answers; then T.30 begins.
  virtual void begin() = 0;
  /// Lets T.30 run; call it about every 10 ms, also before begin().
  virtual void poll() = 0;
  /// T.30 ends with an error. over() is true from here on.
  virtual void end_call() = 0;
  virtual bool over() const = 0;
  virtual const fax::Progress& progress() const = 0;
  /// Why there is no call, apart from T.30's reason; empty: none.
  virtual std::string failure() const = 0;
  /// A change of the call for people, once; empty: none.
  virtual std::string news() { return {}; }
  virtual std::vector<std::string> shortcomings() const = 0;
  virtual std::uint64_t blocks_late() const = 0;
  /// The counters of the network, if there is one.
  virtual std::vector<CardFigure> figures() const { return {}; }
};

}  // namespace offhook::modem
