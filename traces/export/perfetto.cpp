// SPDX-License-Identifier: MIT
#include "traces/export/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "traces/export/proto_writer.h"
#include "traces/log/event_names.h"
#include "traces/log/header.h"

namespace offhook::traces {

namespace {

// Field numbers of perfetto/protos/perfetto/trace/**.proto.
namespace trace {
enum : std::uint32_t { kPacket = 1 };
}
namespace packet {
enum : std::uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInterned = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60
};
enum : std::uint32_t { kStateCleared = 1, kNeedsState = 2 };  // of kSequenceFlags
}  // namespace packet
namespace interned {
enum : std::uint32_t { kEventNames = 2, kNameIid = 1, kName = 2 };
}
namespace track {
enum : std::uint32_t { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8 };
}
namespace process {
enum : std::uint32_t { kPid = 1, kName = 6 };
}
namespace thread {
enum : std::uint32_t { kPid = 1, kTid = 2, kName = 5 };
}
namespace event {
enum : std::uint32_t { kAnnotation = 4, kType = 9, kNameIid = 10, kTrack = 11, kCounterValue = 30 };
enum : std::uint32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };  // of kType
}  // namespace event
namespace annotation {
enum : std::uint32_t { kUint = 3, kName = 10 };
}

constexpr std::uint64_t kPid = 1;
constexpr std::uint64_t kProcessTrack = 1;

/// Packets with the bookkeeping of tracks and interned names.
class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& out, const std::string& host) : out_(out) {
    ProtoMessage descriptor;
    descriptor.integer(track::kUuid, kProcessTrack)
        .message(track::kProcess, ProtoMessage().integer(process::kPid, kPid).bytes(process::kName, host));
    put(ProtoMessage()
            .integer(packet::kSequenceFlags, packet::kStateCleared)
            .message(packet::kTrackDescriptor, descriptor));
  }

  enum class Kind { kThread, kPlain, kCounter };
  std::uint64_t new_track(Kind kind, std::string_view name) {
    const std::uint64_t uuid = ++last_track_;
    ProtoMessage descriptor;
    descriptor.integer(track::kUuid, uuid).integer(track::kParent, kProcessTrack).bytes(track::kName, name);
    if (kind == Kind::kThread) {
      descriptor.message(
          track::kThread,
          ProtoMessage().integer(thread::kPid, kPid).integer(thread::kTid, uuid).bytes(thread::kName, name));
    } else if (kind == Kind::kCounter) {
      descriptor.message(track::kCounter, ProtoMessage());
    }
    put(ProtoMessage().message(packet::kTrackDescriptor, descriptor));
    return uuid;
  }

  void begin(std::uint64_t time, std::uint64_t on, std::string_view name) {
    named(time, on, event::kSliceBegin, name, nullptr);
    ++depth_[on];
  }
  /// An end without a beginning (lost, or before the log) is skipped.
  void end(std::uint64_t time, std::uint64_t on) {
    std::uint32_t& depth = depth_[on];
    if (depth == 0) return;
    --depth;
    put_event(time, ProtoMessage().integer(event::kType, event::kSliceEnd).integer(event::kTrack, on));
  }
  void instant(std::uint64_t time, std::uint64_t on, std::string_view name, std::uint32_t argument) {
    named(time, on, event::kInstant, name, &argument);
  }
  void counter(std::uint64_t time, std::uint64_t on, std::uint64_t value) {
    put_event(time, ProtoMessage()
                        .integer(event::kType, event::kCounter)
                        .integer(event::kTrack, on)
                        .integer(event::kCounterValue, value));
  }
  void end_all(std::uint64_t time) {
    for (const auto& [on, depth] : std::map(depth_)) {
      for (std::uint32_t i = 0; i < depth; ++i) end(time, on);
    }
  }

 private:
  void named(std::uint64_t time, std::uint64_t on, std::uint32_t type, std::string_view name,
             const std::uint32_t* argument) {
    auto found = names_.find(name);
    const bool first = found == names_.end();
    if (first) found = names_.emplace(name, names_.size() + 1).first;
    ProtoMessage body;
    body.integer(event::kType, type).integer(event::kTrack, on).integer(event::kNameIid, found->second);
    if (argument != nullptr) {
      body.message(event::kAnnotation,
                   ProtoMessage().bytes(annotation::kName, "argument").integer(annotation::kUint, *argument));
    }
    ProtoMessage out;
    if (first) {
      out.message(packet::kInterned,
                  ProtoMessage().message(
                      interned::kEventNames,
                      ProtoMessage().integer(interned::kNameIid, found->second).bytes(interned::kName, name)));
    }
    put_event(time, body, std::move(out));
  }
  void put_event(std::uint64_t time, const ProtoMessage& body, ProtoMessage out = {}) {
    put(out.integer(packet::kTimestamp, time)
            .integer(packet::kSequenceFlags, packet::kNeedsState)
            .message(packet::kTrackEvent, body));
  }
  void put(ProtoMessage out) {
    out.integer(packet::kSequenceId, 1);
    const std::string bytes = ProtoMessage().message(trace::kPacket, out).encoded();
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::ostream& out_;
  std::uint64_t last_track_ = kProcessTrack;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::map<std::uint64_t, std::uint32_t> depth_;
};

