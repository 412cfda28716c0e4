// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <streambuf>

#include "traces/export/csv.h"
#include "traces/export/perfetto.h"
#include "traces/import/perf_sched.h"
#include "traces/log/clock.h"
#include "traces/log/event_names.h"
#include "traces/log/header.h"
#include "traces/log/writer.h"

namespace offhook::traces {
namespace {

using testing::ElementsAre;

LogHeader names() {
  LogHeader header;
  header.entities = {{0, 0, "card isr", "interrupt"}, {0, 1, "modem, \"soft\"", "thread"}};
  header.drivers = {{1, "near"}};
  header.host_name = "nt2000";
  return header;
}

/// A log in a file, read back.
struct Export : testing::Test {
  std::string path = testing::TempDir() + "export_test_" + std::to_string(::getpid()) + ".ohlog";
  void TearDown() override { std::filesystem::remove(path); }
  LogReader log_of(const std::vector<oh_event>& events) {
    LogWriter writer(OutputFile(path, Privacy::kPrivate, Appears::kAtOnce), to_json(names()));
    writer.append(0, events, 0);
    writer.close();
    return LogReader(path);
  }
};

const std::vector<oh_event> kBlock = {
    {100, OH_EV_RUN, 0, 0, 1},
    {100, OH_EV_INTERRUPT, 0, 1, 105},
    {100, OH_EV_ISR_ENTER, 0, 1, 1},
    {110, OH_EV_SERVICE_REQUEST, 0, 1, 1},
    {110, OH_EV_ISR_EXIT, 0, 1, 0},
    {110, OH_EV_FINISH, 0, 0, 10},
    {110, OH_EV_RUN, 0, 1, 1},
    {110, OH_EV_SERVICE_RUN_BEGIN, 0, 1, 0},
    {110, OH_EV_SERVICE_BEGIN, 0, 1, 105},
    {150, OH_EV_TX_UNDERRUN, 0, 1, 4},
    {150, OH_EV_OUTPUT_READY, 0, 1, 4},
    {190, OH_EV_SERVICE_END, 0, 1, 12},
    {190, OH_EV_SERVICE_RUN_END, 0, 1, 1},
    {200, OH_EV_IDLE, 0, 0, 0},
    {210, OH_EV_TX_UNDERRUN, 0, 1, 3},
    {220, OH_EV_LINK_RETRANSMIT, 0, 1, 2},
    {230, OH_EV_RUN, 0, 1, 0},
};

TEST_F(Export, CsvHasStableColumnsAndQuotesNames) {
  LogReader log = log_of({{100, OH_EV_RUN, 0, 1, 1},
                          {105, OH_EV_SERVICE_END, 0, 1, 12},
                          {106, OH_EV_RUN, 0, 9, 0},
                          {107, 99, 0, 2, 4294967295}});
  std::ostringstream out;
  export_csv(log, out);
  EXPECT_EQ(out.str(),
            "time_ns,cpu,kind,id,name,argument\n"
            "100,0,run,1,\"modem, \"\"soft\"\"\",1\n"
            "105,0,service_end,1,near,12\n"
            "106,0,run,9,,0\n"
            "107,0,99,2,,4294967295\n");
  EXPECT_TRUE(log.ending().complete);
}

TEST_F(Export, ARetrainsCauseHasItsName) {
  constexpr std::uint32_t kLost = std::uint32_t{OH_INSTRUMENT_RETRAIN_CAUSE} << 24 | 100 * OH_RETRAIN_LOST;
  const std::vector<oh_event> events = {{5, OH_EV_PUMP_INSTRUMENT, 0, 0, kLost},
                                        {6, OH_EV_PUMP_INSTRUMENT, 0, 0, 100 * 7}};
  std::ostringstream csv, perfetto;
  LogReader log = log_of(events);
  export_csv(log, csv);
  EXPECT_THAT(csv.str(), testing::HasSubstr("5,0,pump_instrument,0,signal lost," + std::to_string(kLost)));
  EXPECT_THAT(csv.str(), testing::HasSubstr("6,0,pump_instrument,0,,700"));
  LogReader again = log_of(events);
  export_perfetto(again, perfetto);
  EXPECT_THAT(perfetto.str(), testing::HasSubstr("signal lost"));
}

TEST(EventNames, AreDistinct) {
  std::map<std::string_view, int> seen;
  for (int kind = 0; kind < 256; ++kind) {
    const std::string_view name = event_name(static_cast<std::uint8_t>(kind));
    if (!name.empty()) {
      EXPECT_TRUE(seen.emplace(name, kind).second) << name;
    }
  }
  EXPECT_EQ(seen.size(), 32u);  // all of enum oh_event_kind except OH_EV_NONE
}

struct FullDisk : std::streambuf {};  // takes nothing

TEST_F(Export, AFullDiskIsAnError) {
  FullDisk disk;
  std::ostream out(&disk);
  LogReader log = log_of(kBlock);
  EXPECT_THROW(export_csv(log, out), LogError);
  std::ostream again(&disk);
  LogReader second(path);
  EXPECT_THROW(export_perfetto(second, again), LogError);
}

/// A protobuf reader of its own: message = field number -> values, in order. Throws on malformed bytes.
struct Message {
  struct Value {
    std::uint64_t integer = 0;
    std::string bytes;
  };
  std::multimap<std::uint64_t, Value> fields;

