// SPDX-License-Identifier: MIT
#include "src/program/command/fax.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "driver/context/context_spec.h"
#include "driver/fax/tiff.h"
#include "driver/session/call_progress.h"
#include "driver/session/devices.h"
#include "driver/session/fax_session.h"
#include "driver/sip/sip_fax.h"
#include "src/decode/fax/t30.h"

namespace offhook::command {
namespace {

struct FaxOptions {
  std::string file, number, card = "alsa:default", context = "FIFO 50", ident, t38;
  int interrupt_priority = 80;
  std::uint32_t max_bit_rate = 14'400;
  double seconds = 0;
  bool sends = false, no_error_correction = false, best_effort = false, now = false, force = false, v34 = false;
};

void say_frame(bool received, std::span<const std::uint8_t> frame) {
  const std::string words = fax_frame_in_words(frame);
  if (words.empty()) return;
  say("{} {}\n", received ? "received" : "sent    ", words);
  flush_output();
}

fax::TerminalConfig terminal_of(const FaxOptions& o) {
  fax::TerminalConfig terminal;
  terminal.calls = o.sends;
  (o.sends ? terminal.send : terminal.receive) = o.file;
  terminal.ident = o.ident;
  terminal.error_correction = !o.no_error_correction;
  terminal.max_bit_rate = o.max_bit_rate;
  terminal.frame = say_frame;
  terminal.page = [sends = o.sends](const fax::Progress& p) {
    say("page {}: {} at {} bit/s{}\n", sends ? p.pages_sent : p.pages_received, sends ? "confirmed" : "received",
        p.bit_rate, p.error_correction ? ", with error correction" : "");
    flush_output();
  };
  return terminal;
}

constexpr std::string_view kSip = "sip:";
bool by_sip(const FaxOptions& o) {
  return o.card.starts_with(kSip) || o.number.starts_with(kSip);
}

/// With an account; or without one, directly to the address given as number.
std::unique_ptr<modem::FaxCall> open_sip_call(const FaxOptions& o, const LiveDriverConfig& driver) {
  sip::SipFaxConfig config{.number = o.number, .terminal = terminal_of(o), .t38 = sip::T38Use::kAccept};
  const bool direct = o.number.starts_with(kSip);
  sip::SipPlace place = sip::parse_sip_place(std::string_view(direct ? o.number : o.card).substr(kSip.size()));
  if (direct) {
    config.number = std::exchange(place.account.user, "fax");
    place.account.registers = false;
  }
  const std::string t38 = !o.t38.empty() ? o.t38 : o.sends ? "accept" : "offer";
  config.t38 = t38 == "no" ? sip::T38Use::kNo : t38 == "offer" ? sip::T38Use::kOffer : sip::T38Use::kAccept;
  if (place.account.encrypts_media) {
    if (!o.t38.empty() && t38 != "no")
      throw std::runtime_error("--t38 " + o.t38 + ": T.38 is not encrypted; expected srtp=no, or --t38 no");
    config.t38 = sip::T38Use::kNo;
  }
  return std::make_unique<sip::SipFax>(place, driver, config);
}

std::unique_ptr<modem::FaxCall> open_card_call(const FaxOptions& o, const LiveDriverConfig& driver, LiveCard& card) {
  modem::FaxCallConfig call;
  call.digits = o.number;
  call.plan.need_dial_tone = false;
  call.plan.pause_s = 1;
  call.terminal = terminal_of(o);
  call.v34 = o.v34;
  return std::make_unique<modem::FaxSession>(card, driver, call);
}

void check_number(const FaxOptions& o) {
  if (o.number.starts_with(kSip)) return;  // parse_sip_place() checks an address
  if (by_sip(o)) {
    sip::sip_number(o.number);
  } else if (o.number.find_first_not_of(modem::Dialler::kDigits) != std::string::npos) {
    throw std::runtime_error(
        fmt::format("\"{}\" is not a number; expected digits, *, #, a comma for a pause, or W", printable(o.number)));
  }
}

/// All checks before the line is used.
void check(const FaxOptions& o) {
  if (!by_sip(o) && !o.t38.empty()) throw std::runtime_error("--t38 requires a card sip:USER@HOST");
  if (by_sip(o) && o.v34) throw std::runtime_error("--v34: expected a card that is not sip:");
  if (o.v34 && o.no_error_correction) throw std::runtime_error("--v34 requires error correction");
  if (by_sip(o) && o.now) throw std::runtime_error("--now: a call by SIP rings");
  constexpr std::size_t kMostIdent = 20;
  if (o.ident.size() > kMostIdent || o.ident.find_first_not_of("0123456789 +") != std::string::npos)
    throw std::runtime_error(fmt::format("--ident {}: expected at most 20 digits, blanks and +", o.ident));
  if (o.sends) {
    check_number(o);
    if (std::filesystem::is_directory(o.file))
      throw std::runtime_error(printable(o.file) + ": is a folder; expected a TIFF file");
    close(open_file(o.file));  // throws with the reason
    const auto pages = fax::check_pages(o.file);
    say("{}: {} {} to send\n", o.file, pages, pages == 1 ? "page" : "pages");
    return;
  }
  expect_writable(o.file);
  if (std::filesystem::exists(o.file) && !o.force)
    throw std::runtime_error(fmt::format("{}: exists; --force overwrites it", o.file));
}

int report(const FaxOptions& o, const modem::FaxCall& session) {
  const fax::Progress& p = session.progress();
  const std::uint32_t pages = o.sends ? p.pages_sent : p.pages_received;
  if (!p.far_ident.empty()) say("far machine: {}\n", p.far_ident);
  say("{} {} {}; blocks late: {}\n", pages, pages == 1 ? "page" : "pages", o.sends ? "sent and confirmed" : "received",
      session.blocks_late());
  if (by_sip(o)) {
    for (const CardFigure& figure : session.figures())
      std::visit([&](auto value) { say("{}: {}\n", figure.key, value); }, figure.value);
  }
  if (p.complete && pages > 0) return kOk;
  const std::string why = !session.failure().empty() ? session.failure()
                          : !p.failure.empty()       ? p.failure
                          : !p.over                  ? "the time given by --seconds is over"
                                                     : "the far machine sent no page";
  say(stderr, "offhook: the fax failed: {}\n", why);
  return kInsufficient;
}

void work(modem::FaxCall& call, int wait_ms) {
  call.poll();
  if (const std::string news = call.news(); !news.empty()) {
    say("{}\n", news);
    flush_output();
  }
  poll(nullptr, 0, wait_ms);
}

int run(const FaxOptions& o) {
  check(o);
  catch_interrupts();
  LiveDriverConfig driver;
  driver.context = LiveContextConfig::parse(o.context);
  driver.context.best_effort = o.best_effort;
  driver.interrupt_priority = o.interrupt_priority;
  const std::unique_ptr<LiveCard> card = by_sip(o) ? nullptr : open_card(o.card, {}, "or sip:USER@HOST");
  const std::unique_ptr<modem::FaxCall> call = card ? open_card_call(o, driver, *card) : open_sip_call(o, driver);
  modem::FaxCall& session = *call;
  for (const std::string& s : session.shortcomings()) say(stderr, "offhook: continuing without: {}\n", s);
  const std::int64_t end = o.seconds > 0 ? monotonic_ms() + static_cast<std::int64_t>(1000 * o.seconds) : 0;
  const auto goes_on = [end] { return !interrupted() && (end == 0 || monotonic_ms() < end); };
  if (o.sends) {
    say("dialling {}\n", o.number);
  } else if (!o.now) {
    say("waiting for a ring on {}\n", o.card);
  }
  flush_output();
  while (!o.sends && !o.now && !session.ringing() && !session.over() && goes_on()) work(session, 50);
  if (goes_on() && !session.over()) {
    session.begin();
    while (!session.over() && goes_on()) work(session, 5);
    if (!session.over() && interrupted()) session.end_call();
  }
  const int status = report(o, session);
  return interrupted() ? interrupt_status() : status;
}

void add_common(App& sub, FaxOptions& o) {
  add_fax_modems(sub, o.context, o.max_bit_rate);
  sub.add_option("--ident", o.ident, "Own number as the far machine shows it: digits, blanks and +")
      ->type_name("NUMBER");
  sub.add_option(
         "--t38", o.t38,
         "With sip: T.38 (packets without modems): offer it when the call is up, accept the far end's offer, or "
         "no. Default: offer when receiving, accept when sending")
      ->type_name("HOW")
      ->check(one_of({"offer", "accept", "no"}));
  sub.add_flag("--no-error-correction", o.no_error_correction, "Disable T.30's error correction");
  sub.add_flag("--v34", o.v34,
               "Try V.34 half duplex, up to 33600 bit/s; otherwise, and with a far end that has none, V.17 to V.27ter. "
               "Experimental: tried only between two of this program");
  sub.add_option("--seconds", o.seconds, "Give up after S seconds")->type_name("S")->check(in_range(0.001, 1e9));
  add_live_options(sub, o.interrupt_priority, o.best_effort);
}

constexpr const char* kCards =
    "Card as `offhook modem` takes it: unix:PATH (a card of `offhook line`), alsa:NAME, portaudio:NAME, or "
    "sip:USER@HOST "
    "with its options";

void add_send(App& fax, Action& action) {
  App* sub = fax.add_subcommand("send", "Send the pages of a TIFF file");
  auto options = std::make_shared<FaxOptions>();
  options->sends = true;
  sub->add_option("file", options->file,
                  "TIFF file of black-and-white pages with 1728 (A4), 2048 or 2432 pixels per line")
      ->required()
      ->type_name("FILE.tif");
  sub->add_option(
         "number", options->number,
         "Number to dial: digits, *, #, a comma for a pause, W to wait for dial tone; or sip:USER@HOST, which is "
         "called without an account")
      ->required()
      ->type_name("NUMBER");
  sub->add_option("card", options->card, kCards)->type_name("CARD");
  add_common(*sub, *options);
  sub->footer(R"(Examples:
  offhook line /run/card-a /run/card-b &
  offhook fax receive got.tif unix:/run/card-b &
  offhook fax send page.tif 5551234 unix:/run/card-a
  offhook fax send page.tif 5551234 sip:100@192.0.2.1,local=192.0.2.7:5060,password-file=sip.password
  offhook fax send page.tif sip:200@192.0.2.8

Exit status: 0 every page was sent and confirmed, 1 error, 2 not every page, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

void add_receive(App& fax, Action& action) {
  App* sub = fax.add_subcommand("receive", "Answer one call and write its pages to a TIFF file");
  auto options = std::make_shared<FaxOptions>();
  sub->add_option("file", options->file, "TIFF file for the received pages")->required()->type_name("FILE.tif");
  sub->add_option("card", options->card, kCards)->type_name("CARD");
  sub->add_flag("--now", options->now, "Answer at once instead of at the first ring");
  sub->add_flag("--force", options->force, "Overwrite the file");
  add_common(*sub, *options);
  sub->footer(R"(Examples:
  offhook fax receive got.tif unix:/run/card-b
  offhook fax receive got.tif --now --seconds 600   # on the default sound device, which does not ring
  offhook fax receive got.tif sip:200@192.0.2.1,local=192.0.2.8:5060,register=no   # a call by SIP to port 5060

Exit status: 0 the pages were received, 1 error, 2 no page or not every page, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace

void add_fax_modems(App& sub, std::string& context, std::uint32_t& max_bit_rate) {
  sub.add_option("--context", context, "\"FIFO 50\", \"RR 50\", \"RES 2ms/8ms\" (2 ms of CPU time every 8 ms) or OTHER")
      ->type_name("CONTEXT");
  sub.add_option("--max-bit-rate", max_bit_rate,
                 "Highest bit rate of a page: 14400 (V.17), 9600 (V.29) or 4800 (V.27ter)")
      ->type_name("BIT/S")
      ->check(one_of({"14400", "9600", "4800"}));
}

std::string fax_frame_in_words(std::span<const std::uint8_t> frame) {
  const std::string name = decode::fax_frame_name(frame[2]);
  if (name == "FCD" || name == "RCP") return "";
  const auto meaning = decode::fax_meaning(name, frame);
  return meaning.empty() ? name : fmt::format("{}: {}", name, fmt::join(meaning, ", "));
}

void add_fax(App& app, Action& action) {
  App* fax = app.add_subcommand("fax", "Send or receive a fax on a live card, or carry faxes between a card and T.38");
  fax->require_subcommand(1);
  add_send(*fax, action);
  add_receive(*fax, action);
  add_fax_gateway(*fax, action);
  fax->footer(
      R"(Examples:
  offhook fax receive got.tif unix:/run/card-b
  offhook fax send page.tif 5551234 unix:/run/card-a
  offhook fax gateway dahdi:1 sip:100@192.0.2.1,local=192.0.2.7:5060,password-file=sip.password --to 200

The modem signals run in the context of --context; T.30 and the TIFF file are handled outside it. DIS and DCS are printed
in words (docs/fax.md).)");
}

}  // namespace offhook::command
