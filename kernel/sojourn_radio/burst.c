// SPDX-License-Identifier: GPL-2.0-only
/*
 * From frames to bursts, and what becomes of them: BUILD_AGGREGATE, the block
 * ack, frames to be sent again, frames given up, statuses for mac80211.
 *
 * Invariant: a frame is in exactly one place: mac80211's TXQ, sj_txq.fifo,
 * sj_txq.held, sj_txq.retries, a burst, or sj_radio.status.
 */
#include <linux/slab.h>

#include "radio.h"

/* What is sent at the basic rate: all but data of users for one receiver. */
static bool is_basic(const struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const void *)skb->data;
	const struct ieee80211_tx_info *info = IEEE80211_SKB_CB((struct sk_buff *)skb);

	return !ieee80211_is_data_present(hdr->frame_control) ||
	       is_multicast_ether_addr(hdr->addr1) ||
	       info->flags & IEEE80211_TX_CTL_USE_MINRATE ||
	       info->control.flags & IEEE80211_TX_CTRL_PORT_CTRL_PROTO;
}

/* Once for each frame, before anything of tx_info's control part is written. */
static void begin_frame(struct sk_buff *skb, u64 now)
{
	const struct ieee80211_hdr *hdr = (const void *)skb->data;
	bool basic = is_basic(skb);
	struct sj_frame *frame = sj_frame(skb);

	frame->pulled_ns = now;
	frame->sequence = IEEE80211_SEQ_TO_SN(le16_to_cpu(hdr->seq_ctrl));
	frame->sent = 0;
	frame->ampdu = !basic && IEEE80211_SKB_CB(skb)->flags & IEEE80211_TX_CTL_AMPDU;
	frame->basic = basic;
}

static struct sj_rate from_mac80211(const struct ieee80211_tx_rate *rate)
{
	struct sj_rate found = sj_basic_rate;

	if (rate->flags & IEEE80211_TX_RC_VHT_MCS) {
		found.format = SJ_VHT;
		found.mcs = ieee80211_rate_get_vht_mcs(rate);
		found.nss = ieee80211_rate_get_vht_nss(rate);
	} else if (rate->flags & IEEE80211_TX_RC_MCS) {
		found.format = SJ_HT;
		found.mcs = rate->idx;
		found.nss = rate->idx / 8 + 1;
	} else {
		if (rate->idx >= 0 && rate->idx < ARRAY_SIZE(sj_legacy))
			found.mcs = sj_legacy[rate->idx];
		return found;
	}
	if (rate->flags & IEEE80211_TX_RC_80_MHZ_WIDTH)
		found.width = SJ_80MHZ;
	else if (rate->flags & IEEE80211_TX_RC_40_MHZ_WIDTH)
		found.width = SJ_40MHZ;
	found.sgi = !!(rate->flags & IEEE80211_TX_RC_SHORT_GI);
	return sj_rate_valid(found) ? found : sj_basic_rate;
}

static void to_mac80211(struct ieee80211_tx_rate *told, struct sj_rate rate, u8 count)
{
	memset(told, 0, sizeof(*told));
	told->count = count;
	switch (rate.format) {
	case SJ_VHT:
		ieee80211_rate_set_vht(told, rate.mcs, rate.nss);
		told->flags = IEEE80211_TX_RC_VHT_MCS;
		break;
	case SJ_HT:
		told->idx = rate.mcs;
		told->flags = IEEE80211_TX_RC_MCS;
		break;
	default:
		told->idx = sj_legacy_index(rate.mcs);
		return;
	}
	if (rate.width == SJ_80MHZ)
		told->flags |= IEEE80211_TX_RC_80_MHZ_WIDTH;
	else if (rate.width == SJ_40MHZ)
		told->flags |= IEEE80211_TX_RC_40_MHZ_WIDTH;
	if (rate.sgi)
		told->flags |= IEEE80211_TX_RC_SHORT_GI;
}

/* The rate of the next transmission of @skb, which leads a burst. */
static struct sj_rate rate_of(struct sj_radio *radio, int to, struct sk_buff *skb)
{
	const struct ieee80211_tx_rate *rates = IEEE80211_SKB_CB(skb)->driver_rates;
	unsigned int tried = 0;
	int i;

