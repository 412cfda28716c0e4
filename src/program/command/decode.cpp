// SPDX-License-Identifier: MIT
#include "offhook/decode.h"

#include <fmt/format.h>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"

namespace offhook::command {
namespace {

struct Options {
  std::string in, html, figures, payload;
  TextOutput json;
  bool quiet = false;
};

int run_decode(const Options& options) {
  std::shared_ptr<const decode::Call> call;
  {
    Progress progress("decode", options.quiet ? Progress::Style::kQuiet : Progress::Style::kAuto);
    call = decode::decode_file(
        options.in, {.progress = [&](double share, const std::string& what) { progress.update(share, what); }});
  }
  if (options.json.asked()) options.json.write(decode::to_json(*call), Privacy::kPrivate);
  if (!options.html.empty() || !options.figures.empty())
    write_page(decode::to_html(*call), options.html, options.figures, Privacy::kPrivate);
  if (!options.payload.empty()) {
    const OutputFolder folder(options.payload);
    for (const auto& [name, octets] : decode::payloads(*call)) {
      folder.write(name, {reinterpret_cast<const char*>(octets.data()), octets.size()}, Privacy::kPrivate);
    }
  }
  if (!options.json.alone()) say("{}", Lines(decode::to_text(*call)));
  return decode::modem_found(*call) ? kOk : kInsufficient;
}

}  // namespace

void add_decode(App& app, Action& action) {
  App* sub = app.add_subcommand("decode", "Decode a recorded modem call: modulation, rates, start-up, data");
  auto options = std::make_shared<Options>();
  sub->add_option("recording", options->in,
                  "Audio file of one direction, or of both as two channels: WAV, AIFF, AU, FLAC, Ogg, MP3 or another "
                  "format of libsndfile, 4 to 192 kHz")
      ->required()
      ->type_name("WAV");
  add_text_output(*sub, kJsonOption, options->json, "All results as JSON");
  sub->add_option("--html", options->html, "Write a page: timeline, spectrogram, SNR over frequency, constellations")
      ->type_name("FILE");
  add_figures(*sub, options->figures);
  sub->add_option("--payload", options->payload,
                  "Write the data of each direction: call.bin and answer.bin, bits as call.bits and answer.bits")
      ->type_name("DIR");
  sub->add_flag("-q,--quiet", options->quiet, "No progress");
  sub->footer(R"(Exit status: 0 a modem was found, 1 the recording cannot be read, 2 it contains no modem.

Examples:
  offhook decode examples/call.wav
  offhook decode examples/call.wav --json | jq '.trainings[].call_to_answer.bit_rate'
  offhook decode examples/call.wav --json call.json --html call.html
  offhook decode examples/call.wav --payload out/call)");
  sub->final_callback([&action, options] { action = [options] { return run_decode(*options); }; });
}

}  // namespace offhook::command
