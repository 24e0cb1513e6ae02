// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links: at which rate one radio sends to another, and what of it is lost.
 */
#include <linux/slab.h>

#include "radio.h"

/* The lowest mandatory rate: 6 Mbit/s. */
const struct sj_rate sj_basic_rate = { .format = SJ_LEGACY, .mcs = 12, .nss = 1 };

/* The rates of clause 17 in units of 500 kbit/s, as a band lists them. */
const u8 sj_legacy[8] = { 12, 18, 24, 36, 48, 72, 96, 108 };

u8 sj_legacy_index(u8 mcs)
{
	u8 i;

	for (i = 0; i < ARRAY_SIZE(sj_legacy) - 1; i++)
		if (sj_legacy[i] >= mcs)
			break;
	return i;
}

/* splitmix64 (Steele, Lea, Flood 2014): each draw is a function of seed and count. */
static u64 mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* A stream of its own for each kind of draw and number. */
void sj_rng_seed(struct sj_rng *rng, u32 kind, u32 number)
{
	rng->state = mix(sj_seed) ^ mix(((u64)kind << 32 | number) + 1);
}

u32 sj_rng_draw(struct sj_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return mix(rng->state) >> 32;
}

/* Every link at the start: HT MCS 7 at 20 MHz with the short guard interval, no loss. */
int sj_links_init(int radios)
{
	int i;

	sj.links = kcalloc(radios * radios, sizeof(*sj.links), GFP_KERNEL);
	if (!sj.links)
		return -ENOMEM;
	sj.stride = radios;
	for (i = 0; i < radios * radios; i++) {
		sj.links[i].rate = (struct sj_rate){
			.format = SJ_HT, .mcs = 7, .nss = 1, .sgi = 1 };
		sj_rng_seed(&sj.links[i].rng, 2, i);
	}
	return 0;
}

struct sj_link *sj_link(int from, int to)
{
	return &sj.links[from * sj.stride + to];
}

/* What is sent to all, or to nobody, counts as from a radio to itself. */
struct sj_stats *sj_stats(struct sj_radio *from, struct sj_burst *burst)
{
	int to = burst->group || burst->to == SJ_NOBODY ? from->number : burst->to;

	return &sj_link(from->number, to)->stats[burst->ac];
}

int sj_radio_with(const u8 *address)
{
	int i;

	for (i = 0; i < sj.count; i++) {
		struct sj_radio *radio = sj.radios[i];

		if (radio->vif && ether_addr_equal(radio->vif->addr, address))
			return i;
	}
	return SJ_NOBODY;
}

enum sj_band sj_band(const struct sj_radio *radio)
{
	return radio->channel && radio->channel->band == NL80211_BAND_2GHZ ? SJ_2GHZ : SJ_5GHZ;
}

/* A radio's number, or * for all: from @first to @last. */
static bool parse_radio(const char *word, int *first, int *last)
{
	unsigned int number;

	if (!strcmp(word, "*")) {
		*first = 0;
		*last = sj.count - 1;
		return true;
	}
	if (kstrtouint(word, 10, &number) || number >= sj.count)
		return false;
	*first = *last = number;
	return true;
}

static bool parse_rate(char **words, struct sj_rate *rate)
{
	unsigned int mhz;

	if (!strcmp(words[0], "legacy"))
		rate->format = SJ_LEGACY;
	else if (!strcmp(words[0], "ht"))
		rate->format = SJ_HT;
	else if (!strcmp(words[0], "vht"))
		rate->format = SJ_VHT;
	else
		return false;
	if (kstrtou8(words[1], 10, &rate->mcs) || kstrtou8(words[2], 10, &rate->nss) ||
	    kstrtouint(words[3], 10, &mhz))
		return false;
	if (mhz != 20 && mhz != 40 && mhz != 80)
		return false;
	rate->width = mhz == 20 ? SJ_20MHZ : mhz == 40 ? SJ_40MHZ : SJ_80MHZ;
	rate->sgi = !strcmp(words[4], "sgi");
	if (!rate->sgi && strcmp(words[4], "lgi"))
		return false;
	return sj_rate_valid(*rate);
}

/*
 * Sets what the line says: TX RX FORMAT MCS NSS MHZ GI ERROR. All of it is
 * checked before anything is changed.
 */
int sj_link_set(char *line)
{
	int from_first, from_last, to_first, to_last, from, to, count = 0;
	struct sj_rate rate;
	char *words[9], *word;
	u32 error;

	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (count == 8)
			return -EINVAL;
		words[count++] = word;
	}
	if (count != 8 || !parse_radio(words[0], &from_first, &from_last) ||
	    !parse_radio(words[1], &to_first, &to_last) ||
	    !parse_rate(&words[2], &rate) || kstrtou32(words[7], 10, &error))
		return -EINVAL;
	spin_lock_bh(&sj.lock);
	for (from = from_first; from <= from_last; from++) {
		for (to = to_first; to <= to_last; to++) {
			sj_link(from, to)->rate = rate;
			sj_link(from, to)->error = error;
		}
	}
	spin_unlock_bh(&sj.lock);
	return 0;
}

int sj_rate_print(char *text, size_t size, struct sj_rate rate)
{
	static const char * const formats[] = { "legacy", "ht", "vht" };

	return scnprintf(text, size, "%s %u %u %u %s", formats[rate.format], rate.mcs,
			 rate.nss, 20 << rate.width, rate.sgi ? "sgi" : "lgi");
}
