// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <streambuf>

#include "traces/export/csv.h"
#include "traces/export/perfetto.h"
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
  header.host = {{"name", "nt2000"}};
  return header;
}

/// A log in a file, read back.
struct Export : testing::Test {
  std::string path = testing::TempDir() + "export_test_" + std::to_string(::getpid()) + ".ohlog";
  void TearDown() override { std::filesystem::remove(path); }
  LogReader log_of(const std::vector<oh_event>& events) {
    LogWriter writer(path, to_json(names()));
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
    {110, OH_EV_CALL_BEGIN, 0, 1, 0},
    {110, OH_EV_SERVICE_BEGIN, 0, 1, 105},
    {150, OH_EV_TX_UNDERRUN, 0, 1, 4},
    {150, OH_EV_OUTPUT_READY, 0, 1, 4},
    {190, OH_EV_SERVICE_END, 0, 1, 12},
    {190, OH_EV_CALL_END, 0, 1, 1},
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

TEST(EventNames, AreDistinct) {
  std::map<std::string_view, int> seen;
  for (int kind = 0; kind < 256; ++kind) {
    const std::string_view name = event_name(static_cast<std::uint8_t>(kind));
    if (!name.empty()) {
      EXPECT_TRUE(seen.emplace(name, kind).second) << name;
    }
  }
  EXPECT_EQ(seen.size(), 29u);  // all of enum oh_event_kind but OH_EV_NONE
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

/// What a trace says, as lines "time track: what", by the rules of track_event.proto.
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
                          "110 near service: begin service call",      //
                          "110 near service: begin block",             //
                          "150 near underruns: 4",                     //
                          "150 near service: instant late output(4)",  //
                          "190 near service: end block",               //
                          "190 near samples pending: 12",              //
                          "190 near service: end service call",        //
                          "200 modem, \"soft\": end job",              //
                          "210 near underruns: 7",                     //
                          "220 far link: instant link_retransmit(2)",  //
                          "230 modem, \"soft\": begin resumed",        //
                          "230 modem, \"soft\": end resumed"));
}

TEST_F(Export, PerfettoStandsEndsWithoutBeginningsAndUnknownKinds) {
  LogReader log = log_of({{1, OH_EV_ISR_EXIT, 0, 4, 0},
                          {2, OH_EV_CALL_END, 0, 4, 0},
                          {3, 99, 0, 0, 0},
                          {4, OH_EV_IDLE, 0, 0, 0},
                          {5, OH_EV_RUN, 0, 77, 1}});
  std::ostringstream out;
  export_perfetto(log, out);
  EXPECT_THAT(decode(out.str()), ElementsAre("5 cpu 0 entity 77: begin job", "5 cpu 0 entity 77: end job"));
}

}  // namespace
}  // namespace offhook::traces
