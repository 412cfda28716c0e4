// SPDX-License-Identifier: MIT
//
// The report: one HTML file that holds its data, its style, its code and the chart library (dygraphs, from the Debian
// package libjs-dygraphs, taken in when Offhook is built), and asks for nothing from outside. The verdict comes first,
// in words; each figure that mirrors one of Jones & Saroiu says which.
//
// All text reaches the page as JSON and is set as text, never as markup.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "offhook/modem_card.h"
#include "src/lab/analysis/figures.h"
#include "src/lab/analysis/verdict.h"
#include "src/lab/law/law.h"

namespace offhook {

using Settings = std::vector<std::pair<std::string, std::string>>;  ///< name and value, shown in this order

/// What a call report shows beside the figures of the log.
struct CallReport {
  std::string title;                              ///< the scenario's name
  Settings settings;                              ///< context, pump, line, seed ...
  Settings host;                                  ///< of a live call, the machine
  std::map<std::uint16_t, std::string> entities;  ///< names of the ids of RUN events
  std::map<std::uint32_t, std::string> phases;  ///< names of the arguments of PHASE events, where other than hostsim's
  std::optional<std::uint32_t> transmit_lead_samples;
  std::uint32_t ring_samples = OH_MODEM_RING_SAMPLES;  ///< of the card, received
  /// A device that is no modem: it has blocks and buffers, and carries no file.
  struct Device {
    std::uint32_t buffers = 0, buffer_samples = 0;
  };
  std::optional<Device> device;
  /// A DMT pump on its loop: what each direction carries, as its receiver knows it.
  struct Dmt {
    struct Direction {
      struct Tone {
        std::uint32_t tone = 0, bits = 0;
        double snr_db = 0;
      };
      std::uint32_t gross_bit_rate = 0, net_bit_rate = 0;
      double margin_db = 0;
      std::uint32_t superframes = 0, crc_errors = 0, corrected_octets = 0, lost_words = 0, swapped_bits = 0;
      std::uint64_t bits_compared = 0, wrong_bits = 0;
      struct Cells {
        std::uint64_t received = 0, idle = 0, hec_errors = 0, losses = 0;
      };
      std::optional<Cells> cells;  ///< of ATM, where there are any
      std::vector<Tone> tones;
    };
    double trained_s = -1;  ///< negative: never
    std::uint32_t trainings = 0, fast_retrains = 0;
    Direction down, up;
  };
  std::optional<Dmt> dmt;
  /// A radio on the air: what became of the bursts of each direction, as their receiver knows it.
  struct Radio {
    struct Direction {
      std::uint32_t bit_rate = 0;
      double snr_db = 0;
      std::uint64_t due = 0, missed = 0, broken = 0;
      std::uint64_t late = 0;  ///< of the missed and the broken: the host was late
      std::uint64_t bits_compared = 0, wrong_bits = 0;
      std::uint64_t lost() const { return missed + broken; }
      double miss_ratio() const { return due > 0 ? static_cast<double>(lost()) / static_cast<double>(due) : 0; }
      /// With 95 % confidence, were bursts lost independently: the upper end of poisson_interval().
      double miss_ratio_at_most() const;
    };
    double slot_ms = 0, connected_s = -1;  ///< negative: never
    std::uint32_t retrains = 0;
    Direction received, sent;
  };
  std::optional<Radio> radio;
  /// The whole file arrived; a device lost nothing, or its data were right where it has any. Unknown for a log alone.
  std::optional<bool> complete;
  double transfer_s = 0;
  std::string ending;                            ///< why the call ended, as the summary states it; empty: unknown
  std::string hold;                              ///< what became of an order of a modem-on-hold; empty: there was none
  std::uint64_t octets_carried = 0;              ///< what V.42bis made of the bytes; 0: there was none
  std::uint64_t bytes = 0;                       ///< length of the file
  std::optional<std::uint64_t> bytes_delivered;  ///< of them, both ways together; unknown: what the log has of one
  std::optional<double> reference_s;             ///< transfer time of the same call in INT
  double at_line_rate_s = 0;  ///< transfer time at the line's bit rate, where that is what a call is held to; 0: not
  std::vector<std::string> warnings;  ///< e.g. how a truncated log ended
};

/// The verdict in words.
struct CallVerdict {
  std::optional<Verdict> verdict;  ///< none when nothing says whether the call completed
  std::string headline;
  std::vector<std::string> reasons;  ///< by what margin, and why
};
CallVerdict judge(const CallReport& call, const Figures& figures);

/// Bytes of the file that arrived, of a call that is over or not.
std::uint64_t bytes_delivered(const CallReport& call, const Figures& figures);

/// A time in slots.
inline double of_slot(const CallReport::Radio& radio, double ns) {
  return 1e-6 * ns / radio.slot_ms;
}

/// One configuration of a sweep or of the demo.
struct SweepRow {
  std::string name;   ///< "INT", "RES 2/8"
  std::string group;  ///< rows of one group stand together: "Real pump", "Table 3"
  struct Reservation {
    double x = 0, y = 0;  ///< in ticks of SweepReport::tick_ms
  };
  std::optional<Reservation> reservation;  ///< rows with one appear on the map
  VerdictResult result;
  std::uint32_t pending_max_samples = 0;
  std::uint64_t blocks_late = 0;
  std::uint64_t frames_retransmitted = 0;
  std::string link;  ///< of the call's own report, relative; may be empty
  struct Published {
    std::optional<Verdict> verdict;
    std::optional<double> mean_s;
    std::string note;             ///< "10 of 10"
    std::string provenance = {};  ///< what agreement with it is worth: "calibrated", "independent"; may be empty
  };
  std::optional<Published> published;
  std::string decides;  ///< what decides this row, in a few words; may be empty
};

struct SweepReport {
  std::string title;
  Settings settings;
  std::vector<SweepRow> rows;
  std::vector<std::string> findings;     ///< sentences after the verdict: which mechanism decides
  std::optional<DeviceTiming> device;    ///< draws the law's boundary on the map
  std::optional<DeviceTiming> training;  ///< of a modem, which has to train in the same slots: the law is of both
  double tick_ms = 1000.0 / 1024;
  double cpu_share_published = 0, gap_ms_published = 0;  ///< the two lines of Figure 17
};

/// @return the page.
std::string call_page(const CallReport& call, const Figures& figures);
std::string sweep_page(const SweepReport& sweep);
/// @param results as src/program/command/reproduce.cpp writes them
std::string reproduce_page(const nlohmann::ordered_json& results);

}  // namespace offhook
