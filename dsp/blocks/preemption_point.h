/* SPDX-License-Identifier: MIT
 *
 * Where a long step may be left for a while. A pump's work comes evenly but for a few steps (filters designed when
 * training begins, a transform), and some hosts must not hold the CPU through one: a kernel's thread, which may use
 * floating point only with preemption off. In such a step oh_preemption_point() is called every few microseconds, at
 * places where nothing is held but memory: no floating-point register has to survive it. Without a host that asks for
 * it, it does nothing.
 */
#ifndef OFFHOOK_DSP_BLOCKS_PREEMPTION_POINT_H
#define OFFHOOK_DSP_BLOCKS_PREEMPTION_POINT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Real-time: as what the host has given. */
void oh_preemption_point(void);

/** For all pumps of this program or module; while no pump is called. @param let_others_run  called at each point, on
 * whatever thread or interrupt computes; NULL: nothing is */
void oh_set_preemption_point(void (*let_others_run)(void));

#ifdef __cplusplus
}
#endif
#endif
