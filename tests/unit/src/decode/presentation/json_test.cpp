// SPDX-License-Identifier: MIT
//
// The JSON of decoded calls against the tables that describe it: what is written is described, with its type, and what
// is described is written. docs/decode-json.md has these tables; DecodeJson.* with OFFHOOK_WRITE=1 writes them there.
#include "src/decode/presentation/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "offhook/decode.h"
#include "tests/recordings.h"

namespace offhook::decode {
namespace {

using Json = nlohmann::ordered_json;

struct Key {
  std::string type, unit;
  bool always;
};
using Schema = std::map<std::string, std::map<std::string, Key>>;  // by type, by key

std::string trimmed(const std::string& s) {
  const auto from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
  return from == std::string::npos ? "" : s.substr(from, to - from + 1);
}

// Tables that describe the JSON: "## Type", then rows "| `key` | type | unit | absent | meaning |".
const Schema& documented() {
  static const Schema schema = [] {
    Schema all;
    std::istringstream in(record::tables_of(kDocument));
    std::string type;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("## ")) type = line.substr(3);
      if (!line.starts_with("| `")) continue;
      std::istringstream cells(line.substr(2));
      std::string key, kind, unit, absent;
      std::getline(cells, key, '|');
      std::getline(cells, kind, '|');
      std::getline(cells, unit, '|');
      std::getline(cells, absent, '|');
      key = trimmed(key);
      all[type][key.substr(1, key.size() - 2)] = {trimmed(kind), trimmed(unit), trimmed(absent) == "never"};
    }
    return all;
  }();
  return schema;
}

class Check {
 public:
  void value(const Json& v, const std::string& type, const std::string& path) {
    if (type.starts_with("list of ")) {
      ASSERT_TRUE(v.is_array()) << path;
      for (const Json& one : v) value(one, type.substr(8), path + "[]");
    } else if (type == "string") {
      EXPECT_TRUE(v.is_string()) << path << ": " << v;
    } else if (type == "boolean") {
      EXPECT_TRUE(v.is_boolean()) << path << ": " << v;
    } else if (type == "integer") {
      EXPECT_TRUE(v.is_number_integer()) << path << ": " << v;
    } else if (type == "number") {
      EXPECT_TRUE(v.is_number()) << path << ": " << v;
    } else {
      object(v, type, path);
    }
  }
  // Documented keys that no value had.
  std::vector<std::string> unseen() const {
    std::vector<std::string> left;
    for (const auto& [type, keys] : documented()) {
      for (const auto& [key, k] : keys) {
        if (!seen_.contains(type + "." + key)) left.push_back(type + "." + key);
      }
    }
    return left;
  }

 private:
  void object(const Json& v, const std::string& type, const std::string& path) {
    ASSERT_TRUE(documented().contains(type)) << path << ": " << type << " is no type of the document";
    ASSERT_TRUE(v.is_object()) << path << ": " << v;
    const auto& keys = documented().at(type);
    for (const auto& [key, one] : v.items()) {
      ASSERT_TRUE(keys.contains(key)) << path << "." << key << " is not described";
      seen_.insert(type + "." + key);
      value(one, keys.at(key).type, path + "." + key);
    }
    for (const auto& [key, k] : keys) EXPECT_TRUE(!k.always || v.contains(key)) << path << "." << key << " is missing";
  }
  std::set<std::string> seen_;
};

V8bisMessage v8bis(std::vector<std::uint8_t> octets) {
  V8bisMessage m;
  m.malformed = v8bis::parse(octets.data(), static_cast<int>(octets.size()), &m.message);
  m.octets = std::move(octets);
  return m;
}

template <class T>
InfoHeard info(const T& fields, int carrier_hz) {
  InfoHeard i;
  i.info = fields;
  i.carrier_hz = carrier_hz;
  i.bits.resize(T::kBits);
  return i;
}

Segment segment(bool pp) {
  Segment p;
  p.t_s = 1, p.t_s_bar = 1.1, p.t_pp = pp ? 1.2 : 0;
  p.trn_symbols = 600;
  p.j_points = 4, p.t_j_prime = 2;
  p.t_e_end = pp ? 0 : 3;
  MpHeard mp{};
  mp.mp.type1 = true;
  p.mp = {mp};
  CpHeard cp{};
  cp.cp.codec_differs = true;
  p.cp = {cp};
  return p;
}

