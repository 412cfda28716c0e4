// SPDX-License-Identifier: MIT
//
// A context of one's own: SWI, a software interrupt. The card's interrupt routine releases it, and it calls service:
// below every device's interrupt, above all deferred work and every thread.
//
//   offhook --plugin ./libswi.so run call.toml --context SWI
#include <offhook/plugin.h>

#include "hostsim/host/context.h"

using namespace offhook;
using namespace offhook::hostsim;

namespace {

constexpr int kSoftwareLevel = 1;  // devices have higher ones

class SoftwareInterrupt final : public Context {
 public:
  explicit SoftwareInterrupt(const ContextParts& p) : Context(p), routine_(p), service_(*this, p) {
    server_ = cpu_.add_interrupt({"modem software interrupt", kSoftwareLevel, kNoEntity, p.interrupt_cpu}, service_);
    interrupt_ = cpu_.add_interrupt({"modem interrupt", p.level, kNoEntity, p.interrupt_cpu}, routine_);
  }

 private:
  void request_service() override { cpu_.release(server_); }

  struct Service final : Program {
    Service(Context& context, const ContextParts& p) : run(context, p) {}
    Ns next(Ns) override { return run.next(); }
    ServiceRun run;
  };
  InterruptRoutine routine_;
  Service service_;
};

}  // namespace

OH_PLUGIN(reason) {
  (void)reason;  // the exception has the reason
  register_context({.word = "SWI", .key = "swi", .what = "a software interrupt"},
                   [](const ContextParts& parts) { return std::make_unique<SoftwareInterrupt>(parts); });
  return 0;
}
