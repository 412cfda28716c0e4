// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace offhook::sweep {

inline constexpr const char* kSlurmName = "slurm.sh";

/// A script for sbatch: a job array with one task per shard. A killed task is queued again. The whole array may be
/// submitted again, because a finished shard is not changed.
/// @param folder  of the plan, accessible from all nodes  @param shards  number in the plan
std::string slurm_script(const std::filesystem::path& folder, std::uint32_t shards);

}  // namespace offhook::sweep
