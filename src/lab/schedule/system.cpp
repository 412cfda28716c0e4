// SPDX-License-Identifier: MIT
#include "src/lab/schedule/system.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/nearest.h"
#include "hostsim/sched/linux_admission.h"
#include "traces/scenario/key.h"

namespace offhook::schedule {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxNs = 1'000'000'000'000'000'000;  // 31 years; sums of a few of them do not overflow
constexpr int kMaxLevel = 1'000'000;
constexpr std::size_t kMostEntities = 10'000;  // a release searches for its position among all ready jobs
constexpr std::size_t kMostSlots = 2000;       // limit of entities, because each pair is compared
constexpr std::size_t kMostSections = 1000;    // of an entity

const std::map<std::string_view, std::vector<std::string_view>> kKeys = {
    {"interrupt", {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "level", "dpc"}},
    {"dpc", {"name", "kind", "cost_ns"}},
    {"fp",
     {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "priority", "quantum_ns",
      "critical_sections"}},
    {"edf", {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "critical_sections"}},
    {"cbs",
     {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "budget_ns", "res_period_ns",
      "critical_sections"}},
    {"slot",
     {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "slot_offset_ns", "slot_length_ns",
      "slot_period_ns", "strict", "priority", "critical_sections"}},
    {"rez",
     {"name", "kind", "offset_ns", "period_ns", "cost_ns", "deadline_ns", "budget_ns", "res_period_ns", "res_offset_ns",
      "background", "critical_sections"}},
};

struct KeyHelp {
  std::string_view key, help;
};
constexpr KeyHelp kTopHelp[] = {
    {"horizon_ns", "simulated time (a whole number, 1 or more)"},
    {"entities", "list of objects with the keys below"},
    {"tick_hz", "clock rate of the host, for schedulers that use it (default 1000)"},
    {"quantum_ns", "quantum of threads of one priority, for schedulers that have it (default 0: none)"},
    {"charge_stolen_time",
     "true: time that interrupts and DPCs take from a thread of Linux is charged to it (default false)"},
    {"locks",
     "effect on a mutex holder when another thread waits for the mutex: plain: none; inherit: it gets the waiter's "
     "priority; proxy: it runs with the waiter's scheduling context and budget (default plain)"},
};
constexpr KeyHelp kEntityHelp[] = {
    {"name", "unique name, shown in the CSV (a string)"},
    {"kind", "kind of the entity, which decides its other keys"},
    {"offset_ns", "time of the first release (default 0)"},
    {"period_ns", "time from release to release (1 or more)"},
    {"cost_ns", "CPU time of each job (1 or more)"},
    {"deadline_ns", "deadline relative to the release; a job that is not finished then misses it (default: none)"},
    {"level", "level of an interrupt; a higher level preempts a lower one"},
    {"dpc", "name of the entity of kind dpc that it queues when it ends (default: none)"},
    {"priority",
     "priority, 0 to 31 (threads of Linux: 0 to 255); the highest runs first; for a slot that is not strict: its "
     "priority outside the slot"},
    {"quantum_ns", "time until another thread of its priority runs (default 0: it keeps the CPU)"},
    {"budget_ns", "CPU time in each res_period_ns"},
    {"res_period_ns", "period of the budget"},
    {"res_offset_ns", "start of its first period (default 0)"},
    {"nice", "nice value, -20 to 19, of a fair thread of Linux; without it a thread of SCHED_FIFO at its priority"},
    {"handler", "true: its jobs are an interrupt handler (default false)"},
    {"group", "name of a group that shares one budget (default: each thread has its own)"},
    {"background", "priority after the budget is exhausted, 0 to 31; -1: it waits (default -1)"},
    {"slot_offset_ns", "start of its first slot (default 0)"},
    {"slot_length_ns", "length of a slot, at most slot_period_ns"},
    {"slot_period_ns", "time from slot to slot"},
    {"strict", "true: it never runs outside its slots (default true)"},
    {"critical_sections",
     "critical sections of each job: a list of {\"mutex\": name, \"after_ns\": CPU time before it locks the mutex, "
     "\"length_ns\": CPU time until it unlocks it} (default: none)"},
};

// Keys of a thread whose policy is created by a scheduler of hostsim/sched.
const std::vector<std::string_view> kThreadKeys = {
    "name",        "kind",     "offset_ns", "period_ns", "cost_ns",
    "deadline_ns", "priority", "nice",      "handler",   "critical_sections"};
const std::vector<std::string_view> kReservationKeys = {
    "name",        "kind",      "offset_ns",     "period_ns",     "cost_ns",
    "deadline_ns", "budget_ns", "res_period_ns", "res_offset_ns", "critical_sections"};

/// The keys of an entity whose policy a scheduler creates.
std::vector<std::string_view> keys_of(std::string_view scheduler, bool reserves) {
  if (!reserves) return kThreadKeys;
  std::vector<std::string_view> keys = kReservationKeys;
  if (make_scheduler(hostsim::PolicyUse::kReservations, scheduler, {})->groups()) keys.push_back("group");
  return keys;
}

/// The schedulers that can create a policy without a plan of slots.
std::vector<std::string_view> scheduler_names(hostsim::PolicyUse use) {
  std::vector<std::string_view> names;
  for (const std::string_view name : hostsim::policy_names(use))
    if (!kKeys.contains(name) && !make_scheduler(use, name, {})->slots()) names.push_back(name);
  return names;
}

// A value for an error message: a list or an object only by its type, because it may be large.
std::string shown(const json& value) {
  return value.is_structured() ? std::string("an ") + value.type_name() : value.dump();
}

/// A JSON object, and the words for errors in it.
class Object {
 public:
  Object(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail(fmt::format("expected an object, got {}", object.type_name()));
  }

