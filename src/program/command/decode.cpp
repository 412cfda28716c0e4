// SPDX-License-Identifier: MIT
#include "offhook/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "driver/base/csv.h"
#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/decode/presentation/calls_table.h"
#include "src/lab/sweep/parallel.h"
#include "src/page/page.h"
#include "src/program/command/decode_inputs.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/version.h"

namespace offhook::command {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct DecodeOptions {
  std::vector<std::string> in;
  std::string html, figures, payload, pages, labels, calls, out;
  TextOutput json, csv;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool quiet = false;

  bool alone() const { return json.alone() || csv.alone(); }
};

/// The result for one recording.
struct Decoded {
  std::string error;  ///< empty: none
  Json rows = Json::array();
  bool modem = false;
  bool kept = false;  ///< from an earlier run
  std::string text, csv, labels;
  std::vector<std::string> documents;
};

/// The path of the Nth call's file: "call.html", "call-2.html".
std::string numbered(const std::string& path, int call) {
  if (call < 2 || path.empty()) return path;
  const fs::path p(path);
  return (p.parent_path() / fmt::format("{}-{}{}", p.stem().string(), call, p.extension().string())).string();
}

class Decoder {
 public:
  Decoder(const DecodeOptions& options, std::vector<DecodeInput> inputs)
      : options_(options), inputs_(std::move(inputs)), many_(inputs_.size() > 1 || inputs_[0].from_folder) {
    if (!options.out.empty()) folder_.emplace(options.out);
    if (!options.html.empty()) expect_writable(options.html);
  }

  int run() {
    if (many_) {
      run_many();
    } else {
      Progress progress("decode", quiet() ? Progress::Style::kQuiet : Progress::Style::kAuto);
      const auto update = [&](double share, const std::string& what) { progress.update(share, what); };
      take(decode_input(inputs_[0], update));
    }
    finish();
    if (interrupted()) return interrupt_status();
    return failed_ > 0 ? kError : modem_ ? kOk : kInsufficient;
  }

 private:
  bool quiet() const { return options_.quiet; }