  explicit Message(const std::string& in) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(in.at(at++));
        if (shift > 63) throw std::runtime_error("varint too long");
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if ((byte & 0x80) == 0) return value;
      }
    };
    while (at < in.size()) {
      const std::uint64_t key = varint();
      Value value;
      switch (key & 7) {
        case 0:
          value.integer = varint();
          break;
        case 2: {
          const std::uint64_t n = varint();
          if (n > in.size() - at) throw std::runtime_error("length beyond the message");
          value.bytes = in.substr(at, n);
          at += n;
          break;
        }
        default:
          throw std::runtime_error("unexpected wire type");
      }
      if (key >> 3 == 0) throw std::runtime_error("field number 0");
      fields.emplace(key >> 3, value);
    }
  }
  std::optional<std::uint64_t> integer(std::uint64_t field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::nullopt : std::optional(found->second.integer);
  }
  std::optional<std::string> bytes(std::uint64_t field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::nullopt : std::optional(found->second.bytes);
  }
};

/// The content of a trace, as lines "time track: what", by the rules of track_event.proto.
std::vector<std::string> decode(const std::string& bytes) {
  std::vector<std::string> lines;
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, bool> is_counter;
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<std::string>> open;
  bool cleared = false;
  const Message trace(bytes);
  for (const auto& [field, value] : trace.fields) {
    EXPECT_EQ(field, 1u);
    const Message packet(value.bytes);
    EXPECT_EQ(packet.integer(10), 1u) << "sequence id";
    const std::uint64_t flags = packet.integer(13).value_or(0);
    if (flags & 1) cleared = true;
    EXPECT_TRUE(cleared || (flags & 2) == 0) << "interned names before the sequence's state was cleared";
    if (const auto interned = packet.bytes(12)) {
      for (const auto& [id, name] : Message(*interned).fields) {
        EXPECT_EQ(id, 2u);
        const Message entry(name.bytes);
        EXPECT_TRUE(names.emplace(entry.integer(1).value(), entry.bytes(2).value()).second) << "interned twice";
      }
    }
    if (const auto text = packet.bytes(60)) {
      const Message track(*text);
      const std::uint64_t uuid = track.integer(1).value();
      std::string name = track.bytes(2).value_or("");
      if (const auto process = track.bytes(3)) name = "process " + Message(*process).bytes(6).value();
      if (const auto thread = track.bytes(4)) {
        EXPECT_EQ(Message(*thread).integer(1), 1u) << "pid";
        EXPECT_NE(Message(*thread).integer(2), 1u) << "tid of the main thread would merge with the process";
        EXPECT_EQ(Message(*thread).bytes(5), name);
      } else if (!track.bytes(3)) {
        EXPECT_TRUE(tracks.count(track.integer(5).value())) << "parent";
      }
      is_counter[uuid] = track.bytes(8).has_value();
      EXPECT_TRUE(tracks.emplace(uuid, name).second) << "track described twice";
    }
    if (const auto text = packet.bytes(11)) {
      const Message event(*text);
      const std::uint64_t track = event.integer(11).value();
      EXPECT_TRUE(tracks.count(track)) << "event on an undescribed track";
      std::string line = std::to_string(packet.integer(8).value()) + " " + tracks[track] + ": ";
      const std::uint64_t type = event.integer(9).value();
      EXPECT_EQ(type == 4, is_counter[track]);
      if (type == 4) {
        line += std::to_string(event.integer(30).value());
      } else if (type == 2) {
        EXPECT_FALSE(open[track].empty()) << "end of a slice that did not begin";
        if (!open[track].empty()) {
          line += "end " + open[track].back();
          open[track].pop_back();
        }
      } else {
        const std::string name = names.at(event.integer(10).value());
        line += (type == 1 ? "begin " : "instant ") + name;
        if (type == 1) open[track].push_back(name);
        if (const auto annotation = event.bytes(4)) {
          EXPECT_EQ(Message(*annotation).bytes(10), "argument");
          line += "(" + std::to_string(Message(*annotation).integer(3).value()) + ")";
        }
      }
      lines.push_back(line);
    }
  }
  for (const auto& [track, slices] : open)
    EXPECT_TRUE(slices.empty()) << "a slice of " << tracks[track] << " stays open";
  return lines;
}

