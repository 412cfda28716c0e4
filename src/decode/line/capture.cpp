// SPDX-License-Identifier: MIT
#include "src/decode/line/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "src/decode/line/rtp.h"

#ifdef OFFHOOK_HAS_PCAP
#include <pcap/pcap.h>

#include "driver/base/file.h"
#endif

namespace offhook::decode {

bool is_capture(const std::filesystem::path& file) {
  if (std::error_code ignored; !std::filesystem::is_regular_file(file, ignored)) return false;
  std::array<char, 4> head{};
  if (!std::ifstream(file, std::ios::binary).read(head.data(), head.size())) return false;
  std::uint32_t magic = 0;  // its first octet is the lowest
  for (std::size_t k = head.size(); k > 0; --k) magic = magic << 8 | static_cast<unsigned char>(head[k - 1]);
  // pcap in either order of octets, with microseconds and nanoseconds; pcapng.
  for (const std::uint32_t known : {0xA1B2C3D4U, 0xD4C3B2A1U, 0xA1B23C4DU, 0x4D3CB2A1U, 0x0A0D0D0AU}) {
    if (magic == known) return true;
  }
  return false;
}

#ifdef OFFHOOK_HAS_PCAP

Capture::Capture(const std::filesystem::path& path, std::string name)
    : name_(std::move(name)), reader_(std::make_unique<RtpReader>()) {
  const int fd = open_file(path);
  std::FILE* const file = fdopen(fd, "rb");
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  pcap_t* const opened = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why.data());
  if (opened == nullptr) {
    std::fclose(file);
    throw std::runtime_error(fmt::format("{}: not a packet capture: {}", name_, why.data()));
  }
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> capture(opened, pcap_close);
  const auto named = [&](const auto& work) {
    try {
      return work();
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(name_ + ": " + error.what());
    }
  };
  pcap_pkthdr* head = nullptr;
  const u_char* bytes = nullptr;
  int result = 0;
  while ((result = pcap_next_ex(capture.get(), &head, &bytes)) == 1) {
    const double t = static_cast<double>(head->ts.tv_sec) + 1e-9 * static_cast<double>(head->ts.tv_usec);
    named([&] { reader_->packet(pcap_datalink(capture.get()), t, {bytes, head->caplen}); });
  }
  truncated_ = result == PCAP_ERROR;
  calls_ = named([&] { return reader_->find_calls(); });
  if (calls_ == 0) {
    throw std::runtime_error(
        fmt::format("{}: no call of G.711 in RTP or of T.38 among its {} UDP packets{}", name_, reader_->datagrams(),
                    result == PCAP_ERROR ? std::string(": ") + pcap_geterr(capture.get()) : std::string()));
  }
}

#else

Capture::Capture(const std::filesystem::path&, std::string name) : name_(std::move(name)) {
  throw std::runtime_error(name_ + ": a packet capture, and this build of Offhook has no libpcap");
}

#endif

Capture::~Capture() = default;

Recording Capture::read(std::size_t k) const {
  Recording r = reader_->read(k, name_);
  r.truncated = truncated_;
  return r;
}

}  // namespace offhook::decode
