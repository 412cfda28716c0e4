// SPDX-License-Identifier: MIT
#include "src/program/command/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "offhook/plugin.h"

namespace offhook::command {
namespace {

constexpr std::string_view kOption = "--plugin";

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw std::runtime_error(fmt::format("plug-in {}: {}", file, why));
}

template <typename Function>
Function* function_of(void* library, const char* name, const std::string& file) {
  void* found = dlsym(library, name);
  if (found == nullptr) refuse(file, fmt::format("has no function {}; expected OH_PLUGIN of offhook/plugin.h", name));
  return reinterpret_cast<Function*>(found);
}

void load(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) refuse(file, "no such file");
  void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(file, dlerror());
  const std::uint32_t version = function_of<std::uint32_t()>(library, "oh_plugin_abi", file)();
  if (version != OH_PLUGIN_ABI) {
    refuse(file, fmt::format("built for plug-in interface {}; this program has {}: rebuild it with the headers of this "
                             "version",
                             version, OH_PLUGIN_ABI));
  }
  const auto add = function_of<int(const char**)>(library, "oh_plugin_register", file);
  const char* reason = nullptr;
  int status = 0;
  try {
    status = add(&reason);
  } catch (const std::exception& e) {
    refuse(file, e.what());
  }
  if (status != 0) refuse(file, reason != nullptr ? reason : fmt::format("its registration failed with {}", status));
}

}  // namespace

void load_plugins(std::vector<std::string>& words) {
  std::size_t used = 0;
  while (used < words.size() && words[used].starts_with(kOption)) {
    const std::string& word = words[used];
    if (word.size() > kOption.size() && word[kOption.size()] != '=') break;
    const bool joined = word.size() > kOption.size();
    if (!joined && used + 1 == words.size()) throw std::runtime_error("--plugin: expected a FILE.so");
    load(joined ? word.substr(kOption.size() + 1) : words[used + 1]);
    used += joined ? 1 : 2;
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used));
}

}  // namespace offhook::command