TEST_F(Export, PerfettoTellsTheStoryOfABlock) {
  LogReader log = log_of(kBlock);
  std::ostringstream out;
  export_perfetto(log, out);
  EXPECT_THAT(decode(out.str()),
              ElementsAre("100 card isr: begin job",                   //
                          "100 near card: instant interrupt(105)",     //
                          "100 near isr: begin isr",                   //
                          "110 near owed blocks: 1",                   //
                          "110 near isr: end isr",                     //
                          "110 card isr: end job",                     //
                          "110 modem, \"soft\": begin job",            //
                          "110 near service: begin service run",       //
                          "110 near service: begin block",             //
                          "150 near underruns: 4",                     //
                          "150 near service: instant late output(4)",  //
                          "190 near service: end block",               //
                          "190 near samples pending: 12",              //
                          "190 near service: end service run",         //
                          "200 modem, \"soft\": end job",              //
                          "210 near underruns: 7",                     //
                          "220 far link: instant link_retransmit(2)",  //
                          "230 modem, \"soft\": begin resumed",        //
                          "230 modem, \"soft\": end resumed"));
}

TEST_F(Export, PerfettoStandsEndsWithoutBeginningsAndUnknownKinds) {
  LogReader log = log_of({{1, OH_EV_ISR_EXIT, 0, 4, 0},
                          {2, OH_EV_SERVICE_RUN_END, 0, 4, 0},
                          {3, 99, 0, 0, 0},
                          {4, OH_EV_IDLE, 0, 0, 0},
                          {5, OH_EV_RUN, 0, 77, 1}});
  std::ostringstream out;
  export_perfetto(log, out);
  EXPECT_THAT(decode(out.str()), ElementsAre("5 cpu 0 entity 77: begin job", "5 cpu 0 entity 77: end job"));
}

TEST_F(Export, PerfettoLaysTheKernelsEventsOnTheLogsClock) {
  using Type = KernelEvent::Type;
  const auto event = [](Type type, std::int64_t time, const char* name = "") {
    KernelEvent e;
    e.type = type;
    e.time = time;
    e.name = name;
    return e;
  };
  KernelEvent to_modem = event(Type::kSwitch, 1105), to_idle = event(Type::kSwitch, 1190);
  to_modem.next = {"modem", 77, 49};
  to_idle.thread = to_modem.next;
  to_idle.next = {"swapper/0", 0, 120};
  KernelEvent softirq = event(Type::kEnter, 1125, "NET_RX");
  softirq.kind = hostsim::HostLoad::Kind::kSoftirq;
  const std::vector<KernelEvent> events = {
      event(Type::kEnter, 900, "before the call"),
      event(Type::kLeave, 1101, "whose entry was lost"),
      to_modem,
      event(Type::kEnter, 1120, "local_timer"),
      event(Type::kTimerEnter, 1121),
      event(Type::kTimerLeave, 1122),
      event(Type::kLeave, 1124, "local_timer"),
      softirq,  // its end was lost: the switch ends it
      to_idle,
      event(Type::kEnter, 1240, "after the call"),
  };
  LogReader log = log_of({{100, OH_EV_ISR_ENTER, 0, 4, 0}, {200, OH_EV_ISR_EXIT, 0, 4, 0}});
  std::ostringstream out;
  const std::uint64_t within = export_perfetto(
      log, out,
      {.read = [&](const auto& take) { std::for_each(events.begin(), events.end(), take); }, .to_log_ns = -1000});
  EXPECT_EQ(within, events.size() - 2);
  EXPECT_THAT(decode(out.str()), ElementsAre("100 driver 4 isr: begin isr",              //
                                             "200 driver 4 isr: end isr",                //
                                             "105 CPU 0: begin modem 77",                //
                                             "120 CPU 0 interrupts: begin local_timer",  //
                                             "121 CPU 0 interrupts: begin timer",        //
                                             "122 CPU 0 interrupts: end timer",          //
                                             "124 CPU 0 interrupts: end local_timer",    //
                                             "125 CPU 0 softirqs: begin NET_RX",         //
                                             "190 CPU 0 softirqs: end NET_RX",           //
                                             "190 CPU 0: end modem 77"));
}

