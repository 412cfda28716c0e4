// SPDX-License-Identifier: MIT
//
// The library offhook_decode: what two modems did in a recorded call.
//
// In goes a recording: one direction of a telephone line, or both as two channels. Out comes a Call, which has all that
// was heard: answer tone, V.8bis, V.8, the phases of V.34 and V.90, V.32bis, V.22bis, data mode down to the octets of
// V.42. It is shown as JSON for programs, as text and as a page for people, and as the files that it carried. The JSON
// is the stable form: schema offhook.decode/1, documented key by key in docs/decode-json.md; what Call holds is the
// library's own.
//
//     const auto call = offhook::decode::decode_file("call.wav");
//     std::puts(offhook::decode::to_json(*call).c_str());
//
// Functions throw std::runtime_error, which names the recording and what is wrong with it: no audio, no samples, more
// than two channels, two of unequal length, a rate beyond 4000 to 192 000 Hz, over an hour. Whatever the samples are,
// nothing else is thrown. A call of a minute takes some seconds and a hundred MB. Calls may be decoded in several
// threads at once. Not real-time.
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
  /// Read V.34's data mode, which takes most of the time; without it the start-up and the trainings are read.
  bool data_mode = true;
  /// Told what is being done and how much of the whole is done, 0 to 1; from the calling thread. May be empty.
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

/// Whether there was anything of a modem or a fax machine in it.
bool modem_found(const Call& call);

/// Schema offhook.decode/1. UTF-8, indented, ends with a line feed.
std::string to_json(const Call& call);
/// For people: what was found, the timeline, and every field of the messages.
std::string to_text(const Call& call);
/// An HTML file that asks for nothing from outside.
std::string to_html(const Call& call);
/// File name and contents: what the I frames carried, "call.bin" and "answer.bin", and all the bits of data mode, eight
/// an octet, the first in bit 0, "call.bits" and "answer.bits". Only of directions whose data were read.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call);

}  // namespace offhook::decode

#endif
