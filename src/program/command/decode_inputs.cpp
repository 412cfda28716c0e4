// SPDX-License-Identifier: MIT
#include "src/program/command/decode_inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "driver/base/file.h"
#include "src/decode/line/recording.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool is_named_as_recording(const fs::path& file) {
  constexpr std::array<std::string_view, 17> kEndings = {".wav", ".wave", ".aif",  ".aiff",   ".aifc", ".au",
                                                         ".snd", ".flac", ".ogg",  ".oga",    ".opus", ".mp3",
                                                         ".w64", ".caf",  ".pcap", ".pcapng", ".cap"};
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

namespace {

std::vector<std::string> audio_files(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (entry.is_regular_file() && is_named_as_recording(entry.path())) files.push_back(entry.path().string());
  }
  if (files.empty()) throw std::runtime_error(folder.string() + ": this folder contains no audio files");
  std::sort(files.begin(), files.end());
  return files;
}

// A file without a name, because libsndfile must seek.
DecodeInput standard_input() {
  constexpr std::uint64_t kMost = std::uint64_t{8} << 30, kHead = std::uint64_t{1} << 20;
  const std::string what = "standard input";
  const int fd = open(fs::temp_directory_path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what + ": cannot be copied to a temporary file");
  const std::shared_ptr<void> keep(nullptr, [fd](void*) { close(fd); });
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  std::vector<char> block(1 << 16);
  std::uint64_t size = 0;
  for (ssize_t n = 0; (n = read(STDIN_FILENO, block.data(), block.size())) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), what);
    for (ssize_t done = 0; done < n;) {
      const ssize_t wrote = write(fd, block.data() + done, static_cast<std::size_t>(n - done));
      if (wrote < 0) throw std::system_error(errno, std::generic_category(), what + ": its temporary copy");
      done += wrote;
    }
    const std::uint64_t before = std::exchange(size, size + static_cast<std::uint64_t>(n));
    // Refuses a file that is not audio before all of it is copied.
    if (before < kHead && size >= kHead) decode::RecordingFile(path, what);
    if (size > kMost) throw std::runtime_error(what + ": larger than 8 GB");
  }
  return {path, what, {}, keep};
}

}  // namespace

std::vector<DecodeInput> decode_inputs(const std::vector<std::string>& given) {
  std::vector<DecodeInput> inputs;
  for (const std::string& one : given) {
    std::error_code ignored;
    if (one == "-") {
      if (std::count(given.begin(), given.end(), "-") > 1) throw std::runtime_error("-: standard input is given twice");
      inputs.push_back(standard_input());
    } else if (fs::is_directory(one, ignored)) {
      for (std::string& file : audio_files(one)) inputs.push_back({file, file, {}, {}, true});
    } else {
      inputs.push_back({one, one, {}});
    }
  }
  std::set<std::string> taken;
  for (DecodeInput& input : inputs) {
    std::string stem = fs::path(input.name).filename().string();
    std::replace_if(
        stem.begin(), stem.end(), [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; },
        '_');
    while (!stem.empty() && (stem.front() == '.' || stem.front() == '-')) stem.erase(0, 1);
    input.page = stem.empty() ? "recording" : stem.substr(0, 100);
    if (!taken.insert(input.page).second) input.page += "-" + fnv1a_hex(input.name).substr(0, 8);
    taken.insert(input.page);
  }
  return inputs;
}

}  // namespace offhook::command