	if (sj_frame(skb)->basic || to == SJ_NOBODY)
		return sj_basic_rate;
	if (!sj_minstrel)
		return sj_link(radio->number, to)->rate;
	/* The chain of rates that minstrel set, the last of them for all that follow. */
	for (i = 0; i < IEEE80211_TX_MAX_RATES - 1; i++) {
		tried += rates[i].count;
		if (sj_frame(skb)->sent < tried || rates[i + 1].idx < 0)
			break;
	}
	return from_mac80211(&rates[i]);
}

/* How long the burst takes, from its frames and rate. */
static void set_times(struct sj_radio *radio, struct sj_burst *burst)
{
	enum sj_band band = sj_band(radio);
	u32 psdu = 0;
	int i;

	if (burst->count == 1)
		psdu = sj_single_bytes(burst->rate, sj_mpdu_bytes(burst->frames[0]));
	else
		for (i = 0; i < burst->count; i++)
			psdu = sj_ampdu_bytes(psdu, sj_mpdu_bytes(burst->frames[i]));
	burst->ppdu_ns = sj_ppdu_ns(burst->rate, psdu, band);
	burst->answer_ns = burst->group ? 0 :
		sj_sifs_ns(band) + sj_answer_ns(burst->rate, burst->count > 1, band);
}

static void enqueue(struct sj_radio *radio, struct sj_burst *burst, int ac)
{
	burst->ac = ac;
	set_times(radio, burst);
	list_add_tail(&burst->list, &radio->edcafs[ac].queue);
}

/* A frame that comes without a TXQ becomes a burst at once. */
void sj_burst_single(struct sj_radio *radio, struct sk_buff *skb, u64 now)
{
	const struct ieee80211_hdr *hdr = (const void *)skb->data;
	int ac = skb_get_queue_mapping(skb) & 3;
	struct sj_burst *burst = kzalloc(sizeof(*burst), GFP_ATOMIC);

	if (!burst) {
		ieee80211_free_txskb(radio->hw, skb);
		return;
	}
	begin_frame(skb, now);
	/* It has no window to be sent again in. */
	sj_frame(skb)->ampdu = false;
	burst->group = is_multicast_ether_addr(hdr->addr1);
	burst->to = burst->group ? SJ_NOBODY : sj_radio_with(hdr->addr1);
	burst->basic = sj_frame(skb)->basic;
	burst->tid = ieee80211_is_data_qos(hdr->frame_control) ?
		ieee80211_get_tid((struct ieee80211_hdr *)hdr) : 0;
	burst->rate = rate_of(radio, burst->to, skb);
	burst->frames[0] = skb;
	burst->count = 1;
	enqueue(radio, burst, ac);
}

/* The next frame of the TXQ: one to be sent again, the one held, or a new one. */
static struct sk_buff *next_frame(struct sj_radio *radio, struct ieee80211_txq *txq, u64 now)
{
	struct sj_txq *queue = sj_txq(txq);
	struct sk_buff *skb = skb_peek(&queue->retries);

	if (skb) {
		__skb_unlink(skb, &queue->retries);
		return skb;
	}
	if (!sj_window_is_open(queue))
		return NULL;
	skb = queue->held;
	queue->held = NULL;
	if (!skb) {
		skb = sj_pull(radio, txq);
		if (skb)
			begin_frame(skb, now);
	}
	return skb;
}

/* Puts back what next_frame() gave, as it was. */
static void put_back(struct sj_txq *queue, struct sk_buff *skb)
{
	if (sj_frame(skb)->sent)
		__skb_queue_head(&queue->retries, skb);
	else
		queue->held = skb;
}

/*
 * Builds one burst of a TXQ: frames to be sent again, then new ones, as many
 * as the limits let. Whether there was anything.
 *
 * mac80211 has no way to look at a frame without taking it. One that does not
 * fit is held for the next burst, so the limits are kept to the byte.
 */