constexpr auto kPlain = TraceWriter::Kind::kPlain;
constexpr auto kCounter = TraceWriter::Kind::kCounter;

/// The form of an event of a driver, of an end of the link, or of the call: an item on one of their tracks. One kind
/// can have several.
struct Rule {
  enum class Of { kDriver, kEnd, kCall };
  enum class Does { kBegin, kEnd, kCount, kSum, kInstant, kInstantUnless0 };
  oh_event_kind kind;
  Of of;
  Does does;
  std::string_view track;
  std::string_view text = {};  ///< empty: the event's name
};
constexpr Rule kRules[] = {
    {OH_EV_TX_UNDERRUN, Rule::Of::kDriver, Rule::Does::kSum, "underruns"},
    {OH_EV_RX_OVERRUN, Rule::Of::kDriver, Rule::Does::kSum, "overruns"},
    {OH_EV_ISR_ENTER, Rule::Of::kDriver, Rule::Does::kBegin, "isr", "isr"},
    {OH_EV_ISR_EXIT, Rule::Of::kDriver, Rule::Does::kEnd, "isr"},
    {OH_EV_SERVICE_REQUEST, Rule::Of::kDriver, Rule::Does::kCount, "owed blocks"},
    {OH_EV_SERVICE_RUN_BEGIN, Rule::Of::kDriver, Rule::Does::kBegin, "service", "service run"},
    {OH_EV_SERVICE_RUN_END, Rule::Of::kDriver, Rule::Does::kEnd, "service"},
    {OH_EV_SERVICE_BEGIN, Rule::Of::kDriver, Rule::Does::kBegin, "service", "block"},
    {OH_EV_SERVICE_END, Rule::Of::kDriver, Rule::Does::kEnd, "service"},
    {OH_EV_SERVICE_END, Rule::Of::kDriver, Rule::Does::kCount, "samples pending"},
    {OH_EV_OUTPUT_READY, Rule::Of::kDriver, Rule::Does::kInstantUnless0, "service", "late output"},
    {OH_EV_FILL_IN, Rule::Of::kDriver, Rule::Does::kInstant, "service"},
    {OH_EV_INTERRUPT, Rule::Of::kDriver, Rule::Does::kInstant, "card"},
    {OH_EV_CARD_RATE, Rule::Of::kDriver, Rule::Does::kInstant, "card"},
    {OH_EV_LINK_BYTES, Rule::Of::kEnd, Rule::Does::kCount, "bytes"},
    {OH_EV_PUMP_STATE, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_PUMP_RATES, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_PUMP_HOLD, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_PUMP_SEQUENCE, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_CALL_END, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_LINK_STATE, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_LINK_RETRANSMIT, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_LINK_BAD_FRAME, Rule::Of::kEnd, Rule::Does::kInstant, "link"},
    {OH_EV_PHASE, Rule::Of::kCall, Rule::Does::kInstant, "call"},
    {OH_EV_MARK, Rule::Of::kCall, Rule::Does::kInstant, "call"},
};

/// Turns events into slices, counters and instants, one at a time.
class Translator {
 public:
  Translator(TraceWriter& out, const LogHeader& header) : out_(out) {
    // A thread of the same number and name on several CPUs is one thread that moves.
    std::map<std::pair<std::uint16_t, std::string>, std::uint64_t> tracks;
    for (const LogEntity& e : header.entities) {
      std::uint64_t& track = tracks[{e.id, e.name}];
      if (track == 0) track = out_.new_track(TraceWriter::Kind::kThread, e.name);
      entities_[{e.cpu, e.id}] = track;
      names_[{e.cpu, e.id}] = e.name;
      several_cpus_ |= e.cpu != 0;
    }
    for (const LogDriver& d : header.drivers) driver_names_[d.id] = d.name;
  }

