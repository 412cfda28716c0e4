// SPDX-License-Identifier: MIT
//
// A recorded call in the form for the analysis: one or two channels of samples at 8000 Hz in int16 units, for any file
// format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/decode/line/rate_converter.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

/// How the second channel follows from the first.
struct ChannelLikeness {
  double gain_db = 0;        ///< of the second over the first
  double difference_db = 0;  ///< power of the part that the gain does not explain, below the second channel
  double delay_s = 0;        ///< the second is later, or earlier if negative
};

inline constexpr const char* kTelephoneEvent = "telephone event";  ///< of RFC 4733, in RtpEvent::what

/// An effect of packets on the samples.
struct RtpEvent {
  double t = 0, t_end = 0;  ///< s of the recording; t_end 0: a moment
  std::string what;         ///< "packets lost", "timestamp jump", kTelephoneEvent
  std::string detail;
};

/// A stream of RTP that is a part of a channel.
struct RtpStream {
  int channel = 0;
  std::string from, to;  ///< addresses and ports
  std::string codec;
  std::size_t packets = 0, lost = 0, reordered = 0, duplicates = 0;
  double jitter_s = 0;              ///< interarrival jitter (RFC 3550 6.4.1) at the end
  std::optional<double> clock_ppm;  ///< of the sender against the capture
  /// The clock is within this much of `clock_ppm` at 95 %, if the network's delays of different windows are
  /// independent.
  std::optional<double> clock_uncertainty_ppm;
  std::vector<RtpEvent> events;
};

/// Of SIP in a packet capture.
struct SipCall {
  std::string call_id;
  std::string caller, called;  ///< users of From and To, as a rule telephone numbers
};

/// T.38 of one direction: its packets of UDPTL.
struct T38Stream {
  int channel = 0;
  std::string from, to;     ///< addresses and ports
  int version = 0;          ///< T38FaxVersion, of SIP or as the packets fit; 0 packs fields in another way than others
  std::size_t packets = 0;  ///< each counted once
  std::size_t lost = 0;     ///< missing sequence numbers that no redundant packet made up for
  std::size_t recovered = 0;  ///< missing sequence numbers that a redundant packet made up for
};

/// A carrier of a page or of a test of the line in T.38.
struct T38Carrier {
  double t0 = 0, t1 = 0;               ///< s of the recording: first and last packet
  int channel = 0;                     ///< of the sender
  int data_type = 0;                   ///< of T.38: 1 to 8 are V.27ter, V.29 and V.17 at their rates
  std::vector<std::uint8_t> octets{};  ///< not HDLC: in order of time, the first bit in bit 0; four zeros for each loss
  std::vector<std::uint8_t> frames{};  ///< HDLC: frames with a good check sequence, without it, one behind the other
  std::vector<std::size_t> frame_ends{};  ///< in `frames`
  std::size_t bad_frames = 0;             ///< HDLC: with a wrong check sequence, or with a part lost
  std::size_t lost = 0;                   ///< packets
};

/// A frame of T.30 in T.38 (HDLC).
struct T38Frame {
  double t = 0;     ///< s of the recording
  int channel = 0;  ///< of the sender
  bool fcs_good = false;
  std::vector<std::uint8_t> octets;  ///< without the check sequence
};

struct Recording {
  std::string name;                         ///< file name without its folder
  int file_rate_hz = 0;                     ///< of the file; `channel` is at kRateHz
  std::string remark;                       ///< of its source, a sentence; empty: none
  double duration_s = 0;                    ///< of the file, or of this part of it
  double start_s = 0;                       ///< begin of this part in the file
  int call = 0;                             ///< number of this call in the file, from 1; 0: the file is one call
  bool truncated = false;                   ///< the file ended before the length in its header
  bool channels_alike = false;              ///< the file had two, sample for sample the same: one is here
  std::optional<ChannelLikeness> likeness;  ///< the file had two that are nearly the same: one is here
  std::vector<RtpStream> rtp;               ///< by channel, of a packet capture
  std::optional<SipCall> sip;               ///< likewise
  std::vector<T38Stream> t38_streams;       ///< likewise
  std::vector<T38Frame> t38;                ///< likewise, in order of time
  std::vector<T38Carrier> t38_carriers;     ///< likewise
  std::vector<int> peak;                    ///< by channel, int16 units, as in the file
  std::vector<int> clipped;                 ///< by channel, samples at either end of the scale in runs of two or more
  std::vector<std::vector<float>> channel;  ///< [1 or 2][samples]
  /// By channel at kWideRateHz, for PCM on another clock, which needs the band around 4000 Hz. Empty for one channel,
  /// or if the file has fewer samples a second.
  std::vector<std::vector<std::int16_t>> wide;
  std::size_t most = SIZE_MAX;  ///< samples of each that are searched

  std::span<const float> samples(std::size_t c) const {
    return std::span(channel[c]).first(std::min(most, channel[c].size()));
  }
};

inline constexpr int kWideRateHz = 2 * kRateHz;
inline constexpr double kLongestCallS = 3600, kLongestFileS = 48 * 3600;

/// Makes a recording while its samples are read: each block is brought to 8000 Hz at once, so that the memory is that
/// of the recording at 8000 Hz and at 16 000 Hz, whatever rate and container the file has.
class RecordingBuilder {
 public:
  /// @param channels  1 or 2  @param rate_hz  4000 to 192 000  @param name  for messages
  RecordingBuilder(int channels, int rate_hz, std::string name);
  /// @param frames  [channels * n], interleaved, full scale 1  @throws std::runtime_error beyond kLongestCallS
  void add(std::span<const float> frames);
  /// @throws std::runtime_error without samples
  Recording finish();

 private:
  struct Channel {
    void take_wide();
    std::optional<RateConverter> resampler, to_wide;
    std::vector<std::int16_t> wide;
    float peak = 0, last = 0;
    int clipped = 0;
    double sum = 0;
  };
  std::string name_;
  int rate_hz_;
  std::size_t samples_ = 0;
  bool alike_ = true;
  std::vector<Channel> channels_;
  std::vector<float> scaled_;
};

/// @param channels  [1 or 2][samples], full scale 1  @param name  for messages
/// @throws std::runtime_error: no samples, unequal channels, more than two, over an hour, a rate beyond 4000 to 192 000
Recording make_recording(const std::vector<std::vector<float>>& channels, int rate_hz, const std::string& name);

/// Reads any format of libsndfile at 4000 to 192 000 Hz.
/// @throws std::runtime_error naming the file and the reason: not audio, empty, more than two channels, over an
/// hour, not enough memory
Recording read_recording(const std::filesystem::path& file);

/// A long recording, of which parts are read.
class RecordingFile {
 public:
  /// @throws as read_recording(), except that the length is not limited here
  /// @param name  for messages and Recording::name; empty: the file's
  explicit RecordingFile(const std::filesystem::path& file, std::string name = {});
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  static constexpr double kPowerS = 0.02;
  /// By channel: mean square of each kPowerS of the whole file, full scale 1.
  /// @throws std::runtime_error beyond kLongestFileS
  std::vector<std::vector<float>> power();
  /// @param to_s  infinite for the end of the file, which then sets Recording::truncated
  /// @throws std::runtime_error: no samples there, longer than kLongestCallS
  Recording read(double from_s, double to_s);
  const std::string& name() const { return name_; }

 private:
  struct Stream;
  std::filesystem::path path_;
  std::string name_, short_name_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace offhook::decode