bool sj_burst_build(struct sj_radio *radio, struct ieee80211_txq *txq)
{
	struct sj_txq *queue = sj_txq_ready(txq);
	unsigned int most = sj_aggregate_frames;
	enum sj_band band = sj_band(radio);
	u64 now = ktime_get_ns();
	u32 length = 0, longest = 0;
	struct sj_burst *burst;
	struct sk_buff *skb;

	burst = kmalloc(sizeof(*burst), GFP_ATOMIC);
	if (!burst)
		return false;
	memset(burst, 0, offsetof(struct sj_burst, frames));
	while (burst->count < most) {
		struct sj_frame *frame;
		u32 with;

		skb = next_frame(radio, txq, now);
		if (!skb)
			break;
		frame = sj_frame(skb);
		with = sj_ampdu_bytes(length, sj_mpdu_bytes(skb));
		if (frame->ampdu && !frame->sent && !sj_window_admits(queue, frame->sequence)) {
			put_back(queue, skb);
			break;
		}
		if (burst->count && (!frame->ampdu || with > longest)) {
			put_back(queue, skb);
			break;
		}
		if (!burst->count) {
			burst->group = !txq->sta;
			burst->to = queue->to;
			burst->basic = frame->basic;
			burst->rate = rate_of(radio, burst->to, skb);
			if (!frame->ampdu || burst->rate.format == SJ_LEGACY)
				most = 1;
			else
				longest = sj_psdu_within(burst->rate, sj_aggregate_bytes,
							 sj_aggregate_us * 1000, band);
		}
		if (frame->ampdu && !frame->sent)
			sj_window_assign(queue, frame->sequence);
		burst->frames[burst->count++] = skb;
		length = with;
	}
	if (!burst->count) {
		kfree(burst);
		return false;
	}
	burst->txq = txq;
	burst->pulled = true;
	burst->tid = txq->tid;
	queue->bursts++;
	radio->edcafs[txq->ac].pulled++;
	enqueue(radio, burst, txq->ac);
	return true;
}

/* A frame is done with: its tx_info becomes a status, with the last rate. */
static void frame_gone(struct sj_radio *radio, struct sk_buff *skb, struct sj_rate rate,
		       bool arrived)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	u8 sent = sj_frame(skb)->sent;
	int i;

	ieee80211_tx_info_clear_status(info);
	to_mac80211(&info->status.rates[0], rate, sent);
	for (i = 1; i < IEEE80211_TX_MAX_RATES; i++)
		info->status.rates[i].idx = -1;
	if (arrived)
		info->flags |= info->flags & IEEE80211_TX_CTL_NO_ACK ?
			IEEE80211_TX_STAT_NOACK_TRANSMITTED : IEEE80211_TX_STAT_ACK;
	__skb_queue_tail(&radio->status, skb);
}

/* Tells the receiver to wait no longer for frames before the window: a BlockAckReq. */
static void send_bar(struct sj_radio *radio, const u8 *from, const u8 *to_address,
		     int to, u8 tid, u16 start)
{
	struct sk_buff *skb = dev_alloc_skb(sizeof(struct ieee80211_bar));
	struct ieee80211_bar *bar;

	if (!skb)
		return;
	bar = skb_put_zero(skb, sizeof(*bar));
	bar->frame_control = cpu_to_le16(IEEE80211_FTYPE_CTL | IEEE80211_STYPE_BACK_REQ);
	ether_addr_copy(bar->ra, to_address);
	ether_addr_copy(bar->ta, from);
	bar->control = cpu_to_le16(IEEE80211_BAR_CTRL_CBMTID_COMPRESSED_BA |
				   tid << IEEE80211_BAR_CTRL_TID_INFO_SHIFT);
	bar->start_seq_num = cpu_to_le16(IEEE80211_SN_TO_SEQ(start));
	sj_deliver(sj.radios[to], radio, skb, sj_basic_rate);
	kfree_skb(skb);
}

static void deliver(struct sj_radio *radio, struct sj_burst *burst, struct sk_buff *skb)
{
	int i;

	if (!burst->group) {
		sj_deliver(sj.radios[burst->to], radio, skb, burst->rate);
		return;
	}
	for (i = 0; i < sj.count; i++)
		if (i != radio->number)
			sj_deliver(sj.radios[i], radio, skb, burst->rate);
}

/* One transmission of an aggregate, for minstrel: it takes no frame. */
static void tell_minstrel(struct sj_radio *radio, struct ieee80211_sta *sta,
			  struct sj_burst *burst)
{
	struct ieee80211_tx_info info = {};

	info.flags = IEEE80211_TX_CTL_AMPDU | IEEE80211_TX_STAT_AMPDU;
	if (burst->received)
		info.flags |= IEEE80211_TX_STAT_ACK;
	info.band = radio->channel->band;
	info.status.ampdu_len = burst->count;
	info.status.ampdu_ack_len = hweight64(burst->received);
	to_mac80211(&info.status.rates[0], burst->rate, 1);
	info.status.rates[1].idx = -1;
	ieee80211_tx_status_noskb(radio->hw, sta, &info);
}

/* Data go to a station, so let there be aggregates; of voice there are none, as with minstrel. */
static void start_session(struct ieee80211_txq *txq)
{
	if (txq->ac != IEEE80211_AC_VO && txq->sta->deflink.ht_cap.ht_supported &&
	    txq->tid < IEEE80211_FIRST_TSPEC_TSID)
		ieee80211_start_tx_ba_session(txq->sta, txq->tid, 0);
}

