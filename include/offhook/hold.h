/* SPDX-License-Identifier: MIT
 *
 * Modem-on-hold (ITU-T V.92, 11/2000, 9.10): what an owner may ask of a pump in data mode (oh_pump_type::hold), and
 * what becomes of it (oh_pump_status::hold).
 */
#ifndef OFFHOOK_HOLD_H
#define OFFHOOK_HOLD_H

#ifdef __cplusplus
extern "C" {
#endif

enum oh_hold_order {
  OH_HOLD_REQUEST = 0,    /**< ask the far end to wait: the subscriber has another call */
  OH_HOLD_RESUME,         /**< in OH_HOLD_AWAY: the line is back */
  OH_HOLD_RECONNECT,      /**< start up anew at once, the far end answering: faster than a lost connection */
  OH_HOLD_CLEAR_INCOMING, /**< end the connection for a call that comes in */
  OH_HOLD_CLEAR_OUTGOING, /**< or for one to be made */
  OH_HOLD_CLEAR_OTHER
};

enum oh_hold_state {
  OH_HOLD_NONE = 0,
  OH_HOLD_ASKED,   /**< an order is under way, no answer yet */
  OH_HOLD_AWAY,    /**< granted: the far end waits, and nothing is sent */
  OH_HOLD_WAITING, /**< the far end has asked, and this end waits */
  OH_HOLD_DENIED   /**< the request was denied, or the far end does not know it; until the next order */
};

#ifdef __cplusplus
}
#endif
#endif
