// SPDX-License-Identifier: GPL-2.0-only
/*
 * Airtime. Sources: IEEE 802.11-2020, sections and tables named below. The
 * constants are those of Sojourn's crate sojourn-wifi, to the nanosecond.
 */
#include "airtime.h"

#define ACK_BYTES 14u
#define BLOCK_ACK_BYTES 32u
#define DELIMITER_BYTES 4u

/* Bits per subcarrier and the code rate, by MCS: tables 19-27 and 21-29. */
static const u8 modulations[10][3] = {
	{ 1, 1, 2 }, { 2, 1, 2 }, { 2, 3, 4 }, { 4, 1, 2 }, { 4, 3, 4 },
	{ 6, 2, 3 }, { 6, 3, 4 }, { 6, 5, 6 }, { 8, 3, 4 }, { 8, 5, 6 },
};

/* Data subcarriers by width: tables 19-6 and 21-5. */
static const u32 subcarriers[3] = { 52, 108, 234 };

static u32 ceil_div(u32 a, u32 b)
{
	return (a + b - 1) / b;
}

/* The combinations that section 21.5 leaves out. */
static bool is_hole(struct sj_rate rate)
{
	if (rate.width == SJ_20MHZ && rate.mcs == 9)
		return rate.nss != 3 && rate.nss != 6;
	if (rate.width == SJ_80MHZ && rate.mcs == 6)
		return rate.nss == 3 || rate.nss == 7;
	return rate.width == SJ_80MHZ && rate.mcs == 9 && rate.nss == 6;
}

/* Whether the standard has this rate. */
bool sj_rate_valid(struct sj_rate rate)
{
	switch (rate.format) {
	case SJ_LEGACY:
		if (rate.nss != 1 || rate.width != SJ_20MHZ || rate.sgi)
			return false;
		switch (rate.mcs) {
		case 12: case 18: case 24: case 36:
		case 48: case 72: case 96: case 108:
			return true;
		}
		return false;
	case SJ_HT:
		return rate.mcs <= 31 && rate.nss == rate.mcs / 8 + 1 &&
		       rate.width <= SJ_40MHZ && rate.sgi <= 1;
	case SJ_VHT:
		return rate.mcs <= 9 && rate.nss >= 1 && rate.nss <= 8 &&
		       rate.width <= SJ_80MHZ && rate.sgi <= 1 && !is_hole(rate);
	}
	return false;
}

static const u8 *modulation(struct sj_rate rate)
{
	return modulations[rate.format == SJ_HT ? rate.mcs % 8 : rate.mcs];
}

/* Data bits per symbol, N_DBPS. */
u32 sj_rate_bits(struct sj_rate rate)
{
	const u8 *m;

	if (rate.format == SJ_LEGACY)
		return 2 * rate.mcs;
	m = modulation(rate);
	return subcarriers[rate.width] * rate.nss * m[0] * m[1] / m[2];
}

/* Data bits while data is sent, in kbit/s. */
u32 sj_rate_kbps(struct sj_rate rate)
{
	return sj_rate_bits(rate) * 10000 / (rate.sgi ? 36 : 40);
}

/*
 * BCC encoders, N_ES, each of which adds 6 tail bits. HT: two above 300 Mbit/s
 * (section 19.5). VHT: one for each 2160 bits begun, and as many more as it
 * takes for coded and uncoded bits to divide evenly (tables of section 21.5).
 */
u32 sj_rate_encoders(struct sj_rate rate)
{
	u32 bits, coded, n;
	const u8 *m;

	if (rate.format == SJ_LEGACY)
		return 1;
	bits = sj_rate_bits(rate);
	if (rate.format == SJ_HT)
		return bits > 1080 ? 2 : 1;
	m = modulation(rate);
	coded = subcarriers[rate.width] * rate.nss * m[0];
	n = ceil_div(bits, 2160);
	while (coded % (n * m[2]) || bits % (n * m[1]))
		n++;
	return n;
}

/* aSIFSTime: tables 17-21 and 18-5. */
u32 sj_sifs_ns(enum sj_band band)
{
	return band == SJ_5GHZ ? 16000 : 10000;
}

