// SPDX-License-Identifier: MIT
#include "driver/network/srtp.h"

#include <sys/random.h>

#include <stdexcept>

namespace offhook {

SrtpKey new_srtp_key(SrtpSuite suite) {
  SrtpKey key;
  key.suite = suite;
  if (getrandom(key.octets.data(), key.octets.size(), 0) != static_cast<ssize_t>(key.octets.size()))
    throw std::runtime_error("no random numbers for a key of SRTP");
  return key;
}

}  // namespace offhook

#ifndef OFFHOOK_HAS_SRTP

namespace offhook {

struct SrtpStreams::Sessions {};

bool has_srtp() {
  return false;
}

SrtpStreams::SrtpStreams(const SrtpKeys&, std::uint32_t) {
  throw std::runtime_error("this build has no SRTP: libsrtp2 (libsrtp2-dev) was not installed when it was configured");
}
SrtpStreams::~SrtpStreams() = default;
std::size_t SrtpStreams::protect(std::uint8_t*, std::size_t) {
  return 0;
}
std::size_t SrtpStreams::protect_report(std::uint8_t*, std::size_t) {
  return 0;
}
SrtpStreams::Result SrtpStreams::unprotect(std::uint8_t*, std::size_t*) {
  return Result::kNotAuthentic;
}
SrtpStreams::Result SrtpStreams::unprotect_report(std::uint8_t*, std::size_t*) {
  return Result::kNotAuthentic;
}

}  // namespace offhook

#else

#include <fmt/format.h>
#include <srtp2/srtp.h>

namespace offhook {

namespace {

// How far a packet may be behind the newest sequence number: more than the deepest jitter buffer.
constexpr unsigned long kReplayWindow = 1024;

static_assert(SRTP_MAX_TRAILER_LEN + 4 <= kSrtpTrailerOctets);

void must(srtp_err_status_t status, const char* what) {
  if (status != srtp_err_status_ok)
    throw std::runtime_error(fmt::format("SRTP: {}: error {} of libsrtp2", what, static_cast<int>(status)));
}

void start_library() {
  static const srtp_err_status_t status = srtp_init();
  must(status, "srtp_init");
}

srtp_t make_session(const SrtpKey& key, srtp_ssrc_t source) {
  srtp_policy_t policy{};
  if (key.suite == SrtpSuite::kTagOf32Bits) {
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&policy.rtp);
  } else {
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy.rtp);
  }
  srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy.rtcp);  // RFC 4568 6.2.2, for both suites
  policy.ssrc = source;
  std::array<std::uint8_t, kSrtpKeyOctets> octets = key.octets;  // the library takes no const key
  policy.key = octets.data();
  policy.window_size = kReplayWindow;
  srtp_t session = nullptr;
  must(srtp_create(&session, &policy), "srtp_create");
  return session;
}

SrtpStreams::Result result_of(srtp_err_status_t status) {
  switch (status) {
    case srtp_err_status_ok:
      return SrtpStreams::Result::kGood;
    case srtp_err_status_replay_fail:
    case srtp_err_status_replay_old:
      return SrtpStreams::Result::kReplayed;
    default:
      return SrtpStreams::Result::kNotAuthentic;
  }
}

template <typename Function>
std::size_t protected_by(Function function, srtp_t session, std::uint8_t* packet, std::size_t octets) {
  int length = static_cast<int>(octets);
  return function(session, packet, &length) == srtp_err_status_ok ? static_cast<std::size_t>(length) : 0;
}

template <typename Function>
SrtpStreams::Result unprotected_by(Function function, srtp_t session, std::uint8_t* packet, std::size_t* octets) {
  int length = static_cast<int>(*octets);
  const auto result = result_of(function(session, packet, &length));
  if (result == SrtpStreams::Result::kGood) *octets = static_cast<std::size_t>(length);
  return result;
}

}  // namespace

struct SrtpStreams::Sessions {
  srtp_t send = nullptr, receive = nullptr;
  ~Sessions() {
    if (send != nullptr) srtp_dealloc(send);
    if (receive != nullptr) srtp_dealloc(receive);
  }
};

bool has_srtp() {
  return true;
}

SrtpStreams::SrtpStreams(const SrtpKeys& keys, std::uint32_t ssrc) : sessions_(std::make_unique<Sessions>()) {
  start_library();
  sessions_->send = make_session(keys.send, {ssrc_specific, ssrc});
  sessions_->receive = make_session(keys.receive, {ssrc_any_inbound, 0});
}

SrtpStreams::~SrtpStreams() = default;

std::size_t SrtpStreams::protect(std::uint8_t* packet, std::size_t octets) {
  return protected_by(srtp_protect, sessions_->send, packet, octets);
}

std::size_t SrtpStreams::protect_report(std::uint8_t* packet, std::size_t octets) {
  return protected_by(srtp_protect_rtcp, sessions_->send, packet, octets);
}

SrtpStreams::Result SrtpStreams::unprotect(std::uint8_t* packet, std::size_t* octets) {
  return unprotected_by(srtp_unprotect, sessions_->receive, packet, octets);
}

SrtpStreams::Result SrtpStreams::unprotect_report(std::uint8_t* packet, std::size_t* octets) {
  return unprotected_by(srtp_unprotect_rtcp, sessions_->receive, packet, octets);
}

}  // namespace offhook

#endif
