// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "traces/log/crc32.h"
#include "traces/log/header.h"
#include "traces/log/reader.h"
#include "traces/log/writer.h"

namespace offhook::traces {
namespace {

using testing::HasSubstr;

OutputFile at(const std::string& path) {
  return {path, Privacy::kPrivate, Appears::kAtOnce};
}

struct LogFile : testing::Test {
  std::string path = testing::TempDir() + "log_test_" + std::to_string(::getpid()) + ".ohlog";
  void TearDown() override { std::filesystem::remove(path); }

  std::string content() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace_content(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string error_of_opening() const {
    try {
      LogReader reader(path);
    } catch (const LogError& e) {
      return e.what();
    }
    return "no error";
  }
};

oh_event event(std::uint64_t i, std::uint8_t cpu = 0) {
  return {1000 * i, OH_EV_MARK, cpu, static_cast<std::uint16_t>(i % 7), static_cast<std::uint32_t>(i)};
}

std::vector<oh_event> events(std::uint64_t from, std::uint64_t n, std::uint8_t cpu = 0) {
  std::vector<oh_event> out;
  for (std::uint64_t i = from; i < from + n; ++i) out.push_back(event(i, cpu));
  return out;
}

bool same(const oh_event& a, const oh_event& b) {
  return a.time_ns == b.time_ns && a.kind == b.kind && a.cpu == b.cpu && a.id == b.id && a.argument == b.argument;
}

/// Reads to the end, and checks that the events are event(0), event(1), ...
std::uint64_t count_in_order(LogReader& reader) {
  std::uint64_t n = 0;
  while (reader.next()) {
    for (const oh_event& e : reader.events()) {
      EXPECT_TRUE(same(e, event(n))) << n;
      ++n;
    }
  }
  EXPECT_EQ(reader.ending().events, n);
  return n;
}

TEST(Crc32, AgreesWithTheCheckValueAndInPieces) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32(digits.data(), digits.size()), 0xcbf43926u);  // the CRC catalogue's check value
  const std::string text = "The quick brown fox jumps over the lazy dog";
  EXPECT_EQ(crc32(text.data(), text.size()), 0x414fa339u);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32(text.data() + cut, text.size() - cut, crc32(text.data(), cut)), 0x414fa339u);
  }
}

TEST_F(LogFile, GivesBackWhatWasWritten) {
  constexpr std::uint64_t kEvents = 3 * kChunkEvents + 17;
  {
    LogWriter writer(at(path), "{\"a\": 1}");
    const auto all = events(0, kEvents);
    writer.append(0, std::span(all).first(5), 0);
    writer.append(0, std::span(all).subspan(5), 9);
    writer.close();
    EXPECT_EQ(writer.events_written(), kEvents);
    EXPECT_EQ(writer.bytes_written(), std::filesystem::file_size(path));
  }
  LogReader reader(path);
  EXPECT_EQ(reader.header_json(), "{\"a\": 1}");
  EXPECT_EQ(count_in_order(reader), kEvents);
  EXPECT_TRUE(reader.ending().complete) << reader.ending().message;
  EXPECT_EQ(reader.ending().message, "");
  EXPECT_EQ(reader.ending().lost, 9u);
  EXPECT_FALSE(reader.next());
}

TEST_F(LogFile, KeepsCpusApartAndSaysWhatEachLost) {
  {
    LogWriter writer(at(path), "{}");
    writer.append(1, events(0, 3, 1), 2);
    writer.append(0, events(0, 2, 0), 0);
    writer.append(1, events(3, 1, 1), 5);
  }
  LogReader reader(path);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.cpu(), 0);
  EXPECT_EQ(reader.events().size(), 2u);
  EXPECT_EQ(reader.lost(), 0u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.cpu(), 1);
  EXPECT_EQ(reader.events().size(), 4u);
  EXPECT_EQ(reader.lost(), 5u);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.ending().complete);
  EXPECT_EQ(reader.ending().lost, 5u);
}

