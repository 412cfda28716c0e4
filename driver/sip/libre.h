// SPDX-License-Identifier: MIT
//
// libre, for the files that use it: its headers, and what C++ needs to own its objects and to read its texts.
#pragma once

#define DEBUG_MODULE "offhook"  // re_dbg.h requires these two
#define DEBUG_LEVEL 0
#ifndef USE_OPENSSL
#define USE_OPENSSL  // from Debian's build of libre: tls_openssl_context()
#endif
extern "C" {
#include <re.h>
#include <re_dbg.h>
}

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "driver/base/printable.h"

namespace offhook::sip {

inline constexpr char kSdpType[] = "application/sdp";
inline constexpr char kAllowed[] = "Allow: INVITE,ACK,BYE,CANCEL,OPTIONS,UPDATE\r\n";

struct Free {
  void operator()(void* p) const { mem_deref(p); }
};
using Buffer = std::unique_ptr<mbuf, Free>;

inline std::string text_of(const pl& part) {
  return {part.p, part.l};
}

inline Buffer buffer_of(const std::string& text) {
  Buffer buffer(mbuf_alloc(text.size()));
  if (buffer != nullptr) {
    mbuf_write_str(buffer.get(), text.c_str());
    mbuf_set_pos(buffer.get(), 0);
  }
  return buffer;
}

inline std::string_view body_of(const sip_msg* message) {
  return {reinterpret_cast<const char*>(mbuf_buf(message->mb)), mbuf_get_left(message->mb)};
}

inline std::string status_of(const sip_msg* message) {
  return fmt::format("{} {}", message->scode, printable(text_of(message->reason)));
}

}  // namespace offhook::sip
