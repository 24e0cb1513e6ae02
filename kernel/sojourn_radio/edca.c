// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who transmits when: EDCA's slotted backoff over one medium that all hear.
 *
 * Time goes in slots from when the medium became idle: boundary n is SIFS and
 * n slots later. An access category with AIFSN a does one thing at each
 * boundary from a on: it transmits if its counter is zero and it has a burst,
 * else it takes one off its counter. A counter is frozen after the boundary at
 * which the medium became busy, and two that are zero at one boundary collide.
 * Source: IEEE 802.11-2020 section 10.23.2.4; the same as Sojourn's crate
 * sojourn-wifi, contention.rs.
 *
 * Counters are not counted down: each access category has a clock, the number
 * of boundaries it has seen, and the reading at which its counter is zero.
 *
 * Invariant: what is SJ_WAITING has a burst in its queue, and its zero_at is
 * not behind its clock.
 */
#include "radio.h"

static const struct sj_edca defaults[IEEE80211_NUM_ACS] = {
	{ 2, 3, 7, 1504000 },
	{ 2, 7, 15, 3008000 },
	{ 3, 15, 1023, 0 },
	{ 7, 15, 1023, 0 },
};

#define for_each_edcaf(edcaf, i)						\
	for ((i) = 0; (i) < sj.count * IEEE80211_NUM_ACS; (i)++)		\
		if (((edcaf) = &sj.radios[(i) / IEEE80211_NUM_ACS]->		\
				edcafs[(i) % IEEE80211_NUM_ACS]))

void sj_edca_init(struct sj_radio *radio)
{
	int ac;

	sj_rng_seed(&radio->backoff, 1, radio->number);
	for (ac = 0; ac < IEEE80211_NUM_ACS; ac++) {
		struct sj_edcaf *edcaf = &radio->edcafs[ac];

		edcaf->radio = radio;
		edcaf->ac = ac;
		INIT_LIST_HEAD(&edcaf->queue);
		INIT_LIST_HEAD(&edcaf->round);
		sj_edca_set(edcaf, &defaults[ac]);
	}
}

/* New parameters; the window starts over. */
void sj_edca_set(struct sj_edcaf *edcaf, const struct sj_edca *edca)
{
	edcaf->edca = *edca;
	edcaf->cw = edca->cw_min;
	edcaf->failures = 0;
}

static u64 slots_beyond(u64 boundaries, u64 aifsn)
{
	return boundaries > aifsn ? boundaries - aifsn : 0;
}

/* Boundaries before number @boundaries have passed. */
static void pass(u64 boundaries)
{
	struct sj_edcaf *edcaf;
	int i;

	if (boundaries <= sj.passed)
		return;
	for_each_edcaf(edcaf, i)
		edcaf->clock += slots_beyond(boundaries, edcaf->edca.aifsn) -
				slots_beyond(sj.passed, edcaf->edca.aifsn);
	sj.passed = boundaries;
}

static u64 boundary_of(const struct sj_edcaf *edcaf)
{
	return max_t(u64, sj.passed, edcaf->edca.aifsn) + edcaf->zero_at - edcaf->clock;
}

static u64 next_boundary(void)
{
	struct sj_edcaf *edcaf;
	u64 next = U64_MAX;
	int i;

	for_each_edcaf(edcaf, i)
		if (edcaf->state == SJ_WAITING)
			next = min(next, boundary_of(edcaf));
	return next;
}

/* A new counter, uniform in 0 to the window. Boundaries up to now have passed. */
static void draw(struct sj_edcaf *edcaf)
{
	u64 drawn = sj_rng_draw(&edcaf->radio->backoff);

	edcaf->zero_at = edcaf->clock + (drawn * (edcaf->cw + 1U) >> 32);
	edcaf->state = SJ_IDLE;
}

static u32 sifs(void)
{
	return sj_sifs_ns(sj_band(sj.radios[0]));
}

/*
 * It has a burst. A counter that ran out while there was none lets it go at
 * the next boundary if the medium is idle; else a new one is drawn (section
 * 10.23.2.2).
 */
void sj_edca_wants(struct sj_edcaf *edcaf, u64 now)
{
	if (edcaf->state != SJ_IDLE)
		return;
	if (!sj.busy && now > sj.idle_since + sifs()) {
		u64 running = now - sj.idle_since - sifs();

		/* The timer may be late, but nobody is passed by. */
		pass(min_t(u64, DIV_ROUND_UP_ULL(running, SJ_SLOT_NS), next_boundary()));
	}
	if (edcaf->zero_at <= edcaf->clock) {
		if (sj.busy)
			draw(edcaf);
		else
			edcaf->zero_at = edcaf->clock;
	}
	edcaf->state = SJ_WAITING;
}

/* When the next transmission begins, if anybody waits; the medium is idle. */
bool sj_edca_due(u64 *due)
{
	u64 boundary = next_boundary();

	if (boundary == U64_MAX)
		return false;
	*due = sj.idle_since + sifs() + boundary * SJ_SLOT_NS;
	return true;
}

/*
 * Those whose counters are zero go on the air. Of the categories of one radio
 * the most urgent one does; the others fail as if they had collided.
 */
void sj_edca_transmit(void)
{
	u64 boundary = next_boundary();
	static struct sj_edcaf *failed[SJ_RADIOS * (IEEE80211_NUM_ACS - 1)];
	struct sj_edcaf *edcaf;
	int i, failures = 0, last = -1;

	sj.on_air_count = 0;
	for_each_edcaf(edcaf, i) {
		if (edcaf->state != SJ_WAITING || boundary_of(edcaf) != boundary)
			continue;
		edcaf->state = SJ_TRANSMITTING;
		if (last == edcaf->radio->number) {
			failed[failures++] = edcaf;
			continue;
		}
		last = edcaf->radio->number;
		sj.on_air[sj.on_air_count++] = edcaf;
	}
	pass(boundary + 1);
	sj.busy = true;
	sj.internal_collisions += failures;
	for (i = 0; i < failures; i++)
		sj_edca_finished(failed[i], false, true);
}

/*
 * A transmission, or the last one of a TXOP, has ended: the window is reset or
 * doubled, and a counter drawn. @more: there is a burst in the queue.
 */
void sj_edca_finished(struct sj_edcaf *edcaf, bool answered, bool more)
{
	if (answered || edcaf->failures + 1 >= sj_retries)
		edcaf->failures = 0;
	else
		edcaf->failures++;
	if (edcaf->failures)
		edcaf->cw = min(2 * edcaf->cw + 1, (int)edcaf->edca.cw_max);
	else
		edcaf->cw = edcaf->edca.cw_min;
	draw(edcaf);
	if (more)
		edcaf->state = SJ_WAITING;
}

/* The medium counts as idle from @now on. */
void sj_edca_idle(u64 now)
{
	sj.busy = false;
	sj.idle_since = now;
	sj.passed = 0;
}