TEST_F(LogFile, DrainsARingAndItsLosses) {
  oh_event_log ring;
  std::vector<oh_event> slots(64);
  ASSERT_EQ(oh_event_log_init(&ring, slots.data(), slots.size(), 0), 0);
  std::uint64_t next = 0;
  {
    LogWriter writer(at(path), "{}");
    for (int round = 0; round < 1000; ++round) {
      for (int i = 0; i < round % 64; ++i, ++next) {
        const oh_event e = event(next);
        oh_event_log_write(&ring, e.time_ns, OH_EV_MARK, e.id, e.argument);
      }
      writer.drain(ring);
    }
    for (int i = 0; i < 70; ++i) {
      const oh_event e = event(next + static_cast<std::uint64_t>(i));
      oh_event_log_write(&ring, e.time_ns, OH_EV_MARK, e.id, e.argument);
    }
    writer.drain(ring);
  }
  LogReader reader(path);
  EXPECT_EQ(count_in_order(reader), next + 64);
  EXPECT_EQ(reader.ending().lost, 6u);
}

TEST_F(LogFile, SameEventsSameBytes) {
  const auto write = [&](const std::string& to) {
    LogWriter writer(at(to), "{}");
    writer.append(3, events(0, 5000, 3), 1);
    writer.append(0, events(0, 10), 0);
  };
  write(path);
  const std::string first = content();
  write(path);
  EXPECT_EQ(content(), first);
}

TEST_F(LogFile, CutAnywhereGivesAllWholeChunksAndSaysWhere) {
  {
    LogWriter writer(at(path), "{\"entities\": []}");
    for (std::uint64_t i = 0; i < 4; ++i) {
      writer.append(0, events(10 * i, 10), 0);
      writer.flush();
    }
  }
  const std::string whole = content();
  const std::size_t header = sizeof(FileHeader) + 16;
  const std::size_t chunk = sizeof(ChunkHeader) + 10 * sizeof(oh_event);
  ASSERT_EQ(whole.size(), header + 4 * chunk + sizeof(ChunkHeader));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    replace_content(whole.substr(0, cut));
    if (cut < header) {
      EXPECT_NE(error_of_opening(), "no error") << cut;
      continue;
    }
    LogReader reader(path);
    const std::uint64_t chunks = std::min<std::uint64_t>((cut - header) / chunk, 4);
    EXPECT_EQ(count_in_order(reader), 10 * chunks) << cut;
    EXPECT_FALSE(reader.ending().complete);
    EXPECT_EQ(reader.ending().offset, header + chunks * chunk);
    EXPECT_THAT(reader.ending().message, HasSubstr("byte " + std::to_string(header + chunks * chunk) + ": "));
    EXPECT_THAT(reader.ending().message, HasSubstr(path));
  }
}

TEST_F(LogFile, AFlippedBitIsFoundWhereItIs) {
  {
    LogWriter writer(at(path), "{}");
    for (std::uint64_t i = 0; i < 3; ++i) {
      writer.append(0, events(10 * i, 10), 0);
      writer.flush();
    }
  }
  const std::string whole = content();
  const std::size_t header = sizeof(FileHeader) + 2;
  const std::size_t chunk = sizeof(ChunkHeader) + 10 * sizeof(oh_event);
  for (std::size_t at = header; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    replace_content(damaged);
    LogReader reader(path);
    const std::uint64_t chunks = (at - header) / chunk;
    EXPECT_EQ(count_in_order(reader), 10 * chunks) << at;
    EXPECT_FALSE(reader.ending().complete) << at;
    EXPECT_EQ(reader.ending().offset, header + chunks * chunk) << at;
  }
}

