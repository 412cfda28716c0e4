// SPDX-License-Identifier: MIT
#include "driver/sip/tls.h"

#ifdef OFFHOOK_HAS_SIP

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <stdexcept>

#include "driver/sip/libre.h"

namespace offhook::sip {

namespace {

bool is_numeric(const std::string& host) {
  sa address{};
  return sa_set_str(&address, host.c_str(), 0) == 0;
}

}  // namespace

// A callback finds its object through the context of the connection.
struct Tls::Events {
  std::string host, failure;

  static Events& of(const SSL* connection) {
    return *static_cast<Events*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  }

  static int on_certificate(int is_good, X509_STORE_CTX* store) {
    const auto* const connection =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    if (is_good == 0 && connection != nullptr) {
      Events& events = of(connection);
      events.failure = fmt::format("TLS: the certificate of {} is refused: {}", events.host,
                                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
    }
    return is_good;
  }

  static void on_event(const SSL* connection, int where, int value) {
    Events& events = of(connection);
    if (SSL_is_server(connection) != 0) return;
    if ((where & SSL_CB_HANDSHAKE_START) != 0 && SSL_in_before(connection) != 0 && !is_numeric(events.host)) {
      SSL_set_tlsext_host_name(const_cast<SSL*>(connection), events.host.c_str());
    } else if ((where & SSL_CB_HANDSHAKE_DONE) != 0) {
      events.failure.clear();
    } else if (where == SSL_CB_READ_ALERT && value >> 8 == SSL3_AL_FATAL) {
      events.failure =
          fmt::format("TLS: {} refuses the connection: {}", events.host, SSL_alert_desc_string_long(value & 0xff));
    }
  }

  // Callers have no certificates, so none are requested.
  static int on_client(SSL* connection, int*, void*) {
    SSL_set_verify(connection, SSL_VERIFY_NONE, nullptr);
    return SSL_CLIENT_HELLO_SUCCESS;
  }
};

Tls::Tls(const TlsSettings& settings, std::string host) : events_(std::make_unique<Events>()) {
  events_->host = std::move(host);
  const char* const file = settings.certificate.empty() ? nullptr : settings.certificate.c_str();
  // The empty password keeps OpenSSL from asking for one at the terminal.
  if (tls_alloc(&tls_, TLS_METHOD_SSLV23, file, "") != 0)
    throw std::runtime_error(fmt::format("cert-file={}: expected a certificate and its key without a password, in PEM",
                                         printable(settings.certificate)));
  SSL_CTX* const context = tls_openssl_context(tls_);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_app_data(context, events_.get());
  SSL_CTX_set_info_callback(context, Events::on_event);
  if (!settings.verifies) return;
  const bool trusts = settings.authorities.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                                   : tls_add_ca(tls_, settings.authorities.c_str()) == 0;
  if (!trusts) {
    tls_ = static_cast<::tls*>(mem_deref(tls_));
    throw std::runtime_error(
        fmt::format("ca-file={}: expected certificates of authorities, in PEM", printable(settings.authorities)));
  }
  X509_VERIFY_PARAM* const expected = SSL_CTX_get0_param(context);
  if (is_numeric(events_->host)) {
    X509_VERIFY_PARAM_set1_ip_asc(expected, events_->host.c_str());
  } else {
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(expected, events_->host.c_str(), events_->host.size());
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, Events::on_certificate);
  SSL_CTX_set_client_hello_cb(context, Events::on_client, nullptr);
}

Tls::~Tls() {
  mem_deref(tls_);
}

const std::string& Tls::failure() const {
  return events_->failure;
}

}  // namespace offhook::sip

#endif
