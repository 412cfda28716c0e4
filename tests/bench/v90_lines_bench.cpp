// SPDX-License-Identifier: MIT
//
// The tables of V.90: our two modems over hostsim/channel's digital trunk, rates and blocks of 1000 bits with errors.
//
//   v90_lines_bench [noise|power|upstream|errors|trunk|loop|cross|delay|all] [MINUTES] [FILE]
//
// prints Markdown; docs/v90.md holds what it printed last. MINUTES: of data mode on each line, 1 unless told. FILE:
// what each line came to is added to it, and a line that stands there is not run again: a run that was interrupted goes
// on. Progress and what it costs follow on standard error. Exit status 2: on some line, but for those of `delay`, there
// was no connection.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/dsp/v34/confidence.h"
#include "tests/v90_call.h"

namespace {

using offhook::V90Call;

V90Call::Options clean() {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -80;
  o.v8 = false;
  return o;
}

/// The result of a line.
struct Result {
  bool connected = false;
  unsigned first_down = 0, first_up = 0, down = 0, up = 0;  // bit/s
  double after_s = 0, noise = 0, distance = 0;
  std::uint64_t bad_down = 0, blocks_down = 0, bad_up = 0, blocks_up = 0;
  unsigned retrains = 0, renegotiations = 0;

  /// Data used V.90 from the first training on.
  bool works() const { return connected && distance > 0 && retrains == 0; }
};

std::ostream& operator<<(std::ostream& out, const Result& r) {
  return out << r.connected << ' ' << r.first_down << ' ' << r.first_up << ' ' << r.down << ' ' << r.up << ' '
             << r.after_s << ' ' << r.noise << ' ' << r.distance << ' ' << r.bad_down << ' ' << r.blocks_down << ' '
             << r.bad_up << ' ' << r.blocks_up << ' ' << r.retrains << ' ' << r.renegotiations;
}
std::istream& operator>>(std::istream& in, Result& r) {
  return in >> r.connected >> r.first_down >> r.first_up >> r.down >> r.up >> r.after_s >> r.noise >> r.distance >>
         r.bad_down >> r.blocks_down >> r.bad_up >> r.blocks_up >> r.retrains >> r.renegotiations;
}

/// Runs lines, or reads their results from a file.
class Lines {
 public:
  Lines(double minutes, const char* file) : minutes_(minutes) {
    if (file == nullptr) return;
    std::ifstream in(file);
    // An incomplete last line was being written.
    for (std::string line; std::getline(in, line) && !in.eof();) {
      const auto tab = line.find('\t');
      std::istringstream text(tab == std::string::npos ? "" : line.substr(tab));
      Result r;
      if (text >> r) known_[line.substr(0, tab)] = r;
    }
    in.close();
    file_.open(file, std::ios::app);
    if (!file_) throw std::runtime_error(std::string(file) + ": cannot be written");
  }

  Result run(const std::string& section, const std::string& what, const V90Call::Options& o) {
    std::ostringstream key;
    key << section << ": " << what << ", " << minutes_ << " min";
    if (const auto it = known_.find(key.str()); it != known_.end()) return it->second;
    std::fprintf(stderr, "%s\n", key.str().c_str());
    V90Call call(o);
    Result r;
    r.connected = call.connect(40 + 30 * o.trunk.delay_ms / 1000);
    if (r.connected) {
      r.after_s = call.seconds();
      r.first_down = call.analogue_status().rx_bit_rate;
      r.first_up = call.digital_status().rx_bit_rate;
      call.run(60 * minutes_);
      const auto a = call.analogue_instruments();
      r.down = call.analogue_status().rx_bit_rate;
      r.up = call.digital_status().rx_bit_rate;
      r.noise = static_cast<double>(a.noise_rms);
      r.distance = static_cast<double>(a.least_distance);
      r.bad_down = call.down().bad_blocks(), r.blocks_down = call.down().blocks();
      r.bad_up = call.up().bad_blocks(), r.blocks_up = call.up().blocks();
      r.retrains = call.analogue_status().retrains;
      r.renegotiations = a.renegotiations;
    }
    seconds_ += call.seconds();
    if (file_.is_open()) file_ << "\n" << key.str() << '\t' << r << std::endl;
    return known_[key.str()] = r;
  }
  double seconds() const { return seconds_; }