  const std::string& where() const { return where_; }
  [[noreturn]] void fail(std::string_view what) const { throw SystemError(fmt::format("{}: {}", where_, what)); }

  void only(std::span<const std::string_view> keys, std::string_view of) const {
    for (const auto& item : object_.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) != keys.end()) continue;
      fail(fmt::format("unknown key \"{}\" of {}{}", item.key(), of, the_nearest(item.key(), keys, "known key")));
    }
  }

  const json& member(const char* key, std::string_view expected) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(fmt::format("missing key \"{}\", expected {}", key, expected));
    return *found;
  }
  /// null means an absent key: the priority of a strict slot, the dpc of an interrupt.
  bool has(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && !found->is_null();
  }
  std::string text(const char* key) const {
    const json& value = member(key, "a string");
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      fail(fmt::format("{} is {}, expected a string that is not empty", key, shown(value)));
    return value.get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t min, std::int64_t max) const {
    const std::string expected = fmt::format("a whole number, {} to {}", min, max);
    const json& value = member(key, expected);
    const bool is_whole = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max)
                                                     : value.is_number_integer() && value.get<std::int64_t>() <= max;
    if (!is_whole || value.get<std::int64_t>() < min)
      fail(fmt::format("{} is {}, expected {}", key, shown(value), expected));
    return value.get<std::int64_t>();
  }
  std::int64_t whole(const char* key, std::int64_t min, std::int64_t max, std::int64_t otherwise) const {
    return has(key) ? whole(key, min, max) : otherwise;
  }
  bool truth(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const json& value = object_[key];
    if (!value.is_boolean()) fail(fmt::format("{} is {}, expected true or false", key, shown(value)));
    return value.get<bool>();
  }

 private:
  const json& object_;
  std::string where_;
};

hostsim::Policy parse_policy(const Object& o, const std::string& kind, EntityDescription& e) {
  if (kind == "fp") {
    return hostsim::FixedPriority{static_cast<int>(o.whole("priority", 0, 31)), o.whole("quantum_ns", 0, kMaxNs, 0)};
  }
  if (kind == "edf") {
    if (e.deadline == hostsim::kNever) o.fail("an edf thread needs a deadline_ns, expected a whole number, 1 or more");
    return hostsim::EarliestDeadline{};
  }
  if (kind == "slot") {
    hostsim::Slot slot;
    slot.offset = o.whole("slot_offset_ns", 0, kMaxNs, 0);
    slot.period = o.whole("slot_period_ns", 1, kMaxNs);
    slot.length = o.whole("slot_length_ns", 1, kMaxNs);
    if (slot.length > slot.period) {
      o.fail(fmt::format("slot_length_ns {} exceeds slot_period_ns {}, expected X <= Y", slot.length, slot.period));
    }
    slot.strict = o.truth("strict", true);
    slot.priority = static_cast<int>(slot.strict ? o.whole("priority", 0, 31, 0) : o.whole("priority", 0, 31));
    return slot;
  }
  const Ns budget = o.whole("budget_ns", 1, kMaxNs);
  const Ns period = o.whole("res_period_ns", 1, kMaxNs);
  if (budget > period) o.fail(fmt::format("budget_ns {} exceeds res_period_ns {}, expected Q <= P", budget, period));
  if (kind == "cbs") return hostsim::ConstantBandwidth{budget, period};
  return hostsim::Rez{budget, period, o.whole("res_offset_ns", 0, kMaxNs, 0),
                      static_cast<int>(o.whole("background", -1, 31, -1))};
}