TEST(LogClock, KnowsTheKernelsOtherClocksAndRefusesTheRest) {
  const LogClock clock{"mono", {{"boot", 500}, {"mono_raw", -20}}};
  EXPECT_EQ(to_log_clock(clock, "mono"), 0);
  EXPECT_EQ(to_log_clock(clock, "boot"), -500);
  EXPECT_EQ(to_log_clock(clock, "mono_raw"), 20);
  for (const char* unknown : {"local", "x86-tsc", ""}) EXPECT_EQ(to_log_clock(clock, unknown), std::nullopt);
  EXPECT_EQ(to_log_clock(LogClock{}, "mono"), std::nullopt);
  const LogHeader odd = parse_log_header(R"({"scenario": {"clock": {"name": "mono", "offsets_ns": 3}}})");
  EXPECT_EQ(to_log_clock(odd.scenario.clock.value(), "boot"), std::nullopt);
}

TEST(LogClock, LiveOffsetsGoThroughTheHeader) {
  LogHeader header;
  header.scenario.clock = live_clock();
  const LogClock clock = parse_log_header(to_json(header)).scenario.clock.value();
  EXPECT_EQ(to_log_clock(clock, "mono"), 0);
  // CLOCK_BOOTTIME counts while the machine sleeps: it is never behind.
  ASSERT_TRUE(to_log_clock(clock, "boot").has_value());
  EXPECT_LE(*to_log_clock(clock, "boot"), 1'000'000);
}

TEST(PerfSchedWriter, WhatItWritesIsReadAgain) {
  using Type = KernelEvent::Type;
  std::vector<KernelEvent> events(6);
  events[0] = {
      .type = Type::kSwitch, .time = 1'000'000'005, .cpu = 1, .thread = {"a b", 7, 120}, .next = {"c:d", 8, 49}};
  events[1] = {.type = Type::kEnter, .time = 1'000'000'006, .cpu = 1, .name = "local_timer"};
  events[2] = {.type = Type::kTimerEnter, .time = 1'000'000'007, .cpu = 1};
  events[3] = {.type = Type::kTimerLeave, .time = 1'000'000'008, .cpu = 1};
  events[4] = {.type = Type::kLeave, .time = 1'000'000'009, .cpu = 1, .name = "local_timer"};
  events[5] = {
      .type = Type::kEnter, .time = 1'000'000'010, .cpu = 1, .kind = hostsim::HostLoad::Kind::kSoftirq, .name = "RCU"};
  PerfSchedWriter writer;
  std::string text;
  for (const KernelEvent& event : events) text += writer.line(event);
  std::vector<KernelEvent> again;
  EXPECT_EQ(read_perf_sched(text, "text", [&](const KernelEvent& e) { again.push_back(e); }), events.size());
  ASSERT_EQ(again.size(), events.size());
  for (std::size_t k = 0; k < events.size(); ++k) {
    EXPECT_EQ(again[k].type, events[k].type) << k;
    EXPECT_EQ(again[k].time, events[k].time) << k;
    EXPECT_EQ(again[k].cpu, events[k].cpu) << k;
    EXPECT_EQ(again[k].kind, events[k].kind) << k;
    EXPECT_EQ(again[k].name, events[k].name) << k;
    EXPECT_EQ(again[k].next.name, events[k].next.name) << k;
    EXPECT_EQ(again[k].next.pid, events[k].next.pid) << k;
  }
}

}  // namespace
}  // namespace offhook::traces
