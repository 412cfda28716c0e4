// SPDX-License-Identifier: MIT
#include "driver/tty/at.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace offhook::modem {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char upper(char c) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

/// The decimal number at the front; an absent one is 0, as V.250 5.3.1 says.
std::uint32_t take_number(std::string_view& rest) {
  std::uint64_t value = 0;
  while (!rest.empty() && is_digit(rest.front())) {
    value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(rest.front() - '0'), 1'000'000'000);
    rest.remove_prefix(1);
  }
  return static_cast<std::uint32_t>(value);
}

/// An integer parameter of an extended command: a range, where it is stored, what + reads.
struct Number {
  std::uint32_t least, most;
  std::function<std::uint32_t()> get;
  std::function<void(std::uint32_t)> set;
};

struct Range {
  std::uint32_t least, most;
};

/// The values after '=': separated by commas; empty ones keep what they were.
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

std::optional<std::uint32_t> number(const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// +ES by \N: normal, direct, reliable, reliable or normal, LAPM.
constexpr std::array<std::array<int, 3>, 5> kErrorControl = {{{1, 0, 1}, {0, 0, 0}, {3, 2, 4}, {3, 0, 2}, {3, 3, 5}}};

int flow_number(const AtSettings& s) {
  constexpr std::array<int, 4> kByDte = {0, 4, 3, 5};
  return kByDte[static_cast<std::size_t>(s.flow_by_dte)];
}

std::string_view text_of(Result result) {
  switch (result) {
    case Result::kOk:
      return "OK";
    case Result::kConnect:
      return "CONNECT";
    case Result::kRing:
      return "RING";
    case Result::kNoCarrier:
      return "NO CARRIER";
    case Result::kError:
      return "ERROR";
    case Result::kNoDialtone:
      return "NO DIALTONE";
    case Result::kBusy:
      return "BUSY";
    case Result::kNoAnswer:
      return "NO ANSWER";
  }
  return "";
}

}  // namespace

AtSettings::AtSettings() {
  s[2] = 43;  // +
  s[3] = 13;
  s[4] = 10;
  s[5] = 8;
  s[6] = 2;    // s before dialling
  s[7] = 60;   // s to wait for carrier
  s[8] = 2;    // s a comma
  s[10] = 14;  // 0.1 s without carrier
  s[11] = 95;  // ms a DTMF digit
  s[12] = 50;  // 1/50 s guard time
}

AtInterpreter::AtInterpreter(AtHost& host, std::function<void(std::string_view)> dte)
    : host_(host), dte_(std::move(dte)) {}

std::string AtInterpreter::line_end() const {
  return {static_cast<char>(settings_.s[3]), static_cast<char>(settings_.s[4])};
}

void AtInterpreter::information(std::string_view text) {
  const std::string end = line_end();
  send(settings_.verbose ? end + std::string(text) + end : std::string(text) + end);
}

void AtInterpreter::report(Result result, std::uint32_t rate) {
  if (result != Result::kRing) busy_ = false;
  if (settings_.quiet) return;
  // X0 knows CONNECT, NO CARRIER and the like only; X2 and X4 the dial tone, X3 and X4 the busy tone.
  const int x = settings_.extended;
  if (result == Result::kNoDialtone && (x == 0 || x == 1 || x == 3)) result = Result::kNoCarrier;
  if (result == Result::kBusy && x < 3) result = Result::kNoCarrier;
  const std::string end = line_end();
  if (!settings_.verbose) {
    send(fmt::format("{}{}", static_cast<int>(result), end.substr(0, 1)));
  } else if (result == Result::kConnect && x > 0 && rate > 0) {
    send(fmt::format("{0}CONNECT {1}{0}", end, rate));
  } else {
    send(fmt::format("{0}{1}{0}", end, text_of(result)));
  }
}

