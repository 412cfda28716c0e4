// SPDX-License-Identifier: MIT
#include "src/decode/line/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/presentation/json.h"
#include "src/decode/presentation/notes.h"
#include "src/decode/presentation/timeline.h"

namespace offhook::decode {
namespace {

class DecodeRecording : public testing::Test {
 protected:
  DecodeRecording() { std::filesystem::create_directories(folder_); }
  ~DecodeRecording() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, int rate, int channels, const std::vector<short>& frames) {
    SF_INFO info{};
    info.samplerate = rate;
    info.channels = channels;
    info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
    const auto file = folder_ / name;
    SNDFILE* f = sf_open(file.c_str(), SFM_WRITE, &info);
    sf_write_short(f, frames.data(), static_cast<sf_count_t>(frames.size()));
    sf_close(f);
    return file;
  }
  static std::string message(const std::filesystem::path& file) {
    try {
      read_recording(file);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("offhook-decode-" + std::to_string(getpid()));
};

TEST_F(DecodeRecording, WhatIsNoRecordingGivesOneMessageThatNamesTheFile) {
  std::ofstream(folder_ / "text.wav") << "not a wav\n";
  std::ofstream(folder_ / "nothing.wav") << "";
  const std::string folder = folder_.string() + "/";  // as it was given: another folder may have the same name
  EXPECT_THAT(message(folder_ / "text.wav"), testing::StartsWith(folder + "text.wav: not an audio file"));
  EXPECT_THAT(message(folder_ / "nothing.wav"), testing::StartsWith(folder + "nothing.wav: not an audio file"));
  EXPECT_THAT(message(folder_ / "absent.wav"), testing::EndsWith("/absent.wav: No such file or directory"));
  EXPECT_THAT(message(folder_ / "tetx.wav"), testing::EndsWith("; the nearest is \"text.wav\""));
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(message(folder_ / "fifo"), folder + "fifo: is a FIFO; expected an audio file") << "nobody writes into it";
  EXPECT_THAT(message(write("empty.wav", 8000, 2, {})), testing::StartsWith(folder + "empty.wav: no samples"));
  EXPECT_THAT(message(write("three.wav", 8000, 3, {1, 2, 3})), testing::StartsWith(folder + "three.wav: 3 channels"));
  EXPECT_THAT(message(write("slow.wav", 100, 1, {1, 2, 3})), testing::HasSubstr("100 samples/s"));
}

TEST_F(DecodeRecording, AConvertersOffsetIsNoSignal) {
  std::vector<short> frames;
  for (int n = 0; n < 8000; ++n) {
    const double tone = 1000 * std::sin(2 * std::numbers::pi * n / 8);
    frames.push_back(static_cast<short>(tone + 3000));
    frames.push_back(static_cast<short>(tone));
  }
  const Recording r = read_recording(write("offset.wav", 8000, 2, frames));
  EXPECT_EQ(r.peak[0], 4000);
  for (std::size_t n = 0; n < 8000; ++n) ASSERT_NEAR(r.channel[0][n], r.channel[1][n], 1.0);
}

TEST_F(DecodeRecording, SilenceAndNoiseGiveAnEmptyTimeline) {
  std::vector<short> noise(8000 * 3);
  unsigned state = 1;
  for (short& v : noise) v = static_cast<short>((state = state * 1664525u + 1013904223u) >> 18) - 8192;
  const Call silent = analyse(read_recording(write("silence.wav", 8000, 1, std::vector<short>(24000))));
  const Call noisy = analyse(read_recording(write("noise.wav", 8000, 2, noise)));
  EXPECT_TRUE(timeline(silent).empty());
  EXPECT_TRUE(timeline(noisy).empty());
  EXPECT_THAT(to_text(silent), testing::HasSubstr("no modem found"));
  EXPECT_FALSE(json_of(silent).contains("modulation"));
}

TEST_F(DecodeRecording, ATruncatedFileIsReadAsFarAsItGoes) {
  const auto whole = write("whole.wav", 8000, 2, std::vector<short>(32000, 100));
  std::string bytes(std::istreambuf_iterator<char>(std::ifstream(whole).rdbuf()), {});
  std::ofstream(folder_ / "half.wav") << bytes.substr(0, bytes.size() / 2);
  const Recording r = read_recording(folder_ / "half.wav");
  EXPECT_NEAR(r.duration_s, 1, 0.01);
  EXPECT_EQ(r.name, "half.wav") << "in results, without its folder";
  EXPECT_TRUE(r.truncated);
  EXPECT_FALSE(read_recording(whole).truncated);
  // A recorder that wrote to a pipe, and one that was ended: the size of the samples is bytes 40 to 43.
  const std::string head = bytes.substr(0, 40), samples = bytes.substr(44);
  std::ofstream(folder_ / "pipe.wav") << head << "\xff\xff\xff\xff" << samples;
  EXPECT_FALSE(read_recording(folder_ / "pipe.wav").truncated);
  std::ofstream(folder_ / "ended.wav") << head << std::string(4, '\0') << samples;
  EXPECT_THAT(message(folder_ / "ended.wav"),
              testing::HasSubstr("its header declares no samples, though 64000 octets follow"));
}

TEST_F(DecodeRecording, WhatIsWrongWithARecordingIsNoted) {
  std::vector<short> loud, faint;
  for (int n = 0; n < 6000; ++n) {
    const double wave = std::sin(2 * std::numbers::pi * n / 20.7);  // above hum
    for (int channel = 0; channel < 2; ++channel)
      loud.push_back(static_cast<short>(std::clamp(60e3 * wave, -32768., 32767.)));
    faint.push_back(static_cast<short>(50 * wave));
    faint.push_back(0);
  }
  const auto notes_of = [&](const std::filesystem::path& file) { return notes(analyse(read_recording(file))); };
  const Recording alike = read_recording(write("loud.wav", 6000, 2, loud));
  EXPECT_TRUE(alike.channels_alike);
  EXPECT_EQ(alike.channel.size(), 1u);
  EXPECT_THAT(
      notes_of(folder_ / "loud.wav"),
      testing::ElementsAre(
          testing::HasSubstr("two channels are identical"), testing::HasSubstr("recorded at 6000 Hz"),
          testing::HasSubstr("channel 0 is clipped: 5")));  // 63 % (2/pi acos(32768/60000)), less the first of each run
  EXPECT_THAT(
      notes_of(write("faint.wav", 8000, 2, faint)),
      testing::ElementsAre(testing::HasSubstr("channel 0 is faint"), testing::HasSubstr("channel 1 is silent")));
}

TEST_F(DecodeRecording, AnyRateIsBroughtTo8000HzWithoutLoss) {
  for (const int rate : {8000, 9600, 11025, 16000, 44100}) {
    std::vector<short> frames;
    for (int n = 0; n < rate; ++n) {
      frames.push_back(static_cast<short>(std::lround(8000 * std::sin(2 * std::numbers::pi * 3600 * n / rate))));
    }
    const Recording r = read_recording(write("tone.wav", rate, 1, frames));
    ASSERT_NEAR(static_cast<double>(r.channel[0].size()), 8000, 1) << rate;
    // Against the same tone at 8000 Hz, away from the ends: nothing is left at 60 dB.
    double error = 0, energy = 0;
    for (int n = 500; n < 7500; ++n) {
      const double want = 8000 * std::sin(2 * std::numbers::pi * 3600 * n / 8000);
      error += std::pow(r.channel[0][static_cast<std::size_t>(n)] - want, 2);
      energy += want * want;
    }
    EXPECT_LT(error, 1e-6 * energy) << rate;
  }
}

TEST_F(DecodeRecording, TwoChannelsAreKeptAt16000HzToo) {
  std::vector<short> frames;
  for (int n = 0; n < 3 * 4096; ++n) frames.insert(frames.end(), {static_cast<short>(7 * n % 20001), 5});
  const Recording r = read_recording(write("both16.wav", 16000, 2, frames));
  ASSERT_EQ(r.wide.size(), 2u);
  ASSERT_EQ(r.wide[0].size(), 2 * r.channel[0].size());
  for (std::size_t n = 0; n < r.wide[0].size(); ++n) ASSERT_EQ(r.wide[0][n], frames[2 * n]) << n;
  EXPECT_TRUE(read_recording(write("both8.wav", 8000, 2, frames)).wide.empty());
  EXPECT_TRUE(read_recording(write("one16.wav", 16000, 1, frames)).wide.empty());
  // A tone above 4000 Hz, which the channel at 8000 Hz has not.
  std::vector<short> tone;
  for (int n = 0; n < 48000; ++n)
    tone.insert(tone.end(),
                {static_cast<short>(std::lround(8000 * std::sin(2 * std::numbers::pi * 4300 * n / 48000))), 0});
  const Recording high = read_recording(write("both48.wav", 48000, 2, tone));
  ASSERT_EQ(high.wide[0].size(), 16000u);
  for (int n = 200; n < 15800; ++n)
    ASSERT_NEAR(high.wide[0][static_cast<std::size_t>(n)], 8000 * std::sin(2 * std::numbers::pi * 4300 * n / 16000),
                12);
}

// A file is read in blocks, and each is brought to 8000 Hz at once: neither their ends nor the offset may be seen.
TEST_F(DecodeRecording, BlocksOfTheFileLeaveNoTraceInTheSamples) {
  std::vector<short> frames;
  for (int n = 0; n < 48000; ++n)
    frames.push_back(static_cast<short>(std::lround(2000 + 8000 * std::sin(2 * std::numbers::pi * 1000 * n / 48000))));
  const Recording r = read_recording(write("offset48.wav", 48000, 1, frames));
  ASSERT_EQ(r.channel[0].size(), 8000u);
  for (int n = 60; n < 7940; ++n) {
    const double want = 8000 * std::sin(2 * std::numbers::pi * 1000 * n / 8000);
    ASSERT_NEAR(r.channel[0][static_cast<std::size_t>(n)], want, 2) << n;
  }
  // What is silence but for the offset is silence up to both ends.
  const Recording quiet = read_recording(write("quiet48.wav", 48000, 1, std::vector<short>(48000, 2000)));
  for (const float v : quiet.channel[0]) ASSERT_NEAR(v, 0, 0.5);
}

TEST_F(DecodeRecording, ANameThatCommandsATerminalDoesNotWhereItIsShown) {
  Call call = analyse(read_recording(write("esc\x1b[31m\nline.wav", 8000, 1, std::vector<short>(8000))));
  EXPECT_THAT(to_text(call), testing::StartsWith("esc\\x1b[31m\\x0aline.wav: 1.0 s"));
  EXPECT_THAT(to_html(call), testing::HasSubstr("<title>esc\\x1b[31m\\x0aline.wav"));
}

}  // namespace
}  // namespace offhook::decode
