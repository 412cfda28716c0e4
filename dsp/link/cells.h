/* SPDX-License-Identifier: MIT
 *
 * ATM cells on the octets of a pump, as ADSL modems carry them: the transmission convergence of ITU-T I.432.1.
 *
 * A cell on the line is four octets of header, the header error control (HEC: x^8 + x^2 + x + 1 over the header, 0x55
 * added) and 48 octets of payload, scrambled by 1 + x^-43. The scrambler stops during headers. Idle cells fill the gaps
 * between cells; the receiver drops them. Nothing marks the beginning of a cell. The receiver searches for a header
 * with a correct HEC (HUNT), requires 6 more at the distance of a cell (PRESYNC), and is then in SYNC until 7 in a row
 * are wrong. So the first 16 cells are idle. A cell whose HEC is wrong is dropped; no single bit is corrected, because
 * the scrambler makes more of one.
 *
 * The user's cell is 52 octets: a header without its HEC, and the payload. The most significant bit of an octet is sent
 * first. The pump must carry octets whole, as the DMT pumps do: a port call of n bits has n / 8 octets.
 *
 * One thread at a time. Real-time: yes, all of it.
 */
#ifndef OFFHOOK_DSP_ATM_CELLS_H
#define OFFHOOK_DSP_ATM_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OH_CELL_HEADER = 4, OH_CELL_PAYLOAD = 48, OH_CELL_OCTETS = OH_CELL_HEADER + OH_CELL_PAYLOAD };

enum oh_delineation { OH_DELINEATION_HUNT = 0, OH_DELINEATION_PRESYNC, OH_DELINEATION_SYNC };

struct oh_cells;

/** Counters run from init. */
struct oh_cells_status {
  enum oh_delineation state;
  uint64_t sent, idle_sent;
  uint64_t received, idle_received; /**< received in SYNC with a correct HEC */
  uint64_t hec_errors;              /**< wrong headers in SYNC */
  uint64_t losses;                  /**< from SYNC back to HUNT */
  uint64_t overflows;               /**< received cells that arrived while earlier ones were unread */
};

/** @return bytes of memory, aligned to 64, that init needs */
OH_API size_t oh_cells_size(void);
/** The memory must not be moved. It may be freed at any time. */
OH_API struct oh_cells* oh_cells_init(void* memory);
/** The pump's side, into *port. */
OH_API void oh_cells_port(struct oh_cells* cells, struct oh_bit_port* port);
/** @return octets that a write would take, in whole cells */
OH_API size_t oh_cells_writable(const struct oh_cells* cells);
/** @return octets written of which the pump has taken nothing */
OH_API size_t oh_cells_unsent(const struct oh_cells* cells);
/** @param[in] octets  [n] cells; the receiver drops idle cells (header 0, 0, 0, 1)
 * @return octets taken, in whole cells */
OH_API size_t oh_cells_write(struct oh_cells* cells, const uint8_t* octets, size_t n);
/** @param[out] octets  [n]  @return octets given, in whole cells */
OH_API size_t oh_cells_read(struct oh_cells* cells, uint8_t* octets, size_t n);
OH_API void oh_cells_get_status(const struct oh_cells* cells, struct oh_cells_status* status);
/** @param[in] header  [4]. Real-time: yes, O(1). */
OH_API uint8_t oh_cell_hec(const uint8_t* header);

#ifdef __cplusplus
}
#endif
#endif