void AtInterpreter::put(char c) {
  if (settings_.echo) send({&c, 1});
  const char cr = static_cast<char>(settings_.s[3]);
  const char backspace = static_cast<char>(settings_.s[5]);
  switch (state_) {
    case State::kIdle:
      if (upper(c) == 'A') state_ = State::kA;
      return;
    case State::kA:
      if (c == '/') {  // again
        state_ = State::kIdle;
        run(last_);
      } else if (upper(c) == 'T') {
        state_ = State::kLine;
        line_.clear();
        too_long_ = false;
      } else if (upper(c) != 'A') {
        state_ = State::kIdle;
      }
      return;
    case State::kLine:
      if (c == cr) {
        state_ = State::kIdle;
        if (too_long_) {
          report(Result::kError);
        } else {
          last_ = line_;
          run(line_);
        }
      } else if (c == backspace) {
        if (!line_.empty()) line_.pop_back();
      } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
        if (line_.size() >= kMaxLine) {
          too_long_ = true;
        } else {
          line_ += c;
        }
      }
      return;
  }
}

void AtInterpreter::run(std::string_view given) {
  const std::string line(given);  // a command may come back here
  std::string_view rest = line;
  Outcome outcome = Outcome::kOk;
  while (outcome == Outcome::kOk) {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ';')) rest.remove_prefix(1);
    if (rest.empty()) break;
    outcome = rest.front() == '+' ? extended(rest) : basic(rest);
  }
  if (outcome == Outcome::kOk) report(Result::kOk);
  if (outcome == Outcome::kError) report(Result::kError);
}

void AtInterpreter::dial(std::string_view rest) {
  std::string digits;
  for (const char c : rest) {
    const char u = upper(c);
    if (is_digit(u) || u == '*' || u == '#' || (u >= 'A' && u <= 'D') || u == ',' || u == 'W') digits += u;
    if (u == ';') break;
  }
  busy_ = true;
  host_.dial(digits);
}

