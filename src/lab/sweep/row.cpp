// SPDX-License-Identifier: MIT
#include "src/lab/sweep/row.h"

#include <fmt/format.h>

#include "traces/scenario/key.h"

namespace offhook::sweep {

namespace {

using hostsim::CellCounts;
using hostsim::DmtStatus;
using hostsim::FaxStatus;
using hostsim::PumpStatus;
using hostsim::RadioStatus;
using record::Row;
using D = hostsim::DmtDirection;
using B = hostsim::RadioDirection;
using P = oh_dmt_instruments;
using W = hostsim::PumpDirection;
using RunRows = record::Rows<RunRow>;

constexpr auto kDown = &DmtStatus::down, kUp = &DmtStatus::up;
constexpr auto kReceived = &RadioStatus::received, kSent = &RadioStatus::sent;

template <auto Way, auto... Member>
constexpr Row dmt(std::string_view key, std::string_view unit, std::string_view what) {
  return RunRows::of<&RunRow::dmt, Way, Member...>(key, unit, what);
}
template <auto Way, auto... Member>
constexpr Row air(std::string_view key, std::string_view unit, std::string_view what) {
  return RunRows::of<&RunRow::radio, Way, Member...>(key, unit, what);
}
/// Missed and broken bursts. When a row is read, all of them count as missed.
template <auto Way>
constexpr Row lost(std::string_view key) {
  Row row = air<Way, &B::lost>(key, "", "bursts lost");
  row.set = air<Way, &B::missed>(key, "", "").set;
  return row;
}

constexpr Row kRows[] = {
    RunRows::of<&RunRow::complete>("complete", "", "whether the file arrived, or a device ran to its end"),
    RunRows::of<&RunRow::transfer_s>("transfer_s", "s",
                                     "time from the first byte to the last; empty if the file did not arrive"),
    RunRows::of<&RunRow::simulated_s>("simulated_s", "s", "length of the whole call"),
    RunRows::of<&RunRow::bytes_delivered>("bytes_delivered", "bytes", "bytes that arrived at the far end"),
    RunRows::of<&RunRow::blocks>("blocks", "", "blocks served"),
    RunRows::of<&RunRow::blocks_late>("blocks_late", "", "blocks served after their samples were due"),
    RunRows::of<&RunRow::samples_late>("samples_late", "samples", "samples that were ready after they were due"),
    RunRows::of<&RunRow::pending_max_samples>("pending_max_samples", "samples",
                                              "greatest number of samples that waited for service"),
    RunRows::of<&RunRow::overrun_samples>("overrun_samples", "samples", "received samples that were lost"),
    RunRows::of<&RunRow::underrun_samples>("underrun_samples", "samples", "samples missing when due for sending"),
    RunRows::of<&RunRow::frames_retransmitted>("frames_retransmitted", "",
                                               "frames that the near end's V.42 retransmitted"),
    RunRows::of<&RunRow::timeouts>("timeouts", "", "time-outs of the near end's V.42"),
    RunRows::of<&RunRow::retrains>("retrains", "", "retrains of the near pump"),
    RunRows::of<&RunRow::pump_share>("pump_share", "", "CPU time of the pump over time, 0 to 1"),
    RunRows::of<&RunRow::ending>("ending", "", "why the call ended"),
    RunRows::of<&RunRow::late_by_device>("blocks_late: ", "",
                                         "late blocks of each [[load.soft_device]], under its name")
        .as_keys(),
    RunRows::of<&RunRow::dmt, &DmtStatus::trained_s>("trained_s", "s",
                                                     "time when a DMT pump first reached data mode; empty: never"),
    dmt<kDown, &D::gross_bit_rate>("gross_down_bps", "bit/s", "gross rate: all bits of a frame"),
    dmt<kDown, &D::net_bit_rate>("net_down_bps", "bit/s", "net rate: payload of a frame"),
    dmt<kDown, &D::carried_bit_rate>("carried_down_bps", "bit/s",
                                     "rate carried: correct bits of the pattern over time"),
    dmt<kDown, &D::loop_bit_rate>("loop_down_bps", "bit/s", "bit rate that cable and noise alone allow"),
    dmt<kDown, &D::capacity_bit_rate>("capacity_down_bps", "bit/s", "capacity of the loop (docs/dmt.md)"),
    dmt<kDown, &D::pump, &P::crc_errors>("crc_errors_down", "", "superframes with a wrong CRC"),
    dmt<kDown, &D::pump, &P::lost_words>("lost_words_down", "", "words beyond correction"),
    dmt<kDown, &D::wrong_bits>("wrong_bits_down", "", "bits that differ from the pattern"),
    dmt<kDown, &D::cells, &CellCounts::received>("cells_down", "", "ATM cells received"),
    dmt<kDown, &D::cells, &CellCounts::hec_errors>("hec_errors_down", "", "ATM cells dropped for their HEC"),
    dmt<kUp, &D::gross_bit_rate>("gross_up_bps", "bit/s", "gross rate: all bits of a frame"),
    dmt<kUp, &D::net_bit_rate>("net_up_bps", "bit/s", "net rate: payload of a frame"),
    dmt<kUp, &D::carried_bit_rate>("carried_up_bps", "bit/s", "rate carried: correct bits of the pattern over time"),
    dmt<kUp, &D::loop_bit_rate>("loop_up_bps", "bit/s", "bit rate that cable and noise alone allow"),
    dmt<kUp, &D::capacity_bit_rate>("capacity_up_bps", "bit/s", "capacity of the loop (docs/dmt.md)"),
    dmt<kUp, &D::pump, &P::crc_errors>("crc_errors_up", "", "superframes with a wrong CRC"),
    dmt<kUp, &D::pump, &P::lost_words>("lost_words_up", "", "words beyond correction"),
    dmt<kUp, &D::wrong_bits>("wrong_bits_up", "", "bits that differ from the pattern"),
    dmt<kUp, &D::cells, &CellCounts::received>("cells_up", "", "ATM cells received"),
    dmt<kUp, &D::cells, &CellCounts::hec_errors>("hec_errors_up", "", "ATM cells dropped for their HEC"),
    RunRows::of<&RunRow::radio, &RadioStatus::connected_s>("connected_s", "s",
                                                           "time when a radio link was first up; empty: never"),
    air<kReceived, &B::bit_rate>("bit_rate_received_bps", "bit/s", "bit rate of a burst's data"),
    air<kReceived, &B::due>("bursts_due_received", "", "bursts due"),
    lost<kReceived>("bursts_lost_received"),
    air<kReceived, &B::late>("bursts_late_received", "", "bursts lost because they were sent late"),
    air<kSent, &B::bit_rate>("bit_rate_sent_bps", "bit/s", "bit rate of a burst's data"),
    air<kSent, &B::due>("bursts_due_sent", "", "bursts due"),
    lost<kSent>("bursts_lost_sent"),
    air<kSent, &B::late>("bursts_late_sent", "", "bursts lost because they were sent late"),
    RunRows::of<&RunRow::pump, &PumpStatus::connected_s>(
        "pump_connected_s", "s", "time when a registered pump first reached data mode; empty: never"),
    RunRows::of<&RunRow::pump, &PumpStatus::received, &W::bits>("pump_bits_received", "",
                                                                "bits compared with the pattern"),
    RunRows::of<&RunRow::pump, &PumpStatus::received, &W::wrong_bits>("pump_wrong_bits_received", "",
                                                                      "bits that differ from the pattern"),
    RunRows::of<&RunRow::pump, &PumpStatus::sent, &W::bits>("pump_bits_sent", "", "bits compared at the far end"),
    RunRows::of<&RunRow::pump, &PumpStatus::sent, &W::wrong_bits>("pump_wrong_bits_sent", "",
                                                                  "bits that differ from the pattern at the far end"),
    RunRows::of<&RunRow::fax, &FaxStatus::due>("fax_pages_due", "", "pages of the fax call"),
    RunRows::of<&RunRow::fax, &FaxStatus::confirmed>("fax_pages_confirmed", "",
                                                     "pages that the receiving machine confirmed"),
    RunRows::of<&RunRow::fax, &FaxStatus::whole>("fax_pages_whole", "", "pages of which every pixel arrived"),
    RunRows::of<&RunRow::fax, &FaxStatus::frames_again>("fax_frames_again", "", "frames requested again"),
    RunRows::of<&RunRow::fax, &FaxStatus::bad_lines>("fax_bad_lines", "", "lines that could not be decoded"),
    RunRows::of<&RunRow::fax, &FaxStatus::trainings>("fax_trainings", "", "test signals announced (DCS)"),
    RunRows::of<&RunRow::fax, &FaxStatus::failed_trainings>("fax_failed_trainings", "", "test signals refused (FTT)"),
    RunRows::of<&RunRow::fax, &FaxStatus::refused_pages>("fax_refused_pages", "", "pages refused (RTN)"),
    RunRows::of<&RunRow::fax, &FaxStatus::lasted_s>("fax_lasted_s", "s", "length of the fax call"),
    RunRows::of<&RunRow::fax, &FaxStatus::failure>("fax_failure", "", "reason of T.30 for the end of the call"),
};

}  // namespace

constexpr record::Table kRunRow{kRows};

std::string to_text(const RunRow& row) {
  return record::json_text(kRunRow, &row);
}

RunRow row_of(const std::string& text) {
  RunRow row;
  try {
    record::from_json_text(kRunRow, text, &row);
  } catch (const std::invalid_argument& e) {
    throw config::Error(fmt::format("a run's result cannot be read: {}", e.what()));
  }
  return row;
}

}  // namespace offhook::sweep
