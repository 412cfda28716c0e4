// SPDX-License-Identifier: MIT
#include "src/lab/sweep/slurm.h"

#include <fmt/format.h>

namespace offhook::sweep {
namespace {

/// One shell word with any content.
std::string quoted(const std::string& text) {
  std::string all(1, '\'');
  for (const char c : text) {
    if (c == '\'') all += "'\\'";
    all += c;
  }
  return all += '\'';
}

}  // namespace

std::string slurm_script(const std::filesystem::path& folder, std::uint32_t shards) {
  return fmt::format(R"(#!/bin/sh
# The {0} shards of this sweep on Slurm. After a failure, submit this script again: completed shards are kept. Every
# node needs this folder and the program; OFFHOOK=/path/to/offhook names a program outside PATH.
#SBATCH --job-name=offhook-sweep
#SBATCH --array=1-{0}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --output=/dev/null
folder={1}
exec "${{OFFHOOK:-offhook}}" sweep run "$folder" --shard "$SLURM_ARRAY_TASK_ID/{0}" --json \
  --threads "${{SLURM_CPUS_PER_TASK:-1}}" >"$folder/slurm-$SLURM_ARRAY_TASK_ID.txt" 2>&1
)",
                     shards, quoted(folder.string()));
}

}  // namespace offhook::sweep
