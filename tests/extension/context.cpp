// SPDX-License-Identifier: MIT
//
// A context that a stranger adds: the interrupt routine goes on into service, as INT.
#include "hostsim/host/context.h"

namespace offhook::hostsim {
namespace {

class WalkContext final : public Context {
 public:
  explicit WalkContext(const ContextParts& p) : Context(p), routine_(*this, p) {
    interrupt_ = server_ = cpu_.add_interrupt({"modem interrupt", p.level, kNoEntity, p.interrupt_cpu}, routine_);
  }

 private:
  void request_service() override {}
  struct Routine final : InterruptRoutine {
    Routine(Context& context, const ContextParts& p) : InterruptRoutine(p), run(context, p) {}
    Ns after_isr(Ns) override { return run.next(); }
    ServiceRun run;
  } routine_;
};

}  // namespace

std::unique_ptr<Context> make_extension_context(const ContextParts& parts) {
  return std::make_unique<WalkContext>(parts);
}

}  // namespace offhook::hostsim
