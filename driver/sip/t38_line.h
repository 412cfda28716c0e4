// SPDX-License-Identifier: MIT
//
// A SIP line whose calls begin with audio and may change to T.38. During audio, the pump of a fax machine is on the
// call; T.38 has packets instead.
//
//   begin() --> call set-up --> audio --- T.38 is agreed ---> T.38 --- end_call(), far end ---> over
//                                 offer(), or the far end's offer while allow() is true
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/network/rtp_card.h"
#include "driver/network/udptl_socket.h"
#include "driver/session/session.h"
#include "driver/sip/sip_line.h"

namespace offhook::sip {

enum class T38Use : std::uint8_t {
  kNo,      ///< audio alone
  kAccept,  ///< if the far end offers it
  kOffer    ///< when the call is connected
};

/// Only from the owner's thread.
class T38Line {
 public:
  /// Registers, if the account requires it. @throws std::runtime_error for account, addresses or privileges
  T38Line(const SipPlace& place, const LiveDriverConfig& driver, T38Use use);

  bool ringing() const { return line_->ringing(); }
  Caller caller() const { return line_->caller(); }
  /// Answers, or dials the number. The pump is fax::pump_type().  @throws std::invalid_argument: no number, no ring
  void begin(oh_pump_role role, const std::string& number);
  /// Call it about every 10 ms.
  void work();
  /// Offers T.38. @pre fax_pump() is not null
  void offer() { phone_->offer_fax(0); }
  void allow(bool allows) { phone_->allow_fax(0, allows && use_ != T38Use::kNo); }
  T38Use use() const { return use_; }
  /// The memory of the audio's pump, when the call is up; null during T.38.
  void* fax_pump() { return is_t38() ? nullptr : line_->fax_pump(); }
  /// From the change to T.38 until the next begin().
  bool is_t38() const { return t38_since_ms_ >= 0; }
  UdptlSocket& packets() { return packets_; }
  /// Time since the last call, in periods of T38Terminal::kClockHz, from the change on.
  std::uint32_t take_ticks();
  /// Why the call ended by itself; empty: it continues.
  std::string failure() const { return std::string(line_->status().line_failure); }
  /// Why the far end does not take T.38; empty: it has not refused.
  std::string refusal() const;
  std::string registration() const { return phone_->registration(); }
  bool offered() const { return phone_->call(0).fax_offer == FaxOffer::kSent; }
  void end_call() { line_->end_call(); }
  const modem::Session& session() const { return *session_; }
  std::vector<CardFigure> figures() const { return is_t38() ? packets_.figures() : card_.figures(); }

 private:
  T38Use use_;
  RtpCard card_;
  UdptlSocket packets_;
  std::unique_ptr<modem::Session> session_;
  std::unique_ptr<Phone> phone_;
  std::unique_ptr<SipLine> line_;
  std::int64_t t38_since_ms_ = -1;
  std::uint64_t ticks_ = 0;
  bool begun_ = false;
};

}  // namespace offhook::sip
