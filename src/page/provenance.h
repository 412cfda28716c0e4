// SPDX-License-Identifier: MIT
//
// The command that a page names in its footer. The program stores its command line once, before a command runs, and
// every page of this process takes it from here. A library that writes a page stores nothing, so its page names none.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace offhook {

/// A command as one line for a POSIX shell. Secrets are replaced by HIDDEN: the value of an option or key whose name
/// ends in "password", "passphrase", "secret" or "token", and the password of an address such as
/// sip:USER:PASSWORD@HOST. The name of a file with a password (password-file=FILE) remains.
/// @param words  arguments without the program
std::string shell_line(std::string_view program, std::span<const std::string> words);

/// Stores the command of this process while it lives. Not for two commands at a time.
class CommandOfPages {
 public:
  /// @param line  from shell_line()
  explicit CommandOfPages(std::string line);
  ~CommandOfPages();
  CommandOfPages(const CommandOfPages&) = delete;
  CommandOfPages& operator=(const CommandOfPages&) = delete;
};

/// The stored command, or an empty text.
const std::string& command_of_pages();

}  // namespace offhook