Link link() {
  Link l;
  l.detection = "ODP";
  l.format = "8N1";
  LapmFrame f;
  f.kind = "I";
  f.ns = f.nr = 0;
  l.frames = {f};
  return l;
}

StartUp everything_of_start_up() {
  StartUp s;
  s.call_channel = s.channel_1200 = 0;
  s.answer_channel = s.channel_2400 = 1;
  s.roles_from = "V.8: V.21(L) CM";
  s.v8bis_signals.emplace_back();
  // CL with parameters of parameters and a non-standard field, one with an octet missing, and QC2 both ways.
  for (const auto& octets : std::vector<std::vector<std::uint8_t>>{
           {0x12, 0xC1, 0x80, 0x80, 0x81, 0xC6, 0x09, 0xB5, 0x02, 0x00, 0x94, 0x81, 0x83, 0x03, 0x47, 0x85},
           {0x11},
           {0x2D, 0x29}}) {
    s.v8bis.push_back(v8bis(octets));
  }
  s.answer_tones.push_back({.reversals = {1.5}});
  MenuHeard menu;
  menu.octets = {0xC1, 0x10, 0x05, 0x10, 0x10};
  menu.menu.has_protocol = menu.menu.has_access = menu.menu.has_pcm = true;
  s.v8.cm = s.v8.jm = {menu};
  s.v8.cj = 2;
  QuickConnectHeard qc;
  qc.qc.uqts = 78;
  s.v8.quick_connect = {qc, qc, qc};
  s.v8.quick_connect[1].qc.uqts = 0;
  s.v8.quick_connect[2].qc.digital = true;
  s.info = {info(v34::Info0{}, 1200), info(v34::Info0d{}, 1200), info(v34::Info1c{}, 1200), info(v34::Info1a{}, 2400),
            info(v34::Info1aV90{}, 2400)};
  s.hold.push_back({.carrier_hz = 1200, .count = 3, .message = {v90::HoldSignal::kAcknowledge, 3}});
  s.hold.push_back({.carrier_hz = 2400, .count = 3, .message = v90::hold_message(v90::HoldSignal::kRequest)});
  s.tone_a.segments = s.tone_b.segments = {{1, 2}};
  s.info.push_back(info(v34::Info0{}, 2400));
  s.info.back().far_digital = true;
  s.probing.push_back({.l1_to_l2 = 1, .frequency_hz = {150}, .tone_db = {0}, .snr_db = {30}});
  return s;
}

// One of each thing that a call may hold, whether or not one call may hold them all.
Call everything() {
  Call call;
  call.recording.peak = call.recording.clipped = {0, 0};
  call.activity_end_s = {1, 1};
  call.recording.call = 2;
  RtpStream stream;
  stream.clock_ppm = 20;
  stream.clock_uncertainty_ppm = 2;
  stream.events.push_back({1, 1.06, "packets lost", "3, 60 ms of silence inserted"});
  call.recording.rtp = {stream};
  call.recording.sip = SipCall{"7@host", "100", "200"};
  call.recording.t38 = {{1, 0, true, {0xFF, 0x13, 0x80}}};
  call.recording.t38_streams.emplace_back();
  call.clock_difference_ppm = 100;
  call.echo = {{EchoPath{}}, {}};
  call.start_up = everything_of_start_up();
  Training t;
  t.from_1200.segments = {segment(true), segment(false), segment(false)};
  t.from_1200.data.emplace_back().b1_found = true;
  t.from_1200.links = {link()};
  t.rates = {14, 14};
  Training pcm = t;
  pcm.pcm = true;
  pcm.from_2400 = t.from_1200;
  CpHeard cp{};
  cp.cp.data_mode = true;
  cp.cp.drn = 10;
  pcm.from_2400.segments[1].cp = {cp};
  DownstreamHeard& down = pcm.downstream;
  down.t_trn1d = down.t_jd_end = 1;
  down.learnt = 1;
  down.jd.emplace();
  down.mp.emplace_back().mp.type1 = true;
  down.data.emplace_back();
  pcm.downstream_links = {link()};
  down.stopped = "the levels can no longer be distinguished";
  call.trainings = {t, pcm};
  call.fax.cng.emplace_back();
  call.fax.frames.emplace_back();
  call.fax.damaged.emplace_back();
  call.fax.sent.carriers = {{.test = true, .good_frames = 1, .bad_frames = 1, .lost_packets = 1}};
  call.fax.sent.pages = {{.format = {.rate = PageRate{}, .coding = PageCoding::kT6},
                          .blocks = {{.frames = 2, .data = {{}, {1}}}},
                          .reading = {.lines = 3, .bad = {{0, 1}}},
                          .end = "EOP",
                          .response = "RTN"}};
  call.fsk.push_back({.modulation = "V.21", .text = {.format = "8N1", .characters = {}}});
  call.signals.emplace_back();
  call.symbol_clocks.emplace_back();
  call.connection.modulation = "V.32bis";
  for (Connection::Side* side : {&call.connection.call, &call.connection.answer}) {
    side->channel = 0;
    side->signals = {{1, 2, "AA", "no reversal"}};
    side->rate_signals.emplace_back();
    side->data.emplace_back();
    side->links = {link()};
  }
  return call;
}