  void take(const oh_event& e) {
    last_time_ = std::max(last_time_, e.time_ns);
    switch (static_cast<oh_event_kind>(e.kind)) {
      case OH_EV_RUN:
        leave_cpu(e);
        running_[e.cpu] = entity(e);
        out_.begin(e.time_ns, running_[e.cpu], e.argument == 1 ? "job" : "resumed");
        if (several_cpus_) out_.begin(e.time_ns, cpu_track(e.cpu), names_[{e.cpu, e.id}]);
        break;
      case OH_EV_IDLE:
        leave_cpu(e);
        break;
      case OH_EV_TIMER_CALLBACK:
        out_.instant(e.time_ns, entity(e), event_name(e.kind), e.argument);
        break;
      case OH_EV_PUMP_INSTRUMENT:
        if (is_retrain(e)) {
          const auto cause = instrument_hundredths(e.argument) / 100;
          out_.instant(e.time_ns, track_named(end_of(e) + " retrains", kPlain), retrain_cause_name(cause),
                       static_cast<std::uint32_t>(cause));
          break;
        }
        out_.counter(e.time_ns, track_named(end_of(e) + " " + std::string(instrument_name(e.argument)), kCounter),
                     static_cast<std::uint64_t>(instrument_hundredths(e.argument)));
        break;
      default:  // none for FINISH: the slice ends with the next RUN or IDLE, at the same time
        for (const Rule& rule : kRules) {
          if (rule.kind == e.kind) follow(rule, e);
        }
    }
  }

  std::uint64_t last_time() const { return last_time_; }

 private:
  void follow(const Rule& rule, const oh_event& e) {
    using Does = Rule::Does;
    if (rule.does == Does::kInstantUnless0 && e.argument == 0) return;
    const bool counts = rule.does == Does::kCount || rule.does == Does::kSum;
    const TraceWriter::Kind kind = counts ? kCounter : kPlain;
    const std::uint64_t on = rule.of == Rule::Of::kDriver ? driver_track(e, rule.track, kind)
                             : rule.of == Rule::Of::kEnd
                                 ? track_named(fmt::format("{} {}", end_of(e), rule.track), kind)
                                 : track_named(std::string(rule.track), kind);
    const std::string_view text = rule.text.empty() ? event_name(e.kind) : rule.text;
    switch (rule.does) {
      case Does::kBegin:
        return out_.begin(e.time_ns, on, text);
      case Does::kEnd:
        return out_.end(e.time_ns, on);
      case Does::kCount:
        return out_.counter(e.time_ns, on, e.argument);
      case Does::kSum:
        return out_.counter(e.time_ns, on, sums_[on] += e.argument);
      case Does::kInstant:
      case Does::kInstantUnless0:
        return out_.instant(e.time_ns, on, text, e.argument);
    }
  }
  void leave_cpu(const oh_event& e) {
    if (running_[e.cpu] != 0) {
      out_.end(e.time_ns, running_[e.cpu]);
      if (several_cpus_) out_.end(e.time_ns, cpu_track(e.cpu));
    }
    running_[e.cpu] = 0;
  }
  std::uint64_t cpu_track(std::uint8_t cpu) { return track_named(fmt::format("CPU {}", cpu), kPlain); }
  std::uint64_t entity(const oh_event& e) {
    std::uint64_t& track = entities_[{e.cpu, e.id}];
    if (track == 0) track = out_.new_track(TraceWriter::Kind::kThread, fmt::format("cpu {} entity {}", e.cpu, e.id));
    return track;
  }
  std::uint64_t driver_track(const oh_event& e, std::string_view what, TraceWriter::Kind kind) {
    std::uint64_t& track = driver_tracks_[{e.id, what}];
    if (track == 0) {
      const auto found = driver_names_.find(e.id);
      const std::string name = found != driver_names_.end() ? found->second : fmt::format("driver {}", e.id);
      track = out_.new_track(kind, fmt::format("{} {}", name, what));
    }
    return track;
  }
  std::uint64_t track_named(const std::string& name, TraceWriter::Kind kind) {
    std::uint64_t& track = named_tracks_[name];
    if (track == 0) track = out_.new_track(kind, name);
    return track;
  }
  static std::string end_of(const oh_event& e) {
    return e.id == 0 ? "near" : e.id == 1 ? "far" : fmt::format("end {}", e.id);
  }

  TraceWriter& out_;
  std::uint64_t last_time_ = 0;
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint64_t> entities_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::string> names_;
  bool several_cpus_ = false;
  std::map<std::uint16_t, std::string> driver_names_;
  std::map<std::pair<std::uint16_t, std::string_view>, std::uint64_t> driver_tracks_;
  std::map<std::string, std::uint64_t> named_tracks_;
  std::map<std::uint8_t, std::uint64_t> running_;
  std::map<std::uint64_t, std::uint64_t> sums_;  // by track
};

