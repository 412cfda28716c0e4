// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace offhook {

/// Makes the devices of tests/live/alsa_loop.c this process's ALSA configuration: loop0 and loop1, joined; cd, of
/// 44 100 Hz; fast0 and fast1, joined, of 48 000 Hz; pcm0 and pcm1, joined, of 16 000 Hz; xrun, vanish, stall, rate and
/// drift, which fail so after 2000 samples; and ALSA's own null.
inline void use_loop_devices() {
  struct Folder {
    Folder() {
      std::filesystem::create_directories(path);
      std::ofstream asoundrc(path / "asound.conf");
      asoundrc << "defaults.namehint.showall on\npcm_type.offhook_loop { lib \"" OFFHOOK_ALSA_LOOP "\" }\n"
               << "pcm.null { type null }\n";
      const auto loop = [&](const std::string& name, const std::string& more, const std::string& memory = "memory") {
        asoundrc << "pcm." << name << " { type offhook_loop file " << path / memory << " " << more << " }\n";
      };
      loop("default", "end 0");  // PortAudio asserts that there is one
      loop("loop0", "end 0");
      loop("loop1", "end 1");
      loop("cd", "rate 44100");
      for (const std::string end : {"0", "1"}) {
        loop("fast" + end, "rate 48000 end " + end, "fast");
        loop("pcm" + end, "rate 16000 end " + end, "pcm");
      }
      for (const std::string how : {"xrun", "vanish", "stall", "rate", "drift"})
        loop(how, "fail " + how + " after 2000");
      setenv("ALSA_CONFIG_PATH", (path / "asound.conf").c_str(), 1);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("offhook-alsa-" + std::to_string(getpid()));
  };
  static const Folder folder;
}

}  // namespace offhook