TEST(DecodeJson, WhatIsWrittenIsDocumentedAndWhatIsDocumentedIsWritten) {
  ASSERT_GT(documented().size(), 30u);
  Check check;
  check.value(json_of(everything()), "Document", "");
  Call v32bis = everything();  // the changes of V.32bis carry rates
  v32bis.trainings.clear();
  v32bis.connection.changes = {{Change::Kind::kRenegotiation, 1, 0, "call", 9600}};
  check.value(json_of(v32bis), "Document", "");
  EXPECT_THAT(check.unseen(), testing::IsEmpty());
}

TEST(DecodeJson, ThePageHasTheTables) {
  const std::filesystem::path page = std::filesystem::path(OFFHOOK_SOURCE_DIR) / "docs/decode-json.md";
  std::ifstream in(page);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = text.find("## Document\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string tables = record::tables_of(kDocument);
  if (std::getenv("OFFHOOK_WRITE") != nullptr) {
    std::ofstream(page) << text.substr(0, begin) << tables;
  } else {
    EXPECT_EQ(text.substr(begin), tables) << "OFFHOOK_WRITE=1 unit_src --gtest_filter='DecodeJson.*' writes the page";
  }
}

TEST(DecodeJson, ACallOfNothingIsDocumentedToo) {
  Check check;
  check.value(json_of(Call{}), "Document", "");
}

TEST(DecodeJson, RecordedCallsAreAsDocumented) {
  const auto calls = recordings() / "calls";
  const std::vector<std::string> files = {"USR-Sportster-bong-bong.wav", "agere1648c-31200-31200.wav",
                                          "Agere-SV92-QC.wav", "banksia-mymodem144-V32bis-14400-14400.wav"};
  if (const std::string lacks = absent(calls, files); !lacks.empty())
    GTEST_SKIP() << lacks << " is not on this machine";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    Check check;
    check.value(Json::parse(to_json(*decode_file(calls / file))), "Document", "");
  }
}

TEST(DecodeJson, KeysEndWithTheirUnits) {
  const std::map<std::string, std::string> ends = {
      {"_s", "s"},     {"_hz", "Hz"},         {"_db", "dB"},          {"_dbm0", "dBm0"},
      {"_ppm", "ppm"}, {"bit_rate", "bit/s"}, {"bit_rates", "bit/s"}, {"symbol_rate", "symbols/s"}};
  for (const auto& [type, keys] : documented()) {
    for (const auto& [key, k] : keys) {
      if (k.type != "number" && k.type != "integer" && !k.type.ends_with("of number") &&
          !k.type.ends_with("of integer"))
        continue;
      if (key.starts_with("channel_")) continue;  // which channel, at 1200 or 2400 Hz
      std::string unit;
      for (const auto& [end, of] : ends) {
        if (key.ends_with(end)) unit = of;
      }
      EXPECT_EQ(k.unit, unit) << type << "." << key;
    }
  }
}

}  // namespace
}  // namespace offhook::decode
