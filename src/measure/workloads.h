// SPDX-License-Identifier: MIT
//
// The three applications that Chen et al. (SOSP 1995, 3.5 and 5) measured in addition to their microbenchmarks, in
// today's form. Each makes its own input, the same on every machine, and can be repeated without end: they are also
// loads.
//
//   tk           a script that builds, invokes and redraws Tk's widgets under Xvfb  (theirs: wish with the widget demo)
//   ghostscript  renders 13 pages of text and figures, 370 kB of PostScript         (theirs: a paper of that size)
//   web          a server on the loopback answers 1024 requests for 9.7 MB, 32 at a time
//                                                            (theirs: a trace of the NCSA's server, of that size)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/measure/load_process.h"

namespace offhook::measure {

/// One round of each; the set-up (X server, document, server and its files) happens before.
Round make_tk(Supervisor& supervisor);
Round make_ghostscript(Supervisor& supervisor);
Round make_web(Supervisor& supervisor);

/// The document: [pages] of PostScript, always the same bytes.
std::string postscript_document(int pages);

/// The list of requests: the sizes of the requested documents in order.
struct RequestList {
  std::vector<std::size_t> document_bytes;  ///< [document]
  std::vector<std::size_t> requests;        ///< [request] a document's number
  std::size_t total_bytes() const;
};
RequestList web_requests();

}  // namespace offhook::measure