  void run_many() {
    catch_interrupts();
    Progress progress("decode", quiet() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    std::vector<std::unique_ptr<Decoded>> results(inputs_.size());
    std::mutex mutex;
    std::size_t next = 0, done = 0;
    sweep::parallel(
        inputs_.size(), options_.threads,
        [&](std::size_t k) {
          auto one = std::make_unique<Decoded>(decode_or_error(inputs_[k]));
          const std::lock_guard lock(mutex);
          results[k] = std::move(one);
          ++done;
          if (progress.due()) {
            progress.update(static_cast<double>(done) / static_cast<double>(inputs_.size()),
                            fmt::format("{} of {} recordings", done, inputs_.size()));
          }
          for (; next < results.size() && results[next] != nullptr; ++next)
            take(std::move(*std::exchange(results[next], nullptr)));
        },
        interrupted);
  }

  Decoded decode_or_error(const DecodeInput& input) {
    try {
      return decode_input(input, {});
    } catch (const std::exception& error) {
      Decoded failed;
      failed.error = error.what();
      failed.rows.push_back(decode::table_row_of_error(input.name, error.what()));
      return failed;
    }
  }

  Decoded decode_input(const DecodeInput& input, std::function<void(double, const std::string&)> progress) {
    if (std::optional<Decoded> kept = kept_result(input)) return std::move(*kept);
    Decoded result;
    decode::Options options;
    options.progress = std::move(progress);
    if (input.is_copy()) options.name = input.name;
    decode::decode_calls(input.path, options, [&](const std::shared_ptr<const decode::Call>& call) {
      add(input, *call, static_cast<int>(result.rows.size()) + 1, result);
    });
    keep_result(input, result);
    return result;
  }

  // @param number  from 1
  void add(const DecodeInput& input, const decode::Call& call, int number, Decoded& result) {
    const std::string page = folder_ ? fmt::format("{}-{}.html", input.page, number) : std::string();
    result.rows.push_back(decode::table_row(call, input.name, page));
    result.modem |= decode::modem_found(call);
    if (options_.json.asked()) result.documents.push_back(decode::to_json(call));
    if (options_.csv.asked()) result.csv += decode::to_csv(call);
    if (!options_.labels.empty()) result.labels += decode::to_labels(call);
    if (folder_) {
      folder_->write(page, decode::to_html(call), Privacy::kPrivate);
      folder_->write(fmt::format("{}-{}.json", input.page, number), decode::to_json(call), Privacy::kPrivate);
    }
    if (!options_.html.empty() || !options_.figures.empty())
      write_page(decode::to_html(call), numbered(options_.html, number), numbered(options_.figures, number),
                 Privacy::kPrivate);
    if (!options_.payload.empty()) {
      const OutputFolder folder(options_.payload);
      for (const auto& [name, octets] : decode::payloads(call))
        folder.write(numbered(name, number), {reinterpret_cast<const char*>(octets.data()), octets.size()},
                     Privacy::kPrivate);
    }
    if (!options_.pages.empty() || folder_) write_pages(input, call, number);
    if (options_.alone()) return;
    if (number > 1 && !many_) result.text += '\n';
    result.text += many_ || folder_ ? decode::to_summary(call) : decode::to_text(call);
  }

  void write_pages(const DecodeInput& input, const decode::Call& call, int number) {
    const std::vector<std::uint8_t> tiff = decode::fax_tiff(call);
    if (tiff.empty()) return;
    const std::string_view bytes(reinterpret_cast<const char*>(tiff.data()), tiff.size());
    if (!options_.pages.empty())
      OutputFolder(options_.pages).write(numbered("fax.tif", number), bytes, Privacy::kPrivate);
    if (folder_) folder_->write(fmt::format("{}-{}.tif", input.page, number), bytes, Privacy::kPrivate);
  }

  // ---- results of earlier runs in the same folder

  std::string state_name(const DecodeInput& input) const { return input.page + ".calls.json"; }

  // Identifies recording and program, for comparison with an earlier run.
  static Json source_of(const DecodeInput& input) {
    std::error_code failed;
    const auto size = fs::file_size(input.path, failed);
    const auto time = fs::last_write_time(input.path, failed).time_since_epoch();
    return {{"recording", input.name},
            {"size", failed ? 0 : size},
            {"changed_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()},
            {"made_by", version_text().substr(0, version_text().find('\n'))}};
  }

  std::optional<Decoded> kept_result(const DecodeInput& input) const {
    const bool other_outputs = options_.json.asked() || options_.csv.asked() || !options_.labels.empty() ||
                               !options_.html.empty() || !options_.payload.empty() || !options_.pages.empty();
    std::error_code ignored;
    if (!folder_ || other_outputs || input.is_copy() || !fs::exists(*folder_ / state_name(input), ignored)) return {};
    try {
      const Json state = parse_json<Json>(read_file(*folder_ / state_name(input), kMostTextBytes));
      if (state.at("source") != source_of(input)) return {};
      Decoded kept;
      kept.kept = true;
      kept.rows = state.at("rows");
      kept.text = state.at("text").get<std::string>();
      kept.modem = state.at("modem").get<bool>();
      return kept;
    } catch (const Json::exception&) {
      return {};  // damaged: the recording is decoded again
    }
  }

  void keep_result(const DecodeInput& input, const Decoded& result) const {
    if (!folder_ || input.is_copy()) return;
    const Json state = {
        {"source", source_of(input)}, {"modem", result.modem}, {"rows", result.rows}, {"text", result.text}};
    folder_->write(state_name(input), json_text(state, 1), Privacy::kPrivate);
  }

  // ---- in the order of the recordings

  void take(Decoded result) {
    if (!result.error.empty()) {
      ++failed_;
      say(stderr, "offhook: error: {}\n", result.error);
    }
    kept_ += result.kept;
    modem_ |= result.modem;
    for (Json& row : result.rows) rows_.push_back(std::move(row));
    for (std::string& document : result.documents) documents_.push_back(std::move(document));
    csv_ += result.csv;
    labels_ += result.labels;
    if (!options_.alone() && !result.text.empty()) say("{}", Lines(result.text));
  }

  // One call is a document; several are an array of documents.
  std::string json() const {
    if (documents_.size() == 1 && !many_) return documents_[0];
    std::string all = "[\n";
    for (const std::string& document : documents_) all += (&document == documents_.data() ? "" : ",\n") + document;
    return all + "]\n";
  }

  void finish() {
    if (options_.json.asked()) options_.json.write(json(), Privacy::kPrivate);
    if (options_.csv.asked()) options_.csv.write(decode::kTimelineColumns + csv_, Privacy::kPrivate);
    if (!options_.labels.empty()) write_file(options_.labels, labels_, Privacy::kPrivate);
    if (!options_.calls.empty()) write_file(options_.calls, csv_table(rows_), Privacy::kPrivate);
    if (!folder_) return;
    folder_->write("calls.csv", csv_table(rows_), Privacy::kPrivate);
    folder_->write("index.html", with_footer(decode::index_page(rows_)), Privacy::kPrivate);
    if (options_.alone()) return;
    if (kept_ > 0) say("{} of {} recordings were decoded by an earlier run\n", kept_, inputs_.size());
    say("index: {}\n", (*folder_ / "index.html").string());
  }

  const DecodeOptions& options_;
  std::vector<DecodeInput> inputs_;
  bool many_;
  std::optional<OutputFolder> folder_;
  Json rows_ = Json::array();
  std::vector<std::string> documents_;
  std::string csv_, labels_;
  std::size_t failed_ = 0, kept_ = 0;
  bool modem_ = false;
};

int run_decode(const DecodeOptions& options) {
  expect_one_alone({&options.json, &options.csv});
  std::vector<DecodeInput> inputs = decode_inputs(options.in);
  if (inputs.size() > 1 && (!options.html.empty() || !options.figures.empty() || !options.payload.empty() ||
                            !options.pages.empty() || !options.labels.empty()))
    throw std::runtime_error(
        "--html, --figures, --payload, --pages and --labels are for one recording; use --out DIR for several");
  return Decoder(options, std::move(inputs)).run();
}

}  // namespace

void add_decode(App& app, Action& action) {
  App* sub = app.add_subcommand("decode", "Decode recorded modem calls: modulation, rates, start-up, data");
  auto options = std::make_shared<DecodeOptions>();
  sub->add_option("recording", options->in,
                  "Audio files of one direction, or of both as two channels: WAV, AIFF, AU, FLAC, Ogg, MP3 or another "
                  "format of libsndfile, 4 to 192 kHz; packet captures (pcap, pcapng) with G.711 in RTP; folders of "
                  "such files; - "
                  "for standard input")
      ->required()
      ->type_name("RECORDING");
  sub->add_option("-o,--out", options->out,
                  "Output folder: index.html, calls.csv, page and JSON of each call, TIFF of each fax. A rerun skips "
                  "finished recordings")
      ->type_name("DIR");
  add_text_output(*sub, kJsonOption, options->json, "All results as JSON; several calls as an array");
  add_text_output(*sub, kCsvOption, options->csv, "Timeline as CSV, one event per row");
  sub->add_option("--calls", options->calls, "Write one row per call as CSV")->type_name("FILE.csv");
  sub->add_option("--labels", options->labels, "Write the timeline as a label track of Audacity")->type_name("FILE");
  sub->add_option(
         "--html", options->html,
         "Write a page: timeline, spectrogram, SNR over frequency, constellations; for further calls FILE-2, ...")
      ->type_name("FILE");
  add_figures(*sub, options->figures);
  sub->add_option("--payload", options->payload,
                  "Write the data of each direction: call.bin and answer.bin, bits as call.bits and answer.bits; for "
                  "further calls call-2.bin, ...")
      ->type_name("DIR");
  sub->add_option("--pages", options->pages,
                  "Write the pages of a fax as fax.tif, a TIFF file of several pages; for further calls fax-2.tif, ...")
      ->type_name("DIR");
  sub->add_option("--threads", options->threads,
                  "Number of recordings decoded in parallel (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1U, 1024U));
  sub->add_flag("-q,--quiet", options->quiet, "No progress");
  sub->footer(
      R"(Silence of 4.5 s, a dial tone or ringback separates the calls of a recording. Times of each call count from its own
beginning; those of --csv and --labels count from the beginning of the recording.

Exit status: 0 a modem was found, 1 a recording cannot be read (the others are decoded), 2 no modem was found.

Examples:
  offhook decode examples/call.wav
  offhook decode examples/call.wav --json | jq '.trainings[].call_to_answer.bit_rate'
  offhook decode examples/call.wav --json call.json --html call.html
  offhook decode examples/call.wav --payload out/call
  offhook decode examples --out out/calls
  offhook decode - --csv call.csv <examples/call.wav)");
  sub->final_callback([&action, options] { action = [options] { return run_decode(*options); }; });
}

}  // namespace offhook::command
