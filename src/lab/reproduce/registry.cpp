// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/base/nearest.h"

namespace offhook::reproduce {

// One line per experiment: its function, the claim's id, the approximate seconds on one core, its subject, and the
// figures and tables that it reproduces.
#define OFFHOOK_EXPERIMENTS(X)                                                                                      \
  X(jones_fig1, "jones.fig1.interrupt_period", 0.1, "The modem's interrupt rate over a call", "jones.fig1")         \
  X(jones_ring, "jones.ring", 0, "The card's rings and rates")                                                      \
  X(jones_fig2, "jones.fig2.isr_time_int", 0.1, "Time in the interrupt handler, and CPU share", "jones.fig2",       \
    "jones.fig3")                                                                                                   \
  X(jones_fig4, "jones.fig4.dpc", 0.2, "Times in the interrupt routine and in the DPC", "jones.fig4")               \
  X(jones_logging, "jones.logging", 0, "Cost of the instrumented kernel's log")                                     \
  X(jones_fig5, "jones.fig5.pending", 0.3, "Samples pending to be processed", "jones.fig5", "jones.fig6",           \
    "jones.fig7", "jones.fig14")                                                                                    \
  X(jones_fig10, "jones.fig10.timer", 0.5, "Effect of the modem on a 1 ms timer", "jones.fig10", "jones.fig11",     \
    "jones.fig12", "jones.fig13", "jones.fig16")                                                                    \
  X(jones_fig15, "jones.fig15.elapsed_res", 0.2, "Elapsed times per wake-up of the thread", "jones.fig8",           \
    "jones.fig9", "jones.fig15")                                                                                    \
  X(jones_table1, "jones.table1", 8, "Transfers over the server pool", "jones.table1")                              \
  X(jones_table2, "jones.table2", 8, "Transfers over the dedicated server", "jones.table2")                         \
  X(jones_table3, "jones.table3", 6, "The reservation map", "jones.table3", "jones.fig17")                          \
  X(jones_soft_dsl, "jones.soft_dsl", 0, "Soft DSL and radio")                                                      \
  X(jones_vendor_starvation, "jones.vendor_starvation", 0, "The vendor's reason for interrupt context")             \
  X(regehr_fig3, "regehr.fig3", 120, "Over-reservation that Rez, Rez-C and Rez-FB need", "regehr.fig3")             \
  X(regehr_fig4, "regehr.fig4", 2, "Rez-FB under changing load", "regehr.fig4")                                     \
  X(regehr_fig2, "regehr.fig2", 2, "A reservation idle and with stolen time", "regehr.fig1", "regehr.fig2")         \
  X(regehr_overhead, "regehr.overhead", 3, "Cost of Rez-C and Rez-FB")                                              \
  X(regehr_stolen, "regehr.stolen", 15, "Time stolen by devices", "regehr.fig5", "regehr.fig6", "regehr.table1")    \
  X(cota_table1, "cota.table1", 0.1, "Latency tolerances of soft devices", "cota.table1")                           \
  X(cota_table3, "cota.table3", 2, "Latencies of Windows 98 and NT 4", "cota.table3", "cota.fig4", "cota.fig4.nt")  \
  X(cota_mttf, "cota.mttf", 3, "Mean time to buffer underrun", "cota.fig5", "cota.fig6", "cota.fig7")               \
  X(cota_table4, "cota.table4", 0.1, "Episodes of the latency cause tool", "cota.table4")                           \
  X(cota_schedulability, "cota.schedulability", 30, "Schedulability analysis on Windows 98")                        \
  X(siemens_table1, "siemens.table1", 3, "Interrupt latencies of Windows CE 3.0", "siemens.table1", "siemens.fig3", \
    "siemens.fig4", "siemens.fig5", "siemens.fig6", "siemens.fig7", "siemens.fig8")                                 \
  X(siemens_table2, "siemens.table2", 0.1, "Kernel calls of Windows CE 3.0", "siemens.table2")                      \
  X(chen_microbenchmarks, "chen.microbenchmarks", 0, "Microbenchmarks of the host")                                 \
  X(chen_syscall, "chen.syscall", 0.1, "Paths into three kernels and back")                                         \
  X(chen_small_files, "chen.table4", 0.5, "Interrupts while small files are read", "chen.table4")                   \
  X(chen_metadata, "chen.table5", 0.1, "Interrupts while files are created", "chen.table5")                         \
  X(chen_segments, "chen.table7", 0.1, "Changes of protection domain of a user interface", "chen.table7")           \
  X(chen_table6, "chen.table6", 0, "Applications on the host", "chen.table6")

// Experiments that run only on request.
#define OFFHOOK_LONG_EXPERIMENTS(X) X(jones_real_pump, "jones.real_pump", 900, "Tables 1 to 3 through the V.90 pump")

#define DECLARE(function, ...) Outcome function(const Run& run);
OFFHOOK_EXPERIMENTS(DECLARE)
OFFHOOK_LONG_EXPERIMENTS(DECLARE)
#undef DECLARE

namespace {

bool begins(std::string_view id, std::string_view name) {
  return id.starts_with(name) && (id.size() == name.size() || id[name.size()] == '.');
}

bool means(std::string_view name, const Claim& claim) {
  if (begins(claim.published.id(), name)) return true;
  if (claim.experiment == nullptr) return false;
  const auto& figures = claim.experiment->figures;
  return std::any_of(figures.begin(), figures.end(), [&](const std::string& f) { return f == name; });
}

}  // namespace

const std::vector<Experiment>& experiments() {
#define EXPERIMENT(function, id, seconds, title, ...) {id, title, {__VA_ARGS__}, function, seconds, false},
#define LONG_EXPERIMENT(function, id, seconds, title, ...) {id, title, {__VA_ARGS__}, function, seconds, true},
  static const std::vector<Experiment> all = {OFFHOOK_EXPERIMENTS(EXPERIMENT)
                                                  OFFHOOK_LONG_EXPERIMENTS(LONG_EXPERIMENT)};
#undef LONG_EXPERIMENT
#undef EXPERIMENT
  return all;
}

std::vector<Claim> select_claims(std::vector<Published> published, const std::vector<std::string>& names,
                                 bool on_request) {
  std::vector<Claim> all;
  for (Published& p : published) {
    const auto& list = experiments();
    const auto found = std::find_if(list.begin(), list.end(), [&](const Experiment& e) { return e.id == p.id(); });
    all.push_back({std::move(p), found == list.end() ? nullptr : &*found});
  }
  for (const Experiment& e : experiments()) {
    if (std::none_of(all.begin(), all.end(), [&](const Claim& c) { return c.experiment == &e; }))
      throw config::Error(fmt::format("an experiment for {}, which is not a published claim", e.id));
  }
  const auto waits = [on_request](const Claim& c) {
    return !on_request && c.experiment != nullptr && c.experiment->on_request;
  };
  if (names.empty()) {
    std::erase_if(all, waits);
    return all;
  }
  std::vector<bool> wanted(all.size());
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!means(name, all[i])) continue;
      any = true;
      wanted[i] = wanted[i] || name == all[i].published.id() || !waits(all[i]);
    }
    if (any) continue;
    std::vector<std::string_view> known;
    for (const Claim& c : all) {
      known.push_back(c.published.id());
      if (c.experiment != nullptr)
        known.insert(known.end(), c.experiment->figures.begin(), c.experiment->figures.end());
    }
    throw config::Error(fmt::format("\"{}\" is neither a claim nor a figure{} (`offhook reproduce --list` shows all)",
                                    name, the_nearest(name, known)));
  }
  std::vector<Claim> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted[i]) out.push_back(std::move(all[i]));
  }
  return out;
}

}  // namespace offhook::reproduce
