/* SPDX-License-Identifier: MIT
 *
 * Modem-on-hold (ITU-T V.92, 11/2000, 9.10): orders of an owner to a pump in
 * data mode (oh_pump_type::hold), and their results (oh_pump_status::hold).
 * */
#ifndef OFFHOOK_HOLD_H
#define OFFHOOK_HOLD_H

#ifdef __cplusplus
extern "C" {
#endif

enum oh_hold_order {
  OH_HOLD_REQUEST = 0,    /**< request that the far end wait, because the subscriber has another call */
  OH_HOLD_RESUME,         /**< in OH_HOLD_AWAY: the line is available again */
  OH_HOLD_RECONNECT,      /**< restart immediately if the far end answers, which is faster than a lost connection */
  OH_HOLD_CLEAR_INCOMING, /**< end the connection for an incoming call */
  OH_HOLD_CLEAR_OUTGOING, /**< end the connection for an outgoing call */
  OH_HOLD_CLEAR_OTHER
};

enum oh_hold_state {
  OH_HOLD_NONE = 0,
  OH_HOLD_ASKED,   /**< a command was sent, but not answered */
  OH_HOLD_AWAY,    /**< granted: the far end waits, and nothing is sent */
  OH_HOLD_WAITING, /**< the far end has requested hold, and this end waits */
  OH_HOLD_DENIED   /**< the request was denied or the far end does not support it; until the next command */
};

#ifdef __cplusplus
}
#endif
#endif