void parse_request(const Object& o, EntityDescription& e) {
  if (!e.reserves) {
    e.thread.priority = static_cast<int>(o.whole("priority", 0, 255, e.thread.priority));
    e.thread.handler = o.truth("handler", false);
    if (!o.has("nice")) return;
    using Class = hostsim::ThreadRequest::Class;
    e.thread.wants = Class::kNice;
    e.thread.nice = static_cast<int>(o.whole("nice", -20, 19));
    if (o.has("priority") || e.thread.handler) o.fail("has a nice value; expected neither a priority nor a handler");
    if (!make_scheduler(hostsim::PolicyUse::kThreads, e.scheduler, {})->has(Class::kNice))
      o.fail("has a nice value; expected a kind that is one of Linux's schedulers");
    return;
  }
  hostsim::ReservationRequest& r = e.reservation;
  r.budget = o.whole("budget_ns", 1, kMaxNs);
  r.period = o.whole("res_period_ns", 1, kMaxNs);
  r.offset = o.whole("res_offset_ns", 0, kMaxNs, 0);
  if (o.has("group")) r.group = o.text("group");
  if (r.budget > r.period)
    o.fail(fmt::format("budget_ns {} exceeds res_period_ns {}, expected Q <= P", r.budget, r.period));
}

std::vector<CriticalSectionDescription> parse_critical_sections(const Object& o, Ns cost) {
  std::vector<CriticalSectionDescription> sections;
  if (!o.has("critical_sections")) return sections;
  const json& list = o.member("critical_sections", "a list of objects");
  if (!list.is_array()) o.fail(fmt::format("critical_sections is {}, expected a list of objects", shown(list)));
  for (const json& item : list) {
    const Object section(item, fmt::format("{}: critical_sections[{}]", o.where(), sections.size()));
    if (sections.size() == kMostSections) section.fail(fmt::format("expected at most {} of an entity", kMostSections));
    section.only(std::vector<std::string_view>{"mutex", "after_ns", "length_ns"}, "a critical section");
    CriticalSectionDescription s{section.text("mutex"), section.whole("after_ns", 0, kMaxNs, 0),
                                 section.whole("length_ns", 1, kMaxNs)};
    if (s.after > cost || s.length > cost - s.after)
      section.fail(fmt::format("ends after {} ns; expected at most the cost_ns of {}", s.after + s.length, cost));
    for (const CriticalSectionDescription& other : sections) {
      if (s.after == other.after) section.fail("begins together with another section; expected another after_ns");
      const bool apart = s.after >= other.after + other.length || other.after >= s.after + s.length;
      if (s.mutex == other.mutex && !apart)
        section.fail(
            fmt::format("mutex \"{}\" is already held; expected sections of one mutex that do not overlap", s.mutex));
    }
    sections.push_back(std::move(s));
  }
  return sections;
}

/// The kinds of an entity, in the order in which an error lists them.
struct KnownKind {
  std::string_view name;
  std::vector<std::string_view> keys;
  bool scheduler = false, reserves = false;
};
std::vector<KnownKind> known_kinds() {
  std::vector<KnownKind> all;
  for (const auto& [kind, keys] : kKeys) all.push_back({kind, keys});
  for (const std::string_view name : scheduler_names(hostsim::PolicyUse::kThreads))
    all.push_back({name, keys_of(name, false), true, false});
  for (const std::string_view name : scheduler_names(hostsim::PolicyUse::kReservations))
    all.push_back({name, keys_of(name, true), true, true});
  return all;
}

