// SPDX-License-Identifier: GPL-2.0-only
/*
 * The medium: what is on the air, when it ends, and who hears it. All of it
 * hangs on one timer.
 *
 * Everything is done at the time at which it was due, not at that at which the
 * timer fired: User-Mode Linux tells time in steps of 256 ns.
 */
#include "radio.h"

/* The timer is set to what is due next. */
static u64 next_due(void)
{
	u64 due = U64_MAX, next;
	int i;

	for (i = 0; i < sj.count; i++)
		if (sj.radios[i]->beacon_ns)
			due = min(due, sj.radios[i]->beacon_due);
	if (sj.busy)
		due = min(due, sj.ends);
	else if (sj_edca_due(&next))
		due = min(due, next);
	return due;
}

static void set_timer(u64 due)
{
	if (due == sj.programmed)
		return;
	sj.programmed = due;
	if (due == U64_MAX)
		hrtimer_try_to_cancel(&sj.timer);
	else
		hrtimer_start(&sj.timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/* The access category has a burst, or may have. */
void sj_contend(struct sj_edcaf *edcaf)
{
	if (edcaf->state != SJ_IDLE || list_empty(&edcaf->queue))
		return;
	sj_edca_wants(edcaf, sj.busy ? 0 : ktime_get_ns());
	if (!sj.busy && !sj.running)
		set_timer(next_due());
}

void sj_beacon(struct sj_radio *radio, u64 interval_ns)
{
	radio->beacon_ns = interval_ns;
	radio->beacon_due = ktime_get_ns() + interval_ns;
	if (!sj.running)
		set_timer(next_due());
}

static bool hears(struct sj_radio *to, struct sj_radio *from)
{
	return to->started && to->vif && from->channel && to->channel &&
	       to->channel->center_freq == from->channel->center_freq;
}

/* Whether each MPDU of the burst at the head will arrive. */
static u64 draw_losses(struct sj_radio *radio, struct sj_burst *burst)
{
	struct sj_link *link;
	u64 received = 0;
	int i;

	if (burst->group)
		return 1;
	if (burst->to == SJ_NOBODY || !hears(sj.radios[burst->to], radio))
		return 0;
	link = sj_link(radio->number, burst->to);
	/* A rate above that of the link, which minstrel may try, carries nothing. */
	if (!burst->basic && sj_rate_kbps(burst->rate) > sj_rate_kbps(link->rate))
		return 0;
	for (i = 0; i < burst->count; i++)
		if (burst->basic || !link->error || sj_rng_draw(&link->rng) >= link->error)
			received |= BIT_ULL(i);
	return received;
}

/*
 * The head of a queue goes on the air. When the medium counts as idle again,
 * as far as this one is concerned: after its answer, or, if there is none,
 * EIFS - DIFS after its PPDU, for everybody.
 */
static u64 begin_exchange(struct sj_edcaf *edcaf, bool collides, u64 now)
{
	struct sj_radio *radio = edcaf->radio;
	struct sj_burst *burst = sj_head(edcaf);

	burst->on_air = true;
	burst->collided = collides;
	burst->received = collides ? 0 : draw_losses(radio, burst);
	sj.collisions += collides;
	if (burst->received)
		return now + burst->ppdu_ns + burst->answer_ns;
	return now + burst->ppdu_ns + sj_eifs_less_difs_ns(sj_band(radio));
}

static void transmit(u64 now)
{
	bool collide;
	int i;

	sj_edca_transmit();
	collide = sj.on_air_count > 1;
	sj.began = now;
	sj.ends = now;
	for (i = 0; i < sj.on_air_count; i++) {
		struct sj_edcaf *edcaf = sj.on_air[i];

		sj.ends = max(sj.ends, begin_exchange(edcaf, collide, now));
		sj.txop_ends = now + edcaf->edca.txop_ns;
	}
}

/* Frames that are done with go to mac80211, without the lock. */
static void tell_statuses(void)
{
	struct sk_buff_head statuses;
	struct sk_buff *skb;
	int i;

	__skb_queue_head_init(&statuses);
	for (i = 0; i < sj.count; i++) {
		struct sj_radio *radio = sj.radios[i];

		if (skb_queue_empty(&radio->status))
			continue;
		skb_queue_splice_init(&radio->status, &statuses);
		spin_unlock_bh(&sj.lock);
		while ((skb = __skb_dequeue(&statuses)))
			ieee80211_tx_status_skb(radio->hw, skb);
		spin_lock_bh(&sj.lock);
	}
}

/* Frames that came go to mac80211, without the lock. */
static void hand_over(void)
{
	struct sk_buff_head arrived;
	struct sk_buff *skb;
	int i;

	__skb_queue_head_init(&arrived);
	for (i = 0; i < sj.count; i++) {
		struct sj_radio *radio = sj.radios[i];

		if (skb_queue_empty(&radio->arrived))
			continue;
		skb_queue_splice_init(&radio->arrived, &arrived);
		spin_unlock_bh(&sj.lock);
		while ((skb = __skb_dequeue(&arrived)))
			ieee80211_rx(radio->hw, skb);
		spin_lock_bh(&sj.lock);
	}
}

/* A copy of the frame for @to, which shares nothing with it. */
void sj_deliver(struct sj_radio *to, struct sj_radio *from, struct sk_buff *skb,
		struct sj_rate rate)
{
	static const enum rate_info_bw widths[] = {
		RATE_INFO_BW_20, RATE_INFO_BW_40, RATE_INFO_BW_80 };
	struct ieee80211_rx_status *status;
	struct sk_buff *copy;

	if (!hears(to, from))
		return;
	copy = dev_alloc_skb(skb->len);
	if (!copy)
		return;
	skb_copy_bits(skb, 0, skb_put(copy, skb->len), skb->len);
	status = IEEE80211_SKB_RXCB(copy);
	memset(status, 0, sizeof(*status));
	status->freq = from->channel->center_freq;
	status->band = from->channel->band;
	status->signal = -50;
	status->boottime_ns = ktime_get_boottime_ns();
	status->bw = widths[rate.width];
	if (rate.sgi)
		status->enc_flags = RX_ENC_FLAG_SHORT_GI;
	switch (rate.format) {
	case SJ_VHT:
		status->encoding = RX_ENC_VHT;
		status->rate_idx = rate.mcs;
		status->nss = rate.nss;
		break;
	case SJ_HT:
		status->encoding = RX_ENC_HT;
		status->rate_idx = rate.mcs;
		break;
	default:
		status->rate_idx = sj_legacy_index(rate.mcs);
	}
	__skb_queue_tail(&to->arrived, copy);
}

/*
 * What is on the air has ended. mac80211 is told of the statuses before the
 * next burst is pulled, since they make room for it in AQL; and of what
 * arrived at last, when the medium is as the answer to it will find it.
 */
static void end(u64 now)
{
	bool answered[SJ_RADIOS];
	int i;

	sj.busy_ns += now - sj.began;
	for (i = 0; i < sj.on_air_count; i++) {
		struct sj_burst *burst = sj_head(sj.on_air[i]);

		answered[i] = burst->received || burst->group;
		sj_burst_complete(sj.on_air[i], burst, now);
	}
	tell_statuses();
	for (i = 0; i < sj.on_air_count; i++) {
		struct sj_edcaf *edcaf = sj.on_air[i];
		u64 start = now + sj_sifs_ns(sj_band(edcaf->radio));
		struct sj_burst *next;

		sj_fill(edcaf);
		next = sj_head(edcaf);
		if (next && answered[i] && sj.on_air_count == 1 &&
		    start + next->ppdu_ns + next->answer_ns <= sj.txop_ends) {
			sj.began = now;
			sj.ends = begin_exchange(edcaf, false, start);
			hand_over();
			return;
		}
		sj_edca_finished(edcaf, answered[i], next);
	}
	sj_edca_idle(now);
	hand_over();
}

/* Beacons are heard by all at once, and take no time on the air. */
static void beacon(struct sj_radio *radio, u64 now)
{
	struct ieee80211_mgmt *mgmt;
	struct sk_buff *skb;
	int i;

	radio->beacon_due = now + radio->beacon_ns;
	if (!radio->vif)
		return;
	skb = ieee80211_beacon_get(radio->hw, radio->vif, 0);
	if (!skb)
		return;
	mgmt = (void *)skb->data;
	mgmt->u.beacon.timestamp = cpu_to_le64(now / 1000);
	for (i = 0; i < sj.count; i++)
		if (i != radio->number)
			sj_deliver(sj.radios[i], radio, skb, sj_basic_rate);
	dev_kfree_skb_any(skb);
	hand_over();
}

static bool beacons(u64 due)
{
	int i;

	for (i = 0; i < sj.count; i++) {
		if (sj.radios[i]->beacon_ns && sj.radios[i]->beacon_due <= due) {
			beacon(sj.radios[i], due);
			return true;
		}
	}
	return false;
}

/* Does all that is due, in the order of its time. */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	u64 now = ktime_get_ns(), due;

	rcu_read_lock();
	spin_lock_bh(&sj.lock);
	sj.programmed = U64_MAX;
	sj.running = true;
	while ((due = next_due()) <= now) {
		if (beacons(due))
			continue;
		if (sj.busy)
			end(due);
		else
			transmit(due);
	}
	sj.running = false;
	set_timer(due);
	spin_unlock_bh(&sj.lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

void sj_medium_init(void)
{
	spin_lock_init(&sj.lock);
	hrtimer_init(&sj.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	sj.timer.function = tick;
	sj.programmed = U64_MAX;
}
