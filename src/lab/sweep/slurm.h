// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace offhook::sweep {

inline constexpr const char* kSlurmName = "slurm.sh";

/// A script for sbatch: a job array with one task per shard. A task that was killed is queued again, and the whole
/// array may be submitted again: a finished shard is not changed.
/// @param folder  of the plan, accessible from every node  @param shards  of the plan
std::string slurm_script(const std::filesystem::path& folder, std::uint32_t shards);

}  // namespace offhook::sweep
