// SPDX-License-Identifier: MIT
#include "src/program/command/modem_summary.h"

#include <fmt/format.h>

#include <utility>

#include "driver/base/terminal.h"
#include "src/program/command/times.h"

namespace offhook::command {
namespace {

using M = ModemSummary;
using R = record::Written<M>;
using T = record::Written<M::Thread>;

constexpr record::Row kThreadRows[] = {
    T::of<&M::Thread::yields>("yields", "", "times that the CPU was yielded at preemption points").label("yields"),
    T::of<&M::Thread::throttles>("throttles", "", "times that the reservation was exhausted").label("throttles"),
    T::of<&M::Thread::demoted>("demoted", "", "whether the watchdog demoted the thread to normal priority"),
};
constexpr record::Table kThread{kThreadRows};

using Named = std::vector<std::pair<std::string, record::Value>>;
constexpr record::Row kNetworkRows[] = {
    record::Written<Named>::of("", "", "counters of a network card, as on its live page (docs/live-page.md)",
                               [](const Named& n) { return n; })
        .as_keys(),
};
constexpr record::Table kNetwork{kNetworkRows};

std::optional<Named> network(const M& m) {
  if (m.network.empty()) return std::nullopt;
  Named named;
  for (const CardFigure& figure : m.network)
    std::visit([&](auto value) { named.emplace_back(figure.key, value); }, figure.value);
  return named;
}

constexpr record::Row kRows[] = {
    R::of<&M::context>("context", "", "context of the service"),
    R::of<&M::interrupts>("interrupts", "", "interrupts of the card").label("interrupts"),
    R::of<&M::blocks_served>("blocks_served", "", "blocks served by the pump").label("blocks served"),
    R::of<&M::blocks_late>("blocks_late", "", "blocks served after their samples were due").label("blocks late"),
    R::of<&M::samples_late>("samples_late", "samples", "samples that were late"),
    R::of<&M::samples_filled_in>("samples_filled_in", "samples", "samples replaced by silence")
        .label("samples concealed"),
    R::of<&M::pending_max>("pending_max_samples", "samples", "greatest number that waited for service")
        .label("samples pending, max"),
    R::of<&M::overrun_samples>("overrun_samples", "samples", "received and lost").label("overrun, samples"),
    R::of<&M::underrun_samples>("underrun_samples", "samples", "missing when due for sending")
        .label("underrun, samples"),
    R::part<&M::dispatch>("dispatch_latency", kQuantiles).described_apart("time from interrupt to service"),
    R::part<&M::service>("service_time", kQuantiles).described_apart("time of the service"),
    R::part<&M::thread>("", kThread),
    R::of<&M::sent, &M::Way::bytes>("v42.bytes_sent", "bytes", "bytes of the user"),
    R::of<&M::sent, &M::Way::octets>("v42.octets_sent", "bytes", "octets of V.42 that carried the user's bytes")
        .absent("a kernel modem"),
    R::of<&M::received, &M::Way::bytes>("v42.bytes_received", "bytes", "bytes of the user"),
    R::of<&M::received, &M::Way::octets>("v42.octets_received", "bytes", "octets of V.42 that carried the user's bytes")
        .absent("a kernel modem"),
    R::of<&M::without>("without", "", "missing privileges").absent("there is none"),
    R::part<&M::host>("host", measure::kHostDescription).described_apart("description of this machine"),
    R::part("network", kNetwork, [](const M& m) { return network(m); }),
    R::of<&M::card>("card", "", "address of the card, for a bank").absent_if_0("for one modem"),
};

}  // namespace

constexpr record::Table kModemSummary{kRows};

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