TEST_F(LogFile, RefusesWhatIsNoLog) {
  EXPECT_THAT(error_of_opening(), HasSubstr("No such file"));
  replace_content("");
  EXPECT_THAT(error_of_opening(), HasSubstr("empty file; expected an event log"));
  replace_content("RIFF....WAVEfmt ................");
  EXPECT_THAT(error_of_opening(), HasSubstr("byte 0: not an event log"));
  { LogWriter writer(at(path), "{}"); }
  const std::string good = content();
  std::string bad = good;
  bad[8] = 2;
  replace_content(bad);
  EXPECT_THAT(error_of_opening(), HasSubstr("version 2; this program reads version 1"));
  bad = good;
  bad[15] = 0x7f;
  replace_content(bad);
  EXPECT_THAT(error_of_opening(), HasSubstr("at most 1048576 expected"));
  bad = good;
  bad[24] = '[';
  replace_content(bad);
  EXPECT_THAT(error_of_opening(), HasSubstr("does not match its checksum"));
  replace_content(good + "x");
  LogReader reader(path);
  EXPECT_FALSE(reader.next());
  EXPECT_THAT(reader.ending().message, HasSubstr("data after the end record"));
  EXPECT_THROW(LogReader("/"), LogError);
}

TEST_F(LogFile, AFifoIntoWhichNobodyWritesIsRefusedAtOnce) {
  { LogWriter writer(at(path), "{}"); }
  const std::string good = content();
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  alarm(30);  // a wait would never end
  EXPECT_THAT(error_of_opening(), HasSubstr("is a FIFO without a writer; expected an event log"));
  const int writer = open(path.c_str(), O_RDWR);
  ASSERT_EQ(write(writer, good.data(), good.size()), static_cast<ssize_t>(good.size()));
  LogReader reader(path);
  close(writer);
  alarm(0);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.ending().complete);
}

TEST_F(LogFile, AWriterKilledAtAnyPointLeavesAReadableLog) {
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      LogWriter writer(at(path), "{}");
      for (std::uint64_t i = 0;; i += 100) {
        writer.append(0, events(i, 100), 0);
        if (i % 1000 == 0) {
          writer.flush();
          const std::uint64_t safe = writer.events_written();
          if (::write(told[1], &safe, sizeof safe) != sizeof safe) _exit(1);
        }
      }
    }
    ::close(told[1]);
    std::uint64_t safe = 0;
    std::uint64_t message = 0;
    const auto enough = 3 + random() % 200;
    for (std::uint64_t i = 0; i < enough && ::read(told[0], &message, sizeof message) == sizeof message; ++i) {
      safe = message;
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (::read(told[0], &message, sizeof message) == sizeof message) safe = message;
    ::close(told[0]);
    LogReader reader(path);
    EXPECT_GE(count_in_order(reader), safe);
    EXPECT_GT(safe, 0u);
    EXPECT_FALSE(reader.ending().complete);
  }
}

/// A limit on the file's size replaces a full disk: the same failed write on any machine.
TEST_F(LogFile, AFullDiskGivesOneErrorAndLeavesAReadableLog) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    LogWriter writer(at(path), "{}");
    int errors = 0;
    std::string message;
    for (std::uint64_t i = 0; i < 100'000; i += 100) {
      try {
        writer.append(0, events(i, 100), 0);
      } catch (const LogError& e) {
        ++errors;
        message = e.what();
      }
    }
    try {
      writer.close();
    } catch (const LogError&) {
      ++errors;
    }
    const bool clear = message.find(path) != std::string::npos &&
                       message.find("failed at byte 200000") != message.npos &&
                       message.find("the 12288 events before it are safe") != message.npos;
    _exit(errors == 1 && clear ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  LogReader reader(path);
  EXPECT_EQ(count_in_order(reader), 12288u);  // three whole chunks of 4096
  EXPECT_FALSE(reader.ending().complete);
  EXPECT_THAT(reader.ending().message, HasSubstr("without its end record"));
}

TEST(LogDevice, AFullDeviceIsNamed) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  try {
    LogWriter writer(at("/dev/full"), "{}");
    FAIL() << "no error";
  } catch (const LogError& e) {
    EXPECT_THAT(e.what(), HasSubstr("/dev/full"));
    EXPECT_THAT(e.what(), HasSubstr("No space left on device"));
  }
}

