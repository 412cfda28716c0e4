// SPDX-License-Identifier: MIT
//
// The library offhook_decode: decodes a recorded call of two modems.
//
// The input is a recording: one direction of a telephone line, or both as two channels. The result is a Call with all
// detected signals: answer tone, V.8bis, V.8, the phases of V.34 and V.90, V.32bis, V.22bis, data mode down to the
// octets of V.42. Functions convert it to JSON for programs, to text and a page for users, and to files with the
// carried data. The JSON is the stable form: schema offhook.decode/1, documented key by key in docs/decode-json.md. The
// contents of Call are internal to the library.
//
//     const auto call = offhook::decode::decode_file("call.wav");
//     std::puts(offhook::decode::to_json(*call).c_str());
//
// Functions throw std::runtime_error, which names the recording and its fault: no audio, no samples, more than two
// channels, two of unequal length, a rate outside 4000 to 192 000 Hz, over an hour. They throw nothing else, whatever
// the samples are. A call of a minute takes some seconds and a hundred MB. Several threads may decode calls at once.
// Not real-time.
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
  /// Receives the current step and the finished share, 0 to 1; from the calling thread. May be empty.
  std::function<void(double share, const std::string& what)> progress = {};
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
std::shared_ptr<const Call> decode_samples(Samples samples, const Options& options = {});

/// Whether a modem or a fax machine was found.
bool modem_found(const Call& call);

/// Schema offhook.decode/1. UTF-8, indented, ends with a line feed.
std::string to_json(const Call& call);
/// Text for users: the verdict, the timeline, and every field of the messages.
std::string to_text(const Call& call);
/// A self-contained HTML file.
std::string to_html(const Call& call);
/// File name and contents: what the I frames carried, "call.bin" and "answer.bin", and all the bits of data mode, eight
/// an octet, the first in bit 0, "call.bits" and "answer.bits". Only of directions whose data were read.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call);

}  // namespace offhook::decode

#endif
