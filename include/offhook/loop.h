/* SPDX-License-Identifier: MIT
 *
 * Test loops 2 (ITU-T V.54): orders of an owner to a pump in data mode, and their results. In loop 2 a modem sends the
 * data that it receives back to the far end, and its own port gets and gives nothing.
 */
#ifndef OFFHOOK_LOOP_H
#define OFFHOOK_LOOP_H

#ifdef __cplusplus
extern "C" {
#endif

enum oh_loop_order {
  OH_LOOP_END = 0, /**< end the test */
  OH_LOOP_LOCAL,   /**< send received data back */
  OH_LOOP_REMOTE,  /**< request that the far end send back this end's data */
  OH_LOOP_ALLOW,   /**< grant such requests of the far end from now on */
  OH_LOOP_REFUSE   /**< ignore such requests, as after init */
};

enum oh_loop_state {
  OH_LOOP_NONE = 0,
  OH_LOOP_ASKED,   /**< the request was sent, or the test is ending */
  OH_LOOP_TESTING, /**< the far end sends back the data of the port */
  OH_LOOP_LOOPED,  /**< this end sends received data back */
  OH_LOOP_REFUSED  /**< the far end did not answer the request; until the next command */
};

#ifdef __cplusplus
}
#endif
#endif
