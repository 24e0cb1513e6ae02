/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long frames take on the air: OFDM (clause 17), HT mixed and VHT PPDUs,
 * their answers, and the spaces between them.
 *
 * This part knows nothing of the kernel and compiles on any host, where a test
 * compares it with Sojourn's simulator. Times are nanoseconds, lengths bytes.
 */
#ifndef SOJOURN_RADIO_AIRTIME_H
#define SOJOURN_RADIO_AIRTIME_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

enum sj_format { SJ_LEGACY, SJ_HT, SJ_VHT };
enum sj_width { SJ_20MHZ, SJ_40MHZ, SJ_80MHZ };
enum sj_band { SJ_5GHZ, SJ_2GHZ };

/* The longest A-MPDU in HT, and the most MPDUs in one. */
#define SJ_AMPDU_BYTES 65535u
#define SJ_AMPDU_FRAMES 64u
/* aPPDUMaxTime of HT mixed format and VHT. */
#define SJ_PPDU_MAX_NS 5484000u
#define SJ_SLOT_NS 9000u

/**
 * struct sj_rate - one rate of the physical layer
 * @format: how the PPDU begins
 * @mcs: HT 0 to 31, VHT 0 to 9; legacy: units of 500 kbit/s
 * @nss: spatial streams; HT: mcs / 8 + 1
 * @width: of the channel
 * @sgi: the guard interval is 400 ns, not 800 ns
 */
struct sj_rate {
	u8 format;
	u8 mcs;
	u8 nss;
	u8 width;
	u8 sgi;
};

bool sj_rate_valid(struct sj_rate rate);
u32 sj_rate_bits(struct sj_rate rate);
u32 sj_rate_kbps(struct sj_rate rate);
u32 sj_rate_encoders(struct sj_rate rate);
u32 sj_sifs_ns(enum sj_band band);
u32 sj_eifs_less_difs_ns(enum sj_band band);
u32 sj_ppdu_ns(struct sj_rate rate, u32 psdu, enum sj_band band);
u32 sj_answer_ns(struct sj_rate rate, bool block_ack, enum sj_band band);
u32 sj_single_bytes(struct sj_rate rate, u32 mpdu);
u32 sj_ampdu_bytes(u32 before, u32 mpdu);
u32 sj_psdu_within(struct sj_rate rate, u32 bytes, u32 limit_ns, enum sj_band band);

#endif
