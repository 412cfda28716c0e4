// SPDX-License-Identifier: MIT
//
// The session timer of one call on libre, which has none: requests and responses that refresh a call, and their times
// (driver/sip/session_timer.h). All in libre's thread.
//
//   offer or invited --> established() --> half of the interval: UPDATE, or INVITE if the far end has no UPDATE --+
//                             ^--------------------------------- 2xx ---------------------------------------------+
//                             |---> the interval is nearly over, 408, 481, no response: ended
//
// It also sends the INVITE of an offer within the call, because libre does not say when the far end refuses one.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "driver/sip/libre.h"
#include "driver/sip/session_timer.h"

namespace offhook::sip {

class SessionRefresh {
 public:
  struct Call {
    std::function<std::string()> description;               ///< ours
    std::function<bool(const sip_msg*)> takes;              ///< from a message of the far end. false: not usable
    std::function<void(const std::string&)> ended;          ///< with the reason
    std::function<void(const std::string&)> offer_refused;  ///< with the reason; the call continues unchanged
  };

  /// @param interval_s  requested by calls from here; 0: none. authenticate, self: as in libre
  SessionRefresh(Call call, std::string user, std::uint32_t interval_s, sip_auth_h* authenticate, void* self);
  ~SessionRefresh();
  SessionRefresh(const SessionRefresh&) = delete;
  SessionRefresh& operator=(const SessionRefresh&) = delete;

  /// Begins a call from here. @return headers of INVITE
  std::string call_headers();
  /// A response of 422. @return whether to repeat the INVITE with other headers
  bool asks_again(const sip_msg* response);
  /// Begins an incoming call. @return false if its interval was too small, and it was refused
  bool invited(::sip* stack, const sip_msg* invite);
  /// Headers of the response to it.
  std::string answer_headers() const;
  /// @param response  to this end's INVITE; nullptr for an incoming call
  void established(::sip* stack, sipsess* session, const sip_msg* response);
  /// Offers this end's changed description. A second offer waits for the answer to the first.
  void offer();
  /// The call is over.
  void stop();

  /// A request or a response within a dialog. @return whether it concerned the timer, and was handled
  bool request(const sip_msg* message);
  bool response(const sip_msg* message);

 private:
  enum class Offer : std::uint8_t { kNone, kWanted, kSent };
  void arm();
  void refresh();
  bool refused_offer(const sip_msg* response);
  void refused(const sip_msg* response);
  void take_interval(const sip_msg* message, bool sent_here);
  void acknowledge(std::uint32_t sequence);
  void answer(const sip_msg* message, const std::string& headers);
  void confirmed(const sip_msg* ack);
  std::string request_headers(TransactionSide refresher) const;
  std::string response_headers(TransactionSide refresher) const;

  static int on_send(sip_transp transport, const sa* source, const sa* destination, mbuf* buffer, void* self);
  static void on_response(int error, const sip_msg* message, void* self);
  static void on_refresh(void* self);
  static void on_end(void* self);
  static void on_resend(void* self);

  Call call_;
  std::string user_;
  std::uint32_t wanted_s_, interval_s_ = 0, least_s_ = kLeastInterval;
  TransactionSide invited_refresher_ = TransactionSide::kUnnamed;
  bool far_can_ = false, far_updates_ = false, refreshes_ = false;
  bool called_ = false;  // whether this end made the call
  bool proved_ = false;  // by a password, once per request
  Offer offer_ = Offer::kNone;
  ::sip* sip_ = nullptr;
  sip_dialog* dialog_ = nullptr;
  sip_auth* auth_ = nullptr;
  struct sip_request* request_ = nullptr;
  std::uint32_t acknowledged_ = 0;  // sequence number of this end's newest accepted INVITE
  tmr refresh_timer_{}, end_timer_{}, resend_timer_{};
  // A response to the far end's INVITE, until it is confirmed.
  Buffer unconfirmed_;
  const sip_msg* unconfirmed_invite_ = nullptr;
  std::uint32_t resent_ = 0;
};

}  // namespace offhook::sip
