/* SPDX-License-Identifier: MIT
 *
 * Points at which a long step may be preempted. The work of a pump is even except for a few steps (filters designed
 * when training begins, a transform). Some hosts must not run such a step without a break: a kernel thread may use
 * floating point only with preemption off. Such a step calls oh_preemption_point() every few microseconds, at places
 * where all its state is in memory: no floating-point register has to survive the call. The function does nothing
 * unless the host has set a handler.
 */
#ifndef OFFHOOK_DSP_BLOCKS_PREEMPTION_POINT_H
#define OFFHOOK_DSP_BLOCKS_PREEMPTION_POINT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Real-time: if the host's handler is. */
void oh_preemption_point(void);

/** Sets the handler for all pumps of this program or module, while no pump runs. @param let_others_run  called at each
 * point, on the thread or interrupt that computes; NULL: none */
void oh_set_preemption_point(void (*let_others_run)(void));

#ifdef __cplusplus
}
#endif
#endif
