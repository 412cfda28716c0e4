// SPDX-License-Identifier: MIT
#include "traces/scenario/load_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "traces/scenario/data.h"
#include "traces/scenario/device.h"

namespace offhook::config {

using hostsim::LoadDevice;

namespace {

constexpr std::size_t kMost = 32;

KeyTable make_keys() {
  using D = LoadDevice;
  return {
      key<D>("name", "name in logs and reports; default: the kind", &D::name),
      key_of_time<D>("every_us", 1, 1e9, "time from transfer to transfer; for a network, time of a segment on the wire",
                     kUs, &D::every_ns),
      key<D>("jitter", 0, 1, "random delay of a transfer, as a share of that time", &D::jitter),
      key_of_time<D>("isr_us", 0, 1e6, "mean time of its interrupt handler", kUs, &D::isr_ns),
      key<D>("isr_spread", 0, 1, "random variation of that time, as a share, both ways", &D::isr_spread),
      key_of_time<D>("dpc_us", 0, 1e6, "mean time of its DPC; 0: none", kUs, &D::dpc_ns),
      key<D>("dpc_spread", 0, 1, "random variation of that time, as a share, both ways", &D::dpc_spread),
      key<D>("level", 0, 31, "level of its interrupt: the simulated card's is 10, the clock's 28; 31 masks all others",
             &D::level),
      key<D>("window", 0, 65535, "segments that may be unread before the sender stops; 0: neither reader nor sender",
             &D::window),
      key_of_time<D>("read_us", 0, 1e6, "a reader thread's work per segment", kUs, &D::read_ns),
      key_of_time<D>("round_trip_us", 0, 1e9, "time from a read until the data that it allowed arrive", kUs,
                     &D::round_trip_ns),
      key<D>("reader_priority", 1, 31,
             "priority of the reader thread on Windows NT; on Linux it is SCHED_OTHER at nice 0", &D::reader_priority),
      key<D>("dpc_importance", "Windows: high goes to the head of the queue, low may wait for the clock",
             [](D& d) -> Field { return choice(d.dpc_importance, kDpcImportances); }),
      key<D>("napi_budget", 0, 65535,
             "segments per poll, as Linux's NAPI (Linux: 64): its interrupts are off meanwhile; 0: one interrupt per "
             "segment",
             &D::napi_budget),
      key<D>("cpu", 0, hostsim::kMaxCpus - 1, "CPU that takes its interrupt and runs its DPC", &D::cpu),
      key<D>("reader_cpu", -1, hostsim::kMaxCpus - 1, "CPU to which the reader is pinned; -1: none", &D::reader_cpu),
      key_of_time<D>("from_s", 0, 1e7, "time from which it is active", 1e9, &D::begin_ns),
      key_of_time<D>("to_s", 0, 1e7, "time until which it is active", 1e9, &D::end_ns),
  };
}

const KeyTable& keys() {
  static const KeyTable table = make_keys();
  return table;
}

}  // namespace

LoadDevice load_preset(std::string_view kind) {
  LoadDevice device;
  Document::read_file(data_file("load", kind)).apply(keys(), &device);
  device.name = kind;
  return device;
}

std::vector<LoadDevice> take_load_devices(Document& document) {
  std::vector<LoadDevice> devices;
  const std::string at = document.position("load.device");
  const auto preset = [](const std::string& position, std::string_view kind) {
    try {
      return load_preset(kind);
    } catch (const Error& e) {
      throw Error(fmt::format("{}: load.device: {}", position, e.what()));
    }
  };
  if (const auto kinds = document.take_if_string("load.device")) {
    for (std::size_t i = 0; (i = kinds->find_first_not_of(' ', i)) != std::string::npos;) {
      const std::size_t end = std::min(kinds->find(' ', i), kinds->size());
      devices.push_back(preset(at, std::string_view(*kinds).substr(i, end - i)));
      i = end;
    }
  } else {
    for (Document& row : document.take_rows("load.device")) {
      LoadDevice device;
      if (row.has("kind")) {
        const std::string position = row.position("kind");
        device = preset(position, *row.take_string("kind"));
      }
      row.apply(keys(), &device);
      if (device.name.empty()) {
        throw Error(fmt::format("{}: load.device: name is empty; expected a name", row.position("name")));
      }
      if (device.end_ns <= device.begin_ns) {
        throw Error(fmt::format("{}: load.device \"{}\" ends before it begins; expected to_s above from_s",
                                row.position("to_s"), device.name));
      }
      devices.push_back(std::move(device));
    }
  }
  if (const std::string problem = device_problem(devices); !problem.empty()) {
    throw Error(fmt::format("{}: {}", at, problem));
  }
  return devices;
}

std::string device_problem(const std::vector<LoadDevice>& devices) {
  if (devices.size() > kMost) return fmt::format("load.device: {} devices; expected at most {}", devices.size(), kMost);
  double most = 0;  // of any CPU
  for (std::size_t i = 0; i < devices.size(); ++i) {
    double sum = 0;
    for (const LoadDevice& d : devices) sum += d.cpu == devices[i].cpu ? d.share() : 0;
    most = std::max(most, sum);
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[i].name == devices[j].name) {
        return fmt::format("load.device: two devices are named \"{}\"; expected unique names", devices[i].name);
      }
    }
  }
  if (most < 1) return "";
  return fmt::format("load.device: interrupts and DPCs would take {:.0f} % of the CPU; expected less than 100 %",
                     100 * most);
}

