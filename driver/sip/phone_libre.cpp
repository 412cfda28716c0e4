// SPDX-License-Identifier: MIT
//
// The phone on libre (docs/adr/0006-sip-stack.md): transactions, dialogs, digest, retransmission and timers are
// libre's; this file has a line's action at each event. All of libre runs in one thread. Orders from the
// owner's thread go through its message queue; the owner's view is copied under a mutex.
#include <stdexcept>

#include "driver/sip/phone.h"

#ifndef OFFHOOK_HAS_SIP

namespace offhook::sip {

std::unique_ptr<Phone> make_phone(const Account&, const std::vector<LinePorts>&) {
  throw std::runtime_error("this build has no SIP: libre (libre-dev) was not installed when it was configured");
}

}  // namespace offhook::sip

#else

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "driver/base/thread.h"
#include "driver/sip/libre.h"
#include "driver/sip/sdp.h"
#include "driver/sip/session_refresh.h"

namespace offhook::sip {

namespace {

constexpr int kBuckets = 32;             // of libre's hash tables
constexpr std::uint32_t kExpires = 600;  // of a registration, seconds
constexpr int kLeaveMs = 500;            // time to wait for answers to BYE and to the end of the registration
constexpr char kAgent[] = "Offhook";

sip_transp transport_of(Transport transport) {
  switch (transport) {
    case Transport::kTcp:
      return SIP_TRANSP_TCP;
    case Transport::kTls:
      return SIP_TRANSP_TLS;
    default:
      return SIP_TRANSP_UDP;
  }
}

bool same_media(const RtpMedia& a, const RtpMedia& b) {
  return a.remote.text() == b.remote.text() && a.law == b.law && a.packet_samples == b.packet_samples &&
         a.keys == b.keys;
}

/// The host of an account without its port.
std::string host_alone(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::atomic<bool> phone_exists{false};

class LibrePhone final : public Phone {
 public:
  LibrePhone(const Account& account, const std::vector<LinePorts>& ports);
  ~LibrePhone() override;

  void accept(std::size_t line, bool accepts) override;
  void dial(std::size_t line, const std::string& user) override;
  void answer(std::size_t line) override { order(Order::kAnswer, line); }
  void hang_up(std::size_t line) override { order(Order::kHangUp, line); }
  void allow_fax(std::size_t line, bool allows) override {
    const std::lock_guard lock(mutex_);
    lines_.at(line).allows_fax = allows;
  }
  void offer_fax(std::size_t line) override {
    show(lines_.at(line), [](CallInfo& info) { info.fax_offer = FaxOffer::kSent; });
    order(Order::kOfferFax, line);
  }
  CallInfo call(std::size_t line) const override {
    const std::lock_guard lock(mutex_);
    return lines_.at(line).shown;
  }
  std::string registration() const override {
    const std::lock_guard lock(mutex_);
    return registration_;
  }

 private:
  enum class Order : int { kDial, kAnswer, kHangUp, kOfferFax, kLeave, kStop };
  struct Line {
    LibrePhone* phone = nullptr;
    LinePorts ports;
    sipsess* session = nullptr;
    std::uint32_t version = 0;     // of our description
    std::string described;         // that description
    std::vector<MediaLine> media;  // of the far end's newest description
    std::size_t stream = 0;        // ours in it
    bool confirmed = false;        // the INVITE of the call; another one may follow
    bool wants_fax = false;        // set when it is confirmed
    bool offers_fax = false, is_fax = false;
    std::vector<oh_encoding> laws;
    bool offered = false;              // sent in the answer to an INVITE without a description
    std::optional<CryptoLine> crypto;  // this end's, for this call
    std::unique_ptr<SessionRefresh> refresh;
    // Used by both threads:
    bool accepts = false, allows_fax = false;
    std::string user;
    CallInfo shown;
  };

  void start(const Account& account);
  void register_account();
  void order(Order what, std::size_t line);
  void obey(Order what, Line& line);
  void dial_now(Line& line);
  void answer_now(Line& line);
  void hang_up_now(Line& line);
  void offer_fax_now(Line& line);
  void leave();
  void stop_libre();
  void incoming(const sip_msg* message);
  Line* free_line();
  void refuse(const sip_msg* message, unsigned status, const char* reason, const std::string& warning = "");
  void make_refresh(Line& line);
  void call_again(Line& line);
  void begin_call(Line& line);
  std::string describe(Line& line, const std::vector<oh_encoding>& laws);
  void take_fax(Line& line, const MediaDescription& found);
  void take_audio(Line& line, MediaDescription& found);
  void take_keys(Line& line, MediaDescription& found) const;
  std::string failure_text(int error) const;
  /// "sip:" and the address to which requests are sent.
  std::string target(const std::string& address) const;
  /// @throws std::runtime_error as parse_sdp()
  void take_description(Line& line, const sip_msg* message);
  void fax_refused(Line& line, const std::string& reason);
  void ended(Line& line, EndKind kind, const std::string& reason);
  template <typename Change>
  void show(Line& line, Change change) {
    const std::lock_guard lock(mutex_);
    change(line.shown);
  }

  static int authenticate(char** user, char** password, const char* realm, void* self);
  static void on_registered(int error, const sip_msg* message, void* self);
  static bool on_request(const sip_msg* message, void* self);
  static bool on_response(const sip_msg* message, void* self);
  static bool on_other_request(const sip_msg* message, void* self);
  static bool on_other_response(const sip_msg*, void*) { return true; }
  static void on_invite(const sip_msg* message, void* self);
  static int on_offer(mbuf** description, const sip_msg* message, void* line);
  static int on_answer(const sip_msg* message, void* line);
  static void on_progress(const sip_msg* message, void* line);
  static void on_established(const sip_msg* message, void* line);
  static void on_close(int error, const sip_msg* message, void* line);
  static void on_order(int what, void* line, void* self);

  Account account_;
  std::string uri_;
  dnsc* dns_ = nullptr;
  ::sip* sip_ = nullptr;
  std::vector<sip_lsnr*> listeners_;
  std::unique_ptr<Tls> tls_;
  sipsess_sock* sessions_ = nullptr;
  sipreg* registration_of_ = nullptr;
  mqueue* orders_ = nullptr;
  InternetAddress local_;
  std::uint64_t session_id_ = 0;
  mutable std::mutex mutex_;
  std::string registration_ = "without registration";
  bool refused_ = false;  // the account
  std::vector<Line> lines_;
  std::thread thread_;
};

LibrePhone::LibrePhone(const Account& account, const std::vector<LinePorts>& ports)
    : account_(account), uri_("sip:" + account.user + "@" + account.host), lines_(ports.size()) {
  if (phone_exists.exchange(true)) throw std::runtime_error("a process has one SIP account");
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].phone = this;
    lines_[i].ports = ports[i];
  }
  try {
    start(account);
    thread_ = start_thread([] { re_main(nullptr); });
  } catch (...) {
    stop_libre();
    phone_exists.store(false);
    throw;
  }
}

void LibrePhone::start(const Account& account) {
  const auto must = [](int error, const std::string& what) {
    if (error != 0) throw std::runtime_error(fmt::format("{}: {}", what, std::generic_category().message(error)));
  };
  must(libre_init(), "SIP");
  dbg_init(DBG_EMERG, DBG_NONE);  // otherwise each malformed message is a line on standard error
  session_id_ = rand_u32();
  sa servers[4];
  std::uint32_t count = 4;
  if (dns_srv_get(nullptr, 0, servers, &count) != 0) count = 0;
  must(dnsc_alloc(&dns_, nullptr, servers, count), "SIP: DNS");
  must(sip_alloc(&sip_, dns_, kBuckets, kBuckets, kBuckets, kAgent, nullptr, this), "SIP");
  sa local{};
  must(sa_set_sa(&local, account.local.get()), "SIP");
  if (account.transport == Transport::kTls) tls_ = std::make_unique<Tls>(account.tls, host_alone(account.host));
  must(sip_transp_add(sip_, transport_of(account.transport), &local, tls_ ? tls_->get() : nullptr),
       "SIP at " + account.local.text());
  const auto listen = [&](bool requests, sip_msg_h* handler) {
    sip_lsnr* listener = nullptr;
    must(sip_listen(&listener, sip_, requests, handler, this), "SIP");
    listeners_.push_back(listener);
  };
  // In this order: this handler, libre's, and one for the rest, which libre would write to standard error.
  listen(true, on_request);
  listen(false, on_response);
  must(sipsess_listen(&sessions_, sip_, kBuckets, on_invite, this), "SIP");
  listen(true, on_other_request);
  listen(false, on_other_response);
  for (Line& line : lines_) make_refresh(line);
  must(mqueue_alloc(&orders_, on_order, this), "SIP");
  local_ = account.local;
  if (account.registers) register_account();
}

void LibrePhone::register_account() {
  registration_ = "not registered yet";
  const std::string to = target(account_.host);
  const int error = sipreg_register(&registration_of_, sip_, to.c_str(), uri_.c_str(), nullptr, uri_.c_str(), kExpires,
                                    account_.user.c_str(), nullptr, 0, 0, authenticate, this, false, on_registered,
                                    this, nullptr, nullptr);
  if (error != 0) registration_ = "not registered: " + std::generic_category().message(error);
}

std::string LibrePhone::target(const std::string& address) const {
  const bool is_default = account_.transport == Transport::kUdp;
  return "sip:" + address + (is_default ? "" : sip_transp_param(transport_of(account_.transport)));
}

/// @param error  of libre; a failure of TLS has its own text
std::string LibrePhone::failure_text(int error) const {
  if (tls_ && !tls_->failure().empty()) return tls_->failure();
  return std::generic_category().message(error);
}

void LibrePhone::make_refresh(Line& line) {
  SessionRefresh::Call call;
  call.description = [this, &line] { return describe(line, line.laws); };
  call.takes = [this, &line](const sip_msg* message) {
    try {
      take_description(line, message);
    } catch (const std::runtime_error&) {
      return false;
    }
    return true;
  };
  call.ended = [this, &line](const std::string& reason) { ended(line, EndKind::kOther, reason); };
  call.offer_refused = [this, &line](const std::string& reason) { fax_refused(line, reason); };
  line.refresh =
      std::make_unique<SessionRefresh>(std::move(call), account_.user, account_.session_interval_s, authenticate, this);
}

// Unregisters, ends the calls, and waits a limited time for the answers.
LibrePhone::~LibrePhone() {
  order(Order::kLeave, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(kLeaveMs));
  order(Order::kStop, 0);
  thread_.join();
  stop_libre();
  phone_exists.store(false);
}

void LibrePhone::stop_libre() {
  for (Line& line : lines_) {
    line.refresh.reset();
    line.session = static_cast<sipsess*>(mem_deref(line.session));
  }
  registration_of_ = static_cast<sipreg*>(mem_deref(registration_of_));
  if (sessions_ != nullptr) sipsess_close_all(sessions_);
  if (sip_ != nullptr) sip_close(sip_, true);
  mem_deref(sessions_);
  for (sip_lsnr* listener : listeners_) mem_deref(listener);
  mem_deref(sip_);
  tls_.reset();
  mem_deref(dns_);
  mem_deref(orders_);
  libre_close();
}

void LibrePhone::order(Order what, std::size_t line) {
  mqueue_push(orders_, static_cast<int>(what), &lines_.at(line));
}

void LibrePhone::accept(std::size_t line, bool accepts) {
  const std::lock_guard lock(mutex_);
  lines_.at(line).accepts = accepts;
  if (lines_.at(line).shown.state == CallState::kEnded) lines_.at(line).shown = {};
}

void LibrePhone::dial(std::size_t line, const std::string& user) {
  {
    const std::lock_guard lock(mutex_);
    lines_.at(line).user = user;
    lines_.at(line).shown = {};
    lines_.at(line).shown.state = CallState::kCalling;
  }
  order(Order::kDial, line);
}

void LibrePhone::on_order(int what, void* line, void* self) {
  static_cast<LibrePhone*>(self)->obey(static_cast<Order>(what), *static_cast<Line*>(line));
}

void LibrePhone::obey(Order what, Line& line) {
  switch (what) {
    case Order::kDial:
      return dial_now(line);
    case Order::kAnswer:
      return answer_now(line);
    case Order::kHangUp:
      return hang_up_now(line);
    case Order::kOfferFax:
      return offer_fax_now(line);
    case Order::kLeave:
      return leave();
    case Order::kStop:
      return re_cancel();
  }
}

void LibrePhone::dial_now(Line& line) {
  if (line.session != nullptr) return ended(line, EndKind::kBusy, "the line has a call");
  if (account_.registers && refused_) return ended(line, EndKind::kNoService, registration());
  begin_call(line);
  if (account_.encrypts_media) line.crypto = CryptoLine{1, new_srtp_key(SrtpSuite::kTagOf80Bits)};
  call_again(line);
}

/// Nothing is agreed.
void LibrePhone::begin_call(Line& line) {
  line.crypto.reset();
  line.laws.clear();
  line.media.clear();
  line.stream = 0;
  line.confirmed = line.wants_fax = line.offers_fax = line.is_fax = false;
}

/// Sends INVITE, for the first time or with another interval of the session timer.
void LibrePhone::call_again(Line& line) {
  std::string to;
  {
    const std::lock_guard lock(mutex_);
    to = target(line.user + "@" + account_.host);
  }
  line.offered = true;
  line.laws.clear();
  const Buffer description = buffer_of(describe(line, account_.laws));
  const std::string headers = line.refresh->call_headers();
  const int error =
      sipsess_connect(&line.session, sessions_, to.c_str(), nullptr, uri_.c_str(), account_.user.c_str(), nullptr, 0,
                      kSdpType, description.get(), authenticate, this, false, on_offer, on_answer, on_progress,
                      on_established, nullptr, nullptr, on_close, &line, "%s", headers.c_str());
  if (error != 0) ended(line, EndKind::kNoService, failure_text(error));
}

void LibrePhone::answer_now(Line& line) {
  if (line.session == nullptr) return;
  const Buffer description = buffer_of(describe(line, line.offered ? account_.laws : line.laws));
  const std::string headers = line.refresh->answer_headers();
  const int error = sipsess_answer(line.session, 200, "OK", description.get(), "%s", headers.c_str());
  if (error != 0) return ended(line, EndKind::kOther, failure_text(error));
  line.refresh->established(sip_, line.session, nullptr);
  if (!line.offered) show(line, [](CallInfo& info) { info.state = CallState::kUp; });
}

void LibrePhone::hang_up_now(Line& line) {
  if (line.session == nullptr) return;
  bool ringing = false;
  show(line, [&ringing](CallInfo& info) { ringing = info.state == CallState::kRinging; });
  if (ringing) sipsess_reject(line.session, 486, "Busy Here", nullptr);
  ended(line, EndKind::kHungUp, "ended here");
}

void LibrePhone::leave() {
  for (Line& line : lines_)
    if (line.session != nullptr) hang_up_now(line);
  registration_of_ = static_cast<sipreg*>(mem_deref(registration_of_));
}

LibrePhone::Line* LibrePhone::free_line() {
  const std::lock_guard lock(mutex_);
  for (Line& line : lines_)
    if (line.session == nullptr && line.accepts) return &line;
  return nullptr;
}

void LibrePhone::refuse(const sip_msg* message, unsigned status, const char* reason, const std::string& warning) {
  sip_treplyf(nullptr, nullptr, sip_, message, false, static_cast<std::uint16_t>(status), reason,
              "%sContent-Length: 0\r\n\r\n", warning.c_str());
}

void LibrePhone::incoming(const sip_msg* message) {
  Line* const line = free_line();
  if (line == nullptr) return refuse(message, 486, "Busy Here");
  if (!line->refresh->invited(sip_, message)) return;
  begin_call(*line);
  line->offered = mbuf_get_left(message->mb) == 0;
  show(*line, [message](CallInfo& info) {
    info = {};
    info.caller = {text_of(message->from.uri.user), text_of(message->from.dname)};
  });
  try {
    if (!line->offered) take_description(*line, message);
    if (line->offered && account_.encrypts_media) line->crypto = CryptoLine{1, new_srtp_key(SrtpSuite::kTagOf80Bits)};
  } catch (const std::runtime_error& e) {
    show(*line, [](CallInfo& info) { info = {}; });
    return refuse(message, 488, "Not Acceptable Here", fmt::format("Warning: 305 offhook \"{}\"\r\n", e.what()));
  }
  const int error = sipsess_accept(&line->session, sessions_, message, 180, "Ringing", account_.user.c_str(), kSdpType,
                                   nullptr, authenticate, this, false, on_offer, on_answer, on_established, nullptr,
                                   nullptr, on_close, line, nullptr);
  if (error != 0) {
    show(*line, [](CallInfo& info) { info = {}; });
    return refuse(message, 500, "Server Internal Error");
  }
  show(*line, [](CallInfo& info) { info.state = CallState::kRinging; });
}

// Returns the next version if the description differs from the last one (RFC 3264 8).
std::string LibrePhone::describe(Line& line, const std::vector<oh_encoding>& laws) {
  OwnDescription own{
      local_, laws,       account_.packet_samples, session_id_ + static_cast<std::uint64_t>(&line - lines_.data()),
      0,      line.crypto};
  own.fax = line.is_fax || line.offers_fax;
  own.local.set_port(own.fax ? line.ports.fax : line.ports.media);
  own.lines = line.media;
  own.line = line.stream;
  if (std::string text = write_sdp(own); text != line.described) {
    ++line.version;
    line.described = std::move(text);
  }
  own.version = line.version;
  return write_sdp(own);
}

void LibrePhone::take_description(Line& line, const sip_msg* message) {
  MediaDescription found = parse_sdp(body_of(message));
  found.fax ? take_fax(line, found) : take_audio(line, found);
  line.media = found.lines;
  line.stream = found.line;
}

void LibrePhone::take_fax(Line& line, const MediaDescription& found) {
  bool allowed = line.offers_fax || line.is_fax;
  {
    const std::lock_guard lock(mutex_);
    allowed |= line.allows_fax;
  }
  if (line.ports.fax == 0 || account_.encrypts_media || !allowed)
    throw std::runtime_error("it wants T.38, which this end does not take here");
  if (line.laws.empty()) throw std::runtime_error("it begins with T.38; expected audio first");
  line.is_fax = true;
  line.offers_fax = false;
  show(line, [&found](CallInfo& info) {
    if (!info.fax) info.fax = found.fax;
  });
}

void LibrePhone::take_audio(Line& line, MediaDescription& found) {
  if (line.is_fax) throw std::runtime_error("it goes back to audio, and the call is T.38");
  if (line.offers_fax) fax_refused(line, "it answers with audio");
  // The far end's first law that is allowed here (RFC 3264 6.1).
  const auto usable =
      std::find_first_of(found.laws.begin(), found.laws.end(), account_.laws.begin(), account_.laws.end());
  if (usable == found.laws.end()) throw std::runtime_error("it does not offer the law of G.711 that is allowed here");
  found.media.law = *usable;
  take_keys(line, found);
  line.laws.assign(1, found.media.law);
  show(line, [&found](CallInfo& info) {
    if (info.media && same_media(*info.media, found.media)) return;  // a refresh: the streams continue
    info.media = found.media;
    ++info.media_version;
  });
}

void LibrePhone::fax_refused(Line& line, const std::string& reason) {
  line.offers_fax = false;
  show(line, [&reason](CallInfo& info) {
    info.fax_offer = FaxOffer::kRefused;
    info.fax_refusal = reason;
  });
}

/// Not before the INVITE of the call is confirmed (RFC 3261 14.1).
void LibrePhone::offer_fax_now(Line& line) {
  line.wants_fax = true;
  if (line.session == nullptr || !line.confirmed || line.is_fax) return;
  if (line.ports.fax == 0 || account_.encrypts_media) return fax_refused(line, "this end has no T.38");
  line.wants_fax = false;
  line.offers_fax = true;
  line.refresh->offer();
}

/// The keys of both directions. This end's line has suite and tag of the far end's line, or the reverse.
void LibrePhone::take_keys(Line& line, MediaDescription& found) const {
  if (found.encrypted != account_.encrypts_media)
    throw std::runtime_error(found.encrypted ? "it requires SRTP, which this account does not allow (srtp=no)"
                                             : "it has no SRTP, which this account requires (srtp=no allows that)");
  if (!found.encrypted) return;
  const CryptoLine* chosen = &found.crypto.front();
  if (line.crypto) {
    const auto same = std::ranges::find_if(
        found.crypto, [&line](const CryptoLine& each) { return each.key.suite == line.crypto->key.suite; });
    if (same == found.crypto.end()) throw std::runtime_error("its key for SRTP is of another suite than the call's");
    chosen = &*same;
    line.crypto->tag = chosen->tag;
  } else {
    line.crypto = CryptoLine{chosen->tag, new_srtp_key(chosen->key.suite)};
  }
  found.media.keys = SrtpKeys{line.crypto->key, chosen->key};
}

void LibrePhone::ended(Line& line, EndKind kind, const std::string& reason) {
  line.refresh->stop();
  line.session = static_cast<sipsess*>(mem_deref(line.session));
  show(line, [&](CallInfo& info) {
    if (info.state == CallState::kEnded) return;
    info.state = CallState::kEnded;
    info.end = kind;
    info.reason = reason;
  });
}

int LibrePhone::authenticate(char** user, char** password, const char*, void* self) {
  const Account& account = static_cast<LibrePhone*>(self)->account_;
  if (account.password.empty()) return EAUTH;
  const int error = str_dup(user, account.user.c_str());
  return error != 0 ? error : str_dup(password, account.password.c_str());
}

void LibrePhone::on_registered(int error, const sip_msg* message, void* self) {
  auto* const phone = static_cast<LibrePhone*>(self);
  const std::lock_guard lock(phone->mutex_);
  phone->refused_ = error != 0 || (message != nullptr && message->scode >= 300);
  phone->registration_ = error != 0                                   ? "not registered: " + phone->failure_text(error)
                         : message == nullptr || message->scode < 200 ? phone->registration_
                         : message->scode < 300                       ? "registered"
                                                                      : "not registered: " + status_of(message);
}

// Requests that libre does not know: OPTIONS and those of session timers.
bool LibrePhone::on_request(const sip_msg* message, void* self) {
  auto* const phone = static_cast<LibrePhone*>(self);
  for (Line& line : phone->lines_)
    if (line.refresh->request(message)) return true;
  if (pl_strcmp(&message->met, "OPTIONS") != 0) return false;
  sip_treplyf(nullptr, nullptr, phone->sip_, message, false, 200, "OK",
              "%sAccept: application/sdp\r\nContent-Length: 0\r\n\r\n", kAllowed);
  return true;
}

bool LibrePhone::on_response(const sip_msg* message, void* self) {
  auto& lines = static_cast<LibrePhone*>(self)->lines_;
  return std::ranges::any_of(lines, [message](const Line& line) { return line.refresh->response(message); });
}

bool LibrePhone::on_other_request(const sip_msg* message, void* self) {
  ::sip* const stack = static_cast<LibrePhone*>(self)->sip_;
  if (pl_strcmp(&message->met, "ACK") == 0) return true;
  if (pl_strcmp(&message->met, "CANCEL") == 0 || pl_strcmp(&message->met, "UPDATE") == 0) {
    sip_reply(stack, message, 481, "Call/Transaction Does Not Exist");
  } else {
    sip_reply(stack, message, 501, "Not Implemented");
  }
  return true;
}

void LibrePhone::on_invite(const sip_msg* message, void* self) {
  static_cast<LibrePhone*>(self)->incoming(message);
}

// A new offer in a call may change the address and may replace audio by T.38, but not change the law.
int LibrePhone::on_offer(mbuf** description, const sip_msg* message, void* arg) {
  Line& line = *static_cast<Line*>(arg);
  LibrePhone& phone = *line.phone;
  const std::vector<oh_encoding> before = line.laws;
  try {
    if (mbuf_get_left(message->mb) > 0) phone.take_description(line, message);
  } catch (const std::runtime_error&) {
    return EINVAL;
  }
  if (!before.empty() && line.laws != before) line.laws = before;
  *description = buffer_of(phone.describe(line, line.laws.empty() ? phone.account_.laws : line.laws)).release();
  return *description == nullptr ? ENOMEM : 0;
}

int LibrePhone::on_answer(const sip_msg* message, void* arg) {
  Line& line = *static_cast<Line*>(arg);
  try {
    line.phone->take_description(line, message);
  } catch (const std::runtime_error& e) {
    line.phone->show(line, [&e](CallInfo& info) { info.reason = std::string("its description: ") + e.what(); });
    return EINVAL;
  }
  return 0;
}

void LibrePhone::on_progress(const sip_msg* message, void* arg) {
  Line& line = *static_cast<Line*>(arg);
  if (message->scode == 183 && mbuf_get_left(message->mb) > 0) on_answer(message, arg);
  if (message->scode == 180 || message->scode == 183)
    line.phone->show(line, [](CallInfo& info) { info.state = CallState::kRingback; });
}

void LibrePhone::on_established(const sip_msg* message, void* arg) {
  Line& line = *static_cast<Line*>(arg);
  if (!message->req) line.refresh->established(line.phone->sip_, line.session, message);
  line.confirmed = true;
  if (line.wants_fax) line.phone->offer_fax_now(line);
  bool has_media = false;
  line.phone->show(line, [&has_media](CallInfo& info) {
    has_media = info.media.has_value();
    if (has_media) info.state = CallState::kUp;
  });
  if (!has_media) line.phone->ended(line, EndKind::kOther, "the far end describes no media");
}

void LibrePhone::on_close(int error, const sip_msg* message, void* arg) {
  Line& line = *static_cast<Line*>(arg);
  std::string before;
  bool was_up = false, rang = false;
  line.phone->show(line, [&](CallInfo& info) {
    before = info.reason;
    was_up = info.state == CallState::kUp;
    rang = info.state == CallState::kRinging;
  });
  if (!before.empty()) return line.phone->ended(line, EndKind::kOther, before);
  if (message != nullptr && message->scode == 422 && line.refresh->asks_again(message)) {
    line.session = static_cast<sipsess*>(mem_deref(line.session));
    return line.phone->call_again(line);
  }
  if (message != nullptr && message->scode >= 300)
    return line.phone->ended(line, end_of_response(message->scode), status_of(message));
  if (was_up) return line.phone->ended(line, EndKind::kHungUp, "the far end hung up");
  if (rang) return line.phone->ended(line, EndKind::kHungUp, "the caller gave up");
  line.phone->ended(line, EndKind::kNoService, line.phone->failure_text(error));
}

}  // namespace

std::unique_ptr<Phone> make_phone(const Account& account, const std::vector<LinePorts>& ports) {
  return std::make_unique<LibrePhone>(account, ports);
}

}  // namespace offhook::sip

#endif
