// SPDX-License-Identifier: MIT
//
// Each fuzz target in a normal build: over nothing, over its corpus, over damaged copies of that, and over what a seed
// gives. A target that finds something wrong ends the program. What libFuzzer finds goes into the corpus and stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

#define FUZZ_TARGET(name) extern "C" int name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};
void PrintTo(const Target& t, std::ostream* out) {
  *out << t.name;
}

#define FUZZ_TARGET(name) {#name, name},
constexpr Target kTargets[] = {
#include "fuzz_targets.inc"
};
#undef FUZZ_TARGET

std::vector<Bytes> corpus_of(const std::string& name) {
  std::vector<fs::path> paths;
  if (const fs::path folder = fs::path(OFFHOOK_CORPUS) / name; fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Bytes> all;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

class FuzzTarget : public testing::TestWithParam<Target> {};

TEST_P(FuzzTarget, TakesItsCorpusDamagedOrNotAndRandomBytes) {
  constexpr int kDamaged = 4, kRandom = 8, kMostBytes = 64;
  std::mt19937 random(1);
  // A copy whose end is where the memory ends, as with libFuzzer: a sanitizer's build sees what is read beyond.
  const auto run = [](const Bytes& input) {
    const std::vector<std::uint8_t> copy(input);
    EXPECT_EQ(GetParam().run(copy.data(), copy.size()), 0);
  };
  run({});
  for (const Bytes& input : corpus_of(GetParam().name)) {
    run(input);
    for (int k = 0; k < kDamaged && !input.empty(); ++k) {
      Bytes cut(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(random() % input.size())), changed = input;
      for (int n = 0; n <= k; ++n) changed[random() % changed.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
      run(cut);
      run(changed);
    }
  }
  for (int k = 0; k < kRandom; ++k) {
    Bytes input(1 + random() % kMostBytes);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
    run(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FuzzTarget, testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzCorpus, EveryFolderBelongsToATarget) {
  for (const auto& entry : fs::directory_iterator(OFFHOOK_CORPUS)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(std::ranges::any_of(kTargets, [&](const Target& t) { return t.name == name; })) << name;
    EXPECT_FALSE(corpus_of(name).empty()) << name;
  }
}

}  // namespace