EntityDescription parse_entity(const Object& o, const std::vector<KnownKind>& kinds) {
  EntityDescription e;
  e.name = o.text("name");
  const std::string kind = o.text("kind");
  const auto named = [&kind](const KnownKind& k) { return k.name == kind; };
  const auto reserving =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.reserves && named(k); });
  const auto known = reserving != kinds.end() ? reserving : std::find_if(kinds.begin(), kinds.end(), named);
  if (known == kinds.end()) {
    std::vector<std::string_view> names;
    for (const KnownKind& k : kinds) names.push_back(k.name);
    o.fail(fmt::format("unknown kind \"{}\"{}; expected one of {}", kind, the_nearest(kind, names),
                       fmt::join(names, ", ")));
  }
  e.reserves = known->reserves;
  if (known->scheduler) e.scheduler = kind;
  o.only(known->keys, fmt::format("kind {}", kind));
  e.kind_name = kind;
  e.kind = kind == "interrupt" ? Kind::kInterrupt : kind == "dpc" ? Kind::kDpc : Kind::kThread;
  e.cost = o.whole("cost_ns", 1, kMaxNs);
  if (e.kind == Kind::kDpc) return e;
  e.offset = o.whole("offset_ns", 0, kMaxNs, 0);
  e.period = o.whole("period_ns", 1, kMaxNs);
  if (o.has("deadline_ns")) e.deadline = o.whole("deadline_ns", 1, kMaxNs);
  if (e.kind == Kind::kInterrupt) {
    e.deadline = hostsim::kNever;  // section 9: only threads miss deadlines
    e.level = static_cast<int>(o.whole("level", -kMaxLevel, kMaxLevel));
  } else if (!e.scheduler.empty()) {
    parse_request(o, e);
  } else {
    e.policy = parse_policy(o, kind, e);
  }
  e.critical_sections = parse_critical_sections(o, e.cost);
  return e;
}

// Whether two slots of a and b overlap before the horizon. At some time they do, unless both fit into the greatest
// common divisor of the periods; the offsets determine when. @param[in,out] looks  number of slots that may still be
// compared
bool overlap(const hostsim::Slot& a, const hostsim::Slot& b, Ns horizon, int& looks) {
  const Ns g = std::gcd(a.period, b.period);
  const Ns phase = ((b.offset - a.offset) % g + g) % g;
  if (a.length <= phase && b.length <= g - phase) return false;
  const hostsim::Slot& rare = a.period > b.period ? a : b;
  const hostsim::Slot& often = a.period > b.period ? b : a;
  Ns start = rare.offset;
  for (; looks > 0; looks--, start += rare.period) {
    if (start >= horizon) return false;
    const Ns end = std::min(start + rare.length, horizon);
    // The first slot of `often` that ends after `start`.
    Ns other = often.offset;
    if (start >= other) other += (start - other) / often.period * often.period;
    if (other + often.length <= start) other += often.period;
    if (other < end) return true;
  }
  return true;  // the answer for an unlimited time
}

void check_slots(const System& system, const std::vector<Object>& objects) {
  int looks = 10'000'000;  // limit for all pairs together: a quarter of a second
  std::vector<std::pair<std::size_t, const hostsim::Slot*>> slots;
  for (std::size_t i = 0; i < system.entities.size(); i++) {
    const auto* slot = std::get_if<hostsim::Slot>(&system.entities[i].policy);
    if (slot == nullptr) continue;
    if (slots.size() == kMostSlots) objects[i].fail(fmt::format("expected at most {} of kind slot", kMostSlots));
    for (const auto& [j, other] : slots) {
      if (!overlap(*slot, *other, system.horizon, looks)) continue;
      objects[i].fail(fmt::format("its slots overlap those of '{}'; expected separate slots", system.entities[j].name));
    }
    slots.emplace_back(i, slot);
  }
}

/// The threads of SCHED_DEADLINE, as sched_setattr() admits them on one CPU. A group has one bandwidth.
void check_bandwidth(const System& system, const std::vector<Object>& objects) {
  hostsim::DeadlineAdmission admission;
  std::int64_t bandwidth = 0;
  std::set<std::string> groups;
  for (const EntityDescription& e : system.entities)
    admission.fair_server |= !e.scheduler.empty() && !e.reserves &&
                             make_scheduler(hostsim::PolicyUse::kThreads, e.scheduler, {})->has_fair_server();
  for (std::size_t i = 0; i < system.entities.size(); i++) {
    const EntityDescription& e = system.entities[i];
    if (!e.reserves) continue;
    if (!make_scheduler(hostsim::PolicyUse::kReservations, e.scheduler, {})->admits_by_bandwidth()) continue;
    const std::string& group = e.reservation.group;
    if (!group.empty() && !groups.insert(group).second) continue;
    const std::string why = admission.problem({e.name, e.reservation.budget, e.reservation.period}, bandwidth);
    if (!why.empty()) objects[i].fail(why);
  }
}

/// @param names  of all entities, by number
void link_dpcs(System& system, const std::vector<Object>& objects, const std::map<std::string, std::size_t>& names) {
  for (std::size_t i = 0; i < system.entities.size(); i++) {
    if (system.entities[i].kind != Kind::kInterrupt || !objects[i].has("dpc")) continue;
    const std::string name = objects[i].text("dpc");
    const auto found = names.find(name);
    if (found == names.end() || system.entities[found->second].kind != Kind::kDpc)
      objects[i].fail(fmt::format("dpc \"{}\" is not the name of a dpc entity", name));
    system.entities[i].dpc = static_cast<int>(found->second);
  }
}

}  // namespace

