// SPDX-License-Identifier: MIT
#include "src/decode/presentation/names.h"

#include <fmt/format.h>

#include <string_view>

namespace offhook::decode {

std::vector<std::string> modulation_names(const v8::Menu& menu) {
  std::vector<std::string> names;
  for (unsigned bit = 1; bit <= v8::kV21; bit <<= 1) {
    if ((menu.modulations & bit) != 0) names.emplace_back(v8::modulation_name(static_cast<std::uint16_t>(bit)));
  }
  return names;
}

const char* call_function_name(const v8::Menu& menu) {
  constexpr const char* kFunctions[] = {"none",         "multimedia",  "textphone", "videotext",
                                        "transmit fax", "receive fax", "data",      "extension"};
  return kFunctions[static_cast<int>(menu.call_function) & 7];
}

std::string speaker(const Call& call, int channel) {
  const StartUp& s = call.start_up;
  if (s.call_channel != s.answer_channel) {
    if (channel == s.call_channel) return "call modem";
    if (channel == s.answer_channel) return "answer modem";
  }
  return fmt::format("channel {}", channel);
}

const char* clock_name(const v34::Info0& info) {
  constexpr const char* kClocks[] = {"internal", "from its receiver", "external", "reserved"};
  return kClocks[static_cast<int>(info.clock) & 3];
}

const char* cp_name(const v90::Cp& cp) {
  return !cp.data_mode ? "CPt" : cp.acknowledge ? "CP'" : "CP";
}

const char* segment_name(const Segment& s, bool data) {
  return s.t_pp > 0 ? "phase 3" : !data ? "phase 4" : s.is_cleardown() ? "cleardown" : "rate renegotiation";
}

const char* change_name(const Change& c) {
  using enum Change::Kind;
  return c.kind == kRetrain ? "retrain" : c.kind == kCleardown ? "cleardown" : "rate renegotiation";
}

std::vector<int> bit_rates(std::uint32_t mask) {
  std::vector<int> rates;
  for (int k = 0; k < 14; ++k) {
    if (mask >> k & 1) rates.push_back(2400 * (k + 1));
  }
  return rates;
}

std::vector<int> bit_rates(const v32::RateSignal& signal) {
  std::vector<int> rates;
  for (int k = 0; k < v32::kPlain9600; ++k) {
    const bool plain = v32::kRates[k].bit_rate == v32::kRates[v32::kPlain9600].bit_rate;
    const int bits = signal.rates >> k | (plain ? signal.rates >> v32::kPlain9600 : 0);
    if (bits & 1) rates.push_back(static_cast<int>(v32::kRates[k].bit_rate));
  }
  return rates;
}

std::vector<int> upstream_bit_rates(const v90::Cp& cp) {
  return bit_rates(static_cast<std::uint32_t>(cp.upstream_mask) << 1);
}

std::string octet_string(std::span<const std::uint8_t> octets) {
  return fmt::format("{:02X}", fmt::join(octets, " "));
}

std::string describe(const v90::QuickConnect& q) {
  return fmt::format("{}, {}{}", q.digital ? "digital" : "analogue",
                     q.digital    ? fmt::format("ANSpcm at {:.1f} dBm0", q.anspcm_tenth_dbm0 / 10.0)
                     : q.uqts > 0 ? fmt::format("UQTS {}", q.uqts)
                                  : std::string("cleardown"),
                     q.lapm ? ", LAPM" : "");
}

const char* name(v90::HoldSignal signal) {
  using enum v90::HoldSignal;
  switch (signal) {
    case kRequest:
      return "MHreq";
    case kAcknowledge:
      return "MHack";
    case kDeny:
      return "MHnack";
    case kClearRequest:
      return "MHclrd";
    case kClearAcknowledge:
      return "MHcda";
    case kReconnect:
      return "MHfrr";
  }
  return "";
}

std::string describe(const v90::HoldMessage& m) {
  switch (m.signal) {
    case v90::HoldSignal::kAcknowledge: {
      const std::uint32_t s = v90::hold_seconds(m.information);
      if (s == v90::kNoHoldLimit) return "hold without limit";
      return s > 0 ? fmt::format("hold for {} s", s) : "a reserved time";
    }
    case v90::HoldSignal::kDeny:
      if (m.information == static_cast<int>(v90::DenyReason::kForEver)) return "denied, and so is any later request";
      return m.information == static_cast<int>(v90::DenyReason::kForNow) ? "denied for now" : "denied";
    case v90::HoldSignal::kClearRequest:
      if (m.information == static_cast<int>(v90::ClearReason::kIncomingCall)) return "incoming call";
      if (m.information == static_cast<int>(v90::ClearReason::kOutgoingCall)) return "outgoing call";
      return m.information == static_cast<int>(v90::ClearReason::kOther) ? "other reason" : "a reserved reason";
    default:
      return "";
  }
}

std::string describe(const Link& link) {
  if (link.frames.empty() && !link.format.empty())
    return fmt::format("{} characters, {}: {}", link.characters.size(), link.format, preview(link.characters));
  if (link.frames.empty()) return "no frames";
  std::string s =
      fmt::format("{} LAPM frames, {} bad, {} octets", link.frames.size(), link.bad_frames, link.payload.size());
  if (link.v42bis) s += " out of V.42bis";
  if (link.v44) s += " out of V.44";
  if (link.gaps > 0) s += fmt::format(" with {} I frames missing", link.gaps);
  if (link.ppp_frames > 0) s += fmt::format(", {} PPP frames in them, {} bad", link.ppp_frames, link.ppp_bad);
  return s;
}

std::string describe(const Change& c) {
  std::string s;
  if (c.by != nullptr) s = std::string_view(c.by) == "both" ? "by both at once" : fmt::format("by the {} modem", c.by);
  if (c.bit_rate > 0) s += fmt::format("{}{} bit/s then", s.empty() ? "" : ", ", c.bit_rate);
  return s;
}

}  // namespace offhook::decode