/*
 * The burst at the head of the queue was sent. What arrived goes to the
 * receiver, what did not is sent again or given up, and both sides' airtime is
 * charged. A frame outside of a block-ack session that failed stays at the
 * head, as hardware sends it again before any other.
 */
void sj_burst_complete(struct sj_edcaf *edcaf, struct sj_burst *burst, u64 now)
{
	struct sj_radio *radio = edcaf->radio;
	struct ieee80211_txq *txq = burst->txq;
	struct sj_txq *queue = txq ? sj_txq(txq) : NULL;
	struct ieee80211_sta *sta = txq ? txq->sta : NULL;
	u32 airtime_ns = burst->ppdu_ns + burst->answer_ns;
	struct sj_stats *stats = sj_stats(radio, burst);
	u8 from_address[ETH_ALEN], to_address[ETH_ALEN];
	bool ampdu = sj_frame(burst->frames[0])->ampdu;
	bool again = false;
	int i;

	stats->bursts++;
	stats->mpdus += burst->count;
	stats->airtime_ns += airtime_ns;
	stats->collisions += burst->collided;
	ether_addr_copy(to_address, ((struct ieee80211_hdr *)burst->frames[0]->data)->addr1);
	ether_addr_copy(from_address, ((struct ieee80211_hdr *)burst->frames[0]->data)->addr2);
	if (sta) {
		ieee80211_sta_register_airtime(sta, burst->tid, airtime_ns / 1000, 0);
		if (sj_minstrel && ampdu)
			tell_minstrel(radio, sta, burst);
	}
	if (sta && burst->received) {
		struct sj_radio *to = sj.radios[burst->to];
		struct ieee80211_sta *sender = to->vif ?
			ieee80211_find_sta_by_ifaddr(to->hw, from_address, to->vif->addr) : NULL;

		if (sender)
			ieee80211_sta_register_airtime(sender, burst->tid, 0, airtime_ns / 1000);
	}
	if (sta && burst->received && !sj_minstrel && !queue->ampdu && !burst->basic)
		start_session(txq);
	for (i = 0; i < burst->count; i++) {
		struct sk_buff *skb = burst->frames[i];
		struct sj_frame *frame = sj_frame(skb);
		struct ieee80211_hdr *hdr = (void *)skb->data;
		bool arrived = burst->received >> i & 1;

		frame->sent++;
		if (arrived) {
			stats->delivered++;
			stats->bytes += sj_mpdu_bytes(skb);
			stats->wait_ns += now - frame->pulled_ns;
			deliver(radio, burst, skb);
		} else if (!burst->group && frame->sent < sj_retries && (txq || !burst->pulled)) {
			stats->retried++;
			hdr->frame_control |= cpu_to_le16(IEEE80211_FCTL_RETRY);
			if (ampdu)
				sj_window_retry(queue, skb);
			else
				again = true;
			continue;
		} else {
			stats->dropped++;
		}
		if (ampdu && queue)
			sj_window_settle(queue, frame->sequence, !arrived);
		if (burst->pulled)
			sj_frame_left(edcaf);
		frame_gone(radio, skb, burst->rate, arrived || burst->group);
	}
	if (again) {
		burst->received = 0;
		burst->collided = false;
		burst->on_air = false;
		burst->rate = rate_of(radio, burst->to, burst->frames[0]);
		set_times(radio, burst);
		return;
	}
	list_del(&burst->list);
	if (burst->pulled)
		edcaf->pulled--;
	if (queue) {
		queue->bursts--;
		if (ampdu && sj_window_advance(queue) && burst->to != SJ_NOBODY)
			send_bar(radio, from_address, to_address, burst->to, burst->tid,
				 queue->start);
		sj_txq_again(radio, txq);
	}
	kfree(burst);
}

/* Gives up all of a burst that is not on the air. */
void sj_burst_drop(struct sj_radio *radio, struct sj_burst *burst)
{
	int i;

	for (i = 0; i < burst->count; i++) {
		if (burst->pulled)
			sj_frame_left(&radio->edcafs[burst->ac]);
		ieee80211_free_txskb(radio->hw, burst->frames[i]);
	}
	if (burst->pulled)
		radio->edcafs[burst->ac].pulled--;
	list_del(&burst->list);
	kfree(burst);
}
