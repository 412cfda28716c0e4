// SPDX-License-Identifier: MIT
// The AT interpreter takes any bytes, in any state.
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver/tty/at.h"

namespace {

struct Nobody final : offhook::modem::AtHost {
  std::string_view carriers() const override { return "V22B,V34"; }
  void dial(std::string_view digits, bool) override { dialled = digits; }
  std::vector<std::string> last_call(bool) const override { return {}; }
  void answer() override {}
  bool go_online() override { return false; }
  void hang_up() override {}
  bool can_fax() const override { return true; }
  bool fax(offhook::modem::FaxOrder, int value) override {
    if (value < 0 || value > 255) __builtin_trap();
    return value % 2 != 0;
  }
  std::string dialled;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Nobody host;
  std::size_t sent = 0;
  offhook::modem::AtInterpreter at(host, [&](std::string_view s) { sent += s.size(); });
  for (std::size_t i = 0; i < size; ++i) at.put(static_cast<char>(data[i]));
  at.report(offhook::modem::Result::kConnect, 33'600);
  at.report(offhook::modem::Result::kOtherCarrier);
  // Two octets ("A/") repeat a line. The longest output is that of AT&V&V...: 127 times about 300 octets.
  if (sent > (size / 2 + 1) * 48 * 1024) __builtin_trap();
  return 0;
}