/// The kernel's events as slices of its CPUs.
class KernelTranslator {
 public:
  explicit KernelTranslator(TraceWriter& out) : out_(out) {}

  void take(const KernelEvent& e, std::uint64_t time) {
    using Type = KernelEvent::Type;
    Cpu& cpu = cpus_[e.cpu];
    last_time_ = std::max(last_time_, time);
    switch (e.type) {
      case Type::kSwitch:
        // Neither interrupt nor softirq lasts longer than a switch: open ones have lost their end.
        while (cpu.interrupts > 0) end(cpu.interrupts, time, track(cpu.interrupt_track, e.cpu, " interrupts"));
        while (cpu.softirqs > 0) end(cpu.softirqs, time, track(cpu.softirq_track, e.cpu, " softirqs"));
        if (cpu.running) out_.end(time, track(cpu.thread_track, e.cpu, ""));
        cpu.running = e.next.pid != 0;
        if (cpu.running)
          out_.begin(time, track(cpu.thread_track, e.cpu, ""), fmt::format("{} {}", e.next.name, e.next.pid));
        break;
      case Type::kEnter:
      case Type::kLeave: {
        const bool softirq = e.kind == hostsim::HostLoad::Kind::kSoftirq;
        const std::uint64_t on =
            softirq ? track(cpu.softirq_track, e.cpu, " softirqs") : track(cpu.interrupt_track, e.cpu, " interrupts");
        std::uint32_t& depth = softirq ? cpu.softirqs : cpu.interrupts;
        if (e.type == Type::kEnter) {
          begin(depth, time, on, e.name.empty() ? "interrupt" : e.name);
        } else if (depth > 0) {
          end(depth, time, on);
        }
        break;
      }
      case Type::kTimerEnter:
        begin(cpu.interrupts, time, track(cpu.interrupt_track, e.cpu, " interrupts"), "timer");
        break;
      case Type::kTimerLeave:
        if (cpu.interrupts > 0) end(cpu.interrupts, time, track(cpu.interrupt_track, e.cpu, " interrupts"));
        break;
      case Type::kOther:
      case Type::kWaking:
      case Type::kSoftirqRaise:
        break;
    }
  }
  std::uint64_t last_time() const { return last_time_; }

 private:
  struct Cpu {
    std::uint64_t thread_track = 0, interrupt_track = 0, softirq_track = 0;
    std::uint32_t interrupts = 0, softirqs = 0;  // slices open
    bool running = false;
  };
  std::uint64_t track(std::uint64_t& of, int cpu, const char* what) {
    if (of == 0) of = out_.new_track(TraceWriter::Kind::kPlain, fmt::format("CPU {}{}", cpu, what));
    return of;
  }
  void begin(std::uint32_t& depth, std::uint64_t time, std::uint64_t on, std::string_view name) {
    ++depth;
    out_.begin(time, on, name);
  }
  void end(std::uint32_t& depth, std::uint64_t time, std::uint64_t on) {
    --depth;
    out_.end(time, on);
  }
  TraceWriter& out_;
  std::map<int, Cpu> cpus_;
  std::uint64_t last_time_ = 0;
};

std::string host_name(const LogHeader& header) {
  return header.host_name.empty() ? "offhook" : header.host_name;
}

}  // namespace

std::uint64_t export_perfetto(LogReader& log, std::ostream& out, const KernelSource& kernel) {
  const LogHeader header = parse_log_header(log.header_json(), log.name());
  TraceWriter writer(out, host_name(header));
  Translator translator(writer, header);
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), within = 0;
  while (log.next()) {
    for (const oh_event& e : log.events()) {
      first = std::min(first, e.time_ns);
      translator.take(e);
    }
  }
  writer.end_all(translator.last_time());
  if (kernel.read) {
    KernelTranslator of_kernel(writer);
    kernel.read([&](const KernelEvent& e) {
      const std::int64_t time = e.time + kernel.to_log_ns;
      if (time < 0 || static_cast<std::uint64_t>(time) < first ||
          static_cast<std::uint64_t>(time) > translator.last_time())
        return;
      ++within;
      of_kernel.take(e, static_cast<std::uint64_t>(time));
    });
    writer.end_all(of_kernel.last_time());
  }
  out.flush();
  if (!out) throw LogError("Perfetto export: the output could not be written (disk full?)");
  return within;
}

}  // namespace offhook::traces
