// SPDX-License-Identifier: MIT
#include "traces/import/kernel_event.h"

#include <event-parse.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "traces/import/load_file.h"
#include "traces/import/softirq_names.h"

namespace offhook::traces {

using Kind = hostsim::HostLoad::Kind;
using Type = KernelEvent::Type;

namespace {

enum class Shape { kOther, kSwitch, kWaking, kIrqEntry, kIrqExit, kSoftirq, kTimer, kVector };

struct Known {
  Shape shape;
  Type type;
  std::vector<const char*> fields;
};

const std::map<std::string_view, Known> kKnown = {
    {"sched_switch",
     {Shape::kSwitch, Type::kSwitch, {"prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio"}}},
    {"sched_waking", {Shape::kWaking, Type::kWaking, {"comm", "pid", "prio"}}},
    {"irq_handler_entry", {Shape::kIrqEntry, Type::kEnter, {"irq", "name"}}},
    {"irq_handler_exit", {Shape::kIrqExit, Type::kLeave, {"irq"}}},
    {"softirq_raise", {Shape::kSoftirq, Type::kSoftirqRaise, {"vec"}}},
    {"softirq_entry", {Shape::kSoftirq, Type::kEnter, {"vec"}}},
    {"softirq_exit", {Shape::kSoftirq, Type::kLeave, {"vec"}}},
    {"hrtimer_expire_entry", {Shape::kTimer, Type::kTimerEnter, {}}},
    {"hrtimer_expire_exit", {Shape::kTimer, Type::kTimerLeave, {}}},
};

[[noreturn]] void too_short(const tep_record& record, const tep_format_field* field) {
  throw TraceError(
      fmt::format("byte {}: expected {} in a record of {} bytes", record.offset, field->name, record.size));
}

int number(tep_format_field* field, const tep_record& record) {
  unsigned long long value = 0;
  if (field->offset < 0 || field->size < 0 || field->offset + field->size > record.size ||
      tep_read_number_field(field, record.data, &value) != 0) {
    too_short(record, field);
  }
  return static_cast<int>(static_cast<std::int64_t>(value));
}

std::string text(tep_format_field* field, const tep_record& record) {
  int offset = field->offset, size = field->size;
  if ((field->flags & TEP_FIELD_IS_DYNAMIC) != 0) {  // a word: length and offset in the text
    const auto where = static_cast<std::uint32_t>(number(field, record));
    offset = static_cast<int>(where & 0xffff);
    size = static_cast<int>(where >> 16);
    if ((field->flags & TEP_FIELD_IS_RELATIVE) != 0) offset += field->offset + field->size;
  }
  if (offset < 0 || size < 0 || offset + size > record.size) too_short(record, field);
  const char* begin = static_cast<const char*>(record.data) + offset;
  return {begin, strnlen(begin, static_cast<std::size_t>(size))};
}

}  // namespace

struct RecordReader::Format {
  Shape shape = Shape::kOther;
  Type type = Type::kOther;
  std::array<tep_format_field*, 6> fields = {};
  std::string name;  // kVector
};

RecordReader::RecordReader() = default;
RecordReader::~RecordReader() = default;
RecordReader::RecordReader(RecordReader&&) noexcept = default;

KernelEvent RecordReader::read(tep_handle* tep, const tep_record& record) {
  const int id = tep_data_type(tep, const_cast<tep_record*>(&record));
  auto found = formats_.find({tep, id});
  if (found == formats_.end()) {
    Format format;
    if (tep_event* event = tep_find_event(tep, id); event != nullptr) {
      const std::string_view system = event->system, name = event->name;
      const auto known = kKnown.find(name);
      if (system == "irq_vectors") {  // x86: local_timer_entry, reschedule_exit ...
        const bool entry = name.ends_with("_entry");
        if (entry || name.ends_with("_exit")) {
          format.shape = Shape::kVector;
          format.type = entry ? Type::kEnter : Type::kLeave;
          format.name = name.substr(0, name.rfind('_'));
        }
      } else if (known != kKnown.end() && (system == "sched" || system == "irq" || system == "timer")) {
        format.shape = known->second.shape;
        format.type = known->second.type;
        for (std::size_t k = 0; k < known->second.fields.size(); ++k) {
          format.fields[k] = tep_find_field(event, known->second.fields[k]);
          if (format.fields[k] == nullptr)
            throw TraceError(fmt::format("event {} has no field {}", name, known->second.fields[k]));
        }
      }
    }
    found = formats_.emplace(std::pair{tep, id}, std::move(format)).first;
  }
  const Format& f = found->second;
  KernelEvent event;
  event.type = f.type;
  event.time = static_cast<hostsim::Ns>(record.ts);
  event.cpu = record.cpu;
  switch (f.shape) {
    case Shape::kOther:
    case Shape::kTimer:
      break;
    case Shape::kSwitch:
      event.next = {text(f.fields[3], record), number(f.fields[4], record), number(f.fields[5], record)};
      [[fallthrough]];
    case Shape::kWaking:
      event.thread = {text(f.fields[0], record), number(f.fields[1], record), number(f.fields[2], record)};
      break;
    case Shape::kIrqEntry:
      event.name = irqs_[number(f.fields[0], record)] = text(f.fields[1], record);
      break;
    case Shape::kIrqExit:
      event.name = irqs_[number(f.fields[0], record)];
      break;
    case Shape::kSoftirq:
      event.kind = Kind::kSoftirq;
      event.name = softirq_name(static_cast<unsigned>(number(f.fields[0], record)));
      break;
    case Shape::kVector:
      event.name = f.name;
      break;
  }
  return event;
}

void add_to(LoadBuilder& builder, const KernelEvent& e) {
  const auto thread = [](const KernelEvent::Thread& t) { return LoadBuilder::Thread{t.name, t.pid, t.prio}; };
  switch (e.type) {
    case Type::kSwitch:
      return builder.switched(e.time, e.cpu, thread(e.thread), thread(e.next));
    case Type::kEnter:
      return builder.enter(e.time, e.cpu, e.kind, e.name);
    case Type::kLeave:
      return builder.leave(e.time, e.cpu, e.kind, e.name);
    case Type::kTimerEnter:
      return builder.enter_timer(e.time, e.cpu);
    case Type::kTimerLeave:
      return builder.leave_timer(e.time, e.cpu);
    case Type::kOther:
    case Type::kWaking:
    case Type::kSoftirqRaise:
      return;
  }
}

}  // namespace offhook::traces