System parse_system(std::string_view text, std::string_view file) {
  json root;
  try {
    root = with_memory_for(std::string(file), [&] { return parse_json<json>(text); });
  } catch (const json::out_of_range& e) {  // 1e999
    throw SystemError(fmt::format("{}: {}", file, in_words(e)));
  } catch (const json::other_error& e) {
    throw SystemError(fmt::format("{}: {}", file, in_words(e)));
  } catch (const json::parse_error& e) {
    const std::string_view before = text.substr(0, e.byte > 0 ? e.byte - 1 : 0);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto column = before.size() - (before.rfind('\n') + 1) + 1;
    throw SystemError(
        fmt::format("{}:{}:{}: invalid JSON; expected an object with horizon_ns and entities", file, line, column));
  }
  try {
    const Object top(root, std::string(file));
    std::vector<std::string_view> known;
    for (const KeyHelp& k : kTopHelp) known.push_back(k.key);
    top.only(known, "a system");
    System system;
    system.horizon = top.whole("horizon_ns", 1, kMaxNs);
    system.host.tick_hz = static_cast<int>(top.whole("tick_hz", 1, 1'000'000, 1000));
    system.host.quantum = top.whole("quantum_ns", 0, kMaxNs, 0);
    system.charge_stolen_time = top.truth("charge_stolen_time", false);
    if (top.has("locks")) {
      const std::string locks = top.text("locks");
      const auto& names = hostsim::kLockProtocols;
      const auto* const found = std::find(std::begin(names), std::end(names), locks);
      if (found == std::end(names))
        top.fail(fmt::format("locks is \"{}\"{}, expected one of {}", locks, the_nearest(locks, names),
                             fmt::join(names, ", ")));
      system.locks = static_cast<hostsim::LockProtocol>(found - std::begin(names));
    }
    const json& entities = top.member("entities", "a list of objects");
    if (!entities.is_array()) top.fail(fmt::format("entities is {}, expected a list", entities.type_name()));
    if (entities.size() > kMostEntities)
      top.fail(fmt::format("{} entities; expected at most {}", entities.size(), kMostEntities));
    const std::vector<KnownKind> kinds = known_kinds();
    std::vector<Object> objects;
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < entities.size(); i++) {
      std::string where = fmt::format("{}: entities[{}]", file, i);
      const json& entity = entities[i];
      if (entity.is_object() && entity.contains("name") && entity["name"].is_string()) {
        where += fmt::format(" '{}'", entity["name"].get_ref<const std::string&>());
      }
      objects.emplace_back(entity, std::move(where));
      system.entities.push_back(parse_entity(objects.back(), kinds));
      const auto [first, fresh] = names.emplace(system.entities.back().name, i);
      if (!fresh) objects.back().fail(fmt::format("duplicate name of entities[{}]", first->second));
    }
    link_dpcs(system, objects, names);
    check_slots(system, objects);
    check_bandwidth(system, objects);
    return system;
  } catch (const json::exception& e) {  // a string that is not UTF-8, quoted in an error message
    throw SystemError(fmt::format("{}: {}", file, in_words(e)));
  }
}

std::string describe_system() {
  // The kinds of parse_system(); a key without an explanation is a programming error, detected at the first call.
  const std::vector<KnownKind> kinds = known_kinds();

  std::string out;
  for (const KeyHelp& k : kTopHelp) out += fmt::format("  {}\n      {}\n", k.key, k.help);
  out += "\nKeys of an entity:\n";
  std::size_t explained = 0;
  for (const KeyHelp& k : kEntityHelp) {
    std::vector<std::string_view> has;
    for (const KnownKind& kind : kinds)
      if (std::find(kind.keys.begin(), kind.keys.end(), k.key) != kind.keys.end()) has.push_back(kind.name);
    explained += has.size();
    out += fmt::format("  {}\n      {} ({})\n", k.key, k.help,
                       has.size() == kinds.size() ? "of every kind" : fmt::format("of {}", fmt::join(has, ", ")));
  }
  std::size_t there = 0;
  for (const KnownKind& kind : kinds) there += kind.keys.size();
  if (explained != there) throw std::logic_error("a key of a system has no explanation");
  std::vector<std::string_view> names;
  for (const KnownKind& kind : kinds) names.push_back(kind.name);
  return out + fmt::format("\nKinds: {}\n", fmt::join(names, ", "));
}

}  // namespace offhook::schedule
