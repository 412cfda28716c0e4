// SPDX-License-Identifier: MIT
//
// The XID parser on arbitrary octets: an error lies within the input, and what was read writes and reads back the same.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "dsp/link/xid.h"

using namespace offhook::v42;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Xid xid;
  const size_t error = read_xid(data, size, &xid);
  if (error > size + 1) abort();
  if (error != 0) return 0;
  if (xid.n401_tx == 0 || xid.n401_rx == 0 || xid.k_tx == 0 || xid.k_rx == 0) return 0;  // write_xid() needs them all
  if (xid.n401_tx > 8191 || xid.n401_rx > 8191) return 0;
  uint8_t out[kXidSize];
  const size_t n = write_xid(xid, true, out);
  if (n > kXidSize) abort();
  Xid again;
  if (read_xid(out, n, &again) != 0) abort();
  if (again.srej != xid.srej || again.test != xid.test || again.fcs32 != xid.fcs32 || again.n401_tx != xid.n401_tx ||
      again.n401_rx != xid.n401_rx || again.k_tx != xid.k_tx || again.k_rx != xid.k_rx || again.v42bis != xid.v42bis ||
      (xid.v42bis &&
       (again.compress != xid.compress || again.codewords != xid.codewords || again.max_string != xid.max_string)))
    abort();
  const auto same = [](const offhook::v44::Parameters& a, const offhook::v44::Parameters& b) {
    return a.codewords == b.codewords && a.max_string == b.max_string && a.history == b.history;
  };
  if (again.v44 != xid.v44 || (xid.v44 && (again.v44_directions != xid.v44_directions ||
                                           !same(again.v44_tx, xid.v44_tx) || !same(again.v44_rx, xid.v44_rx))))
    abort();
  return 0;
}