/* The 6 us of silence after each PPDU at 2.4 GHz: section 18.5.4. */
static u32 extension_ns(enum sj_band band)
{
	return band == SJ_5GHZ ? 0 : 6000;
}

/* A PPDU of clause 17: preamble and SIGNAL 20 us, symbols of 4 us. */
static u32 legacy_ns(u32 psdu, u32 bits, enum sj_band band)
{
	return 20000 + 4000 * ceil_div(16 + 8 * psdu + 6, bits) + extension_ns(band);
}

/*
 * How much later than after a good frame the medium counts as idle after one
 * that nobody could read: SIFS and an Ack at 6 Mbit/s (section 10.3.2.3.7; no
 * 802.11b stations at 2.4 GHz).
 */
u32 sj_eifs_less_difs_ns(enum sj_band band)
{
	return sj_sifs_ns(band) + legacy_ns(ACK_BYTES, 24, band);
}

/* From the start of the PPDU to its first data symbol: tables 19-13, 21-13. */
static u32 preamble_ns(struct sj_rate rate)
{
	static const u8 training[9] = { 0, 1, 2, 4, 4, 6, 6, 8, 8 };

	switch (rate.format) {
	case SJ_HT:
		return 32000 + 4000 * training[rate.nss];
	case SJ_VHT:
		return 36000 + 4000 * training[rate.nss];
	}
	return 20000;
}

/*
 * TXTIME of a PPDU: equations 17-29, 19-90, 19-92 and section 21.4.3. With the
 * short guard interval the symbols together are rounded up to 4 us.
 */
u32 sj_ppdu_ns(struct sj_rate rate, u32 psdu, enum sj_band band)
{
	u32 bits = 16 + 8 * psdu + 6 * sj_rate_encoders(rate);
	u32 symbols = ceil_div(bits, sj_rate_bits(rate));
	u32 data = rate.sgi ? ceil_div(3600 * symbols, 4000) * 4000 : 4000 * symbols;

	return preamble_ns(rate) + data + extension_ns(band);
}

/*
 * The Ack of a single MPDU or the BlockAck of an aggregate, without the SIFS
 * before it: at the highest of 6, 12 and 24 Mbit/s that is not above the OFDM
 * rate of the same modulation and coding (sections 10.6.6.5.2 and 10.6.11).
 */
u32 sj_answer_ns(struct sj_rate rate, bool block_ack, enum sj_band band)
{
	/* In units of 500 kbit/s, by MCS; 64-QAM 3/4 for what OFDM has not. */
	static const u8 references[10] = { 12, 24, 36, 48, 72, 96, 108, 108, 108, 108 };
	u32 reference, answer;

	if (rate.format == SJ_LEGACY)
		reference = rate.mcs;
	else
		reference = references[rate.format == SJ_HT ? rate.mcs % 8 : rate.mcs];
	answer = reference < 24 ? 12 : reference < 48 ? 24 : 48;
	return legacy_ns(block_ack ? BLOCK_ACK_BYTES : ACK_BYTES, 2 * answer, band);
}

/* The PSDU of one MPDU; in VHT every PSDU is an A-MPDU (section 10.12.8). */
u32 sj_single_bytes(struct sj_rate rate, u32 mpdu)
{
	return rate.format == SJ_VHT ? DELIMITER_BYTES + mpdu : mpdu;
}

/*
 * The length of an A-MPDU of @before bytes with one more MPDU: a delimiter
 * before each, all but the last padded to 4 bytes (section 9.7.1).
 */
u32 sj_ampdu_bytes(u32 before, u32 mpdu)
{
	return ((before + 3) & ~3u) + DELIMITER_BYTES + mpdu;
}

/* The longest PSDU up to @bytes whose PPDU takes @limit_ns at most. */
u32 sj_psdu_within(struct sj_rate rate, u32 bytes, u32 limit_ns, enum sj_band band)
{
	u32 fits = 0, too_long = bytes + 1;

	while (too_long - fits > 1) {
		u32 middle = (fits + too_long) / 2;

		if (sj_ppdu_ns(rate, middle, band) <= limit_ns)
			fits = middle;
		else
			too_long = middle;
	}
	return fits;
}
