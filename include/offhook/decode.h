// SPDX-License-Identifier: MIT
//
// The library offhook_decode: decodes a recorded call of two modems.
//
// The input is a recording: one direction of a telephone line, or both as two channels. decode_calls() also takes a
// packet capture with G.711 in RTP. The result is a Call with all detected signals: answer tone, V.8bis, V.8, the
// phases of V.34 and V.90, V.32bis and V.22bis. It also has data mode with the octets of V.42, and the frames and
// pages of a fax. Functions convert it to JSON for programs, to text and a page for users, and to files with the
// carried data. The JSON is the stable form: schema offhook.decode/1, documented key by key in docs/decode-json.md. The
// contents of Call are internal to the library.
//
//     const auto call = offhook::decode::decode_file("call.wav");
//     std::puts(offhook::decode::to_json(*call).c_str());
//
// Functions throw std::runtime_error, which names the recording and its fault: no audio, no samples, more than two
// channels, two channels of unequal length, a rate outside 4000 to 192 000 Hz, or more than an hour. No contents of the
// samples cause any other exception. Decoding a call of a minute takes some seconds and 100 MB of memory. Several
// threads may decode calls at once. Not real-time.
#ifndef OFFHOOK_DECODE_H
#define OFFHOOK_DECODE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace offhook::decode {

struct Options {
  /// Decode V.34's data mode, which takes most of the time; false: only the start-up and the trainings.
  bool data_mode = true;
  /// Called with the current step and the finished share, 0 to 1, on the calling thread. May be empty.
  std::function<void(double share, const std::string& what)> progress = {};
  /// For decode_calls(): name of the recording in messages and results; empty: the file's name.
  std::string name = {};
  /// A sentence for the notes of decode_file() and decode_samples(); empty: none.
  std::string remark = {};
};

/// Samples in memory.
struct Samples {
  std::vector<std::vector<float>> channels;  ///< [1 or 2][samples], full scale 1
  int rate_hz = 0;
  std::string name;  ///< of the recording, for messages and headings
};

struct Call;

/// @param path  a file of any format of libsndfile
std::shared_ptr<const Call> decode_file(const std::string& path, const Options& options = {});
/// Passes each call of a recording of up to 48 hours to `take`, in order of time. At most two calls are in memory.
/// Silence of 4.5 s separates calls, and so does a dial tone or ringback after other sound. A recording of one call is
/// decoded as by decode_file(). If there are several calls, the times of each call count from its own beginning. Also
/// throws the exceptions of `take`. If a call is longer than an hour, it throws after all other calls were passed on.
void decode_calls(const std::string& path, const Options& options,
                  const std::function<void(std::shared_ptr<const Call>)>& take);
std::shared_ptr<const Call> decode_samples(Samples samples, const Options& options = {});

/// Whether a modem or a fax machine was found.
bool modem_found(const Call& call);

/// Schema offhook.decode/1. UTF-8, indented, ends with a line feed.
std::string to_json(const Call& call);
/// Text for users: the verdict, the timeline, and all fields of the messages.
std::string to_text(const Call& call);
/// A self-contained HTML file.
std::string to_html(const Call& call);
/// The first lines of to_text(): verdict, rates, and how far each direction was decoded.
std::string to_summary(const Call& call);
/// The timeline, one event per line, with times from the beginning of the recording. The first row is separate:
/// kTimelineColumns.
std::string to_csv(const Call& call);
inline constexpr const char* kTimelineColumns = "recording,call,start_s,end_s,channel,event,detail\n";
/// The timeline as a label track of Audacity: from, to and text of each event, in seconds of the recording.
std::string to_labels(const Call& call);
/// File names and contents. "call.bin" and "answer.bin" have the data of the I frames; "call.bits" and "answer.bits"
/// have all bits of data mode, eight per octet, the first in bit 0. Directions whose data were not decoded have no
/// files.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call);
/// The pages of a fax as one TIFF file (T.6) in the order of transmission; empty if no page was decoded.
std::vector<std::uint8_t> fax_tiff(const Call& call);

}  // namespace offhook::decode

#endif
