// SPDX-License-Identifier: MIT
//
// The report: one HTML file that holds its data, its style, its code and the chart library (dygraphs, from the Debian
// package libjs-dygraphs, included when Offhook is built), and loads nothing from outside. The verdict comes first,
// in words; a figure that mirrors one of Jones & Saroiu names it.
//
// All text reaches the page as JSON and is set as text, never as markup.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/base/record.h"
#include "offhook/modem_card.h"
#include "src/lab/advice/law.h"
#include "src/lab/analysis/figures.h"
#include "src/lab/analysis/verdict.h"
#include "src/report/run_summary.h"

namespace offhook {

using Settings = std::vector<std::pair<std::string, std::string>>;  ///< name and value, shown in this order

/// The content of a call report, except the figures from the log.
struct CallReport {
  std::string title;                              ///< the scenario's name
  Settings settings;                              ///< context, pump, line, seed and so on
  Settings host;                                  ///< for a live call, the machine
  std::map<std::uint16_t, std::string> entities;  ///< names of the ids of RUN events
  std::map<std::uint32_t, std::string> phases;    ///< names of the arguments of PHASE events, unless they are hostsim's
  std::optional<std::uint32_t> transmit_lead_samples;
  std::uint32_t ring_samples = OH_MODEM_RING_SAMPLES;  ///< rate of the card's received samples
  std::optional<RunSummary> run;                       ///< none: only the log exists
  std::vector<std::string> warnings;                   ///< such as how a truncated log ended

  const RunSummary::Device* device() const { return run && run->device ? &*run->device : nullptr; }
  const hostsim::DmtStatus* dmt() const { return run ? run->dmt.get() : nullptr; }
  const hostsim::PumpStatus* pump() const { return run ? run->pump.get() : nullptr; }
  const hostsim::FaxStatus* fax() const { return run ? run->fax.get() : nullptr; }
  const hostsim::RadioStatus* radio() const { return run ? run->radio.get() : nullptr; }
  /// Unknown for a log alone, and for an interrupted call.
  std::optional<bool> complete() const { return run && !run->stopped ? std::optional(run->complete) : std::nullopt; }
  /// The transfer time of the same call in INT.
  std::optional<double> reference_s() const {
    const bool known = run && run->reference && run->reference->complete;
    return known ? std::optional(run->reference->transfer_s) : std::nullopt;
  }
  std::uint64_t bytes() const { return run ? run->bytes.value_or(0) : 0; }
};

/// The verdict in words.
struct CallVerdict {
  std::optional<Verdict> verdict;  ///< none if it is unknown whether the call completed
  std::string headline;
  std::vector<std::string> reasons;  ///< margin and reason
};
CallVerdict judge(const CallReport& call, const Figures& figures);

/// Bytes of the file that arrived, in a complete or incomplete call.
std::uint64_t bytes_delivered(const CallReport& call, const Figures& figures);

/// One configuration of a sweep or of the demo.
struct SweepRow {
  std::string name;   ///< "INT", "RES 2/8"
  std::string group;  ///< rows of one group are adjacent: "Real pump", "Table 3"
  struct Reservation {
    double x = 0, y = 0;  ///< in ticks of SweepReport::tick_ms
  };
  std::optional<Reservation> reservation;  ///< rows with a reservation appear on the map
  VerdictResult result;
  std::uint32_t pending_max_samples = 0;
  std::uint64_t blocks_late = 0;
  std::uint64_t frames_retransmitted = 0;
  std::string link;  ///< relative path of the call's own report; may be empty
  struct Published {
    std::optional<Verdict> verdict;
    std::optional<double> mean_s;
    std::string note;             ///< "10 of 10"
    std::string provenance = {};  ///< what agreement with it proves: "calibrated", "independent"; may be empty
  };
  std::optional<Published> published;
  std::vector<std::string> axes;  ///< values for SweepReport::axes; empty if the report has none
  std::string decides;            ///< deciding quantity of this row in a few words; may be empty
};

struct SweepReport {
  std::string title;
  Settings settings;
  std::vector<std::string> axes;  ///< keys of the axes of a sweep
  std::vector<SweepRow> rows;
  std::vector<std::string> findings;     ///< sentences after the verdict: the mechanism that decides
  std::optional<DeviceTiming> device;    ///< draws the law's boundary on the map
  std::optional<DeviceTiming> training;  ///< for a modem, which trains in the same slots: the law holds for both
  double tick_ms = 1000.0 / 1024;
  double cpu_share_published = 0, gap_ms_published = 0;  ///< the two lines of Figure 17
};

/// @return the page.
std::string call_page(const CallReport& call, const Figures& figures);
std::string sweep_page(const SweepReport& sweep);
/// @param table  of the results of `offhook reproduce`
std::string reproduce_page(const record::Table& table, const void* results);

}  // namespace offhook
