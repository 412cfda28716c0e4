// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace offhook::modem {

namespace {

/// A configuration that every pump accepts except for format and delay.
bool takes(const Modulation& row, const oh_pump_format& format, std::uint32_t io_delay_samples, CardSamples samples) {
  oh_pump_config config{};
  config.struct_size = sizeof config;
  config.format = format;
  config.role = OH_PUMP_CALL;
  config.tx_level_dbm0 = -12;
  config.port = {.get_bit = [](void*) { return 1; }, .put_bit = [](void*, int) {}, .user = nullptr};
  config.io_delay_samples = io_delay_samples;
  const oh_pump_type* type = row.type();
  if (type->size(&config) > 0) return true;
  config.format = kLinear8000;
  return samples == CardSamples::kConverted && type->size(&config) > 0;
}

/// The pump of a modulation with two rates, by the limits of +MS for each direction. The first row is the one without
/// limits.
const oh_pump_type* within_limits(const Modulation& row, const AtSettings& s, oh_pump_role role) {
  const auto allowed = [](int rate, int least, int most) { return rate >= least && (most == 0 || rate <= most); };
  const auto slow = static_cast<int>(row.min_bit_rate), fast = static_cast<int>(row.max_bit_rate);
  for (const int forward : {fast, fast / 2}) {
    for (const bool turned : {false, true}) {
      const int call = turned ? forward : slow, answer = turned ? slow : forward;
      const int sent = role == OH_PUMP_CALL ? call : answer, received = role == OH_PUMP_CALL ? answer : call;
      if (!allowed(sent, s.min_rate, s.max_rate) || !allowed(received, s.min_rx_rate, s.max_rx_rate)) continue;
      const oh_pump_type* type = row.with_rates(static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(answer));
      if (type != nullptr) return type;
    }
  }
  return nullptr;
}

/// For people: "16000 samples/s received and 8000 sent", "8000 octets/s".
std::string in_words(const oh_pump_format& format) {
  if (format.rx.rate_hz != format.tx.rate_hz)
    return fmt::format("{} samples/s received and {} sent", format.rx.rate_hz, format.tx.rate_hz);
  return fmt::format("{} {}/s", format.rx.rate_hz, format.rx.encoding == OH_LINEAR16 ? "samples" : "octets");
}

/// Every format of the pump once, with "or" between them.
std::string formats_of(const oh_pump_type& type) {
  std::vector<std::string> all;
  for (const oh_pump_format& format : std::span(type.formats, type.format_count))
    if (std::string words = in_words(format); std::find(all.begin(), all.end(), words) == all.end())
      all.push_back(std::move(words));
  return fmt::format("{}", fmt::join(all, ", or "));
}

std::string fastest(Carriers carriers) {
  std::string name;
  for (const Modulation& m : carriers)
    if (*m.carrier != '\0') name = m.carrier;
  return name;
}

}  // namespace

Offer offer(Carriers all, const oh_pump_format& format, std::uint32_t io_delay_samples, CardSamples samples) {
  Offer made;
  for (const Modulation& m : all) {
    if (*m.carrier == '\0' || takes(m, format, io_delay_samples, samples)) {
      made.carriers.push_back(m);
      continue;
    }
    const std::string why = takes(m, format, 0, samples)
                                ? fmt::format("not possible: card and driver queue {} ms",
                                              std::uint64_t{1000} * io_delay_samples / format.tx.rate_hz)
                                : fmt::format("needs {}; the card has {}", formats_of(*m.type()), in_words(format));
    made.missing += fmt::format("{}{} ({})", made.missing.empty() ? "" : ", ", m.carrier, why);
  }
  return made;
}

std::string names_of(Carriers carriers) {
  std::string names;
  for (const Modulation& m : carriers) {
    if (*m.carrier == '\0') continue;
    if (!names.empty()) names += ',';
    names += m.carrier;
  }
  return names;
}

CallConfig choose_modem(const AtSettings& settings, Carriers carriers, oh_pump_role role) {
  // A pump has one limit for both directions.
  const int least = std::max(settings.min_rate, settings.min_rx_rate);
  const bool one = settings.max_rate == 0 || settings.max_rx_rate == 0;
  const int most =
      one ? std::max(settings.max_rate, settings.max_rx_rate) : std::min(settings.max_rate, settings.max_rx_rate);
  CallConfig call{
      .pump = carriers.back().type(),
      .role = OH_PUMP_CALL,
      .min_bit_rate = static_cast<std::uint32_t>(least),
      .max_bit_rate = static_cast<std::uint32_t>(most),
      .link = {.window = carriers.back().v42_window},
      .loops = carriers.back().loops,
      .v92 = carriers.back().v92,
      .pcm_upstream = settings.pcm_upstream_ignored == 0,
  };
  // Without automode, the carrier that AT+MS? prints is the only one, even if it was not selected.
  std::string wanted = settings.modulation;
  if (wanted.empty() && settings.automode == 0) wanted = fastest(carriers);
  constexpr std::uint32_t kReplaced = OH_MODULATION_V22 | OH_MODULATION_V21;
  if (settings.bell != 0) {
    if (wanted == kV22.carrier) wanted = kBell212a.carrier;
    if (wanted == "V21") wanted = "B103";
  }
  std::uint32_t slower = 0;
  for (const Modulation& m : carriers) {
    if (!wanted.empty() && m.carrier == wanted) {
      const bool only = settings.automode == 0;
      const oh_pump_type* by_limits = only && m.with_rates != nullptr ? within_limits(m, settings, role) : nullptr;
      if (by_limits != nullptr) call.min_bit_rate = call.max_bit_rate = 0;
      if (by_limits != nullptr || (only && m.alone && call.min_bit_rate <= m.min_bit_rate)) {
        call.pump = by_limits != nullptr ? by_limits : m.type();
        call.link.window = m.v42_window;
        call.loops = m.loops;
        call.v92 = m.v92;
      } else {
        call.modulations = m.id | (settings.automode != 0 ? slower : 0u);
      }
    }
    slower |= m.id;
  }
  if (settings.bell != 0) call.modulations = (call.modulations == 0 ? slower : call.modulations) & ~kReplaced;
  return call;
}

std::string_view carrier_of(const oh_pump_status& pump, Carriers carriers) {
  return std::find_if(carriers.begin(), carriers.end(),
                      [&pump](const Modulation& m) { return m.id == pump.modulation; })
      ->carrier;
}

}  // namespace offhook::modem
