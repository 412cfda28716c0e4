// SPDX-License-Identifier: MIT
// The AT commands (V.250) as tables of identities, registers, parameters and basic commands, with the functions that
// their rows name. A new command is a new row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "driver/session/call_progress.h"
#include "driver/tty/at.h"
#include "dsp/modulation/modulation.h"

namespace offhook::modem {

namespace {

constexpr int kAnyNumber = 1'000'000'000;
constexpr int kFastest = kV90.max_bit_rate;
constexpr int kSlowest = 75;  // of V.23's backward channel

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}
bool take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

/// The decimal number at the front; an absent one is 0 (V.250 5.3.1).
int take_number(std::string_view& rest) {
  std::int64_t value = 0;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1))
    value = std::min<std::int64_t>(value * 10 + (rest.front() - '0'), kAnyNumber);
  return static_cast<int>(value);
}

/// The values after '=', separated by commas (V.250 5.4.2). None if a quotation mark is left open.
std::optional<std::vector<std::string>> values(std::string_view text) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return out;
}

// +ES for each value of \N: normal, direct, reliable, reliable or normal, LAPM, MNP.
constexpr std::array<int, 3> kErrorControl[] = {{1, 0, 1}, {0, 0, 0}, {3, 2, 4}, {3, 0, 2}, {3, 3, 5}, {4, 4, 6}};

/// +IFC for each value of &K: none, RTS/CTS, XON/XOFF, XON/XOFF passed on.
struct FlowControl {
  int k, by_dte, by_dce;
};
constexpr FlowControl kFlow[] = {{0, 0, 0}, {3, 2, 2}, {4, 1, 1}, {5, 3, 1}, {6, 2, 2}};

/// Extended syntax, information only (V.250 5.4.3).
struct Identity {
  std::string_view name, text, from, what;  // from: clause of V.250; what: for AT$
};
constexpr Identity kIdentities[] = {
    {"GMI", "Offhook", "6.1.4", "manufacturer"},
    {"GMM", "Offhook soft modem", "6.1.5", "model"},
    {"GMR", OFFHOOK_VERSION, "6.1.6", "version"},
    {"GSN", "0", "6.1.7", "serial number"},
    {"GCAP", "+GCAP: +MS,+ES,+DS,+DS44", "6.1.9", "capabilities"},
};

/// S-parameters (V.250 5.3.2). Some have no effect, but programs write them.
struct Register {
  int number, most;
  std::string_view from, what;
};
constexpr Register kRegisters[] = {
    {0, 255, "6.3.8", "rings before the modem answers; 0: never"},
    {1, 255, "Hayes", "rings of this call so far"},
    {2, 255, "Hayes", "character of the escape sequence; above 127: none"},
    // Characters that end and edit a line are below 128 (V.250 6.2).
    {3, 127, "6.2.1", "character that ends a line"},
    {4, 127, "6.2.2", "character that follows it in responses"},
    {5, 127, "6.2.3", "character that deletes the previous one"},
    {6, 255, "6.3.9", "pause before dialling, s"},
    {7, 255, "6.3.10", "wait for a carrier, s"},
    {8, 255, "6.3.11", "pause of a comma, s"},
    {9, 255, "Hayes", "carrier detect time: no effect"},
    {10, 255, "6.3.12", "time without carrier before hanging up, 0.1 s"},
    {11, 255, "Hayes", "length of a dialled tone and of the pause after it, ms"},
    {12, 255, "Hayes", "pause around the escape sequence, 1/50 s"},
};
static_assert(std::size(kRegisters) == std::tuple_size_v<decltype(AtSettings::s)>);
/// Registers beyond these differ between manufacturers. They are stored without effect.
constexpr int kLastRegister =
    static_cast<int>(std::size(kRegisters) + std::tuple_size_v<decltype(AtSettings::other_s)>) - 1;

/// Numbers of +MS from before V.250 had names: those of Rockwell, Conexant and slmodemd. V.92 is V.90 with +PIG, +PQC
/// and +PMH.
struct OldCarrier {
  std::string_view number, name;
};
constexpr OldCarrier kOldCarriers[] = {{"1", "V22"},  {"2", "V22B"}, {"10", "V32B"},  {"11", "V34"},
                                       {"12", "V90"}, {"22", "V22"}, {"122", "V22B"}, {"132", "V32B"},
                                       {"34", "V34"}, {"90", "V90"}, {"92", "V90"},   {"V92", "V90"}};

using Setting = int AtSettings::*;

/// A value of a parameter (V.250 5.4.4): a number in a range (0 may also be permitted), or the name of a carrier.
struct Value {
  Setting number = nullptr;
  int least = 0, most = 1;
  bool or_zero = false;
  std::string AtSettings::*word = nullptr;
  std::uint32_t& (*link)(oh_link_config&) = nullptr;  ///< alternative to `number`

