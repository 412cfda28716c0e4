// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "hostsim/engine/processor.h"

namespace offhook::hostsim {
namespace {

enum class Kind { kInterrupt, kDpc, kThread };

struct Entity {
  std::string name;
  Kind kind;
  Program* program;
  int level = 0;
  EntityId dpc = kNoEntity;
  Policy policy;
  Ns deadline = kNever;

  std::deque<Ns> jobs;     // release times of unfinished jobs, current one first
  std::size_t missed = 0;  // of those, how many have been logged as missed
  bool started = false;    // the current job has had the CPU
  Ns remaining = 0;        // of the current segment
  Ns queued = 0;           // q of S3
  Ns quantum_left = 0;
  Ns budget = 0;               // c of S5 and S6
  Ns budget_end = 0;           // d of S5 and S6
  bool out_of_budget = false;  // as of the previous instant
  Ns cpu_time = 0;

  bool ready() const { return !jobs.empty(); }
};

Ns slot_edge(const Slot& s, std::int64_t ticks) {
  if (s.tick_hz == 0) return s.offset + ticks;
  return s.offset + static_cast<Ns>(static_cast<__int128>(ticks) * 1'000'000'000 / s.tick_hz);
}

// Start of the slot that `now` is in or after; -1 before the first.
std::int64_t slot_index(const Slot& s, Ns now) {
  if (now < s.offset) return -1;
  std::int64_t k =
      s.tick_hz == 0
          ? (now - s.offset) / s.period
          : static_cast<std::int64_t>(static_cast<__int128>(now - s.offset) * s.tick_hz / 1'000'000'000 / s.period);
  while (slot_edge(s, (k + 1) * s.period) <= now) k++;
  while (k >= 0 && slot_edge(s, k * s.period) > now) k--;
  return k;
}

bool in_slot(const Slot& s, Ns now) {
  const std::int64_t k = slot_index(s, now);
  return k >= 0 && now < slot_edge(s, k * s.period + s.length);
}

Ns next_slot_edge(const Slot& s, Ns now) {
  const std::int64_t k = slot_index(s, now);
  if (k < 0) return slot_edge(s, 0);
  const Ns end = slot_edge(s, k * s.period + s.length);
  return now < end ? end : slot_edge(s, (k + 1) * s.period);
}

}  // namespace

struct Cpu::Impl final : Processor {
  Impl(Engine& e, int i) : engine(e), index(i) { engine.attach(*this); }

  Ns next_instant() const override { return wake; }

  void settle(Ns now) override {
    charge(now);
    if (current != kNoEntity && at(current).started && at(current).remaining == 0) advance_program(current, now);
    if (current != kNoEntity) exhaust(current, now);
    for (EntityId id = 0; id < entities.size(); id++) refill(id, now);
    wake = std::min(wake, now);
  }

  void dispatch(Ns now) override {
    for (EntityId id = 0; id < entities.size(); id++) miss_and_throttle(id, now);
    EntityId best = pick(now);
    // A job that starts runs its program now; a program that ends at once gives the CPU to the next.
    if (best != current)
      switch_to(best, now);
    else if (best != kNoEntity && !at(best).started)
      begin(best, now);
    emit(now);
    wake = again ? now : next_decision(now);
    again = false;
  }

  Entity& at(EntityId id) { return entities[id]; }
  const Entity& at(EntityId id) const { return entities[id]; }

  void charge(Ns now) {
    if (current != kNoEntity) {
      Entity& e = at(current);
      const Ns ran = now - charged;
      e.remaining -= ran;
      e.cpu_time += ran;
      if (on_budget) e.budget -= ran;
      if (const auto* fp = std::get_if<FixedPriority>(&e.policy); e.kind == Kind::kThread && fp && fp->quantum > 0) {
        e.quantum_left -= ran;
      }
    }
    charged = now;
  }

  // The running job's segment is over: ask for the next, or finish the job.
  void advance_program(EntityId id, Ns now) {
    const Ns cost = at(id).program->next(now);
    Entity& e = at(id);
    if (cost > 0) {
      e.remaining = cost;
      return;
    }
    const Ns released = e.jobs.front();
    e.jobs.pop_front();
    if (e.missed > 0) e.missed--;
    e.started = false;
    note(now, id, CpuObserver::Kind::kFinish);
    if (log != nullptr) {
      oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_FINISH, id,
                         static_cast<std::uint32_t>(std::min<Ns>((now - released) / 1000, UINT32_MAX)));
    }
    if (e.dpc != kNoEntity) release(e.dpc, now);
    if (at(id).ready()) make_current(at(id), now);
  }

  static void make_current(Entity& e, Ns now) {
    e.queued = now;
    e.started = false;
    if (const auto* fp = std::get_if<FixedPriority>(&e.policy)) e.quantum_left = fp->quantum;
  }

  void exhaust(EntityId id, Ns now) {
    Entity& e = at(id);
    if (e.kind != Kind::kThread || !e.ready()) return;
    if (on_budget && e.budget == 0 && std::holds_alternative<Rez>(e.policy)) e.queued = now;
    if (const auto* fp = std::get_if<FixedPriority>(&e.policy); fp && fp->quantum > 0 && e.quantum_left == 0) {
      e.queued = now;
      e.quantum_left = fp->quantum;
    }
  }

  void refill_cbs(EntityId id, const ConstantBandwidth& cbs, Ns now) {
    Entity& e = at(id);
    e.budget_end += cbs.period;
    if (e.budget_end < now) e.budget_end = now + cbs.period;
    e.budget = cbs.budget;
    e.queued = now;
    note(now, id, CpuObserver::Kind::kReplenish);
  }

  void refill(EntityId id, Ns now) {
    Entity& e = at(id);
    if (e.kind != Kind::kThread) return;
    if (const auto* cbs = std::get_if<ConstantBandwidth>(&e.policy)) {
      if (e.ready() && e.budget == 0 && now >= e.budget_end) refill_cbs(id, *cbs, now);
    } else if (const auto* rez = std::get_if<Rez>(&e.policy)) {
      if (now < rez->offset || now < e.budget_end) return;
      const Ns start = rez->offset + (now - rez->offset) / rez->period * rez->period;
      if (e.ready()) {
        if (e.budget == 0) note(now, id, CpuObserver::Kind::kReplenish);
        e.queued = now;
      }
      e.budget = rez->budget;
      e.budget_end = start + rez->period;
    }
  }

  void release(EntityId id, Ns now) {
    Entity& e = at(id);
    e.jobs.push_back(now);
    again = starting;
    wake = std::min(wake, now);
    if (e.jobs.size() > 1) return;
    make_current(e, now);
    if (const auto* cbs = std::get_if<ConstantBandwidth>(&e.policy); cbs && e.kind == Kind::kThread) {
      if (e.budget_end <= now ||
          static_cast<__int128>(e.budget) * cbs->period >= static_cast<__int128>(e.budget_end - now) * cbs->budget) {
        e.budget_end = now + cbs->period;
        e.budget = cbs->budget;
      }
    }
  }

  bool has_budget_policy(const Entity& e) const {
    return e.kind == Kind::kThread &&
           (std::holds_alternative<ConstantBandwidth>(e.policy) || std::holds_alternative<Rez>(e.policy));
  }

  void miss_and_throttle(EntityId id, Ns now) {
    Entity& e = at(id);
    if (e.kind != Kind::kThread) return;
    while (e.deadline != kNever && e.missed < e.jobs.size() && e.jobs[e.missed] + e.deadline <= now) {
      e.missed++;
      note(now, id, CpuObserver::Kind::kMiss);
    }
    const bool out = has_budget_policy(e) && e.budget == 0 && e.ready();
    if (out && !e.out_of_budget) note(now, id, CpuObserver::Kind::kThrottle);
    e.out_of_budget = out;
  }

  // S2: class, then two keys; the smallest runs. Class 7: may not run.
  using Rank = std::tuple<int, Ns, Ns, EntityId>;
  Rank rank(EntityId id, Ns now) const {
    const Entity& e = at(id);
    if (!e.ready()) return {7, 0, 0, id};
    if (e.kind == Kind::kInterrupt) return {1, -e.level, e.jobs.front(), id};
    if (e.kind == Kind::kDpc) return {2, e.jobs.front(), 0, id};
    if (const auto* slot = std::get_if<Slot>(&e.policy)) {
      if (in_slot(*slot, now)) {
        if (slot->slot_priority > 0) return {6, -slot->slot_priority, e.queued, id};
        return {3, slot_edge(*slot, slot_index(*slot, now) * slot->period), e.queued, id};
      }
      return slot->strict ? Rank{7, 0, 0, id} : Rank{6, -slot->priority, e.queued, id};
    }
    if (const auto* rez = std::get_if<Rez>(&e.policy)) {
      if (e.budget > 0) return {4, e.budget_end, e.queued, id};
      return rez->background < 0 ? Rank{7, 0, 0, id} : Rank{6, -rez->background, e.queued, id};
    }
    if (std::holds_alternative<EarliestDeadline>(e.policy)) {
      return {5, e.deadline == kNever ? kNever : e.jobs.front() + e.deadline, e.queued, id};
    }
    if (std::holds_alternative<ConstantBandwidth>(e.policy)) {
      return e.budget > 0 ? Rank{5, e.budget_end, e.queued, id} : Rank{7, 0, 0, id};
    }
    return {6, -std::get<FixedPriority>(e.policy).priority, e.queued, id};
  }

  EntityId pick(Ns now) const {
    Rank best{7, 0, 0, kNoEntity};
    for (EntityId id = 0; id < entities.size(); id++) best = std::min(best, rank(id, now));
    return std::get<0>(best) == 7 ? kNoEntity : std::get<3>(best);
  }

  void switch_to(EntityId next, Ns now) {
    if (current != kNoEntity) {
      const Entity& e = at(current);
      if (e.ready() && e.started) note(now, current, CpuObserver::Kind::kPreempt);
    }
    current = next;
    if (next == kNoEntity) {
      if (log != nullptr) oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_IDLE, 0, 0);
      return;
    }
    if (at(next).started) {
      note(now, next, CpuObserver::Kind::kResume);
      if (log != nullptr) oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_RUN, next, 0);
    } else {
      begin(next, now);
    }
  }

