// SPDX-License-Identifier: MIT
#include "dsp/v34/session/symbol_reader.h"

#include "dsp/blocks/renew.h"

namespace offhook::v34 {

void SymbolReader::init(const ReceiverOrder& order) {
  in_data_ = order.listen == ReceiverOrder::Listen::kData;
  if (in_data_) {
    renew(data_, order.data);
  } else {
    training_.start(order.next, order.pp, order.points, order.known_trn);
  }
}

void SymbolReader::put(Complex y, bool deliver, Heard* heard) {
  heard->symbol = true;
  if (in_data_) {
    data_.put(port_, deliver);
    heard->data = &data_;
  } else {
    const ReceiveSignals::Found found = training_.put(y);
    heard->training = {found,
                       training_.wanted_points(),
                       &training_.mp(),
                       training_.trn_symbols(),
                       training_.error(),
                       training_.settled()};
  }
}

}  // namespace offhook::v34