 private:
  double minutes_, seconds_ = 0;
  std::map<std::string, Result> known_;
  std::ofstream file_;
};

bool all_connected = true;

std::string blocks(std::uint64_t bad, std::uint64_t all) {
  const auto interval = offhook::v34::clopper_pearson(static_cast<double>(bad), static_cast<double>(all), 0.95);
  char text[80];
  std::snprintf(text, sizeof text, "%llu of %llu | %.1e .. %.1e", static_cast<unsigned long long>(bad),
                static_cast<unsigned long long>(all), interval.low, interval.high);
  return text;
}

void print(const std::string& what, const Result& r) {
  if (r.connected) {
    std::printf("| %s | %u %u | %u %u | %.1f | %.1f | %.0f | %s | %s | %u, %u |\n", what.c_str(), r.first_down,
                r.first_up, r.down, r.up, r.after_s, r.noise, r.distance, blocks(r.bad_down, r.blocks_down).c_str(),
                blocks(r.bad_up, r.blocks_up).c_str(), r.retrains, r.renegotiations);
  } else {
    std::printf("| %s | none |\n", what.c_str());
  }
  std::fflush(stdout);
}

void row(const char* section, const std::string& what, const V90Call::Options& o, Lines& lines) {
  const Result r = lines.run(section, what, o);
  print(what, r);
  all_connected &= r.connected;
}

void head(const char* title) {
  std::printf("\n### %s\n\n", title);
  std::printf(
      "| line | down, up at first | at the end | data after, s | noise | least distance | bad blocks down | 95 %% | up "
      "| 95 %% "
      "| retrains, reneg. |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void noise(Lines& lines) {
  head("White noise at both receivers, loop 6 dB");
  for (const double level : {-90., -85., -80., -75., -70., -65., -60., -55., -50.}) {
    V90Call::Options o = clean();
    o.trunk.noise_dbm0 = level;
    row("noise", std::to_string(static_cast<int>(level)) + " dBm0", o, lines);
  }
}

void power(Lines& lines) {
  head("Limit of the digital modem's power, noise -80 dBm0");
  for (const int level : {-6, -9, -12, -14, -16}) {
    V90Call::Options o = clean();
    o.digital_dbm0 = static_cast<float>(level);
    row("power", std::to_string(level) + " dBm0", o, lines);
  }
}

// Here the noise of the line card limits the upstream, not its codec.
void upstream(Lines& lines) {
  head("White noise, analogue modem at -16 dBm0, loop 10 dB");
  for (const int level : {-66, -64, -62, -61, -60, -59, -58}) {
    V90Call::Options o = clean();
    o.trunk.noise_dbm0 = level;
    o.trunk.loss_db = 10;
    o.analogue_dbm0 = -16;
    row("upstream", std::to_string(level) + " dBm0", o, lines);
  }
}

// Each runs for a long time: v90_lines_bench errors 20.
void errors(Lines& lines) {
  head("Errors, noise -80 dBm0, clock +50 ppm");
  struct Line {
    const char* what;
    unsigned robbed;
    double pad_db;
  };
  for (const Line& l : {Line{"no pad", 0, 0}, Line{"robbed bits 1 of 6", 1, 0}, Line{"robbed bits 3 of 6", 21, 0},
                        Line{"pad 3 dB", 0, 3}, Line{"pad 6 dB", 0, 6}, Line{"pad 6 dB, robbed bits 1 of 6", 1, 6}}) {
    V90Call::Options o = clean();
    o.trunk.clock_ppm = 50;
    o.trunk.robbed_bits = l.robbed;
    o.trunk.pad_db = l.pad_db;
    row("errors", l.what, o, lines);
  }
}

constexpr const char* kOf[] = {"none", "1 of 6", "2 of 6", "3 of 6", "4 of 6", "5 of 6", "6 of 6"};
constexpr unsigned kPatterns[] = {0, 1, 0b001001, 0b010101, 0b110110, 0b111110, 63};

void trunk(Lines& lines) {
  head("Robbed bits, pads and laws, noise -80 dBm0");
  for (int k = 0; k < 7; ++k) {
    V90Call::Options o = clean();
    o.trunk.robbed_bits = kPatterns[k];
    row("trunk", std::string("robbed bits ") + kOf[k], o, lines);
  }
  for (const int pad : {3, 6, 9}) {
    V90Call::Options o = clean();
    o.trunk.pad_db = pad;
    row("trunk", "pad " + std::to_string(pad) + " dB", o, lines);
    o.trunk.robbed_bits = 1;
    row("trunk", "pad " + std::to_string(pad) + " dB, robbed bits 1 of 6", o, lines);
  }
  for (const char* law : {"mu-law", "a-law"}) {
    for (const char* codec : {"mu-law", "a-law"}) {
      if (std::strcmp(law, "mu-law") == 0 && std::strcmp(codec, "mu-law") == 0) continue;
      V90Call::Options o = clean();
      o.trunk.law = law;
      o.trunk.codec = codec;
      row("trunk", std::string(law) + " modem, " + codec + " line card", o, lines);
    }
  }
}

void loop(Lines& lines) {
  head("Loops, echo, clocks, round trips, noise -80 dBm0");
  const auto with = [&lines](const std::string& what, auto change) {
    V90Call::Options o = clean();
    change(o.trunk);
    row("loop", what, o, lines);
  };
  for (const int loss : {0, 3, 10, 15})
    with("loop " + std::to_string(loss) + " dB", [loss](auto& t) { t.loss_db = loss; });
  for (const int slope : {3, 6, 9}) {
    with("3400 Hz " + std::to_string(slope) + " dB down", [slope](auto& t) { t.slope_db = slope; });
  }
  for (const int hz : {0, 60, 120})
    with("high-pass " + std::to_string(hz) + " Hz", [hz](auto& t) { t.high_pass_hz = hz; });
  for (const int db : {6, 10, 20})
    with("near echo " + std::to_string(db) + " dB", [db](auto& t) { t.near_echo_db = db; });
  for (const int db : {10, 14})
    with("line card's echo " + std::to_string(db) + " dB", [db](auto& t) { t.card_echo_db = db; });
  for (const int ppm : {-100, -30, 30, 100}) {
    with("clock " + std::to_string(ppm) + " ppm", [ppm](auto& t) { t.clock_ppm = ppm; });
  }
  for (const int ms : {0, 50, 150, 300, 600}) {
    with("one way " + std::to_string(ms) + " ms", [ms](auto& t) { t.delay_ms = ms; });
  }
}

// A cell: final rates down and up, and the events after the first training.
void cross(Lines& lines) {
  constexpr int kPads[] = {0, 3, 6, 9};
  std::printf(
      "\n### Robbed bits with pads, noise -80 dBm0\n\n| law, robbed bits | no pad | 3 dB | 6 dB | 9 dB "
      "|\n|---|---|---|---|---|\n");
  for (const char* law : {"mu-law", "a-law"}) {
    for (int k = 0; k < 7; ++k) {
      std::printf("| %s, %s |", law, kOf[k]);
      for (const int pad : kPads) {
        V90Call::Options o = clean();
        o.trunk.law = o.trunk.codec = law;
        o.trunk.robbed_bits = kPatterns[k];
        o.trunk.pad_db = pad;
        const Result r = lines.run("cross", std::string(law) + ", " + kOf[k] + ", " + std::to_string(pad) + " dB", o);
        all_connected &= r.connected;
        std::string more;
        if (r.renegotiations > 0) more += ", " + std::to_string(r.renegotiations) + " reneg.";
        if (r.retrains > 0) more += ", " + std::to_string(r.retrains) + " retr.";
        std::printf(" %u %u%s |", r.down, r.up, more.c_str());
        std::fflush(stdout);
      }
      std::printf("\n");
    }
  }
}

// The longest round trip over which both train immediately, to 20 ms.
void delay(Lines& lines) {
  const auto name = [](int one_way_ms) { return "one way " + std::to_string(one_way_ms) + " ms"; };
  std::map<int, Result> tried;
  const auto works = [&](int one_way_ms) {
    V90Call::Options o = clean();
    o.trunk.delay_ms = one_way_ms;
    return (tried[one_way_ms] = lines.run("delay", name(one_way_ms), o)).works();
  };
  constexpr int kMost = 1000;  // of the trunk
  int good = 0, bad = kMost;
  if (works(kMost)) good = bad;
  while (bad - good > 10) {
    const int middle = (good + bad) / 20 * 10;
    (works(middle) ? good : bad) = middle;
  }
  head("The longest round trip, noise -80 dBm0");
  for (const auto& [one_way_ms, r] : tried) print(name(one_way_ms), r);
  if (good == kMost) {
    std::printf("\nA round trip of %d ms works; the trunk has no longer one.\n", 2 * kMost);
  } else {
    std::printf("\nRound trips of up to %d ms work, %d ms does not.\n", 2 * good, 2 * bad);
  }
}

struct Section {
  const char* name;
  void (*print)(Lines& lines);
};
constexpr Section kSections[] = {{"noise", noise}, {"power", power}, {"upstream", upstream}, {"errors", errors},
                                 {"trunk", trunk}, {"loop", loop},   {"cross", cross},       {"delay", delay}};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const double minutes = argc > 2 ? std::atof(argv[2]) : 1;
  bool known = what == "all";
  for (const Section& s : kSections) known |= what == s.name;
  if (!known || !(minutes > 0) || argc > 4) {
    std::fprintf(stderr,
                 "usage: v90_lines_bench [noise|power|upstream|errors|trunk|loop|cross|delay|all] [MINUTES] [FILE]\n");
    return 1;
  }
  try {
    Lines lines(minutes, argc > 3 ? argv[3] : nullptr);
    const auto start = std::chrono::steady_clock::now();
    for (const Section& s : kSections)
      if (what == "all" || what == s.name) s.print(lines);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (lines.seconds() > 0)
      std::fprintf(stderr, "%.0f s of line in %.0f s: trunk and both modems %.0f ns a sample period\n", lines.seconds(),
                   wall, 1e9 * wall / (8000 * lines.seconds()));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "v90_lines_bench: %s\n", e.what());
    return 1;
  }
  return all_connected ? 0 : 2;
}
