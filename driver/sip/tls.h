// SPDX-License-Identifier: MIT
//
// TLS for the connections of SIP. A server's certificate has to be valid for the account's host and signed by an
// authority that is trusted. A connection that others make to us needs our certificate; theirs is not asked for.
#pragma once

#include <memory>
#include <string>

struct tls;  // libre's

namespace offhook::sip {

struct TlsSettings {
  std::string authorities;  ///< file of trusted certificates; empty: those of the system
  std::string certificate;  ///< file of this end's certificate and its key; empty: none
  bool verifies = true;
};

/// Call it in libre's thread, after libre_init().
class Tls {
 public:
  /// @param host  of the account: a name or a numeric address, without a port
  /// @throws std::runtime_error with the file and its expected content
  Tls(const TlsSettings& settings, std::string host);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  ::tls* get() const { return tls_; }
  /// Why the newest connection to a server failed; empty if it did not.
  const std::string& failure() const;

 private:
  struct Events;  // OpenSSL's callbacks
  std::unique_ptr<Events> events_;
  ::tls* tls_ = nullptr;
};

}  // namespace offhook::sip
