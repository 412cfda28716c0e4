// SPDX-License-Identifier: MIT
//
// A line of a SIP phone, as seen by a program that makes calls. INVITE has the digits, the modem begins when the call
// is answered, and its octets are those of the line's RTP card.
#pragma once

#include <cstdint>
#include <string>

#include "driver/network/rtp_card.h"
#include "driver/session/session.h"
#include "driver/sip/phone.h"

namespace offhook::sip {

/// Only from the owner's thread.
class SipLine final : public modem::CallLine {
 public:
  /// @param session  of the card  @param line  of the phone. All outlive it
  SipLine(Phone& phone, std::size_t line, RtpCard& card, modem::Session& session);
  ~SipLine() override;

  void work() override;
  bool ringing() const override;
  Caller caller() const override { return info_.caller; }
  /// @throws std::invalid_argument for a call without a number or without a modem
  void begin_call(const modem::CallConfig& call) override;
  void change_pump(const modem::CallConfig& call) override {
    if (stage_ == Stage::kModem) session_.begin_call(call);
  }
  void end_call() override;
  void note_end(oh_call_end why) override { session_.note_end(why); }
  void hold(oh_hold_order order) override { session_.hold(order); }
  bool loop(oh_loop_order order) override { return session_.loop(order); }
  bool can_fax() const override { return session_.can_fax(); }
  void* fax_pump() override { return stage_ == Stage::kModem ? session_.fax_pump() : nullptr; }
  modem::CallStatus status() const override;
  std::size_t write(const std::uint8_t* bytes, std::size_t n) override { return session_.write(bytes, n); }
  std::size_t read(std::uint8_t* bytes, std::size_t n) override { return session_.read(bytes, n); }
  std::size_t writable() const override { return session_.writable(); }

 private:
  enum class Stage : std::uint8_t { kIdle, kSetUp, kModem, kEnded };
  void end(EndKind kind, const std::string& reason);

  Phone& phone_;
  std::size_t line_;
  RtpCard& card_;
  modem::Session& session_;
  Stage stage_ = Stage::kIdle;
  CallInfo info_;
  modem::CallConfig call_{};
  std::uint32_t media_version_ = 0;
  std::int64_t rings_since_ns_ = 0;
  EndKind end_ = EndKind::kHungUp;
  std::string reason_;  // the line to which status() refers
};

}  // namespace offhook::sip
