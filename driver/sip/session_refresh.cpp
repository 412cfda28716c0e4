// SPDX-License-Identifier: MIT
#ifdef OFFHOOK_HAS_SIP

#include "driver/sip/session_refresh.h"

#include <algorithm>
#include <utility>

namespace offhook::sip {

namespace {

constexpr std::uint32_t kAgainMs = 10'000;  // after a temporary refusal, such as 491 or 500
// After 491, when both offers have crossed. The far end of a call from here repeats its offer earlier (RFC 3261 14.1).
constexpr std::uint32_t kCalledAgainMs = 2000, kCallerAgainMs = 2100, kCallerSpreadMs = 1900;
constexpr std::uint32_t kGiveUpAfter = 10;  // retransmissions of a response to INVITE: 32 s (RFC 3261 13.3.1.4)

std::optional<SessionInterval> interval_of(const sip_msg* message, sip_hdrid header) {
  const sip_hdr* const found = sip_msg_hdr(message, header);
  if (found == nullptr) return std::nullopt;
  return parse_session_interval({found->val.p, found->val.l});
}

}  // namespace

SessionRefresh::SessionRefresh(Call call, std::string user, std::uint32_t interval_s, sip_auth_h* authenticate,
                               void* self)
    : call_(std::move(call)), user_(std::move(user)), wanted_s_(interval_s) {
  sip_auth_alloc(&auth_, authenticate, self, false);
}

SessionRefresh::~SessionRefresh() {
  stop();
  mem_deref(auth_);
}

std::string SessionRefresh::call_headers() {
  interval_s_ = wanted_s_ == 0 ? 0 : std::max(wanted_s_, least_s_);
  if (interval_s_ == 0) return kAllowed;
  return kAllowed + request_headers(TransactionSide::kUnnamed);
}

bool SessionRefresh::asks_again(const sip_msg* response) {
  const auto least = interval_of(response, SIP_HDR_MIN_SE);
  if (interval_s_ == 0 || !least || least->seconds <= interval_s_ || least->seconds > kMostInterval) return false;
  least_s_ = least->seconds;
  return true;
}

bool SessionRefresh::invited(::sip* stack, const sip_msg* invite) {
  far_can_ = sip_msg_hdr_has_value(invite, SIP_HDR_SUPPORTED, "timer");
  far_updates_ = sip_msg_hdr_has_value(invite, SIP_HDR_ALLOW, "UPDATE");
  interval_s_ = 0;
  const auto offered = interval_of(invite, SIP_HDR_SESSION_EXPIRES);
  if (!offered || wanted_s_ == 0) return true;
  if (offered->seconds < kLeastInterval) {
    sip_treplyf(nullptr, nullptr, stack, invite, false, 422, "Session Interval Too Small",
                "Min-SE: %u\r\nContent-Length: 0\r\n\r\n", kLeastInterval);
    return false;
  }
  const SessionInterval accepted = accepted_interval(*offered, far_can_);
  interval_s_ = accepted.seconds;
  invited_refresher_ = accepted.refresher;
  refreshes_ = accepted.refresher == TransactionSide::kServer;
  return true;
}

std::string SessionRefresh::answer_headers() const {
  if (interval_s_ == 0) return kAllowed;
  return kAllowed + response_headers(invited_refresher_);
}

std::string SessionRefresh::request_headers(TransactionSide refresher) const {
  if (interval_s_ == 0) return {};
  return fmt::format("Supported: timer\r\nSession-Expires: {}\r\nMin-SE: {}\r\n",
                     session_interval_text({interval_s_, refresher}), least_s_);
}

// A client that is the refresher must know that it is (RFC 4028 9).
std::string SessionRefresh::response_headers(TransactionSide refresher) const {
  return fmt::format("Supported: timer\r\n{}Session-Expires: {}\r\n",
                     refresher == TransactionSide::kClient ? "Require: timer\r\n" : "",
                     session_interval_text({interval_s_, refresher}));
}

void SessionRefresh::established(::sip* stack, sipsess* session, const sip_msg* response) {
  sip_ = stack;
  dialog_ = static_cast<sip_dialog*>(mem_ref(sipsess_dialog(session)));
  called_ = response != nullptr;
  if (response != nullptr) {
    far_updates_ = sip_msg_hdr_has_value(response, SIP_HDR_ALLOW, "UPDATE");
    if (!interval_of(response, SIP_HDR_SESSION_EXPIRES)) interval_s_ = 0;  // the far end has no timer
    take_interval(response, true);
  }
  arm();
}

/// @param sent_here  whether it answers a request of this end
void SessionRefresh::take_interval(const sip_msg* message, bool sent_here) {
  const auto agreed = interval_of(message, SIP_HDR_SESSION_EXPIRES);
  if (!agreed || interval_s_ == 0) return;
  interval_s_ = std::clamp(agreed->seconds, kLeastInterval, kMostInterval);
  refreshes_ = (agreed->refresher == TransactionSide::kServer) != sent_here;
}

void SessionRefresh::arm() {
  tmr_cancel(&refresh_timer_);
  tmr_cancel(&end_timer_);
  if (interval_s_ == 0) return;
  if (refreshes_) tmr_start(&refresh_timer_, refresh_after_ms(interval_s_), on_refresh, this);
  tmr_start(&end_timer_, end_after_ms(interval_s_), on_end, this);
}

void SessionRefresh::stop() {
  for (tmr* each : {&refresh_timer_, &end_timer_, &resend_timer_}) tmr_cancel(each);
  mem_deref(request_);
  request_ = nullptr;
  dialog_ = static_cast<sip_dialog*>(mem_deref(dialog_));
  unconfirmed_.reset();
  mem_deref(const_cast<sip_msg*>(std::exchange(unconfirmed_invite_, nullptr)));
  interval_s_ = 0;
  offer_ = Offer::kNone;
  sip_ = nullptr;
}

void SessionRefresh::offer() {
  offer_ = Offer::kWanted;
  proved_ = false;
  refresh();
}

void SessionRefresh::on_refresh(void* self) {
  auto* const refresh = static_cast<SessionRefresh*>(self);
  refresh->proved_ = false;
  refresh->refresh();
}

void SessionRefresh::on_end(void* self) {
  static_cast<SessionRefresh*>(self)->call_.ended("the session timer ran out: no refresh by either end");
}

void SessionRefresh::refresh() {
  if (request_ != nullptr || dialog_ == nullptr) return;
  if (offer_ == Offer::kWanted) offer_ = Offer::kSent;
  const bool updates = far_updates_ && offer_ != Offer::kSent;
  const std::string headers = request_headers(TransactionSide::kClient);
  const std::string description = updates ? "" : call_.description();
  const std::string type = updates ? "" : fmt::format("Content-Type: {}\r\n", kSdpType);
  const int error = sip_drequestf(&request_, sip_, true, updates ? "UPDATE" : "INVITE", dialog_, 0, auth_, on_send,
                                  on_response, this, "%s%s%sContent-Length: %zu\r\n\r\n%s", kAllowed, headers.c_str(),
                                  type.c_str(), description.size(), description.c_str());
  if (error != 0) tmr_start(&refresh_timer_, kAgainMs, on_refresh, this);
}

int SessionRefresh::on_send(sip_transp transport, const sa* source, const sa*, mbuf* buffer, void* self) {
  sip_contact contact;
  sip_contact_set(&contact, static_cast<SessionRefresh*>(self)->user_.c_str(), source, transport);
  return mbuf_printf(buffer, "%H", sip_contact_print, &contact);
}

void SessionRefresh::on_response(int error, const sip_msg* message, void* self) {
  auto& refresh = *static_cast<SessionRefresh*>(self);
  if (error == 0 && message->scode < 200) return;
  if (error != 0)
    return refresh.call_.ended("no response to the session timer's request: " + std::generic_category().message(error));
  if (message->scode >= 300) return refresh.refused(message);
  sip_dialog_update(refresh.dialog_, message);
  refresh.take_interval(message, true);
  if (pl_strcmp(&message->cseq.met, "INVITE") == 0) {
    refresh.acknowledge(message->cseq.num);
    if (mbuf_get_left(message->mb) > 0 && !refresh.call_.takes(message))
      return refresh.call_.ended("the far end's new description is not usable");
    if (refresh.offer_ == Offer::kSent) refresh.offer_ = Offer::kNone;
  }
  refresh.arm();
  if (refresh.offer_ == Offer::kWanted) refresh.refresh();
}

/// @return whether a response of this kind only refuses the offer
bool SessionRefresh::refused_offer(const sip_msg* response) {
  constexpr unsigned kCrossed = 491;
  if (offer_ != Offer::kSent) return false;
  if (response->scode == kCrossed) {
    offer_ = Offer::kWanted;
    const std::uint32_t wait_ms = called_ ? kCallerAgainMs + rand_u32() % kCallerSpreadMs : rand_u32() % kCalledAgainMs;
    tmr_start(&refresh_timer_, wait_ms, on_refresh, this);
    return true;
  }
  offer_ = Offer::kNone;
  call_.offer_refused(status_of(response));
  arm();
  return true;
}

void SessionRefresh::refused(const sip_msg* response) {
  switch (response->scode) {
    case 408:  // Request Timeout
    case 481:  // Call/Transaction Does Not Exist
      return call_.ended("the far end has lost the call: " + status_of(response));
    case 401:
    case 407:
      if (std::exchange(proved_, true) || sip_auth_authenticate(auth_, response) != 0) break;
      return refresh();
    case 405:  // Method Not Allowed
    case 501:  // Not Implemented
      if (!std::exchange(far_updates_, false)) break;
      return refresh();
    case 422:
      if (!asks_again(response)) break;
      interval_s_ = least_s_;
      return refresh();
    default:
      break;
  }
  if (refused_offer(response)) return;
  tmr_start(&refresh_timer_, kAgainMs, on_refresh, this);  // until the other timer ends the call
}

void SessionRefresh::acknowledge(std::uint32_t sequence) {
  acknowledged_ = sequence;
  sip_drequestf(nullptr, sip_, false, "ACK", dialog_, sequence, auth_, on_send, nullptr, this,
                "Content-Length: 0\r\n\r\n");
}

// A repeated response: its ACK was lost.
bool SessionRefresh::response(const sip_msg* message) {
  if (dialog_ == nullptr || message->scode < 200 || message->scode > 299 || message->cseq.num != acknowledged_ ||
      pl_strcmp(&message->cseq.met, "INVITE") != 0 || !sip_dialog_cmp(dialog_, message))
    return false;
  acknowledge(message->cseq.num);
  return true;
}

bool SessionRefresh::request(const sip_msg* message) {
  if (dialog_ == nullptr || !sip_dialog_cmp(dialog_, message)) return false;
  if (pl_strcmp(&message->met, "ACK") == 0) {
    if (unconfirmed_invite_ == nullptr || message->cseq.num != unconfirmed_invite_->cseq.num) return false;
    confirmed(message);
    return true;
  }
  const auto offered = interval_of(message, SIP_HDR_SESSION_EXPIRES);
  const bool updates = pl_strcmp(&message->met, "UPDATE") == 0, invites = pl_strcmp(&message->met, "INVITE") == 0;
  if (invites && request_ != nullptr) {  // both ends' offers have crossed
    sip_treply(nullptr, sip_, message, 491, "Request Pending");
    return true;
  }
  // libre answers an INVITE that does not concern the timer.
  if (!updates && (!invites || !offered || interval_s_ == 0)) return false;
  if (!sip_dialog_rseq_valid(dialog_, message)) {
    sip_treply(nullptr, sip_, message, 500, "Server Internal Error");
  } else if (offered && offered->seconds < kLeastInterval) {
    sip_treplyf(nullptr, nullptr, sip_, message, false, 422, "Session Interval Too Small",
                "Min-SE: %u\r\nContent-Length: 0\r\n\r\n", kLeastInterval);
  } else if (unconfirmed_invite_ != nullptr) {
    sip_treply(nullptr, sip_, message, 491, "Request Pending");
  } else if (mbuf_get_left(message->mb) > 0 && !call_.takes(message)) {
    sip_treply(nullptr, sip_, message, 488, "Not Acceptable Here");
  } else {
    sip_dialog_update(dialog_, message);
    std::string headers = kAllowed;
    if (offered && interval_s_ != 0) {
      const bool client_can = sip_msg_hdr_has_value(message, SIP_HDR_SUPPORTED, "timer");
      const SessionInterval accepted = accepted_interval(*offered, client_can);
      interval_s_ = accepted.seconds;
      refreshes_ = accepted.refresher == TransactionSide::kServer;
      headers += response_headers(accepted.refresher);
    }
    answer(message, headers);
    arm();
  }
  return true;
}

void SessionRefresh::answer(const sip_msg* message, const std::string& headers) {
  const bool invites = pl_strcmp(&message->met, "INVITE") == 0;
  const bool describes = invites || mbuf_get_left(message->mb) > 0;
  const std::string description = describes ? call_.description() : "";
  const std::string type = describes ? fmt::format("Content-Type: {}\r\n", kSdpType) : "";
  sip_contact contact;
  sip_contact_set(&contact, user_.c_str(), &message->dst, message->tp);
  mbuf* sent = nullptr;
  sip_treplyf(nullptr, &sent, sip_, message, true, 200, "OK", "%H%s%sContent-Length: %zu\r\n\r\n%s", sip_contact_print,
              &contact, headers.c_str(), type.c_str(), description.size(), description.c_str());
  Buffer owned(sent);
  if (!invites || sent == nullptr) return;
  unconfirmed_ = std::move(owned);
  unconfirmed_invite_ = static_cast<const sip_msg*>(mem_ref(const_cast<sip_msg*>(message)));
  resent_ = 0;
  tmr_start(&resend_timer_, SIP_T1, on_resend, this);
}

void SessionRefresh::on_resend(void* self) {
  auto& refresh = *static_cast<SessionRefresh*>(self);
  if (++refresh.resent_ > kGiveUpAfter) return refresh.call_.ended("the far end does not confirm its INVITE");
  const sip_msg* const invite = refresh.unconfirmed_invite_;
  sip_send(refresh.sip_, invite->sock, invite->tp, &invite->src, refresh.unconfirmed_.get());
  const std::uint64_t next = std::min<std::uint64_t>(std::uint64_t{SIP_T1} << refresh.resent_, SIP_T2);
  tmr_start(&refresh.resend_timer_, next, on_resend, self);
}

void SessionRefresh::confirmed(const sip_msg* ack) {
  tmr_cancel(&resend_timer_);
  unconfirmed_.reset();
  mem_deref(const_cast<sip_msg*>(std::exchange(unconfirmed_invite_, nullptr)));
  if (mbuf_get_left(ack->mb) > 0 && !call_.takes(ack)) call_.ended("the far end's new description is not usable");
}

}  // namespace offhook::sip

#endif
