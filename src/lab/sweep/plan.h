// SPDX-License-Identifier: MIT
//
// A sweep is a grid of scenarios, each run several times. The plan has all inputs of the result in one file. It is
// split into shards. A shard can run on any machine with the same program and the same data.
//
// A grid file:
//
//     base = "scenario.toml"          # next to the grid file; without it, the defaults
//     repeats = 10                    # seeds seed, seed + 1, ...
//     [scenario]                      # over the base, any key of a scenario
//     context.strict = true
//     [axes]                          # every combination; the first axis varies slowest
//     context.x_ticks = [1, 2, 3]
//     context.y_ticks = { from = 4, to = 20, step = 1 }
//
// Combinations whose reservation cannot be admitted (X > Y) are left out. The reference of a cell, its transfer
// time in context INT, is a run of the plan as well, one for each distinct set of the other keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hostsim/call/scenario.h"

namespace offhook::sweep {

struct Axis {
  std::string key;
  std::vector<std::string> values;  ///< as TOML
};

struct Cell {
  std::vector<std::size_t> at;           ///< index into each axis' values
  hostsim::Scenario scenario;            ///< index of the run of the first repeat
  std::optional<std::size_t> reference;  ///< index into Plan::references; none: see reference_of()
};

struct Plan {
  std::string name;
  std::string version;  ///< version of the program that wrote it
  std::string base;     ///< the effective base scenario, TOML
  std::vector<Axis> axes;
  std::uint32_t repeats = 1;
  std::uint32_t shards = 1;
  std::string data_hash;  ///< hash of the cost profiles that the scenarios name

  // Derived from the members above.
  std::vector<Cell> cells;
  std::vector<hostsim::Scenario> references;
  std::size_t left_out = 0;  ///< combinations that cannot be admitted

  std::size_t runs() const { return cells.size() * repeats + references.size(); }
  /// Run 0, 1, ...: every repeat of the first cell, then of the second, and so on; the references are last.
  hostsim::Scenario scenario(std::size_t run) const;
  /// Runs [first, last) belong to this shard, 1 to `shards`.
  std::size_t first_run(std::uint32_t shard) const { return runs() * (shard - 1) / shards; }
  std::size_t last_run(std::uint32_t shard) const { return runs() * shard / shards; }
  /// Identifies the plan without its division into shards.
  std::string grid_hash() const;
  /// Identifies the whole plan; each shard contains it.
  std::string hash() const;
};

/// The scenario in context INT with its interrupt on the same CPU: the reference for the transfer time. There is none
/// for a device, which transfers no file, or for INT itself.
std::optional<hostsim::Scenario> reference_of(const hostsim::Scenario& scenario);

/// Reads a grid file. @param shards 0: as many as make resuming cheap
/// @throws config::Error with file:line:column
Plan read_grid(const std::filesystem::path& file, std::uint32_t shards);

std::string to_json(const Plan& plan);
/// @throws config::Error if the text is not a plan, is damaged, or was written by another version or with other data
Plan plan_from_json(const std::string& text, const std::string& name);

}  // namespace offhook::sweep