  void begin(EntityId id, Ns now) {
    note(now, id, CpuObserver::Kind::kStart);
    if (log != nullptr) oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
    at(id).started = true;
    at(id).remaining = 0;
    starting = true;
    advance_program(id, now);
    starting = false;
  }

  void note(Ns now, EntityId id, CpuObserver::Kind kind) {
    (void)now;
    if (observer != nullptr) rows.push_back({kind, id});
  }

  void emit(Ns now) {
    if (observer == nullptr || rows.empty()) return;
    // S9: the order of rows within an instant.
    const auto order = [](CpuObserver::Kind kind) {
      switch (kind) {
        case CpuObserver::Kind::kFinish:
          return 0;
        case CpuObserver::Kind::kMiss:
          return 1;
        case CpuObserver::Kind::kReplenish:
          return 2;
        case CpuObserver::Kind::kThrottle:
          return 3;
        case CpuObserver::Kind::kPreempt:
          return 4;
        default:
          return 5;
      }
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return std::tuple(order(a.kind), a.id) < std::tuple(order(b.kind), b.id);
    });
    for (const Row& row : rows) {
      if (row.kind == CpuObserver::Kind::kPreempt && throttled_off(row.id)) continue;
      observer->on_event(now, row.id, row.kind);
    }
    rows.clear();
  }

  // A throttle in this instant implies that the thread left the CPU, unless it has a background priority.
  bool throttled_off(EntityId id) const {
    const Entity& e = at(id);
    if (!has_budget_policy(e)) return false;
    if (const auto* rez = std::get_if<Rez>(&e.policy); rez && rez->background >= 0) return false;
    return std::any_of(rows.begin(), rows.end(),
                       [id](const Row& row) { return row.id == id && row.kind == CpuObserver::Kind::kThrottle; });
  }

  Ns next_decision(Ns now) {
    Ns next = kNever;
    on_budget = false;
    if (current != kNoEntity) {
      const Entity& e = at(current);
      if (!e.started) return now;  // its job ended as it began, or another one waits
      next = e.remaining > kNever - now ? kNever : now + e.remaining;
      if (has_budget_policy(e) && e.budget > 0) {
        on_budget = true;
        next = std::min(next, now + e.budget);
      }
      if (const auto* fp = std::get_if<FixedPriority>(&e.policy); e.kind == Kind::kThread && fp && fp->quantum > 0) {
        next = std::min(next, now + e.quantum_left);
      }
    }
    for (const Entity& e : entities) {
      if (e.kind != Kind::kThread || !e.ready()) continue;
      if (e.deadline != kNever && e.missed < e.jobs.size()) next = std::min(next, e.jobs[e.missed] + e.deadline);
      if (const auto* slot = std::get_if<Slot>(&e.policy)) next = std::min(next, next_slot_edge(*slot, now));
      if (const auto* rez = std::get_if<Rez>(&e.policy)) next = std::min(next, std::max(rez->offset, e.budget_end));
      if (std::holds_alternative<ConstantBandwidth>(e.policy) && e.budget == 0) next = std::min(next, e.budget_end);
    }
    return std::max(next, now);
  }

  EntityId add(Entity e) {
    if (entities.size() >= kNoEntity) throw std::length_error("too many entities on one CPU");
    entities.push_back(std::move(e));
    return static_cast<EntityId>(entities.size() - 1);
  }

  // Every reservation by itself and all of them together must fit into the CPU.
  void admit(const std::string& name, EntityId replacing, const Policy& policy) const {
    double sum = share(name, policy);
    for (EntityId id = 0; id < entities.size(); id++) {
      if (id != replacing && at(id).kind == Kind::kThread) sum += share(at(id).name, at(id).policy);
    }
    if (sum > 1 + 1e-12) {
      throw std::invalid_argument("reservation of '" + name +
                                  "' cannot be admitted: all reservations together would take " +
                                  std::to_string(sum * 100) + " % of the CPU");
    }
  }

  static double share(const std::string& name, const Policy& policy) {
    Ns amount = 0;
    Ns period = 1;
    if (const auto* slot = std::get_if<Slot>(&policy)) {
      amount = slot->length;
      period = slot->period;
    } else if (const auto* cbs = std::get_if<ConstantBandwidth>(&policy)) {
      amount = cbs->budget;
      period = cbs->period;
    } else if (const auto* rez = std::get_if<Rez>(&policy)) {
      amount = rez->budget;
      period = rez->period;
    } else {
      return 0;
    }
    if (amount <= 0 || period <= 0 || amount > period) {
      throw std::invalid_argument("reservation of '" + name + "' cannot be admitted: " + std::to_string(amount) +
                                  " of every " + std::to_string(period) + ", expected 0 < X <= Y");
    }
    return static_cast<double>(amount) / static_cast<double>(period);
  }

  struct Row {
    CpuObserver::Kind kind;
    EntityId id;
  };

  Engine& engine;
  int index;
  std::deque<Entity> entities;
  EntityId current = kNoEntity;
  bool on_budget = false;
  bool starting = false;  // within a dispatch
  bool again = false;     // something was released within this dispatch: one more at the same instant
  Ns charged = 0;
  Ns wake = kNever;
  CpuObserver* observer = nullptr;
  oh_event_log* log = nullptr;
  std::vector<Row> rows;
};

