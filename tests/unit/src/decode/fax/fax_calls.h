// SPDX-License-Identifier: MIT
//
// Fax calls between two terminals of spandsp, recorded: channel 0 is the caller, who sends.
#pragma once

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "driver/fax/tiff.h"
#include "src/decode/fax/t30.h"

namespace offhook::decode::test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "offhook-fax-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Noise as loud as the signal, or silence, on the way to the answerer.
struct Damage {
  std::string frame;  ///< of T.30, that the caller sent or received
  int count = 1;      ///< the so manieth of that name
  double after_s = 0, length_s = 0;
  bool silent = false;
};

struct FaxCall {
  int modems = T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER;
  int compressions = T30_SUPPORT_T4_1D_COMPRESSION | T30_SUPPORT_T4_2D_COMPRESSION | T30_SUPPORT_T6_COMPRESSION;
  bool error_correction = true;
  int failed_tests = 0;  ///< each takes the rate one step down
  std::vector<Damage> damage{};
  double noise_dbm0 = -70;
  double echo_db = -200;  ///< of each side in the other channel
};

struct RecordedFax {
  std::vector<std::vector<float>> channels;  ///< [2][samples], 8000 Hz, full scale 1
  bool complete = false;                     ///< both terminals ended without an error
  int bit_rate = 0;                          ///< of the pages
  std::map<std::string, int> frames;         ///< of T.30, by name, as the caller sent and received them
};

class FaxRecorder {
 public:
  FaxRecorder(const FaxCall& call, const std::string& sent, const std::string& received) : call_(call) {
    for (const bool calls : {true, false}) {
      fax_state_t* fax = fax_[calls ? 0 : 1] = fax_init(nullptr, calls);
      fax_set_transmit_on_idle(fax, 1);
      t30_state_t* t30 = fax_get_t30_state(fax);
      t30_set_supported_modems(t30, call.modems);
      t30_set_supported_compressions(t30, call.compressions);
      t30_set_supported_resolutions(t30, T30_SUPPORT_STANDARD_RESOLUTION | T30_SUPPORT_FINE_RESOLUTION |
                                             T30_SUPPORT_SUPERFINE_RESOLUTION | T30_SUPPORT_R8_RESOLUTION |
                                             T30_SUPPORT_R16_RESOLUTION);
      t30_set_supported_image_sizes(t30, T30_SUPPORT_215MM_WIDTH | T30_SUPPORT_255MM_WIDTH | T30_SUPPORT_303MM_WIDTH |
                                             T30_SUPPORT_UNLIMITED_LENGTH | T30_SUPPORT_A4_LENGTH);
      t30_set_ecm_capability(t30, call.error_correction);
      t30_set_tx_ident(t30, calls ? "+49 30 1" : "+1 2");
      if (calls) t30_set_tx_file(t30, sent.c_str(), -1, -1);
      if (!calls) t30_set_rx_file(t30, received.c_str(), -1);
      t30_set_phase_e_handler(
          t30,
          [](t30_state_t* s, void* self, int code) {
            auto& r = *static_cast<FaxRecorder*>(self);
            const int k = s == fax_get_t30_state(r.fax_[0]) ? 0 : 1;
            r.over_[k] = true;
            r.good_[k] = code == T30_ERR_OK;
          },
          this);
    }
    t30_set_real_time_frame_handler(
        fax_get_t30_state(fax_[0]),
        [](t30_state_t*, void* self, int, const std::uint8_t* octets, int n) {
          static_cast<FaxRecorder*>(self)->on_frame({octets, static_cast<std::size_t>(n)});
        },
        this);
  }
  ~FaxRecorder() {
    for (fax_state_t* fax : fax_) fax_free(fax);
  }
  FaxRecorder(const FaxRecorder&) = delete;
  FaxRecorder& operator=(const FaxRecorder&) = delete;

  RecordedFax run() {
    constexpr std::size_t kBlock = 160, kMost = 8000 * 400, kAfter = 8000;
    result_.channels.resize(2);
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 16141 * std::pow(10, call_.noise_dbm0 / 20));
    std::normal_distribution<double> loud(0, 16141 * std::pow(10, -12 / 20.0));
    const double echo = std::pow(10, call_.echo_db / 20);
    for (std::size_t end = kMost; samples_ < end; samples_ += kBlock) {
      std::int16_t tx[2][kBlock] = {}, rx[2][kBlock];
      for (int k = 0; k < 2; ++k) fax_tx(fax_[k], tx[k], kBlock);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const double a = (is_in(silences_) ? 0 : tx[0][i]) + (is_in(bursts_) ? loud(random) : 0) + noise(random);
        const double b = tx[1][i] + noise(random);
        rx[1][i] = static_cast<std::int16_t>(std::lround(a));
        rx[0][i] = static_cast<std::int16_t>(std::lround(b));
        result_.channels[0].push_back(static_cast<float>((a + echo * b) / 32768));
        result_.channels[1].push_back(static_cast<float>((b + echo * a) / 32768));
      }
      for (int k = 0; k < 2; ++k) fax_rx(fax_[k], rx[k], kBlock);
      if (over_[0] && over_[1] && end == kMost) end = samples_ + kAfter;
    }
    t30_stats_t stats;
    t30_get_transfer_statistics(fax_get_t30_state(fax_[0]), &stats);
    result_.bit_rate = stats.bit_rate;
    result_.complete = good_[0] && good_[1];
    return std::move(result_);
  }

 private:
  void on_frame(std::span<const std::uint8_t> frame) {
    const std::string name = fax_frame_name(frame[2]);
    const int count = ++result_.frames[name];
    const double now_s = static_cast<double>(samples_) / 8000;
    for (const Damage& d : call_.damage) {
      if (d.frame == name && d.count == count)
        (d.silent ? silences_ : bursts_).emplace_back(now_s + d.after_s, now_s + d.after_s + d.length_s);
    }
    if (name != "DCS" || count > call_.failed_tests) return;
    // 0.8 s behind the beginning of the zeros of TCF: there must be a second of them.
    const PageModem modem = page_rate(frame).value_or(PageRate{}).modem;
    const double training_s = modem == PageModem::kV17 ? 1.39 : modem == PageModem::kV29 ? 0.25 : 0.8;
    const double from_s = now_s + 0.45 + training_s + 0.8;
    silences_.emplace_back(from_s, from_s + 0.2);
  }
  bool is_in(const std::vector<std::pair<double, double>>& spans) const {
    const double now_s = static_cast<double>(samples_) / 8000;
    for (const auto& [from, to] : spans) {
      if (now_s >= from && now_s < to) return true;
    }
    return false;
  }

  FaxCall call_;
  fax_state_t* fax_[2]{};
  bool over_[2]{}, good_[2]{};
  std::size_t samples_ = 0;
  std::vector<std::pair<double, double>> silences_, bursts_;
  RecordedFax result_;
};

/// @param sent, received  TIFF files
inline RecordedFax record_fax(const FaxCall& call, const std::string& sent, const std::string& received) {
  return FaxRecorder(call, sent, received).run();
}

}  // namespace offhook::decode::test
