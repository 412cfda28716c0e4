// SPDX-License-Identifier: MIT
//
// A fax call by SIP. It begins with audio: the modem signals of a fax machine in G.711. If both ends have T.38, one of
// them offers it, and T.30 begins again over packets, without modems. If the far end refuses, the audio continues.
//
//   begin() --> call set-up --> audio, T.30 by modem signals --- T.38 is agreed ---> T.38, T.30 by packets
//                                  |      (offered here by T38Use::kOffer)                |
//                                  +----------------- T.30 is over -----------------------+--> hang up
//
// The far end's offer is taken until a test of the line (DCS) has been sent or received. Later one would lose pages,
// and is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/fax/t38_terminal.h"
#include "driver/fax/terminal.h"
#include "driver/session/fax_call.h"
#include "driver/sip/t38_line.h"

namespace offhook::sip {

struct SipFaxConfig {
  std::string number;  ///< number to dial; empty: answer a call
  fax::TerminalConfig terminal{};
  T38Use t38 = T38Use::kAccept;
};

class SipFax final : public modem::FaxCall {
 public:
  /// Registers, if the account requires it. @throws std::runtime_error for account, addresses or privileges
  SipFax(const SipPlace& place, const LiveDriverConfig& driver, const SipFaxConfig& config);
  ~SipFax() override;

  bool ringing() const override { return line_.ringing(); }
  void begin() override;
  void poll() override;
  void end_call() override;
  bool over() const override { return stopped_ || progress().over; }
  const fax::Progress& progress() const override;
  std::string failure() const override { return failure_; }
  std::string news() override;
  std::vector<std::string> shortcomings() const override { return line_.session().shortcomings(); }
  std::uint64_t blocks_late() const override { return line_.session().counters().blocks_late; }
  std::vector<CardFigure> figures() const override { return line_.figures(); }

 private:
  void begin_t38();
  void work_audio();
  void work_t38();

  SipFaxConfig config_;
  T38Line line_;
  std::optional<fax::Terminal> audio_;  // whose pump the line has
  std::optional<fax::T38Terminal> t38_;
  fax::Progress before_;
  bool begun_ = false, stopped_ = false;
  std::string failure_, told_;
};

}  // namespace offhook::sip
