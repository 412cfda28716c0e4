// SPDX-License-Identifier: MIT
#include "src/measure/workloads.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "hostsim/engine/random.h"

namespace offhook::measure {

namespace {

constexpr std::uint64_t kSeed = 1995;

/// A sequence of numbers that is the same on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t stream) : random_(kSeed, stream) {}
  std::uint64_t below(std::uint64_t n) { return random_.word(index_++) % n; }
  double uniform() { return random_.uniform(index_++); }
  double normal() { return random_.normal(index_++); }

 private:
  hostsim::Random random_;
  std::uint64_t index_ = 0;
};

/// The first line that a program writes, such as the number of its display or port.
int number_from(const Supervisor& supervisor, const std::vector<std::string>& command, bool descriptor_as_argument) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe: " + std::generic_category().message(errno));
  std::vector<std::string> full = command;
  if (descriptor_as_argument) full.insert(full.end(), {"-displayfd", "1"});
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  supervisor.start(full, ends[1]);
  close(ends[1]);
  std::string line;
  char c = 0;
  while (!supervisor.stopping()) {
    pollfd wait{ends[0], POLLIN, 0};
    if (poll(&wait, 1, 100) <= 0) continue;
    if (read(ends[0], &c, 1) != 1 || c == '\n') break;
    line += c;
  }
  close(ends[0]);
  int number = -1;
  std::from_chars(line.data(), line.data() + line.size(), number);
  if (number < 0 && !supervisor.stopping()) {
    throw std::runtime_error(fmt::format("{} did not start: {}", command[0], read_file(supervisor.folder() / "log")));
  }
  return number;
}

// The steps of a mouse in the widget demo, done by `invoke`: every kind of widget is changed and redrawn.
constexpr std::string_view kTkScript = R"(package require Tk
wm geometry . 900x700+0+0
proc pass {k} {
  set f [frame .f]
  pack $f -fill both -expand 1
  set ::flag 0
  set ::choice 0
  for {set i 0} {$i < 12} {incr i} {
    grid [button $f.b$i -text "Button $i of $k" -command {incr ::presses}] -row $i -column 0 -sticky ew
    grid [checkbutton $f.c$i -text "Check $i" -variable ::flag] -row $i -column 1 -sticky w
    grid [radiobutton $f.r$i -text "Radio $i" -variable ::choice -value $i] -row $i -column 2 -sticky w
    grid [entry $f.e$i -width 24] -row $i -column 3
  }
  set list [listbox $f.list -height 8]
  set text [text $f.text -width 60 -height 12 -wrap word]
  set canvas [canvas $f.canvas -width 420 -height 220 -background white]
  set scale [scale $f.scale -orient horizontal -from 0 -to 200 -label "Height" -length 200]
  grid $list -row 12 -column 0 -sticky nsew
  grid $text -row 12 -column 1 -columnspan 3
  grid $canvas -row 13 -column 0 -columnspan 3
  grid $scale -row 13 -column 3
  update
  for {set i 0} {$i < 12} {incr i} {
    $f.b$i invoke
    $f.c$i invoke
    $f.r$i invoke
    $f.e$i insert end "entry $i in pass $k"
    update
  }
  for {set i 0} {$i < 60} {incr i} {
    $list insert end "line $i"
    $text insert end "The quick brown fox jumps over the lazy dog, time $i. " tag[expr {$i % 4}]
    $canvas create oval [expr {7 * $i}] [expr {100 + 90 * sin($i / 5.0)}] [expr {7 * $i + 20}] \
        [expr {120 + 90 * sin($i / 5.0)}] -fill [lindex {red green blue orange} [expr {$i % 4}]]
    $canvas create line 0 [expr {3 * $i}] 420 [expr {220 - 3 * $i}]
    $scale set [expr {3 * $i}]
    $list see end
    $text see end
    if {$i % 5 == 0} update
  }
  foreach {tag colour} {tag0 red tag1 darkgreen tag2 blue tag3 black} {$text tag configure $tag -foreground $colour}
  for {set i 0} {$i < 40} {incr i} {
    $canvas move all 1 0
    update
  }
  set top [toplevel .top]
  pack [label $top.label -text "A window of its own" -font {Helvetica 18}] -padx 20 -pady 20
  update
  destroy $top $f
  update
}
for {set k 0} {$k < 8} {incr k} {pass $k}
exit 0
)";

