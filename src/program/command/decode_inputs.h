// SPDX-License-Identifier: MIT
//
// The recordings that `offhook decode` is given: files, folders, standard input.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace offhook::command {

struct DecodeInput {
  std::string path;              ///< to open
  std::string name;              ///< for messages
  std::string page;              ///< prefix of its file names in an output folder; unique
  std::shared_ptr<void> keep{};  ///< owns the copy of standard input
  bool from_folder = false;

  bool is_copy() const { return path != name; }  ///< of standard input
};

/// Recognised by the ending of its name: a format of libsndfile or a packet capture.
bool is_named_as_recording(const std::filesystem::path& file);

/// The files in the order given; a folder means the audio files in it and its subfolders, by name. "-" means standard
/// input, which is copied to an unnamed file in $TMPDIR.
/// @throws std::runtime_error for a folder without audio files, or standard input that is beyond 8 GB or given twice
std::vector<DecodeInput> decode_inputs(const std::vector<std::string>& given);

}  // namespace offhook::command