std::string to_toml(const std::vector<LoadDevice>& devices) {
  std::string out;
  for (const LoadDevice& device : devices) out += "\n[[load.device]]\n" + write(keys(), &device);
  return out;
}

namespace {

const KeyTable& reservation_keys() {
  using R = hostsim::ReservedThread;
  static const KeyTable table = {
      key<R>("name", "name in logs and reports", &R::name),
      key<R>("x_ticks", 1, 1024, "X ticks of CPU time", &R::x_ticks),
      key<R>("y_ticks", 1, 1024, "in every Y ticks", &R::y_ticks),
      key<R>("cpu", -1, hostsim::kMaxCpus - 1,
             "CPU to which it is pinned; -1: none, or CPU 0 if reservations do not migrate", &R::cpu),
  };
  return table;
}

const KeyTable& thread_keys() {
  using T = hostsim::LoadThread;
  static const KeyTable table = {
      key<T>("name", "name in logs and reports", &T::name),
      optional(
          key<T>("class",
                 "scheduling class: SCHED_FIFO, SCHED_RR, SCHED_DEADLINE, SCHED_OTHER, or NT's priorities; default: "
                 "with a priority, the class of the driver's thread (Linux: SCHED_FIFO), else a normal program",
                 [](T& t) -> Field { return choice(t.scheduling, hostsim::kThreadClasses); })),
      optional(key<T>("priority", 0, 255,
                      "Linux: 1 to 99 for SCHED_FIFO and SCHED_RR; NT: 1 to 31; 0: none, a normal program",
                      &T::priority)),
      optional(key<T>("nice", -20, 19, "nice value of SCHED_OTHER", &T::nice)),
      optional(key_of_time<T>("budget_us", 0, 4e6, "CPU time of SCHED_DEADLINE in each period; 0: that of work_us", kUs,
                              &T::budget_ns)),
      optional(key_of_time<T>("period_us", 0, 4e6, "period and deadline of SCHED_DEADLINE; 0: that of every_us", kUs,
                              &T::period_ns)),
      key_of_time<T>("every_us", 0, 1e9, "time from start to start; 0: it never blocks", kUs, &T::every_ns),
      key_of_time<T>("work_us", 0.001, 1e9, "CPU time of each run, unless it never blocks", kUs, &T::work_ns),
      key<T>("cpu", -1, hostsim::kMaxCpus - 1, "CPU to which it is pinned; -1: none", &T::cpu),
      optional(key<T>("lock", "mutex that it holds during part of each work (host.locks); empty: none", &T::lock)),
      optional(key_of_time<T>("lock_after_us", 0, 1e9, "CPU time of a work before it locks the mutex", kUs,
                              &T::lock_after_ns)),
      optional(
          key_of_time<T>("lock_us", 0, 1e9, "CPU time until it unlocks the mutex; 0: at the end", kUs, &T::lock_ns)),
  };
  return table;
}

const KeyTable& soft_device_keys() {
  using D = hostsim::CompetingDevice;
  static const KeyTable table = [] {
    KeyTable keys = {key<D>("name", "name in the results; default: the device's", &D::name)};
    const KeyTable more = keys_under<D>("device", device_keys(), [](D& d) -> hostsim::SoftDevice& { return d.device; });
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  }();
  return table;
}

/// The tables [[path]], each a thread that has a name.
template <typename Thread>
std::vector<Thread> take_threads(Document& document, const char* path, const char* name, const KeyTable& of_thread) {
  std::vector<Thread> threads;
  const std::string at = document.position(path);
  for (const Document& row : document.take_rows(path)) {
    Thread thread;
    thread.name = fmt::format("{} {}", name, threads.size() + 1);
    row.apply(of_thread, &thread);
    threads.push_back(std::move(thread));
  }
  if (threads.size() > kMost) {
    throw Error(fmt::format("{}: {}: {} threads; expected at most {}", at, path, threads.size(), kMost));
  }
  return threads;
}

}  // namespace