AtInterpreter::Outcome AtInterpreter::basic(std::string_view& rest) {
  const char c = upper(rest.front());
  rest.remove_prefix(1);
  if (c == 'D') {
    const std::string_view digits = rest;
    rest = {};
    dial(digits);
    return Outcome::kSilent;
  }
  if (c == 'A') {
    rest = {};
    busy_ = true;
    host_.answer();
    return Outcome::kSilent;
  }
  if (c == 'S') return s_register(rest);
  if (c == '&' || c == '\\' || c == '%') {
    if (rest.empty()) return Outcome::kError;
    const char d = upper(rest.front());
    rest.remove_prefix(1);
    const bool query = c == '\\' && !rest.empty() && rest.front() == '?';
    if (query) rest.remove_prefix(1);
    const std::uint32_t n = take_number(rest);
    const auto store = [n](int& field, std::uint32_t most) {
      if (n > most) return Outcome::kError;
      field = static_cast<int>(n);
      return Outcome::kOk;
    };
    if (c == '&') {
      if (d == 'C') return store(settings_.dcd, 2);
      if (d == 'D') return store(settings_.dtr, 3);
      if (d == 'K') {
        if (n > 6 || n == 1 || n == 2) return Outcome::kError;
        settings_.flow_by_dte = n == 0 ? 0 : n == 3 || n == 6 ? 2 : n == 4 ? 1 : 3;
        settings_.flow_by_dce = n == 0 ? 0 : n == 3 || n == 6 ? 2 : 1;
        return Outcome::kOk;
      }
      if (d == 'F') {
        if (n > 1) return Outcome::kError;
        settings_ = {};
        return Outcome::kOk;
      }
      if (d == 'V') {
        information(fmt::format("E{} Q{} V{} X{} &C{} &D{} &K{} S0={} S2={} S6={} S7={} S10={} S12={}",
                                settings_.echo + 0, settings_.quiet + 0, settings_.verbose + 0, settings_.extended,
                                settings_.dcd, settings_.dtr, flow_number(settings_), settings_.s[0], settings_.s[2],
                                settings_.s[6], settings_.s[7], settings_.s[10], settings_.s[12]));
        return Outcome::kOk;
      }
      // Leased line, guard tone, synchronous mode, speed of the answer: the one value that is true here.
      if (d == 'G' || d == 'L' || d == 'M' || d == 'Q' || d == 'R' || d == 'S' || d == 'X')
        return n == 0 ? Outcome::kOk : Outcome::kError;
      return Outcome::kError;
    }
    if (c == '\\' && d == 'N') {
      if (query) {
        const auto same = std::find_if(kErrorControl.begin(), kErrorControl.end(), [&](const auto& mode) {
          return mode[0] == settings_.es_request && (mode[0] < 2 || mode[1] == settings_.es_originator);
        });
        information(std::to_string(same == kErrorControl.end() ? 3 : same - kErrorControl.begin()));
        return Outcome::kOk;
      }
      if (n >= kErrorControl.size()) return Outcome::kError;
      settings_.es_request = kErrorControl[n][0];
      settings_.es_originator = kErrorControl[n][1];
      settings_.es_answerer = kErrorControl[n][2];
      return Outcome::kOk;
    }
    if (c == '%' && d == 'C') {
      if (n > 3) return Outcome::kError;
      settings_.compression = n == 0 ? 0 : 3;
      return Outcome::kOk;
    }
    return Outcome::kError;
  }
  const std::uint32_t n = take_number(rest);
  const auto flag = [n](bool& field) {
    if (n > 1) return Outcome::kError;
    field = n != 0;
    return Outcome::kOk;
  };
  switch (c) {
    case 'E':
      return flag(settings_.echo);
    case 'Q':
      return flag(settings_.quiet);
    case 'V':
      return flag(settings_.verbose);
    case 'X':
      if (n > 4) return Outcome::kError;
      settings_.extended = static_cast<int>(n);
      return Outcome::kOk;
    case 'L':
    case 'M':
      if (n > 3) return Outcome::kError;
      (c == 'L' ? settings_.volume : settings_.speaker) = static_cast<int>(n);
      return Outcome::kOk;
    case 'N':
      if (n > 1) return Outcome::kError;
      settings_.automode = n == 1;
      return Outcome::kOk;
    case 'P':
    case 'T':
      return Outcome::kOk;  // tones are sent, whatever is asked for
    case 'H':
      if (n > 1) return Outcome::kError;
      if (n == 0) host_.hang_up();
      return Outcome::kOk;
    case 'Z':
      if (n > 1) return Outcome::kError;
      host_.hang_up();
      settings_ = {};
      return Outcome::kOk;
    case 'O':
      if (n > 1) return Outcome::kError;
      return host_.go_online() ? Outcome::kSilent : Outcome::kError;
    case 'I':
      if (n == 0) {
        information("Offhook");
      } else if (n == 3) {
        information(fmt::format("Offhook soft modem {}", OFFHOOK_VERSION));
      } else if (n > 9) {
        return Outcome::kError;
      }
      return Outcome::kOk;
    default:
      return Outcome::kError;
  }
}

AtInterpreter::Outcome AtInterpreter::s_register(std::string_view& rest) {
  if (!rest.empty() && is_digit(rest.front())) {
    const std::uint32_t n = take_number(rest);
    if (n > 255) return Outcome::kError;
    last_s_ = static_cast<int>(n);
  }
  if (rest.empty()) return Outcome::kOk;
  if (rest.front() == '?') {
    rest.remove_prefix(1);
    information(fmt::format("{:03}", settings_.s[static_cast<std::size_t>(last_s_)]));
    return Outcome::kOk;
  }
  if (rest.front() == '=') {
    rest.remove_prefix(1);
    const std::uint32_t value = take_number(rest);
    if (value > 255) return Outcome::kError;
    // Characters that end and edit a line lie below 128 (V.250 6.2); the ring counter is not the DTE's.
    if (last_s_ >= 3 && last_s_ <= 5 && value > 127) return Outcome::kError;
    s(last_s_) = static_cast<std::uint8_t>(value);
  }
  return Outcome::kOk;
}