  bool used() const { return number != nullptr || word != nullptr || link != nullptr; }
  int get(AtSettings settings) const {
    return link != nullptr ? static_cast<int>(link(settings.link)) : settings.*number;
  }
  void set(AtSettings& settings, int n) const {
    if (link != nullptr) {
      link(settings.link) = static_cast<std::uint32_t>(n);
    } else {
      settings.*number = n;
    }
  }
};
using Link = oh_link_config;
using Number = std::uint32_t;
struct Parameter {
  std::string_view name, from, what;
  Value values[9];  // in effect before the others
  bool (*consistent)(const AtSettings&) = nullptr;
  std::string_view test = {};  // if the ranges do not describe the values
  bool bare = false;           // reading prints it without its name
  std::span<const Value> used() const {
    const auto end = std::find_if(std::begin(values), std::end(values), [](const Value& v) { return !v.used(); });
    return {std::begin(values), end};
  }
};
constexpr Parameter kParameters[] = {
    {"MS",
     "6.4.1",
     "carrier, automode, least and greatest bit/s for sending, then for receiving",
     {{.word = &AtSettings::modulation},
      {&AtSettings::automode},
      {&AtSettings::min_rate, kSlowest, kFastest, true},
      {&AtSettings::max_rate, kSlowest, kFastest, true},
      {&AtSettings::min_rx_rate, kSlowest, kFastest, true},
      {&AtSettings::max_rx_rate, kSlowest, kFastest, true}},
     // A pump has one limit for both directions: the stricter one. At least one rate must remain. V.23 has two.
     [](const AtSettings& s) {
       const auto fits = [](int least, int most) { return most == 0 || least <= most; };
       const int least = std::max(s.min_rate, s.min_rx_rate);
       if (s.modulation == "V23C" && s.automode == 0)
         return fits(s.min_rate, s.max_rate) && fits(s.min_rx_rate, s.max_rx_rate);
       return fits(least, s.max_rate) && fits(least, s.max_rx_rate);
     }},
    {"MR", "6.4.2", "+MCR and +MRR before CONNECT", {{&AtSettings::report_modulation}}},
    {"ES",
     "6.5.1",
     "error control: preferred, fallback as caller, fallback as answerer",
     {{&AtSettings::es_request, 0, 4}, {&AtSettings::es_originator, 0, 4}, {&AtSettings::es_answerer, 0, 6}}},
    {"ER", "6.5.5", "+ER before CONNECT", {{&AtSettings::report_error_control}}},
    {"DS",
     "6.6.1",
     "V.42bis: directions, required, dictionary, string",
     {{.least = 0, .most = 3, .link = [](Link& l) -> Number& { return l.compression; }},
      {&AtSettings::compression_required},
      {.least = 512, .most = 65'535, .link = [](Link& l) -> Number& { return l.codewords; }},
      {.least = 6, .most = 250, .link = [](Link& l) -> Number& { return l.max_string; }}}},
    {"DS44",
     "6.6.2",
     "V.44: directions, required, method, code words, strings, history",  // as of 07/2003
     {{.least = 0, .most = 3, .link = [](Link& l) -> Number& { return l.v44; }},
      {&AtSettings::v44_required},
      {&AtSettings::v44_method, 0, 0},
      {.least = 256, .most = 65'535, .link = [](Link& l) -> Number& { return l.v44_tx.codewords; }},
      {.least = 256, .most = 65'535, .link = [](Link& l) -> Number& { return l.v44_rx.codewords; }},
      {.least = 32, .most = 255, .link = [](Link& l) -> Number& { return l.v44_tx.max_string; }},
      {.least = 32, .most = 255, .link = [](Link& l) -> Number& { return l.v44_rx.max_string; }},
      {.least = 512, .most = 65'535, .link = [](Link& l) -> Number& { return l.v44_tx.history; }},
      {.least = 512, .most = 65'535, .link = [](Link& l) -> Number& { return l.v44_rx.history; }}}},
    {"DR", "6.6.2", "+DR before CONNECT", {{&AtSettings::report_compression}}},
    {"IFC",
     "6.2.12",
     "flow control: by the DTE, by the modem",
     {{&AtSettings::flow_by_dte, 0, 3}, {&AtSettings::flow_by_dce, 0, 2}}},
    {"IPR",
     "6.2.10",
     "rate of the DTE; 0 automatic",
     {{&AtSettings::dte_rate, 300, 4'000'000, true}},
     nullptr,
     "(0),(300-4000000)"},
    {"ICF",
     "6.2.11",
     "format and parity of characters: no effect",
     {{&AtSettings::parity_format, 0, 6}, {&AtSettings::parity, 0, 3}}},
    {"EB",
     "6.5.2",
     "break: no effect",
     {{&AtSettings::break_handling, 0, 2}, {&AtSettings::break_timed, 0, 1}, {&AtSettings::break_length, 0, 255}}},
    {"ADLY",
     "Offhook",
     "silence when answering, in addition to the pump's own 0.2 s (V.8) before the answer tone, 0.1 s",
     {{&AtSettings::answer_delay, 0, 50}}},
    {"WHY", "Offhook", "+WHY after NO CARRIER or BUSY: code of V.59 and reason", {{&AtSettings::report_end}}},
    {"VCID", "V.253", "number and name of the caller after the first RING", {{&AtSettings::caller_id}}},
    {"ILRR", "6.2.13", "+ILRR before CONNECT", {{&AtSettings::report_local_rate}}},
    {"PIG", "V.92", "PCM upstream: 0 permitted, 1 never", {{&AtSettings::pcm_upstream_ignored}}},
    {"PQC",
     "V.92",
     "Quick Connect to a known line: 0 short Phases 1 and 2, 1 short Phase 1, 2 short Phase 2, 3 neither",
     {{&AtSettings::quick_connect, 0, 3}}},
    {"PSS", "V.92", "start-up of a known line: 0 and 1 by +PQC, 2 full", {{&AtSettings::short_sequence, 0, 2}}},
    {"PMH", "V.92", "modem-on-hold: 0 enabled, 1 disabled", {{&AtSettings::hold_disabled}}},
    {"PMHT", "V.92", "far end's request for hold: 0 denied, else code of T1", {{&AtSettings::hold_timeout, 0, 13}}},
    {"FCC",
     "TIA-592",
     "capabilities of fax: resolution, bit rate, width, length, format, error correction, files, time per line",
     {{&AtSettings::fax_resolution},
      {&AtSettings::fax_rate, 0, 5},
      {&AtSettings::fax_width, 0, 2},
      {&AtSettings::fax_length, 0, 2},
      {&AtSettings::fax_format, 0, 1},
      {&AtSettings::fax_correction, 0, 0},
      {&AtSettings::fax_files, 0, 0},
      {&AtSettings::fax_scan_time, 0, 7}}},
    {"FNR",
     "TIA-592",
     "reports of fax: +FIS, +FCS, +FCI and +FTI, other frames (none)",
     {{&AtSettings::fax_tells_far},
      {&AtSettings::fax_tells_session},
      {&AtSettings::fax_tells_ident},
      {&AtSettings::fax_tells_other}}},
};

}  // namespace

struct AtInterpreter::Commands {
  using At = AtInterpreter;
  using Action = Outcome (*)(At&, int number);
  using Line = Outcome (*)(At&, std::string_view& rest);  // consumes its part of the command line

  /// The digits of a D command that names a stored number (S=n) or the last one (L); nothing if none is stored.
  static std::optional<std::string> stored_digits(const At& at, std::string_view wanted) {
    if (wanted.substr(0, 1) == "L") return at.last_digits_.empty() ? std::nullopt : std::optional(at.last_digits_);
    wanted.remove_prefix(1);
    take(wanted, '=');
    const auto slot = static_cast<std::size_t>(take_number(wanted));
    if (slot >= at.numbers_.size() || at.numbers_[slot].empty()) return std::nullopt;
    return at.numbers_[slot];
  }

  // T and P select tones or pulses, but dialling always uses tones; @ and ! have no effect.
  static Outcome dial(At& at, std::string_view& rest) {
    const std::size_t end = rest.find(';');
    const bool stay = end != std::string_view::npos;
    std::string wanted = upper(rest.substr(0, end));
    rest = {};
    const auto first = std::find_if(wanted.begin(), wanted.end(), [](char c) { return c != 'T' && c != 'P'; });
    wanted.erase(wanted.begin(), first);
    if (!wanted.empty() && (wanted.front() == 'L' || wanted.front() == 'S')) {
      const auto stored = stored_digits(at, wanted);
      if (!stored) return Outcome::kError;
      wanted = *stored;
    }
    std::string digits;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(digits),
                 [](char c) { return Dialler::kDigits.find(c) != std::string_view::npos; });
    if (!digits.empty()) at.last_digits_ = digits;
    at.host_.dial(digits, stay);
    return Outcome::kSilent;
  }

  // &Zn=number, up to the end of the line.
  static Outcome store_number(At& at, std::string_view& rest) {
    const auto slot = static_cast<std::size_t>(take_number(rest));
    if (slot >= at.numbers_.size()) return Outcome::kError;
    if (take(rest, '?')) {
      at.information(at.numbers_[slot]);
      return Outcome::kOk;
    }
    if (!take(rest, '=')) return Outcome::kError;
    at.numbers_[slot] = upper(rest);
    rest = {};
    return Outcome::kOk;
  }

  static Outcome answer(At& at, std::string_view& rest) {
    rest = {};
    at.host_.answer();
    return Outcome::kSilent;
  }

  static Outcome hang_up(At& at, int n) {
    if (n == 0) at.host_.hang_up();
    return Outcome::kOk;
  }

  static Outcome test(At& at, int n) {
    constexpr int kEnd = 0, kLocal = 3, kAllow = 4, kRefuse = 5, kRemote = 6;
    if (n == kEnd) at.host_.end_test();
    if (n == kAllow || n == kRefuse) at.settings_.loop_allowed = n == kAllow ? 1 : 0;
    if (n == kEnd || n == kAllow || n == kRefuse) return Outcome::kOk;
    const bool begins =
        (n == kLocal && at.host_.test_loop(OH_LOOP_LOCAL)) || (n == kRemote && at.host_.test_loop(OH_LOOP_REMOTE));
    return begins ? Outcome::kSilent : Outcome::kError;
  }

  static Outcome go_online(At& at, int) { return at.host_.go_online() ? Outcome::kSilent : Outcome::kError; }

  static Outcome reset(At& at, int) {
    at.host_.hang_up();
    at.settings_ = at.stored_;
    return Outcome::kOk;
  }

  static Outcome store(At& at, int) {
    at.stored_ = at.settings_;
    return Outcome::kOk;
  }

  static Outcome factory_settings(At& at, int) {
    at.settings_ = {};
    return Outcome::kOk;
  }

  // Above 1 makers differ.
  static Outcome standard(At& at, int n) {
    if (n <= 1) at.settings_.bell = n;
    return Outcome::kOk;
  }

  static Outcome compression(At& at, int n) {
    at.settings_.link.compression = n == 0 ? 0 : 3;
    if (n == 0) at.settings_.link.v44 = 0;
    return Outcome::kOk;
  }

  static Outcome flow_control(At& at, int n) {
    if (n == 1 || n == 2) return Outcome::kOk;  // USR's compression, which is %C here
    const auto row = std::find_if(std::begin(kFlow), std::end(kFlow), [n](const FlowControl& f) { return f.k == n; });
    if (row == std::end(kFlow)) return Outcome::kError;
    at.settings_.flow_by_dte = row->by_dte;
    at.settings_.flow_by_dce = row->by_dce;
    return Outcome::kOk;
  }

  static Outcome microcom_flow(At& at, int n) {
    constexpr std::array<int, 2> kByDteAndDce[] = {{0, 0}, {1, 1}, {0, 2}, {2, 2}};
    at.settings_.flow_by_dte = kByDteAndDce[n][0];
    at.settings_.flow_by_dce = kByDteAndDce[n][1];
    return Outcome::kOk;
  }

  static Outcome mnp_block(At& at, int n) {
    at.settings_.link.mnp_block = 64u * (static_cast<std::uint32_t>(n) + 1);
    return Outcome::kOk;
  }

  static Outcome protocol_word(At& at, int n) {
    at.settings_.connect_words = n == 0 ? kRateAlone : kProtocol;
    return Outcome::kOk;
  }

  static Outcome error_control(At& at, std::string_view& rest) {
    AtSettings& s = at.settings_;
    if (take(rest, '?')) {
      const auto same = std::find_if(std::begin(kErrorControl), std::end(kErrorControl), [&](const auto& mode) {
        return mode[0] == s.es_request && (mode[0] < 2 || mode[1] == s.es_originator);
      });
      at.information(std::to_string(same == std::end(kErrorControl) ? 3 : same - std::begin(kErrorControl)));
      return Outcome::kOk;
    }
    const auto n = static_cast<std::size_t>(take_number(rest));
    if (n >= std::size(kErrorControl)) return Outcome::kError;
    s.es_request = kErrorControl[n][0];
    s.es_originator = kErrorControl[n][1];
    s.es_answerer = kErrorControl[n][2];
    return Outcome::kOk;
  }

  static Outcome identify(At& at, int n) {
    if (n == 0) at.information("Offhook");
    if (n == 3) at.information("Offhook soft modem " OFFHOOK_VERSION);
    return Outcome::kOk;
  }

  static Outcome tell_last_call(At& at, int objects) {
    for (const std::string& line : at.host_.last_call(objects != 0)) at.information(line);
    return Outcome::kOk;
  }
  static Outcome tell_objects(At& at, int) { return tell_last_call(at, 1); }

  // X5 to X7 of other manufacturers add nothing that this modem has beyond X4.
  static Outcome result_codes(At& at, int n) {
    at.settings_.extended = std::min(n, 4);
    return Outcome::kOk;
  }

  // Asynchronous modes with and without error control: +ES selects that. The others are synchronous.
  static Outcome asynchronous(At&, int n) { return n == 0 || (n >= 4 && n != 7) ? Outcome::kOk : Outcome::kError; }

  static Outcome show(At& at, int n) {
    if (n == 1) return tell_last_call(at, 0);
    const AtSettings& s = at.settings_;
    const auto flow =
        std::find_if(std::begin(kFlow), std::end(kFlow), [&s](const auto& f) { return f.by_dte == s.flow_by_dte; });
    std::string text = fmt::format("B{} E{} Q{} V{} X{} &C{} &D{} &G{} &K{}", s.bell, s.echo, s.quiet, s.verbose,
                                   s.extended, s.dcd, s.dtr, s.guard_tone, flow->k);
    for (std::size_t k = 0; k < std::size(s.s); ++k) text += fmt::format(" S{}={}", k, s.s[k]);
    at.information(text);
    return Outcome::kOk;
  }

  /// Every command: its values, its effect, its source. Must be the last of its line, because several lists are too
  /// long.
  static Outcome list(At& at, std::string_view& rest) {
    if (!rest.empty()) return Outcome::kError;
    const auto row = [&at](std::string_view name, std::string_view takes, std::string_view what,
                           std::string_view from) {
      const bool clause = is_digit(from.front());  // otherwise common usage, or another recommendation
      at.information(fmt::format("{}{}  {} ({}{})", name, takes, what, clause ? "V.250 " : "", from));
    };
    for (const Basic& b : kBasic) {
      const bool number = b.most > 0 && b.most < kAnyNumber;
      row(b.name, number ? fmt::format("0-{}", b.most) : "", b.what, b.from);
    }
    row("S", fmt::format("{}-{}=0-255", std::size(kRegisters), kLastRegister), "stored, no effect", "other makers");
    for (const Register& r : kRegisters) row("S", fmt::format("{}=0-{}", r.number, r.most), r.what, r.from);
    for (const Identity& i : kIdentities) row("+", i.name, i.what, i.from);
    for (const Order& o : kOrders) row("+", o.name, o.what, o.from);
    for (const Fax& f : kFax)
      row("+", f.is_bare() ? std::string(f.name) : fmt::format("{}={}", f.name, fax_values(at, f)), f.what, f.from());
    for (const Parameter& p : kParameters) row("+", fmt::format("{}={}", p.name, ranges(at, p)), p.what, p.from);
    return Outcome::kOk;
  }

  static Outcome s_register(At& at, std::string_view& rest) {
    if (!rest.empty() && is_digit(rest.front())) {
      const int n = take_number(rest);
      if (n > kLastRegister) return Outcome::kError;
      at.last_s_ = n;
    }
    const bool known = at.last_s_ < static_cast<int>(std::size(kRegisters));
    std::uint8_t& value =
        known ? at.s(at.last_s_) : at.settings_.other_s[static_cast<std::size_t>(at.last_s_) - std::size(kRegisters)];
    if (take(rest, '?')) {
      at.information(fmt::format("{:03}", value));
    } else if (take(rest, '=')) {
      const int given = take_number(rest);
      if (given > (known ? kRegisters[at.last_s_].most : 255)) return Outcome::kError;
      value = static_cast<std::uint8_t>(given);
    }
    return Outcome::kOk;
  }

  /// The basic syntax (V.250 5.3): a name and a number of 0 to `most`, which is stored, executed or ignored.
  struct Basic {
    std::string_view name;
    int most;
    std::variant<std::monostate, Setting, Action, Line> does;
    std::string_view from, what;  // clause of V.250, or the manufacturer; for AT$
  };
  static constexpr std::monostate kNoEffect{};
  static constexpr Basic kBasic[] = {
      {"$", 0, list, "Hayes", "this list"},
      {"A", 0, answer, "6.3.5", "answer"},
      {"B", 99, standard, "Hayes",
       "standard at 300 and 1200 bit/s: 0 V.21 and V.22, 1 Bell 103 and Bell 212A; others: use +MS"},
      {"C", 1, kNoEffect, "Hayes", "carrier: set by the modulation"},
      {"D", 0, dial, "6.3.1",
       "dial: digits * # A-D; comma pauses for S8; W waits for dial tone; L last number; S=n number of &Z; ; at the "
       "end returns to the command state; T P @ ! have no effect"},
      {"E", 1, &AtSettings::echo, "6.2.4", "echo of the command line"},
      {"F", 1, kNoEffect, "USR", "echo of data: none"},
      {"H", 1, hang_up, "6.3.6", "go on hook"},
      {"I", 9, identify, "6.1.3", "identity; I3 with the version"},
      {"L", 3, &AtSettings::volume, "6.3.13", "loudness: no effect, no speaker"},
      {"M", 3, &AtSettings::speaker, "6.3.14", "speaker: no effect, no speaker"},
      {"N", 1, &AtSettings::automode, "Hayes", "automode: 1 the fastest modulation from +MS down, 0 only that of +MS"},
      {"O", 1, go_online, "6.3.7", "return to data after +++, or from hold"},
      {"P", kAnyNumber, kNoEffect, "6.3.3", "pulse dialling: tones are sent instead"},
      {"Q", 1, &AtSettings::quiet, "6.2.5", "no result codes"},
      {"S", 0, s_register, "5.3.2", "register: Sn?, Sn=value"},
      {"T", kAnyNumber, kNoEffect, "6.3.2", "by tones"},
      {"V", 1, &AtSettings::verbose, "6.2.6", "result codes as words"},
      {"W", 3, kNoEffect, "Rockwell", "form of CONNECT: by +MR, +ER and +DR"},
      {"X", 7, result_codes, "6.2.7", "set of result codes; above 4: same as 4"},
      {"Y", 1, kNoEffect, "Hayes", "hang up on a long space: no effect"},
      {"Z", 5, reset, "6.1.1", "go on hook and restore the profile of &W"},
      {"&C", 2, &AtSettings::dcd, "6.2.8", "carrier detect: 1 while a carrier is present"},
      {"&D", 3, &AtSettings::dtr, "6.2.9", "reaction when the DTE disconnects: 2 and 3 hang up"},
      {"&F", 3, factory_settings, "6.1.2", "factory settings"},
      {"&G", 2, &AtSettings::guard_tone, "Hayes",
       "guard tone when answering with V.22 or V.22bis: 1 550 Hz, 2 1800 Hz"},
      {"&K", 6, flow_control, "Hayes", "flow control: 0 none, 3 RTS/CTS, 4 XON/XOFF, 5 XON/XOFF passed on, 6 both"},
      {"&V", kAnyNumber, show, "Hayes", "settings; &V1 the last call and the reason for its end"},
      {"&W", 1, store, "Hayes", "store the settings for Z, until the program ends"},
      {"&Y", 1, kNoEffect, "Hayes", "default profile: only one exists"},
      {"&Z", 0, store_number, "Hayes", "&Zn=NUMBER stores a number, n 0 to 3, until the program ends; &Zn? reads it"},
      {"#UD", 0, tell_objects, "V.59", "the last call as V.59's objects"},
      {"\\N", 0, error_control, "Microcom",
       "error control: 0 none, 2 V.42 or MNP, 3 these if the far end has one, 4 V.42, 5 MNP; \\N? reads"},
      {"%C", 3, compression, "Microcom", "compression: 0 none, else both directions"},
      // Leased line, synchronous modes, answer rate: this modem supports only the given value.
      {"&L", 0, kNoEffect, "Hayes", "line: switched"},
      {"&M", 9, asynchronous, "Hayes", "mode: 0, 4 to 9 except 7 asynchronous, error control by +ES"},
      {"&Q", 9, asynchronous, "Hayes", "mode: 0, 4 to 9 except 7 asynchronous, error control by +ES"},
      {"&R", 2, kNoEffect, "Hayes", "CTS: by flow control"},
      {"&S", 2, kNoEffect, "Hayes", "DSR: always on"},
      {"&X", 0, kNoEffect, "Hayes", "clock: the modem's own"},
      // Other manufacturers' commands. Those without effect ask for what this modem always does.
      {"&A", 3, &AtSettings::connect_words, "USR",
       "words after the rate of CONNECT: 1 /ARQ with error control, 2 also the modulation, 3 also its protocol and the "
       "compression"},
      {"&B", 1, kNoEffect, "USR", "rate of the DTE: unchanged"},
      {"&H", 3, kNoEffect, "USR", "flow control of the modem: by +IFC"},
      {"&I", 5, kNoEffect, "USR", "flow control of the DTE: by +IFC"},
      {"&J", 1, kNoEffect, "Hayes", "jack: no effect, none exists"},
      {"&N", 31, kNoEffect, "USR", "rate: use +MS"},
      {"&P", 3, kNoEffect, "Hayes", "pulse dialling: not available"},
      {"&T", 6, test, "Hayes",
       "tests: 0 end, 3 send received data back, 4 allow the far end to request that, 5 refuse, 6 request it of the "
       "far "
       "end; V.22bis and V.22 without error control"},
      {"&U", 31, kNoEffect, "USR", "least rate: by +MS"},
      {"%B", 0, kNoEffect, "Microcom", "rate of the line: by +MS"},
      {"%E", 3, kNoEffect, "Rockwell", "retrain on bad quality: always"},
      {"\\A", 3, mnp_block, "Microcom", "largest block of MNP that is sent: 64, 128, 192, 256"},
      {"\\G", 1, kNoEffect, "Microcom", "flow control on the line: none"},
      {"\\J", 1, kNoEffect, "Microcom", "rate of the DTE: unchanged"},
      {"\\K", 5, kNoEffect, "Microcom", "break: no effect"},
      {"\\Q", 3, microcom_flow, "Microcom", "flow control: 0 none, 1 XON/XOFF, 2 CTS, 3 RTS/CTS"},
      {"\\V", 9, protocol_word, "Microcom",
       "words after the rate of CONNECT: 0 none, else /LAPM or /MNP and the compression"},
  };

  static Outcome basic(At& at, std::string_view& rest) {
    const auto row = std::find_if(std::begin(kBasic), std::end(kBasic),
                                  [&rest](const Basic& b) { return upper(rest.substr(0, b.name.size())) == b.name; });
    if (row == std::end(kBasic)) return Outcome::kError;
    rest.remove_prefix(row->name.size());
    if (const auto* line = std::get_if<Line>(&row->does)) return (*line)(at, rest);
    const int n = take_number(rest);
    if (n > row->most) return Outcome::kError;
    if (const auto* setting = std::get_if<Setting>(&row->does)) at.settings_.*(*setting) = n;
    if (const auto* action = std::get_if<Action>(&row->does)) return (*action)(at, n);
    return Outcome::kOk;
  }

  // +NAME up to '=', '?' or ';'; the values up to a ';' outside quotation marks.
  static Outcome extended(At& at, std::string_view& rest) {
    rest.remove_prefix(1);
    const auto end = std::find_if_not(rest.begin(), rest.end(), [](char c) {
      return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
    const std::string name = upper(rest.substr(0, static_cast<std::size_t>(end - rest.begin())));
    rest.remove_prefix(name.size());
    bool quoted = false;
    std::size_t stop = 0;
    for (; stop < rest.size() && (quoted || rest[stop] != ';'); ++stop) quoted ^= rest[stop] == '"';
    std::string_view body = rest.substr(0, stop);
    rest.remove_prefix(std::min(stop + 1, rest.size()));
    while (!body.empty() && body.back() == ' ') body.remove_suffix(1);

    for (const Identity& identity : kIdentities)
      if (identity.name == name) return carry_out(at, identity, body);
    for (const Parameter& parameter : kParameters)
      if (parameter.name == name) return carry_out(at, parameter, body);
    for (const Order& order : kOrders)
      if (order.name == name) return carry_out(at, order, body);
    for (const Fax& fax : kFax)
      if (fax.name == name) return carry_out(at, fax, body);
    return Outcome::kError;
  }

  static Outcome hold(At& at) {
    return at.settings_.hold_disabled == 0 && at.host_.request_hold() ? Outcome::kSilent : Outcome::kError;
  }

  /// Extended syntax, a command without values.
  struct Order {
    std::string_view name, from, what;
    Outcome (*does)(At&);
  };
  static constexpr Order kOrders[] = {
      {"PMHR", "V.92", "ask the far end to hold the call, until O; 0: denied, or not available", hold}};

  /// The service of a fax modem, and its operations. Answers to tests have no name in front, as programs expect.
  struct Fax {
    std::string_view name, values, what;  ///< values: separated by commas, at most one of them a range; empty: none
    std::variant<FaxOrder, Setting, std::string AtSettings::*> does;
    bool of_class2;  ///< otherwise of class 1, if it is an operation

    bool is_bare() const { return values.empty(); }
    std::string_view from() const { return of_class2 ? "TIA-592" : "T.31"; }
  };
  static constexpr std::string_view kPages = "24,48,72,73,74,96,97,98,121,122,145,146";
  static constexpr Fax kFax[] = {
      {"FCLASS", "0,1,2.0", "service: 0 data, 1 fax of class 1, 2.0 of class 2.0", &AtSettings::service_class, false},
      {"FLO", "0,1,2", "flow control, both directions: 0 none, 1 XON/XOFF, 2 RTS/CTS", &AtSettings::flow_by_dte, false},
      {"FAE", "0,1", "1: an answered call becomes fax of class 1 (FAX) or data (DATA), by its caller",
       &AtSettings::adaptive_answer, false},
      {"FAR", "0,1", "1: +FRM receives frames that come instead of a page, after +FRH:3",
       &AtSettings::adaptive_reception, false},
      {"FTS", "0-255", "send silence, 10 ms", FaxOrder::kSendSilence, false},
      {"FRS", "0-255", "wait for silence, 10 ms", FaxOrder::kAwaitSilence, false},
      {"FTH", "3", "send frames by V.21", FaxOrder::kSendFrames, false},
      {"FRH", "3", "receive frames by V.21", FaxOrder::kReceiveFrames, false},
      {"FTM", kPages, "send a page: V.27ter 24 48, V.29 72 96, V.17 the others", FaxOrder::kSendPage, false},
      {"FRM", kPages, "receive a page: V.27ter 24 48, V.29 72 96, V.17 the others", FaxOrder::kReceivePage, false},
      {"FDT", "", "send a page", FaxOrder::kSendCodedPage, true},
      {"FDR", "", "confirm the last page, and receive the next one", FaxOrder::kReceiveCodedPage, true},
      {"FK", "", "end the session", FaxOrder::kEndSession, true},
      {"FPS", "1,2", "the received page: 1 good, 2 bad", FaxOrder::kJudgePage, true},
      {"FLI", "20 characters", "own number", &AtSettings::fax_ident, true},
      {"FAA", "0,1", "1: an answered call becomes fax of class 2.0 or data, by its caller",
       &AtSettings::adaptive_answer_2, true},
      {"FBO", "0,1,2,3", "order of bits: 1 and 3 reverse the octets of pages", &AtSettings::fax_reversed, true},
      {"FCR", "0,1", "1: receives pages; no effect", &AtSettings::fax_receives, true},
      {"FMS", "0-5", "least bit rate: stored, no effect", &AtSettings::fax_least_rate, true}};

  static std::string_view fax_values(const At& at, const Fax& fax) {
    return (fax.name != "FCLASS" && fax.name != "FAE" && fax.name != "FAA") || at.host_.can_fax() ? fax.values : "0";
  }

  /// Whether a list such as "0,1" or "0-255" contains the number.
  static bool has(std::string_view list, int n) {
    while (!list.empty()) {
      const int least = take_number(list);
      const int most = take(list, '-') ? take_number(list) : least;
      if (take(list, '.')) take_number(list);  // 2.0
      if (n >= least && n <= most) return true;
      take(list, ',');
    }
    return false;
  }

  static Outcome order_fax(At& at, const Fax& fax, int value) {
    const bool done = at.settings_.service_class == (fax.of_class2 ? kFaxClass2 : 1) &&
                      at.host_.fax(std::get<FaxOrder>(fax.does), value);
    return done ? Outcome::kSilent : Outcome::kError;
  }

  /// +FLI
  static Outcome name_machine(At& at, std::string& ident, std::string_view body) {
    if (body == "?") {
      at.information(fmt::format("\"{}\"", ident));
      return Outcome::kOk;
    }
    const auto given = take(body, '=') ? values(body) : std::nullopt;
    if (!given || given->size() != 1) return Outcome::kError;
    ident = given->front().substr(0, 20);
    return Outcome::kOk;
  }

  static Outcome carry_out(At& at, const Fax& fax, std::string_view body) {
    if (fax.is_bare()) return body.empty() ? order_fax(at, fax, 0) : Outcome::kError;
    if (const auto* ident = std::get_if<std::string AtSettings::*>(&fax.does); ident != nullptr && body != "=?")
      return name_machine(at, at.settings_.**ident, body);
    if (body == "=?") {
      at.information(fax_values(at, fax));
      return Outcome::kOk;
    }
    const auto* setting = std::get_if<Setting>(&fax.does);
    if (body == "?" && setting != nullptr) {
      const int n = at.settings_.**setting;
      at.information(fax.name == "FCLASS" && n == kFaxClass2 ? "2.0" : std::to_string(n));
      return Outcome::kOk;
    }
    if (!take(body, '=') || body.empty() || !is_digit(body.front())) return Outcome::kError;
    const int n = take_number(body);
    if (fax.name == "FCLASS" && n == kFaxClass2 && (!take(body, '.') || !take(body, '0'))) return Outcome::kError;
    if (!body.empty() || !has(fax_values(at, fax), n)) return Outcome::kError;
    if (std::holds_alternative<FaxOrder>(fax.does)) return order_fax(at, fax, n);
    at.settings_.** setting = n;
    if (fax.name == "FLO") at.settings_.flow_by_dce = n;
    return Outcome::kOk;
  }

  static Outcome carry_out(At& at, const Order& order, std::string_view body) {
    if (body.empty()) return order.does(at);
    return body == "=?" ? Outcome::kOk : Outcome::kError;
  }

  static Outcome carry_out(At& at, const Identity& identity, std::string_view body) {
    if (body.empty()) at.information(identity.text);
    return body.empty() || body == "=?" ? Outcome::kOk : Outcome::kError;
  }

  static std::string listed(const At& at, const Parameter& parameter, std::string (*text_of)(const At&, const Value&)) {
    std::string text;
    for (const Value& v : parameter.used()) {
      text += text.empty() ? "" : ",";
      text += text_of(at, v);
    }
    return text;
  }

  static std::string ranges(const At& at, const Parameter& parameter) {
    return parameter.test.empty() ? listed(at, parameter, range) : std::string(parameter.test);
  }

  // 5.4.4: =? tests, ? reads, = writes; omitted values are unchanged.
  static Outcome carry_out(At& at, const Parameter& parameter, std::string_view body) {
    if (body == "=?") {
      at.information(fmt::format("+{}: {}", parameter.name, ranges(at, parameter)));
      return Outcome::kOk;
    }
    if (body == "?") {
      at.information((parameter.bare ? "" : fmt::format("+{}: ", parameter.name)) + listed(at, parameter, read));
      if (parameter.values[0].word != nullptr && !at.host_.not_offered().empty())
        at.information(fmt::format("not offered: {}", at.host_.not_offered()));
      return Outcome::kOk;
    }
    if (!take(body, '=')) return Outcome::kError;
    const auto given = values(body);
    const auto used = parameter.used();
    if (!given || given->size() > used.size()) return Outcome::kError;
    AtSettings next = at.settings_;
    for (std::size_t i = 0; i < given->size(); ++i)
      if (!given->at(i).empty() && !write(at, used[i], given->at(i), next)) return Outcome::kError;
    if (parameter.consistent != nullptr && !parameter.consistent(next)) return Outcome::kError;
    at.settings_ = next;
    return Outcome::kOk;
  }

  static std::string range(const At& at, const Value& v) {
    if (v.word != nullptr) return fmt::format("({})", at.host_.carriers());
    if (v.least == v.most) return fmt::format("({})", v.least);
    if (v.or_zero) return fmt::format("(0,{}-{})", v.least, v.most);
    return fmt::format("({}{}{})", v.least, v.most - v.least == 1 ? ',' : '-', v.most);
  }

  static std::string read(const At& at, const Value& v) {
    if (v.word == nullptr) return std::to_string(v.get(at.settings_));
    const std::string& word = at.settings_.*v.word;
    const std::string_view all = at.host_.carriers();  // from the slowest to the fastest
    return word.empty() ? std::string(all.substr(all.rfind(',') + 1)) : word;
  }

  static bool write(const At& at, const Value& v, const std::string& text, AtSettings& settings) {
    if (v.word != nullptr) {
      const auto old = std::find_if(std::begin(kOldCarriers), std::end(kOldCarriers),
                                    [&text](const OldCarrier& c) { return c.number == upper(text); });
      const std::string word = text == "0" ? "" : old != std::end(kOldCarriers) ? std::string(old->name) : upper(text);
      settings.*v.word = word;
      return word.empty() || fmt::format(",{},", at.host_.carriers()).find("," + word + ",") != std::string::npos;
    }
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    v.set(settings, n);
    return error == std::errc() && end == text.data() + text.size() &&
           ((n >= v.least && n <= v.most) || (v.or_zero && n == 0));
  }
};

void AtInterpreter::run(std::string_view given) {
  // Spaces are ignored, except those of a string (V.250 5.2.2). A copy: a command may re-enter this function.
  std::string line;
  bool quoted = false;
  for (const char c : given) {
    quoted ^= c == '"';
    if (c != ' ' || quoted) line += c;
  }
  std::string_view rest = line;
  Outcome outcome = Outcome::kOk;
  while (outcome == Outcome::kOk) {
    while (take(rest, ' ') || take(rest, ';')) {
    }
    if (rest.empty()) break;
    outcome = rest.front() == '+' ? Commands::extended(*this, rest) : Commands::basic(*this, rest);
  }
  if (outcome == Outcome::kOk) report(Result::kOk);
  if (outcome == Outcome::kError) report(Result::kError);
}

}  // namespace offhook::modem
