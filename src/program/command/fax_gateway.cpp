// SPDX-License-Identifier: MIT
//
// `offhook fax gateway`: faxes between a telephone line and T.38.
#include <fmt/format.h>
#include <poll.h>

#include <memory>
#include <stdexcept>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "driver/context/context_spec.h"
#include "driver/session/call_progress.h"
#include "driver/session/devices.h"
#include "driver/sip/sip_gateway.h"
#include "src/program/command/fax.h"

namespace offhook::command {
namespace {

struct GatewayOptions {
  std::string card, account, to, dial, context = "FIFO 50";
  int interrupt_priority = 80;
  std::uint32_t max_bit_rate = 14'400, calls = 0;
  double seconds = 0;
  bool no_error_correction = false, best_effort = false;
};

constexpr std::string_view kAccount = "sip:";

void say_passing_frame(bool from_network, std::span<const std::uint8_t> frame) {
  const std::string words = fax_frame_in_words(frame);
  if (words.empty()) return;
  say("{} {}\n", from_network ? "to the line  " : "from the line", words);
  flush_output();
}

sip::SipPlace gateway_account(const GatewayOptions& o) {
  if (!o.account.starts_with(kAccount))
    throw std::runtime_error(fmt::format("{}: expected sip:USER@HOST with its options", o.account));
  if (o.card.starts_with(kAccount)) throw std::runtime_error("the line is a card other than sip:");
  sip::SipPlace place = sip::parse_sip_place(std::string_view(o.account).substr(kAccount.size()));
  if (place.account.encrypts_media) throw std::runtime_error("T.38 is not encrypted; expected srtp=no");
  return place;
}

sip::SipGatewayConfig gateway_config(const GatewayOptions& o) {
  if (o.to.empty() && o.dial.empty())
    throw std::runtime_error("expected --to NUMBER (calls from the line), --dial DIGITS (calls by SIP), or both");
  if (o.dial.find_first_not_of(modem::Dialler::kDigits) != std::string::npos)
    throw std::runtime_error(
        fmt::format("--dial {}: expected digits, *, #, a comma for a pause, or W to wait for dial tone", o.dial));
  if (!o.to.empty()) sip::sip_number(o.to);  // throws if it cannot be dialled
  sip::SipGatewayConfig config;
  config.to = o.to;
  config.dial = o.dial;
  config.plan.need_dial_tone = false;
  config.plan.pause_s = 1;
  config.gateway = {.error_correction = !o.no_error_correction, .max_bit_rate = o.max_bit_rate};
  config.frame = say_passing_frame;
  return config;
}

void say_gateway_news(sip::SipGateway& gateway) {
  const std::string news = gateway.news();
  if (news.empty()) return;
  say("{}", news);
  flush_output();
}

int run_gateway(const GatewayOptions& o) {
  const sip::SipPlace place = gateway_account(o);
  const sip::SipGatewayConfig config = gateway_config(o);
  catch_interrupts();
  LiveDriverConfig driver;
  driver.context = LiveContextConfig::parse(o.context);
  driver.context.best_effort = o.best_effort;
  driver.interrupt_priority = o.interrupt_priority;
  const std::unique_ptr<LiveCard> card = open_card(o.card);
  sip::SipGateway gateway(*card, place, driver, config);
  for (const std::string& s : gateway.shortcomings()) say(stderr, "offhook: continuing without: {}\n", s);
  say("waiting for calls\n");
  const std::int64_t end = o.seconds > 0 ? monotonic_ms() + static_cast<std::int64_t>(1000 * o.seconds) : 0;
  while (!interrupted() && (end == 0 || monotonic_ms() < end) && (o.calls == 0 || gateway.calls() < o.calls) &&
         gateway.card_failure().empty()) {
    gateway.poll();
    say_gateway_news(gateway);
    constexpr int kBusyMs = 5, kIdleMs = 20;
    poll(nullptr, 0, gateway.in_call() ? kBusyMs : kIdleMs);
  }
  gateway.stop();
  say_gateway_news(gateway);
  say("calls: {}; blocks late: {}\n", gateway.calls(), gateway.blocks_late());
  if (const std::string gone = gateway.card_failure(); !gone.empty()) throw std::runtime_error(gone);
  if (interrupted()) return interrupt_status();
  return gateway.calls() == 0 || gateway.calls_without_page() > 0 ? kInsufficient : kOk;
}

}  // namespace

void add_fax_gateway(App& fax, Action& action) {
  App* sub = fax.add_subcommand("gateway", "Carry faxes between a telephone line and T.38");
  auto o = std::make_shared<GatewayOptions>();
  sub->add_option(
         "card", o->card,
         "Card of the telephone line: unix:PATH (a card of `offhook line`), dahdi:CHANNEL, alsa:NAME or another")
      ->required()
      ->type_name("CARD");
  sub->add_option("account", o->account, "SIP account with its options: sip:USER@HOST,local=HOST:PORT")
      ->required()
      ->type_name("ACCOUNT");
  sub->add_option("--to", o->to, "Number to call by SIP when the line rings; without it, the line is not answered")
      ->type_name("NUMBER");
  sub->add_option("--dial", o->dial,
                  "Digits to dial on the line for a call by SIP, or a comma for none; without it, calls by SIP are not "
                  "answered")
      ->type_name("DIGITS");
  add_fax_modems(*sub, o->context, o->max_bit_rate);
  sub->add_flag("--no-error-correction", o->no_error_correction, "Remove T.30's error correction from DIS");
  sub->add_option("--calls", o->calls, "Stop after N calls")->type_name("N")->check(in_range(1u, 1'000'000u));
  sub->add_option("--seconds", o->seconds, "Stop after S seconds")->type_name("S")->check(in_range(0.001, 1e9));
  add_live_options(*sub, o->interrupt_priority, o->best_effort);
  sub->footer(R"(Examples:
  offhook line /run/card-a /run/card-b &
  offhook fax gateway unix:/run/card-b sip:100@192.0.2.1,local=192.0.2.7:5060,password-file=sip.password --to 200
  offhook fax gateway dahdi:1 sip:100@192.0.2.1,password-file=sip.password --dial 5551234

Exit status: 0 every call had a confirmed page, 1 error, 2 a call had none, or there was no call, 130 interrupted.)");
  sub->final_callback([&action, o] { action = [o] { return run_gateway(*o); }; });
}

}  // namespace offhook::command