std::vector<hostsim::ReservedThread> take_reserved_threads(Document& document) {
  return take_threads<hostsim::ReservedThread>(document, "load.reservation", "reserved", reservation_keys());
}
std::vector<hostsim::LoadThread> take_load_threads(Document& document) {
  return take_threads<hostsim::LoadThread>(document, "load.thread", "thread", thread_keys());
}

std::vector<hostsim::CompetingDevice> take_soft_devices(Document& document) {
  const std::string at = document.position("load.soft_device");
  const auto layer = [](Document& row, std::string_view path, const auto& read) {
    const std::string position = row.position(path);
    const auto text = row.take_if_string(path);
    if (!text) return;
    try {
      read(*text);
    } catch (const std::exception& e) {
      throw Error(fmt::format("{}: load.soft_device: {}", position, e.what()));
    }
  };
  std::vector<hostsim::CompetingDevice> devices;
  for (Document& row : document.take_rows("load.soft_device")) {
    hostsim::CompetingDevice d;
    layer(row, "device", [&](const std::string& name) {
      d.device = load_device(name.ends_with(".toml") ? file_named_in(row.name(), name) : name);
    });
    layer(row, "context", [&](const std::string& text) { d.context = ContextSpec::parse(text); });
    row.apply(soft_device_keys(), &d);
    if (d.name.empty()) d.name = d.device.name;
    const bool again = std::any_of(devices.begin(), devices.end(), [&](const auto& o) { return o.name == d.name; });
    if (d.name.empty() || again) {
      throw Error(
          fmt::format("{}: load.soft_device: name is \"{}\"; expected a unique name", row.position("name"), d.name));
    }
    if (const std::string why = d.device.problem(); !why.empty())
      throw Error(fmt::format("{}: load.soft_device \"{}\": {}", row.position("device"), d.name, why));
    devices.push_back(std::move(d));
  }
  if (devices.size() > kMost)
    throw Error(fmt::format("{}: load.soft_device: {} devices; expected at most {}", at, devices.size(), kMost));
  return devices;
}

// Dotted keys: a table after a row would need a separate header.
std::string to_toml(const std::vector<hostsim::CompetingDevice>& devices) {
  std::string out;
  for (const auto& d : devices) {
    out += fmt::format("\n[[load.soft_device]]\ncontext = \"{}\"\n", d.context.str());
    for (const Key& key : soft_device_keys())
      if (is_written(key, &d)) out += fmt::format("{} = {}\n", key.path, write_value(key, &d));
  }
  return out;
}

std::string to_toml(const std::vector<hostsim::ReservedThread>& threads) {
  std::string out;
  for (const auto& thread : threads) out += "\n[[load.reservation]]\n" + write(reservation_keys(), &thread);
  return out;
}
std::string to_toml(const std::vector<hostsim::LoadThread>& threads) {
  std::string out;
  for (const auto& thread : threads) out += "\n[[load.thread]]\n" + write(thread_keys(), &thread);
  return out;
}

std::string describe_load_devices() {
  const LoadDevice defaults;
  std::string kinds;
  try {
    kinds = fmt::format("{}", fmt::join(data_names("load"), ", "));
  } catch (const Error&) {  // help must work even if the data do not
  }
  const hostsim::ReservedThread reserved;
  const hostsim::LoadThread thread;
  const hostsim::CompetingDevice beside;
  return fmt::format(
      "  kind = one of: {}\n{}\nOther threads with reservations, which never block, are [[load.reservation]] tables. "
      "Keys:\n{}\nThreads without reservations are [[load.thread]] tables. Keys:\n{}\nOther soft devices, simulated by "
      "their cost only, are [[load.soft_device]] tables: context = \"RES 2/8\", and device = \"rt-audio\" (a "
      "device of\ntraces/data/devices or a file), or the device's keys. Keys:\n{}",
      kinds, describe(keys(), &defaults), describe(reservation_keys(), &reserved), describe(thread_keys(), &thread),
      describe(soft_device_keys(), &beside));
}

}  // namespace offhook::config
