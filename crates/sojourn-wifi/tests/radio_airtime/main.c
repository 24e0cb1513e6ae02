// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks the radio driver's airtime.c, line by line: FORMAT MCS NSS WIDTH SGI
 * BAND BYTES LIMIT_NS, all numbers as its enums have them. Answers: VALID BITS
 * ENCODERS PPDU ACK BLOCKACK SINGLE NEXT WITHIN SIFS EIFS, only 0 if the
 * standard has no such rate. SINGLE is the PSDU of one MPDU of BYTES, NEXT
 * that of an A-MPDU of BYTES with one more MPDU of BYTES.
 */
#include <stdio.h>

#include "airtime.h"

int main(void)
{
	unsigned int format, mcs, nss, width, sgi, band, bytes, limit;

	while (scanf("%u %u %u %u %u %u %u %u", &format, &mcs, &nss, &width, &sgi, &band,
		     &bytes, &limit) == 8) {
		struct sj_rate rate = { format, mcs, nss, width, sgi };

		if (!sj_rate_valid(rate)) {
			puts("0");
			continue;
		}
		printf("1 %u %u %u %u %u %u %u %u %u %u\n", sj_rate_bits(rate),
		       sj_rate_encoders(rate), sj_ppdu_ns(rate, bytes, band),
		       sj_answer_ns(rate, false, band), sj_answer_ns(rate, true, band),
		       sj_single_bytes(rate, bytes), sj_ampdu_bytes(bytes, bytes),
		       sj_psdu_within(rate, SJ_AMPDU_BYTES, limit, band), sj_sifs_ns(band),
		       sj_eifs_less_difs_ns(band));
	}
	return 0;
}
