// SPDX-License-Identifier: MIT
#include "driver/fax/t30_watch.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace offhook::fax {
namespace {

constexpr int kResolutions = T30_SUPPORT_STANDARD_RESOLUTION | T30_SUPPORT_FINE_RESOLUTION |
                             T30_SUPPORT_SUPERFINE_RESOLUTION | T30_SUPPORT_R8_RESOLUTION | T30_SUPPORT_R16_RESOLUTION;
constexpr int kSizes = T30_SUPPORT_215MM_WIDTH | T30_SUPPORT_255MM_WIDTH | T30_SUPPORT_303MM_WIDTH |
                       T30_SUPPORT_UNLIMITED_LENGTH | T30_SUPPORT_A4_LENGTH | T30_SUPPORT_B4_LENGTH |
                       T30_SUPPORT_US_LETTER_LENGTH | T30_SUPPORT_US_LEGAL_LENGTH;
constexpr int kCompressions =
    T30_SUPPORT_T4_1D_COMPRESSION | T30_SUPPORT_T4_2D_COMPRESSION | T30_SUPPORT_T6_COMPRESSION;

}  // namespace

int supported_modems(std::uint32_t bit_rate) {
  if (bit_rate >= 14'400) return T30_SUPPORT_V27TER | T30_SUPPORT_V29 | T30_SUPPORT_V17;
  if (bit_rate >= 9600) return T30_SUPPORT_V27TER | T30_SUPPORT_V29;
  if (bit_rate >= 4800) return T30_SUPPORT_V27TER;
  throw std::invalid_argument("a fax of " + std::to_string(bit_rate) + " bit/s; expected 4800, 9600 or 14400");
}

T30Watch::T30Watch(const TerminalConfig& config) : config_(config), modems_(supported_modems(config.max_bit_rate)) {}

void T30Watch::begin(t30_state_s* t30) {
  t30_ = t30;
  t30_set_supported_modems(t30, modems_);
  t30_set_supported_compressions(t30, kCompressions);
  t30_set_supported_resolutions(t30, kResolutions);
  t30_set_supported_image_sizes(t30, kSizes);
  t30_set_ecm_capability(t30, config_.error_correction);
  t30_set_tx_ident(t30, config_.ident.c_str());
  if (!config_.send.empty()) t30_set_tx_file(t30, config_.send.c_str(), -1, -1);
  if (!config_.receive.empty()) t30_set_rx_file(t30, config_.receive.c_str(), -1);
  t30_set_phase_d_handler(
      t30,
      [](t30_state_t*, void* self, int) {
        static_cast<T30Watch*>(self)->on_page();
        return static_cast<int>(T30_ERR_OK);
      },
      this);
  t30_set_phase_e_handler(
      t30, [](t30_state_t*, void* self, int code) { static_cast<T30Watch*>(self)->on_end(code); }, this);
  t30_set_real_time_frame_handler(
      t30,
      [](t30_state_t*, void* self, int received, const std::uint8_t* octets, int n) {
        static_cast<T30Watch*>(self)->on_frame(received != 0, {octets, static_cast<std::size_t>(std::max(n, 0))});
      },
      this);
}

void T30Watch::end_call(std::string reason) {
  if (progress_.over) return;
  t30_terminate(t30_);
  if (!progress_.over) on_end(T30_ERR_CALLDROPPED);
  if (!progress_.complete && !reason.empty()) progress_.failure = std::move(reason);
}

// PPS names page and block, and the last frame that it sends of the block. PPR has a bit for every frame that is
// missing; bits beyond the end of the block have no meaning.
void T30Watch::on_block(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kNumbers = 4, kMap = 3;
  const int field = frame[2] & 0xFE;
  if (field == (T30_PPS & 0xFE) && frame.size() >= kNumbers + 3) {
    const std::uint32_t block = frame[kNumbers] << 8u | frame[kNumbers + 1];
    const std::uint32_t frames = frame[kNumbers + 2] + 1u;
    block_frames_ = block == block_ ? std::max(block_frames_, frames) : frames;
    block_ = block;
  }
  if (field != (T30_PPR & 0xFE)) return;
  for (std::size_t k = 0; k < block_frames_ && kMap + k / 8 < frame.size(); ++k)
    progress_.frames_again += frame[kMap + k / 8] >> k % 8 & 1u;
}

// The third octet is the facsimile control field. Bit 0 depends on the sender, so it is ignored.
void T30Watch::on_frame(bool received, std::span<const std::uint8_t> frame) {
  if (frame.size() < 3) return;
  const int field = frame[2] & 0xFE;
  if (field == (T30_DCS & 0xFE)) ++progress_.trainings;
  if (field == (T30_FTT & 0xFE)) ++progress_.failed_trainings;
  if (field == (T30_RTN & 0xFE)) ++progress_.refused_pages;
  on_block(frame);
  if (config_.frame) config_.frame(received, frame);
}

/// @return lines of the newest page that could not be decoded
std::uint32_t T30Watch::take_statistics() {
  t30_stats_t stats;
  t30_get_transfer_statistics(t30_, &stats);
  progress_.pages_sent = static_cast<std::uint32_t>(stats.pages_tx);
  progress_.pages_received = static_cast<std::uint32_t>(stats.pages_rx);
  progress_.bit_rate = v34_bit_rate_ > 0 ? v34_bit_rate_ : static_cast<std::uint32_t>(stats.bit_rate);
  progress_.error_correction = stats.error_correcting_mode != 0;
  progress_.repeated_frames = static_cast<std::uint32_t>(stats.error_correcting_mode_retries);
  return static_cast<std::uint32_t>(std::max(stats.bad_rows, 0));
}

void T30Watch::on_page() {
  progress_.bad_lines += take_statistics();
  if (const char* ident = t30_get_rx_ident(t30_)) progress_.far_ident = ident;
  if (config_.page) config_.page(progress_);
}

void T30Watch::on_end(int code) {
  take_statistics();
  progress_.over = true;
  progress_.complete = code == T30_ERR_OK;
  if (!progress_.complete) progress_.failure = t30_completion_code_to_str(code);
}

}  // namespace offhook::fax
