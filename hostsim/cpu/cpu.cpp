// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

namespace {

void set_kind_of_policy(Entity& e, const Policy& policy) {
  const auto* fixed = std::get_if<FixedPriority>(&policy);
  e.plain = std::holds_alternative<EarliestDeadline>(policy) || (fixed != nullptr && fixed->quantum == 0);
  e.quiet = e.plain || std::holds_alternative<Slot>(policy);
}

}  // namespace

Cpu::Cpu(Engine& engine, Admission admission, int cpus) {
  if (cpus < 1 || cpus > kMaxCpus) throw std::invalid_argument("a host has 1 to " + std::to_string(kMaxCpus) + " CPUs");
  impl_ = std::make_unique<Impl>(engine, admission, cpus);
}
Cpu::~Cpu() = default;

EntityId Cpu::add_interrupt(InterruptSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = EntityKind::kInterrupt;
  e.quiet = true;
  e.program = &program;
  e.level = spec.level;
  e.dpc = spec.dpc;
  e.cpu = spec.cpu;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_dpc(DpcSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = EntityKind::kDpc;
  e.importance = spec.importance;
  impl_->high_dpcs |= spec.importance == DpcImportance::kHigh;
  e.cpu = spec.cpu;
  e.program = &program;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_thread(std::string name, Policy policy, Program& program, Ns deadline, int cpu) {
  Entity e;
  e.name = std::move(name);
  e.program = &program;
  e.deadline = deadline;
  e.pinned = cpu != kAnyCpu;
  e.policy = make_thread_policy(policy);
  // Ideal CPUs are assigned round-robin, as Windows does for the threads of a process.
  e.ideal = e.pinned ? cpu : impl_->threads % cpus();
  e.cpu = e.pinned ? cpu : e.policy->migration() == Migration::kIdeal ? e.ideal : 0;
  e.last = e.cpu;
  e.policy->moved(e.cpu);
  impl_->some_share |= e.shares = e.policy->shares();
  set_kind_of_policy(e, policy);
  impl_->admit(e.name, kNoEntity, policy, e.stays() ? e.cpu : kAnyCpu);
  e.reservation = std::move(policy);
  impl_->threads++;
  return impl_->add(std::move(e));
}

Cpu::ThreadedInterrupt Cpu::add_threaded_interrupt(InterruptSpec spec, Ns stub, Policy policy, Program& handler) {
  const EntityId thread = add_thread(spec.name + " thread", std::move(policy), handler, kNever, spec.cpu);
  impl_->at(thread).dpc = std::exchange(spec.dpc, thread);
  impl_->stubs.push_back(std::make_unique<Stub>(stub));
  return {add_interrupt(std::move(spec), *impl_->stubs.back()), thread};
}

void Cpu::clock_tick(int cpu) {
  Core& core = impl_->cores.at(static_cast<std::size_t>(cpu));
  if (!core.deferred->tick()) return;
  impl_->touch_dpcs(core);
  impl_->wake = std::min(impl_->wake, impl_->engine.now());
}

void Cpu::release(EntityId entity) {
  impl_->release(entity, impl_->engine.now());
}

bool Cpu::run_unbroken(std::span<const PlannedJob> jobs) {
  return impl_->run_unbroken(jobs);
}

Ns Cpu::repeat_unbroken(std::span<const PlannedJob> jobs, RepeatedChain& chain) {
  return impl_->repeat_unbroken(jobs, chain);
}

bool Cpu::keep_ticking(EntityId interrupt, Ns cost, const TickTimes& times, SteadyClock& clock) {
  return impl_->keep_ticking(interrupt, cost, times, clock);
}
void Cpu::resume_clock() {
  impl_->resume_clock();
}

void Cpu::set_policy(EntityId thread, Policy policy) {
  const Ns now = impl_->engine.now();
  if (!policy_takes_no_notice(policy)) resume_clock();
  Entity& e = impl_->at(thread);
  std::unique_ptr<ThreadPolicy> made = make_thread_policy(policy);
  const bool stays = e.pinned || made->migration() == Migration::kPinned;
  const int cpu = stays && !e.pinned ? 0 : e.cpu;
  impl_->admit(e.name, thread, policy, stays ? cpu : kAnyCpu);
  for (Core& core : impl_->cores) impl_->charge(core, now);
  if (cpu != e.cpu) impl_->move(thread, cpu, now);
  e.policy = std::move(made);
  e.policy->moved(cpu);
  impl_->some_share |= e.shares = e.policy->shares();
  set_kind_of_policy(e, policy);
  e.reservation = std::move(policy);
  if (e.ready()) e.policy->begin_job(now, e.current_job(), true);
  impl_->touch(thread);
  impl_->wake = std::min(impl_->wake, now);
}

void Cpu::set_switch_costs(const SwitchCosts& costs) {
  impl_->switch_costs = costs;
}
void Cpu::charge_stolen_time() {
  impl_->charges_stolen = true;
}
void Cpu::set_deferred_work(const std::function<std::unique_ptr<DeferredWork>(int cpu)>& make) {
  for (std::size_t c = 0; c < impl_->cores.size(); c++) impl_->cores[c].deferred = make(static_cast<int>(c));
}

Ns Cpu::now() const {
  return impl_->engine.now();
}
std::uint32_t Cpu::unfinished_jobs(EntityId entity) const {
  return static_cast<std::uint32_t>(impl_->at(entity).jobs.size());
}
Ns Cpu::cpu_time(EntityId entity) const {
  const Core& core = impl_->core_of(impl_->at(entity));
  return impl_->at(entity).cpu_time + (entity == core.current ? impl_->uncharged(core) : 0);
}
Ns Cpu::dpc_time(int cpu) const {
  const Core& core = impl_->cores.at(static_cast<std::size_t>(cpu));
  const bool in_dpc = core.current != kNoEntity && impl_->at(core.current).kind == EntityKind::kDpc;
  return core.dpc_time + (in_dpc ? impl_->uncharged(core) : 0);
}
EntityId Cpu::running(int cpu) const {
  return impl_->cores.at(static_cast<std::size_t>(cpu)).current;
}
int Cpu::cpus() const {
  return static_cast<int>(impl_->cores.size());
}
std::string_view Cpu::name(EntityId entity) const {
  return impl_->at(entity).name;
}
std::size_t Cpu::entities() const {
  return impl_->entities.size();
}
void Cpu::set_observer(CpuObserver* observer) {
  if (observer != nullptr) resume_clock();
  impl_->rows.set_observer(observer);
}
void Cpu::set_log(oh_event_log* log) {
  if (log != nullptr) resume_clock();
  impl_->log = log;
}

}  // namespace offhook::hostsim