Cpu::Cpu(Engine& engine, int index) : impl_(std::make_unique<Impl>(engine, index)) {}
Cpu::~Cpu() = default;

EntityId Cpu::add_interrupt(InterruptSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kInterrupt;
  e.program = &program;
  e.level = spec.level;
  e.dpc = spec.dpc;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_dpc(DpcSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kDpc;
  e.program = &program;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_thread(std::string name, Policy policy, Program& program, Ns deadline) {
  Entity e;
  e.name = std::move(name);
  e.kind = Kind::kThread;
  e.program = &program;
  e.deadline = deadline;
  e.policy = policy;
  impl_->admit(e.name, kNoEntity, policy);
  return impl_->add(std::move(e));
}

void Cpu::release(EntityId entity) {
  impl_->release(entity, impl_->engine.now());
}

void Cpu::set_policy(EntityId thread, Policy policy) {
  Entity& e = impl_->at(thread);
  impl_->admit(e.name, thread, policy);
  e.policy = policy;
  e.budget = 0;
  e.budget_end = 0;
  if (const auto* fp = std::get_if<FixedPriority>(&policy)) e.quantum_left = fp->quantum;
  impl_->again = impl_->starting;
  impl_->wake = std::min(impl_->wake, impl_->engine.now());
}

std::uint32_t Cpu::unfinished_jobs(EntityId entity) const {
  return static_cast<std::uint32_t>(impl_->at(entity).jobs.size());
}
Ns Cpu::cpu_time(EntityId entity) const {
  return impl_->at(entity).cpu_time + (entity == impl_->current ? impl_->engine.now() - impl_->charged : 0);
}
EntityId Cpu::running() const {
  return impl_->current;
}
std::string_view Cpu::name(EntityId entity) const {
  return impl_->at(entity).name;
}
std::size_t Cpu::entities() const {
  return impl_->entities.size();
}
void Cpu::set_observer(CpuObserver* observer) {
  impl_->observer = observer;
}
void Cpu::set_log(oh_event_log* log) {
  impl_->log = log;
}

}  // namespace offhook::hostsim