TEST(LogReader, RefusesALengthThatNoWriterWouldWriteBeforeMakingRoomForIt) {
  std::string file(sizeof(FileHeader), '\0');
  const FileHeader header = {kLogMagic, kLogVersion, 0, crc32("", 0), 0};
  std::memcpy(file.data(), &header, sizeof header);
  const ChunkHeader huge = {kChunkMarker, 0, 0, 0xffffffff, 0};
  file.append(reinterpret_cast<const char*>(&huge), sizeof huge);
  LogReader reader(std::make_unique<std::istringstream>(file), "huge");
  EXPECT_FALSE(reader.next());
  EXPECT_THAT(reader.ending().message, HasSubstr("a chunk of 4294967295 events; expected 1 to 4096"));
}

TEST(LogHeader, RoundTrips) {
  LogHeader header;
  header.entities = {{0, 3, "modem \"thread\"", "thread"}, {1, 0, "card", "interrupt"}};
  header.drivers = {{1, "near"}};
  header.host_name = "nt2000";
  header.host = R"({"cpu": "a CPU"})";
  header.scenario = {.toml = "name = \"x\"\n", .context = "INT", .live = true};
  const LogHeader back = parse_log_header(to_json(header));
  ASSERT_EQ(back.entities.size(), 2u);
  EXPECT_EQ(back.entities[0].name, "modem \"thread\"");
  EXPECT_EQ(back.entities[1].cpu, 1u);
  EXPECT_EQ(back.entities[1].kind, "interrupt");
  EXPECT_EQ(back.drivers[0].name, "near");
  EXPECT_EQ(back.host_name, "nt2000");
  EXPECT_EQ(back.host, R"({"cpu":"a CPU","name":"nt2000"})");
  EXPECT_EQ(back.scenario.toml, header.scenario.toml);
  EXPECT_EQ(back.scenario.context, "INT");
  EXPECT_EQ(back.scenario.host, "");
  EXPECT_TRUE(back.scenario.live);
  EXPECT_FALSE(back.scenario.clock);
  EXPECT_THROW(parse_log_header("{"), LogError);
  EXPECT_THROW(parse_log_header("[]"), LogError);
  EXPECT_THROW(parse_log_header(R"({"entities": [{"id": "x"}]})"), LogError);
  EXPECT_TRUE(parse_log_header("{}").entities.empty());
}

TEST(LogHeader, WhatIsNotAsItShouldBeIsNamed) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_log_header(text, "run.ohlog");
    } catch (const LogError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("[]"), "run.ohlog: header: expected an object");
  EXPECT_EQ(error(R"({"host": 3})"), "run.ohlog: header: host: expected an object");
  EXPECT_EQ(error(R"({"entities": {}})"), "run.ohlog: header: entities: expected a list");
  EXPECT_EQ(error(R"({"entities": [7]})"), "run.ohlog: header: entities[0]: expected an object");
  EXPECT_EQ(error(R"({"entities": [{"id": 1, "name": "a"}, {"id": 70000, "name": "b"}]})"),
            "run.ohlog: header: entities[1].id: expected a whole number, 0 to 65535");
  EXPECT_EQ(error(R"({"entities": [{"id": 1, "cpu": -1, "name": "a"}]})"),
            "run.ohlog: header: entities[0].cpu: expected a whole number, 0 to 255");
  EXPECT_EQ(error(R"({"drivers": [{"id": 1}]})"), "run.ohlog: header: drivers[0].name: expected a string");
  EXPECT_THAT(error(std::string(500'000, '[')), HasSubstr("run.ohlog: header: not the JSON of a header"));
  EXPECT_THAT(error(R"({"scenario": )" + std::string(1000, '[') + std::string(1000, ']') + "}"),
              HasSubstr("nested deeper than 64 levels"));
}

}  // namespace
}  // namespace offhook::traces
