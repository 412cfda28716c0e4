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
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/fax/terminal.h"
#include "driver/network/rtp_card.h"
#include "driver/network/udptl_socket.h"
#include "driver/session/fax_call.h"
#include "driver/session/session.h"
#include "driver/t38/t38_terminal.h"
#include "driver/sip/sip_line.h"

namespace offhook::sip {

enum class T38Use : std::uint8_t {
  kNo,      ///< audio alone
  kAccept,  ///< if the far end offers it
  kOffer    ///< when the call is connected
};

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

  bool ringing() const override { return line_->ringing(); }
  void begin() override;
  void poll() override;
  void end_call() override;
  bool over() const override { return stopped_ || progress().over; }
  const fax::Progress& progress() const override;
  std::string failure() const override { return failure_; }
  std::string news() override;
  std::vector<std::string> shortcomings() const override { return session_->shortcomings(); }
  std::uint64_t blocks_late() const override { return session_->counters().blocks_late; }
  std::vector<CardFigure> figures() const override;

 private:
  void begin_t38(const UdptlFarEnd& far);
  void work_audio();
  void work_t38();

  SipFaxConfig config_;
  RtpCard card_;
  UdptlSocket packets_;
  std::unique_ptr<modem::Session> session_;
  std::unique_ptr<Phone> phone_;
  std::unique_ptr<SipLine> line_;
  std::optional<fax::Terminal> audio_;  // whose pump the session has
  std::optional<fax::T38Terminal> t38_;
  fax::Progress before_;
  std::uint64_t ticks_ = 0;  // time that T.38 has processed, since t38_since_ms_
  std::int64_t t38_since_ms_ = 0;
  bool begun_ = false, stopped_ = false;
  std::string failure_, told_;
};

}  // namespace offhook::sip
