// SPDX-License-Identifier: MIT
#include "src/program/command/modem_summary.h"

#include <fmt/format.h>

#include <utility>

#include "driver/base/terminal.h"
#include "src/program/command/times.h"

namespace offhook::command {
namespace {

using ModemSummaryKeys = record::Written<ModemSummary>;
using ThreadKeys = record::Written<ModemSummary::Thread>;

constexpr record::Row kThreadRows[] = {
    ThreadKeys::of<&ModemSummary::Thread::yields>("yields", "", "times that the CPU was yielded at preemption points")
        .label("yields"),
    ThreadKeys::of<&ModemSummary::Thread::throttles>("throttles", "", "times that the reservation was exhausted")
        .label("throttles"),
    ThreadKeys::of<&ModemSummary::Thread::demoted>("demoted", "",
                                                   "whether the watchdog demoted the thread to normal priority"),
};
constexpr record::Table kThread{kThreadRows};

using Named = std::vector<std::pair<std::string, record::Value>>;
constexpr record::Row kNetworkRows[] = {
    record::Written<Named>::of("", "", "counters of a network card, as on its live page (docs/live-page.md)",
                               [](const Named& n) { return n; })
        .as_keys(),
};
constexpr record::Table kNetwork{kNetworkRows};

std::optional<Named> network(const ModemSummary& m) {
  if (m.network.empty()) return std::nullopt;
  Named named;
  for (const CardFigure& figure : m.network)
    std::visit([&](auto value) { named.emplace_back(figure.key, value); }, figure.value);
  return named;
}

constexpr record::Row kModemSummaryRows[] = {
    ModemSummaryKeys::of<&ModemSummary::context>("context", "", "context of the service"),
    ModemSummaryKeys::of<&ModemSummary::interrupts>("interrupts", "", "interrupts of the card").label("interrupts"),
    ModemSummaryKeys::of<&ModemSummary::blocks_served>("blocks_served", "", "blocks served by the pump")
        .label("blocks served"),
    ModemSummaryKeys::of<&ModemSummary::blocks_late>("blocks_late", "", "blocks served after their samples were due")
        .label("blocks late"),
    ModemSummaryKeys::of<&ModemSummary::samples_late>("samples_late", "samples", "samples that were late"),
    ModemSummaryKeys::of<&ModemSummary::samples_filled_in>("samples_filled_in", "samples",
                                                           "samples replaced by silence")
        .label("samples concealed"),
    ModemSummaryKeys::of<&ModemSummary::pending_max>("pending_max_samples", "samples",
                                                     "greatest number of samples that waited for service")
        .label("samples pending, max"),
    ModemSummaryKeys::of<&ModemSummary::overrun_samples>("overrun_samples", "samples",
                                                         "received samples that were lost")
        .label("overrun, samples"),
    ModemSummaryKeys::of<&ModemSummary::underrun_samples>("underrun_samples", "samples",
                                                          "samples missing when due for sending")
        .label("underrun, samples"),
    ModemSummaryKeys::part<&ModemSummary::dispatch>("dispatch_latency", kQuantiles)
        .described_apart("time from interrupt to service"),
    ModemSummaryKeys::part<&ModemSummary::service>("service_time", kQuantiles).described_apart("time of the service"),
    ModemSummaryKeys::part<&ModemSummary::thread>("", kThread),
    ModemSummaryKeys::of<&ModemSummary::sent, &ModemSummary::Way::bytes>("v42.bytes_sent", "bytes",
                                                                         "bytes of the user"),
    ModemSummaryKeys::of<&ModemSummary::sent, &ModemSummary::Way::octets>(
        "v42.octets_sent", "bytes", "octets of V.42 that carried the user's bytes")
        .absent("a kernel modem"),
    ModemSummaryKeys::of<&ModemSummary::received, &ModemSummary::Way::bytes>("v42.bytes_received", "bytes",
                                                                             "bytes of the user"),
    ModemSummaryKeys::of<&ModemSummary::received, &ModemSummary::Way::octets>(
        "v42.octets_received", "bytes", "octets of V.42 that carried the user's bytes")
        .absent("a kernel modem"),
    ModemSummaryKeys::of<&ModemSummary::without>("without", "", "missing privileges").absent("there is none"),
    ModemSummaryKeys::part<&ModemSummary::host>("host", measure::kHostDescription)
        .described_apart("description of this machine"),
    ModemSummaryKeys::part("network", kNetwork, [](const ModemSummary& m) { return network(m); }),
    ModemSummaryKeys::of<&ModemSummary::card>("card", "", "address of the card, for a bank")
        .absent_if_0("for one modem"),
};

}  // namespace

constexpr record::Table kModemSummary{kModemSummaryRows};

void print_summary(const ModemSummary& s) {
  Table table;
  table.column(fmt::format("driver, {}", s.context));
  table.column("");
  for (auto& [name, value] : record::labelled(kModemSummary, {&s})) table.row({name, value});
  if (s.thread)
    for (auto& [name, value] : record::labelled(kThread, {&*s.thread})) table.row({name, value});
  for (const auto& [way, traffic] : {std::pair("sent", &s.sent), {"received", &s.received}}) {
    if (traffic->octets.value_or(0) == 0) continue;
    const auto bytes = static_cast<double>(traffic->bytes), octets = static_cast<double>(*traffic->octets);
    table.row({fmt::format("bytes {}, as octets of V.42", way),
               fmt::format("{}, {} ({:.2f} : 1)", traffic->bytes, *traffic->octets, bytes / octets)});
  }
  add_times(table, s.service, s.dispatch);
  say("{}", table.lines());
  if (s.thread && s.thread->demoted) say("The watchdog demoted the thread to normal priority.\n");
}

}  // namespace offhook::command