AtInterpreter::Outcome AtInterpreter::extended(std::string_view& rest) {
  // +NAME up to '=', '?' or ';'; the values up to a ';' outside quotation marks.
  std::size_t end = 1;
  while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) != 0)) ++end;
  std::string name;
  for (const char c : rest.substr(1, end - 1)) name += upper(c);
  rest.remove_prefix(end);
  bool quoted = false;
  std::size_t stop = 0;
  for (; stop < rest.size() && (quoted || rest[stop] != ';'); ++stop) quoted ^= rest[stop] == '"';
  std::string_view body = rest.substr(0, stop);
  rest.remove_prefix(std::min(stop + 1, rest.size()));
  while (!body.empty() && body.back() == ' ') body.remove_suffix(1);
  return parameter(name, body);
}

AtInterpreter::Outcome AtInterpreter::parameter(std::string_view name, std::string_view& body) {
  const bool test = body == "=?";
  const bool read = body == "?";
  const bool action = body.empty();
  const bool write = !test && !read && !action && body.front() == '=';
  if (!(test || read || action || write)) return Outcome::kError;

  struct Text {
    std::string_view name, text;
  };
  const std::string version = OFFHOOK_VERSION;
  const std::array<Text, 5> texts = {
      {{"GMI", "Offhook"}, {"GMM", "Offhook soft modem"}, {"GMR", version}, {"GSN", "0"}, {"GCAP", "+MS,+ES,+DS"}}};
  for (const Text& t : texts) {
    if (name != t.name) continue;
    if (write || read) return Outcome::kError;
    if (action) information(t.name == "GCAP" ? fmt::format("+GCAP: {}", t.text) : std::string(t.text));
    return Outcome::kOk;
  }
  const std::optional<std::vector<std::string>> given = write ? values(body.substr(1)) : std::vector<std::string>{};
  if (!given) return Outcome::kError;

  if (name == "MS") {
    if (test) {
      information(fmt::format("+MS: ({}),(0,1),(0,300-33600),(0,300-33600)", host_.carriers()));
    } else if (read) {
      information(fmt::format("+MS: {},{},{},{}", settings_.modulation.empty() ? "0" : settings_.modulation,
                              settings_.automode + 0, settings_.min_rate, settings_.max_rate));
    } else if (write) {
      AtSettings next = settings_;
      if (given->size() > 6) return Outcome::kError;
      const std::string& carrier = given->at(0);
      if (!carrier.empty() && carrier != "0") {
        const std::string known = fmt::format(",{},", host_.carriers());
        std::string wanted;
        for (const char c : carrier) wanted += upper(c);
        if (known.find("," + wanted + ",") == std::string::npos) return Outcome::kError;
        next.modulation = wanted;
      } else if (carrier == "0") {
        next.modulation.clear();
      }
      for (std::size_t i = 1; i < given->size(); ++i) {
        if (given->at(i).empty()) continue;
        const auto n = number(given->at(i));
        if (!n || (i == 1 && *n > 1) || *n > 33'600) return Outcome::kError;
        if (i == 1) next.automode = *n == 1;
        if (i == 2) next.min_rate = *n;
        if (i == 3) next.max_rate = *n;
      }
      if (next.max_rate != 0 && next.min_rate > next.max_rate) return Outcome::kError;
      settings_ = next;
    } else {
      return Outcome::kError;
    }
    return Outcome::kOk;
  }
  // Values of a list, each within its range; those left out stay.
  const auto take = [&](std::initializer_list<int*> fields, std::initializer_list<Range> ranges) {
    std::vector<int> next;
    if (given->size() > fields.size()) return Outcome::kError;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Range range = ranges.begin()[i];
      const int now = *fields.begin()[i];
      if (i >= given->size() || given->at(i).empty()) {
        next.push_back(now);
        continue;
      }
      const auto v = number(given->at(i));
      if (!v || *v < range.least || *v > range.most) return Outcome::kError;
      next.push_back(static_cast<int>(*v));
    }
    for (std::size_t i = 0; i < next.size(); ++i) *fields.begin()[i] = next[i];
    return Outcome::kOk;
  };
  if (name == "ES") {
    if (action) return Outcome::kError;
    if (test) information("+ES: (0-3),(0-3),(0-5)");
    if (read)
      information(fmt::format("+ES: {},{},{}", settings_.es_request, settings_.es_originator, settings_.es_answerer));
    return write ? take({&settings_.es_request, &settings_.es_originator, &settings_.es_answerer},
                        {{0, 3}, {0, 3}, {0, 5}})
                 : Outcome::kOk;
  }
  if (name == "IFC") {
    if (action) return Outcome::kError;
    if (test) information("+IFC: (0-3),(0-2)");
    if (read) information(fmt::format("+IFC: {},{}", settings_.flow_by_dte, settings_.flow_by_dce));
    return write ? take({&settings_.flow_by_dte, &settings_.flow_by_dce}, {{0, 3}, {0, 2}}) : Outcome::kOk;
  }
  if (name == "DS") {
    if (action) return Outcome::kError;
    if (test) information("+DS: (0-3),(0,1),(512-65535),(6-250)");
    if (read) {
      information(fmt::format("+DS: {},{},{},{}", settings_.compression, settings_.compression_required,
                              settings_.dictionary, settings_.max_string));
    }
    return write ? take({&settings_.compression, &settings_.compression_required, &settings_.dictionary,
                         &settings_.max_string},
                        {{0, 3}, {0, 1}, {512, 65535}, {6, 250}})
                 : Outcome::kOk;
  }

  const auto flag = [](bool& field) {
    return Number{0, 1, [&field] { return std::uint32_t{field}; }, [&field](std::uint32_t v) { field = v != 0; }};
  };
  std::optional<Number> n;
  std::string range = "(0,1)";
  if (name == "MR") n = flag(settings_.report_modulation);
  if (name == "ER") n = flag(settings_.report_error_control);
  if (name == "DR") n = flag(settings_.report_compression);
  if (name == "ILRR") n = flag(settings_.report_local_rate);
  if (name == "FCLASS") {  // no fax
    n = Number{0, 0, [] { return 0u; }, [](std::uint32_t) {}};
    range = "(0)";
  }
  if (name == "IPR") {
    n = Number{0, 4'000'000, [this] { return settings_.dte_rate; },
               [this](std::uint32_t v) { settings_.dte_rate = v; }};
    range = "(0),(300-4000000)";
  }
  if (!n) return Outcome::kError;
  if (test) {
    information(fmt::format("+{}: {}", name, range));
  } else if (read) {
    // +FCLASS answers with the bare number (T.31).
    information(name == "FCLASS" ? std::to_string(n->get()) : fmt::format("+{}: {}", name, n->get()));
  } else if (write) {
    const auto value = given->size() == 1 ? number(given->at(0)) : std::nullopt;
    if (!value || *value < n->least || *value > n->most) return Outcome::kError;
    n->set(*value);
  } else {
    return Outcome::kError;
  }
  return Outcome::kOk;
}

bool EscapeDetector::look(std::string_view characters, std::int64_t now_ms, const AtSettings& settings) {
  const std::int64_t guard = settings.s[12] * 20;
  const char escape = static_cast<char>(settings.s[2]);
  if (settings.s[2] > 127) return false;  // disabled
  const bool paused = now_ms - last_ms_ >= guard;
  if (characters.empty()) {
    if (seen_ == 3 && paused) {
      seen_ = 0;
      return true;
    }
    return false;
  }
  // The three may come in one piece or one by one; anything else among them spoils them until the next pause.
  if (paused) seen_ = 0;
  const bool escapes = std::all_of(characters.begin(), characters.end(), [escape](char c) { return c == escape; });
  const bool continues = seen_ > 0 || (seen_ == 0 && paused);
  seen_ = continues && escapes && static_cast<std::size_t>(seen_) + characters.size() <= 3
              ? seen_ + static_cast<int>(characters.size())
              : -1;
  last_ms_ = now_ms;
  return false;
}

}  // namespace offhook::modem
