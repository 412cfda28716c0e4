/* SPDX-License-Identifier: MIT
 *
 * The PCI card's software interface: registers in BAR 2, and a queue of descriptors in the host's memory. docs/card.md
 * is its data sheet.
 *
 * Samples and positions are in card memory (offhook/card_engine.h), which the driver allocates, initialises and
 * announces to the card by its bus address: the card reads and writes it by DMA. Each finished block gives a
 * descriptor with a sequence number, then an interrupt (MSI-X vector 0). Interrupts may coalesce; descriptors identify
 * each block.
 *
 * Neither reading nor writing a register has an effect by itself. The driver writes a command and its sequence number,
 * then rings a doorbell. `command_done` then holds the number of the newest finished command. All fields are little
 * endian. */
#ifndef OFFHOOK_PCI_CARD_H
#define OFFHOOK_PCI_CARD_H

#include <stdint.h>

#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** QEMU's ivshmem: any of its users may have these ids, so magic and version identify the card. */
enum { OH_PCI_VENDOR_ID = 0x1af4, OH_PCI_DEVICE_ID = 0x1110 };
enum { OH_PCI_MAGIC = 0x4950484f /* "OHPI" */, OH_PCI_VERSION = 1 };

/** BAR 0 belongs to ivshmem. Only this register is used: a write of `doorbell + vector` rings. */
enum { OH_PCI_DOORBELL = 12 };

enum oh_pci_doorbell {
  OH_PCI_DOORBELL_COMMAND = 0, /**< a command is written */
  OH_PCI_DOORBELL_PROGRESS = 1 /**< output was queued; only if the card requests it (OH_PCI_WANTS_PROGRESS) */
};
enum { OH_PCI_DOORBELLS = 2, OH_PCI_VECTORS = 1 };

enum oh_pci_feature { OH_PCI_WANTS_PROGRESS = 1 };

enum oh_pci_command {
  OH_PCI_RESET = 0, /**< forget addresses and positions; no DMA and no interrupt after command_done */
  OH_PCI_START = 1, /**< samples pass to and from the card memory that the addresses name */
  OH_PCI_STOP = 2   /**< samples stop; no DMA and no interrupt after command_done */
};

/** `status`. */
enum oh_pci_status { OH_PCI_STOPPED = 0, OH_PCI_RUNNING = 1, OH_PCI_FAILED = 2 /**< see `error`; lasts until RESET */ };

enum oh_pci_error {
  OH_PCI_NO_ERROR = 0,
  OH_PCI_BAD_COMMAND = 1, /**< unknown, or not possible in this state */
  OH_PCI_BAD_ADDRESS = 2, /**< card memory or queue is at an address that the card cannot access, or is not aligned */
  OH_PCI_BAD_MEMORY = 3,  /**< the address does not contain card memory with this card's streams (oh_card_init) */
  OH_PCI_BAD_QUEUE = 4    /**< its length is not a power of two from 2 to 65536 */
};

/** At the start of BAR 2. Each field has one writer. */
struct oh_pci_registers {
  /* 0x00, the card's, constant */
  uint32_t magic, version;
  uint32_t features; /* set of enum oh_pci_feature */
  uint32_t doorbell; /* number to add to the vector for the doorbell register of BAR 0 */
  struct oh_streams streams;
  uint8_t reserved0[0x80 - 16 - sizeof(struct oh_streams)];
  /* 0x80, the driver's */
  uint32_t command;                     /* enum oh_pci_command */
  uint32_t command_sequence;            /* incremented for each command, written last */
  uint64_t memory_address, memory_size; /* octets; bus address, aligned to 64 */
  uint64_t queue_address;               /* bus address, aligned to 64 */
  uint32_t queue_entries;
  uint8_t reserved1[0x80 - 36];
  /* 0x100, the card's */
  uint32_t command_done; /* command_sequence of the last finished command */
  uint32_t status, error;
  uint32_t ringing; /* ring voltage is on the line, even if no samples pass */
  uint8_t reserved2[0x100 - 16];
};

/** One finished block. `sequence` is written last; it is 1 for the first block after START, and its entry is (sequence
 * - 1) % queue_entries. It wraps from 2^32 - 1 to 0. */
struct oh_pci_descriptor {
  uint64_t end; /* position at which the block ended */
  uint32_t sequence;
  uint32_t reserved;
};

/** Octets of BAR 2. */
enum { OH_PCI_BAR_SIZE = 4096 };

#ifdef __cplusplus
}
#endif
#endif