class Connections {
 public:
  Connections(const Supervisor& supervisor, int port, const RequestList& list) : supervisor_(supervisor), list_(list) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(static_cast<std::uint16_t>(port));
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  ~Connections() {
    for (const Slot& slot : slots_) {
      if (slot.fd >= 0) close(slot.fd);
    }
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// All requests once, kAtOnce at a time, like the paper's client.
  void replay() {
    std::size_t next = 0, done = 0;
    while (done < list_.requests.size() && !supervisor_.stopping()) {
      std::array<pollfd, kAtOnce> waits;
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        Slot& slot = slots_[i];
        if (slot.fd < 0 && next < list_.requests.size()) begin(slot, list_.requests[next++]);
        waits[i] = {slot.fd, static_cast<short>(slot.sent ? POLLIN : POLLOUT), 0};
      }
      if (poll(waits.data(), waits.size(), 200) < 0 && errno != EINTR) fail("poll");
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        if (waits[i].fd >= 0 && waits[i].revents != 0 && work(slots_[i])) ++done;
      }
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 32;
  struct Slot {
    int fd = -1;
    std::size_t document = 0;
    bool sent = false;
    std::size_t received = 0, header = 0;
    std::string head;
  };
  [[noreturn]] static void fail(const char* what) {
    throw std::runtime_error(fmt::format("web: {}: {}", what, std::generic_category().message(errno)));
  }
  void begin(Slot& slot, std::size_t document) {
    slot = {};
    slot.document = document;
    slot.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (slot.fd < 0) fail("socket");
    if (connect(slot.fd, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0 && errno != EINPROGRESS)
      fail("connect");
  }
  /// @return whether the answer is complete
  bool work(Slot& slot) {
    if (!slot.sent) {
      const std::string request = fmt::format("GET /{} HTTP/1.0\r\nHost: localhost\r\n\r\n", slot.document);
      if (write(slot.fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) fail("request");
      slot.sent = true;
      return false;
    }
    char bytes[16384];
    const ssize_t n = read(slot.fd, bytes, sizeof bytes);
    if (n < 0) {
      if (errno == EAGAIN || errno == EINTR) return false;
      fail("answer");
    }
    if (slot.header == 0) {
      slot.head.append(bytes, static_cast<std::size_t>(n));
      if (const std::size_t end = slot.head.find("\r\n\r\n"); end != std::string::npos) slot.header = end + 4;
    }
    slot.received += static_cast<std::size_t>(n);
    if (n > 0) return false;
    const std::size_t body = slot.received - slot.header;
    if (slot.header == 0 || slot.head.find(" 200 ") > 16 || body != list_.document_bytes[slot.document]) {
      throw std::runtime_error(fmt::format("web: document {} came with {} bytes, not {}: {}", slot.document, body,
                                           list_.document_bytes[slot.document],
                                           slot.head.substr(0, slot.head.find('\r'))));
    }
    close(slot.fd);
    slot.fd = -1;
    return true;
  }

  const Supervisor& supervisor_;
  const RequestList& list_;
  sockaddr_in address_{};
  std::array<Slot, kAtOnce> slots_;
};

constexpr std::string_view kServer = R"(import functools, http.server, sys
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = Server(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
)";

}  // namespace

Round make_tk(Supervisor& supervisor) {
  write_file(supervisor.folder() / "widgets.tcl", std::string(kTkScript));
  const int display = number_from(supervisor, {"Xvfb", "-screen", "0", "1024x768x24", "-nolisten", "tcp"}, true);
  return [&supervisor, display] {
    supervisor.run({"wish", supervisor.folder() / "widgets.tcl", "-display", fmt::format(":{}", display)});
  };
}

Round make_ghostscript(Supervisor& supervisor) {
  write_file(supervisor.folder() / "paper.ps", postscript_document(13));
  return [&supervisor] {
    supervisor.run({"gs", "-q", "-dBATCH", "-dNOPAUSE", "-dSAFER", "-sDEVICE=ppmraw", "-r100", "-sOutputFile=/dev/null",
                    supervisor.folder() / "paper.ps"});
  };
}

Round make_web(Supervisor& supervisor) {
  const auto list = std::make_shared<RequestList>(web_requests());
  const std::filesystem::path documents = supervisor.folder() / "documents", server = supervisor.folder() / "server.py";
  std::filesystem::create_directory(documents);
  for (std::size_t d = 0; d < list->document_bytes.size(); ++d)
    std::ofstream(documents / std::to_string(d))
        << std::string(list->document_bytes[d], static_cast<char>('a' + d % 26));
  write_file(server, std::string(kServer));
  const int port = number_from(supervisor, {"python3", server, documents}, false);
  return [&supervisor, list, port] { Connections(supervisor, port, *list).replay(); };
}

std::string postscript_document(int pages) {
  // Words with the letter frequencies of English, so that the rasteriser gets text of the usual widths.
  static constexpr std::string_view kLetters =
      "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddllllcccuuummmwwffggyyppbbvk";
  Numbers random(0);
  std::string out =
      "%!PS-Adobe-3.0\n%%Title: offhook workload\n"
      "/body { /Times-Roman findfont 9.5 scalefont setfont } def\n"
      "/head { /Helvetica-Bold findfont 13 scalefont setfont } def\n"
      "/s { moveto show } def\n";
  for (int page = 1; page <= pages; ++page) {
    out += fmt::format("%%Page: {0} {0}\nhead (Section {0}) 54 738 s\nbody\n", page);
    for (int column = 0; column < 2; ++column) {
      // One column of every page has a figure in its lower half.
      const int last = column == 1 ? 400 : 48;
      for (int y = 720; y > last; y -= 4) {
        std::string line;
        while (line.size() < 52) {
          if (!line.empty()) line += ' ';
          const auto length = 2 + random.below(8);
          for (std::uint64_t k = 0; k < length; ++k) line += kLetters[random.below(kLetters.size())];
        }
        out += fmt::format("({}) {} {} s\n", line, column == 0 ? 54 : 312, y);
      }
    }
    out += "gsave 312 60 translate\n";
    for (int curve = 0; curve < 24; ++curve) {
      out += fmt::format("{:.2f} {:.2f} {:.2f} setrgbcolor newpath 0 {} moveto\n", random.uniform(), random.uniform(),
                         random.uniform(), 10 * curve);
      for (int k = 1; k <= 24; ++k) {
        out += fmt::format("{} {:.1f} lineto\n", 10 * k, 10 * curve + 0.3 * k * (24 - k) + 8 * random.uniform());
      }
      out += curve % 4 == 0 ? "closepath fill\n" : "stroke\n";
    }
    out += "grestore 0 setgray showpage\n";
  }
  return out + "%%EOF\n";
}

std::size_t RequestList::total_bytes() const {
  std::size_t sum = 0;
  for (const std::size_t d : requests) sum += document_bytes[d];
  return sum;
}

RequestList web_requests() {
  constexpr std::size_t kRequests = 1024, kDocuments = 200;
  constexpr double kBytes = 9.7e6;  // Figure 12
  Numbers random(1);
  RequestList list;
  // Popularity by rank (Zipf), and sizes with a long tail (log-normal), as in traces of web servers.
  std::vector<double> upto;
  for (std::size_t d = 0; d < kDocuments; ++d)
    upto.push_back((upto.empty() ? 0 : upto.back()) + 1 / static_cast<double>(d + 1));
  std::vector<double> size;
  for (std::size_t d = 0; d < kDocuments; ++d) size.push_back(hostsim::natural_exp(random.normal()));
  double sum = 0;
  for (std::size_t r = 0; r < kRequests; ++r) {
    const auto found = std::lower_bound(upto.begin(), upto.end(), random.uniform() * upto.back());
    list.requests.push_back(static_cast<std::size_t>(std::min(found, upto.end() - 1) - upto.begin()));
    sum += size[list.requests.back()];
  }
  for (const double s : size) list.document_bytes.push_back(static_cast<std::size_t>(std::max(64.0, s * kBytes / sum)));
  return list;
}

}  // namespace offhook::measure
