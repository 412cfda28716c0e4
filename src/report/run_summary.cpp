// SPDX-License-Identifier: MIT
#include "src/report/run_summary.h"

#include <algorithm>

#include "src/lab/analysis/confidence.h"

namespace offhook {

using hostsim::CellCounts;
using hostsim::DmtDirection;
using hostsim::DmtStatus;
using hostsim::FaxStatus;
using hostsim::HoldStatus;
using hostsim::PumpDirection;
using hostsim::PumpStatus;
using hostsim::RadioDirection;
using hostsim::RadioStatus;
using record::Row;
using record::Rows;
using record::Table;

namespace {

using Tones = Rows<DmtDirection::Tone>;
constexpr Row kToneRows[] = {
    Tones::of<&DmtDirection::Tone::tone>("tone", "", "number of the tone, in steps of 4.3125 kHz"),
    Tones::of<&DmtDirection::Tone::bits>("bits", "", "bits of the tone in a symbol"),
    Tones::of<&DmtDirection::Tone::snr_db>("snr_db", "dB", "SNR of the tone in MEDLEY").decimals(1),
};
constexpr Table kTone{kToneRows};

using Dmt = Rows<DmtDirection>;
using Pump = oh_dmt_instruments;
constexpr Row kDmtDirectionRows[] = {
    Dmt::of<&DmtDirection::gross_bit_rate>("gross_bit_rate", "bit/s", "gross rate: all bits of a frame")
        .label("gross rate, bit/s, down and up"),
    Dmt::of<&DmtDirection::net_bit_rate>("net_bit_rate", "bit/s", "net rate: payload of a frame")
        .label("net rate, bit/s"),
    Dmt::of<&DmtDirection::carried_bit_rate>("carried_bit_rate", "bit/s",
                                             "rate carried: correct bits of the pattern over time")
        .label("rate carried, bit/s"),
    Dmt::of<&DmtDirection::trellis_bits>("trellis_bits", "",
                                         "bits of a symbol that the trellis code takes; 0: no trellis")
        .label("trellis code, bits per symbol"),
    Dmt::of<&DmtDirection::loop_bit_rate>("loop_bit_rate", "bit/s", "bit rate that cable and noise alone allow")
        .label("gross rate by the loop alone, bit/s"),
    Dmt::of<&DmtDirection::capacity_bit_rate>("capacity_bit_rate", "bit/s", "capacity of the loop")
        .label("capacity, bit/s"),
    Dmt::of<&DmtDirection::margin_db>("margin_db", "dB", "least margin of a tone after training")
        .decimals(1)
        .label("least margin, dB"),
    Dmt::of<&DmtDirection::margin_now_db>("margin_now_db", "dB", "least margin of a tone after data mode")
        .decimals(1)
        .label("least margin after data mode, dB"),
    Dmt::of<&DmtDirection::pump, &Pump::swapped_bits>("swapped_bits", "", "bits moved to other tones in data mode")
        .label("bits swapped"),
    Dmt::of<&DmtDirection::pump, &Pump::clock_ppm>("clock_ppm", "ppm", "the sender's clock relative to the receiver's")
        .decimals(1),
    Dmt::of<&DmtDirection::pump, &Pump::superframes>("superframes", "", "superframes received").label("superframes"),
    Dmt::of<&DmtDirection::pump, &Pump::crc_errors>("crc_errors", "", "superframes with a wrong CRC")
        .label("superframes wrong"),
    Dmt::of<&DmtDirection::pump, &Pump::lost_syncs>("lost_syncs", "", "synchronisation symbols not found"),
    Dmt::of<&DmtDirection::pump, &Pump::spoiled_symbols>("spoiled_symbols", "", "data symbols with lost samples"),
    Dmt::of<&DmtDirection::pump, &Pump::corrected_octets>("corrected_octets", "", "octets that Reed-Solomon corrected")
        .label("octets corrected"),
    Dmt::of<&DmtDirection::pump, &Pump::lost_words>("lost_words", "", "words that Reed-Solomon could not correct")
        .label("words beyond correction"),
    Dmt::of<&DmtDirection::bits>("bits_compared", "", "bits compared with the test pattern").label("bits compared"),
    Dmt::of<&DmtDirection::wrong_bits>("wrong_bits", "", "bits that differ from the pattern").label("bits wrong"),
    Dmt::of<&DmtDirection::pattern_losses>("pattern_losses", "", "times that the pattern was lost"),
    Dmt::of<&DmtDirection::cells, &CellCounts::received>("cells", "", "ATM cells received").label("ATM cells received"),
    Dmt::of<&DmtDirection::cells, &CellCounts::idle>("idle_cells", "", "idle cells among them").label("idle cells"),
    Dmt::of<&DmtDirection::cells, &CellCounts::hec_errors>("hec_errors", "", "cells dropped for their HEC")
        .label("HEC errors"),
    Dmt::of<&DmtDirection::cells, &CellCounts::losses>("delineation_losses", "",
                                                       "times that the cells' boundaries were lost")
        .label("cell delineation lost"),
    Dmt::part<&DmtDirection::tones>("tones", kTone),
};

using DmtCall = Rows<DmtStatus>;
constexpr Row kDmtStatusRows[] = {
    DmtCall::of<&DmtStatus::trained_s>("trained_s", "s", "time when data mode was first reached; negative: never")
        .decimals(9),
    DmtCall::of<&DmtStatus::trainings>("trainings", "", "trainings from the start").label("trainings"),
    DmtCall::of<&DmtStatus::fast_retrains>("fast_retrains", "", "fast retrains, which keep clocks and equalisers")
        .label("fast retrains"),
    DmtCall::of<&DmtStatus::in_data>("in_data", "", "whether both ends are in data mode at the end"),
    DmtCall::part<&DmtStatus::down>("down", kDmtDirection),
    DmtCall::part<&DmtStatus::up>("up", kDmtDirection),
};

using Radio = Rows<RadioDirection>;
constexpr Row kRadioDirectionRows[] = {
    Radio::of<&RadioDirection::bit_rate>("bit_rate", "bit/s", "bit rate of a burst's data")
        .label("bit/s, received and sent"),
    Radio::of<&RadioDirection::snr_db>("snr_db", "dB", "SNR of the symbols; 0: unknown").decimals(1).label("SNR, dB"),
    Radio::of<&RadioDirection::due>("bursts_due", "", "bursts due").label("bursts due"),
    Radio::of<&RadioDirection::missed>("bursts_missed", "", "bursts not heard").label("bursts not heard"),
    Radio::of<&RadioDirection::broken>("bursts_broken", "", "bursts heard with errors").label("bursts broken"),
    Radio::of<&RadioDirection::late>("bursts_late", "",
                                     "missed and damaged bursts that were lost because the host was late")
        .label("lost bursts, because the host was late"),
    Radio::of<&RadioDirection::bits>("bits_compared", "", "bits compared with the test pattern").label("bits compared"),
    Radio::of<&RadioDirection::wrong_bits>("wrong_bits", "", "bits that differ from the pattern").label("bits wrong"),
    Radio::of<&RadioDirection::pattern_losses>("pattern_losses", "", "times that the pattern was lost"),
    Radio::of<&RadioDirection::miss_ratio>("miss_ratio", "", "share of lost bursts, 0 to 1")
        .significant(2)
        .label("miss ratio"),
    Radio::of("miss_ratio_at_most", "", "upper bound of that share, 95 % confidence",
              [](const RadioDirection& d) { return miss_ratio_at_most(d); })
        .significant(2)
        .label("miss ratio, upper bound, 95 %"),
};

using RadioCall = Rows<RadioStatus>;
constexpr Row kRadioStatusRows[] = {
    RadioCall::of<&RadioStatus::slot_s>("slot_ms", "ms", "length of a slot").scale(1e3),
    RadioCall::of<&RadioStatus::connected_s>("connected_s", "s",
                                             "time when data mode was first reached; negative: never")
        .decimals(9),
    RadioCall::of<&RadioStatus::retrains>("retrains", "", "links lost").label("links lost"),
    RadioCall::of<&RadioStatus::in_data>("in_data", "", "whether both ends are in data mode at the end"),
    RadioCall::part<&RadioStatus::received>("received", kRadioDirection),
    RadioCall::part<&RadioStatus::sent>("sent", kRadioDirection),
};

using Way = Rows<PumpDirection>;
constexpr Row kPumpDirectionRows[] = {
    Way::of<&PumpDirection::bit_rate>("bit_rate", "bit/s", "bit rate of the newest data mode")
        .label("bit/s, received and sent"),
    Way::of<&PumpDirection::bits>("bits_compared", "", "bits compared with the test pattern").label("bits compared"),
    Way::of<&PumpDirection::wrong_bits>("wrong_bits", "", "bits that differ from the pattern").label("bits wrong"),
    Way::of<&PumpDirection::pattern_losses>("pattern_losses", "", "times that the pattern was lost"),
};

using Metric = Rows<PumpStatus::Metric>;
constexpr Row kMetricRows[] = {
    Metric::of<&PumpStatus::Metric::name>("name", "", "name of the value"),
    Metric::of<&PumpStatus::Metric::unit>("unit", "", "unit of the value; empty: a count"),
    Metric::of<&PumpStatus::Metric::value>("value", "", "value at the end"),
};
constexpr Table kMetric{kMetricRows};

using OwnPump = Rows<PumpStatus>;
constexpr Row kPumpStatusRows[] = {
    OwnPump::of<&PumpStatus::name>("name", "", "name of the registered pump"),
    OwnPump::of<&PumpStatus::connected_s>("connected_s", "s", "time when data mode was first reached; negative: never")
        .decimals(9),
    OwnPump::of<&PumpStatus::retrains>("retrains", "", "trainings after the first").label("retrains"),
    OwnPump::of<&PumpStatus::in_data>("in_data", "", "whether the ends are in data mode at the end"),
    OwnPump::part<&PumpStatus::received>("received", kPumpDirection),
    OwnPump::part<&PumpStatus::sent>("sent", kPumpDirection),
    OwnPump::part<&PumpStatus::metrics>("metrics", kMetric),
};

using Sheet = Rows<FaxStatus::Page>;
constexpr Row kSheetRows[] = {
    Sheet::of<&FaxStatus::Page::page>("page", "", "number of the page among the received ones"),
    Sheet::of<&FaxStatus::Page::taken_s>("taken_s", "s", "time when the receiving machine had the page").decimals(9),
    Sheet::of<&FaxStatus::Page::modulation>("modulation", "", "V.17, V.29 or V.27ter"),
    Sheet::of<&FaxStatus::Page::bit_rate>("bit_rate", "bit/s", "bit rate of the page"),
    Sheet::of<&FaxStatus::Page::frames_again>("frames_again", "", "frames sent again for the page (PPR)"),
    Sheet::of<&FaxStatus::Page::bad_lines>("bad_lines", "", "lines of the page that could not be decoded"),
};
constexpr Table kSheet{kSheetRows};

using Fax = Rows<FaxStatus>;
constexpr Row kFaxStatusRows[] = {
    Fax::of<&FaxStatus::due>("pages_due", "", "pages of the call").label("pages due"),
    Fax::of<&FaxStatus::confirmed>("pages_confirmed", "", "pages that the receiving machine confirmed")
        .label("pages confirmed"),
    Fax::of<&FaxStatus::whole>("pages_whole", "", "pages of which every pixel arrived").label("pages whole"),
    Fax::of("pages_lost", "", "pages that did not arrive whole", [](const FaxStatus& f) { return f.lost(); })
        .label("pages lost"),
    Fax::of<&FaxStatus::error_correction>("error_correction", "", "whether the pages had error correction"),
    Fax::of<&FaxStatus::frames_again>("frames_again", "", "frames that the receiving machine requested again (PPR)")
        .label("frames sent again"),
    Fax::of<&FaxStatus::bad_lines>("bad_lines", "", "lines that could not be decoded, without error correction")
        .label("lines damaged"),
    Fax::of<&FaxStatus::trainings>("trainings", "", "test signals announced (DCS)").label("trainings"),
    Fax::of<&FaxStatus::failed_trainings>("failed_trainings", "", "test signals refused (FTT)")
        .label("trainings refused"),
    Fax::of<&FaxStatus::refused_pages>("refused_pages", "", "pages refused (RTN)").label("pages refused"),
    Fax::of<&FaxStatus::starved_bits>("starved_bits", "", "bits sent as zeros because T.30 was late"),
    Fax::of<&FaxStatus::packets_sent>("packets_sent", "", "packets of a T.38 gateway, in both directions"),
    Fax::of<&FaxStatus::packets_recovered>("packets_recovered", "", "packets that were lost, and received as copies"),
    Fax::of<&FaxStatus::packets_lost>("packets_lost", "", "packets that were lost with all copies"),
    Fax::of<&FaxStatus::lasted_s>("lasted_s", "s", "length of the fax call").decimals(9),
    Fax::of<&FaxStatus::over>("over", "", "whether both machines ended the call"),
    Fax::of<&FaxStatus::complete>("complete", "", "whether the sending machine ended it without an error"),
    Fax::of<&FaxStatus::failure>("failure", "", "reason of T.30 for the end of the call; empty: none"),
    Fax::part<&FaxStatus::pages>("pages", kSheet),
};

using Hold = Rows<HoldStatus>;
/// A time of the simulation; negative: the event did not occur.
template <auto Member>
constexpr Row hold_time(std::string_view key, std::string_view what) {
  return Hold::of<Member>(key, "s", what).scale(1e-9).decimals(9).absent_below_0();
}
constexpr Row kHoldRows[] = {
    hold_time<&HoldStatus::asked_at>("asked_at_s", "simulated time of the request for modem-on-hold"),
    hold_time<&HoldStatus::refused_at>("refused_at_s", "simulated time of the refusal"),
    hold_time<&HoldStatus::away_at>("away_at_s", "simulated time of the grant"),
    Hold::of("limit_s", "s", "granted duration; 0: no limit",
             [](const HoldStatus& h) { return h.away_at >= 0 ? std::optional(h.limit_s) : std::nullopt; }),
    hold_time<&HoldStatus::resumed_at>("resumed_at_s", "simulated time of the order to end"),
    hold_time<&HoldStatus::data_at>("data_at_s", "simulated time of the return to data mode"),
};
constexpr Table kHold{kHoldRows};

using Kernel = Rows<oh_kernel_status>;
constexpr Row kKernelRows[] = {
    Kernel::of<&oh_kernel_status::interrupts>("interrupts", "", "interrupts with at least one new descriptor"),
    Kernel::of<&oh_kernel_status::coalesced>("coalesced", "", "descriptors without their own interrupt"),
    Kernel::of<&oh_kernel_status::spurious>("spurious", "", "interrupts without a new descriptor"),
    Kernel::of<&oh_kernel_status::bad>("bad", "", "malformed descriptors: sequence or position"),
    Kernel::of<&oh_kernel_status::storms>("storms", "", "times that the interrupt was masked"),
    Kernel::of<&oh_kernel_status::longest_section_ns>("longest_section_us", "us", "longest section with the FPU held")
        .scale(1e-3)
        .decimals(3),
    Kernel::of<&oh_kernel_status::log_lost>("log_lost", "", "events lost because the log was full"),
};
constexpr Table kKernel{kKernelRows};

using Device = Rows<RunSummary::Device>;
constexpr Row kDeviceRows[] = {
    Device::of<&RunSummary::Device::buffers>("buffers", "", "buffers of the soft device as it ran"),
    Device::of<&RunSummary::Device::buffer_samples>("buffer_samples", "samples", "length of a buffer"),
    Device::of<&RunSummary::Device::lead_samples>("lead_samples", "samples", "transmit lead"),
};
constexpr Table kDevice{kDeviceRows};

using Coding = Rows<RunSummary::Compression>;
constexpr Row kCompressionRows[] = {
    Coding::of<&RunSummary::Compression::by>("by", "", "V.42bis or V.44"),
    Coding::of<&RunSummary::Compression::sent>("sent", "", "whether it was negotiated for sending"),
    Coding::of<&RunSummary::Compression::received>("received", "", "whether it was negotiated for receiving"),
    Coding::of<&RunSummary::Compression::octets>("octets", "", "octets that it produced"),
};
constexpr Table kCompression{kCompressionRows};

using Reference = Rows<RunSummary::Reference>;
constexpr Row kReferenceRows[] = {
    Reference::of<&RunSummary::Reference::context>("context", "", "INT, the context of the reference call"),
    Reference::of<&RunSummary::Reference::complete>("complete", "", "whether the file arrived in the reference call"),
    Reference::of<&RunSummary::Reference::lost_samples>("lost_samples", "", "whether the reference call lost samples"),
    Reference::of<&RunSummary::Reference::transfer_s>("transfer_s", "s", "transfer time of the reference call")
        .decimals(9),
};
constexpr Table kReference{kReferenceRows};

std::optional<double> service_of_slot(const RunSummary& run, double ns) {
  return run.radio && run.figures ? std::optional(of_slot(*run.radio, ns)) : std::nullopt;
}

using Run = Rows<RunSummary>;
constexpr Row kRunRows[] = {
    Run::of("offhook_summary", "", "version of this document", [](const RunSummary&) { return 1; }),
    Run::of<&RunSummary::version>("version", "", "version of offhook"),
    Run::of<&RunSummary::name>("name", "", "name of the scenario"),
    Run::of<&RunSummary::context>("context", "", "context of the driver"),
    Run::of<&RunSummary::seed>("seed", "", "random seed of the run"),
    Run::of<&RunSummary::complete>("complete", "", "whether the file arrived, or a device ran to its end"),
    Run::of<&RunSummary::stopped>("interrupted", "", "whether the user stopped the run"),
    Run::of<&RunSummary::ending>("ending", "", "why the call ended, in words"),
    Run::of<&RunSummary::bytes>("bytes", "bytes", "length of the file; absent for a device"),
    Run::of<&RunSummary::bytes_delivered>("bytes_delivered", "bytes",
                                          "bytes that arrived; with --far-end in both directions together"),
    Run::of<&RunSummary::transfer_s>("transfer_s", "s",
                                     "time from the first byte to the last; 0: the file did not arrive")
        .decimals(9),
    Run::of<&RunSummary::simulated_s>("simulated_s", "s", "length of the whole call").decimals(9),
    Run::of<&RunSummary::line_s>("line_s", "s", "length of a call in a kernel, counted in samples of its line")
        .decimals(9),
    Run::of<&RunSummary::at_line_rate_s>("at_line_rate_s", "s", "with --far-end: time that the line's bit rate needs")
        .decimals(9)
        .absent_if_0(),
    Run::part<&RunSummary::kernel>("kernel", kKernel),
    Run::part<&RunSummary::device>("device", kDevice),
    Run::part<&RunSummary::dmt>("dmt", kDmtStatus),
    Run::part<&RunSummary::radio>("radio", kRadioStatus),
    Run::part<&RunSummary::pump>("pump", kPumpStatus),
    Run::part<&RunSummary::fax>("fax", kFaxStatus),
    Run::of("radio.longest_service_of_slot", "", "longest time from interrupt to output, in slots",
            [](const RunSummary& r) {
              return service_of_slot(r, r.figures ? static_cast<double>(r.figures->interrupt_to_output.max()) : 0);
            }),
    Run::of(
        "radio.mean_service_of_slot", "", "mean time from interrupt to output, in slots",
        [](const RunSummary& r) { return service_of_slot(r, r.figures ? r.figures->interrupt_to_output.mean() : 0); }),
    Run::of<&RunSummary::mnp_class>("mnp_class", "", "class of MNP, if it corrected the errors").absent_if_0(),
    Run::part<&RunSummary::coding>("compression", kCompression),
    Run::part<&RunSummary::hold>("hold", kHold),
    Run::part<&RunSummary::reference>("reference", kReference),
    Run::of<&RunSummary::verdict>("verdict", "", "sufficient, marginal or insufficient"),
    Run::of<&RunSummary::headline>("headline", "", "the verdict in a sentence"),
    Run::of<&RunSummary::reasons>("reasons", "", "reasons, one sentence each"),
    Run::part<&RunSummary::figures>("figures", kFigures).always().written_only(),
};

}  // namespace

constexpr Table kDmtDirection{kDmtDirectionRows}, kDmtStatus{kDmtStatusRows}, kRadioDirection{kRadioDirectionRows},
    kRadioStatus{kRadioStatusRows}, kPumpDirection{kPumpDirectionRows}, kPumpStatus{kPumpStatusRows},
    kFaxStatus{kFaxStatusRows}, kRunSummary{kRunRows};

double miss_ratio_at_most(const RadioDirection& d) {
  return d.due > 0 ? std::min(1.0, poisson_interval(d.lost()).high / static_cast<double>(d.due)) : 1;
}

double of_slot(const RadioStatus& radio, double ns) {
  return 1e-6 * ns / (1e3 * radio.slot_s);
}

}  // namespace offhook
