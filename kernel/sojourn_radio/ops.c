// SPDX-License-Identifier: GPL-2.0-only
/*
 * What mac80211 asks of a radio.
 */
#include "radio.h"

static struct sj_radio *radio_of(struct ieee80211_hw *hw)
{
	return *(struct sj_radio **)hw->priv;
}

/* Frames without a TXQ: management, control. */
static void sj_tx(struct ieee80211_hw *hw, struct ieee80211_tx_control *control,
		  struct sk_buff *skb)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	struct ieee80211_hdr *hdr = (void *)skb->data;
	struct sj_radio *radio = radio_of(hw);
	struct sj_edcaf *edcaf = &radio->edcafs[skb_get_queue_mapping(skb) & 3];

	spin_lock_bh(&sj.lock);
	if (!radio->started || !radio->channel || skb->len < 10) {
		ieee80211_free_txskb(hw, skb);
		goto out;
	}
	if (info->flags & IEEE80211_TX_CTL_ASSIGN_SEQ) {
		radio->sequence = (radio->sequence + 1) % SJ_SEQUENCES;
		hdr->seq_ctrl &= cpu_to_le16(IEEE80211_SCTL_FRAG);
		hdr->seq_ctrl |= cpu_to_le16(IEEE80211_SN_TO_SEQ(radio->sequence));
	}
	sj_burst_single(radio, skb, ktime_get_ns());
	sj_contend(edcaf);
out:
	spin_unlock_bh(&sj.lock);
}

static int sj_start(struct ieee80211_hw *hw)
{
	spin_lock_bh(&sj.lock);
	radio_of(hw)->started = true;
	spin_unlock_bh(&sj.lock);
	return 0;
}

/* What is not on the air is dropped; the rest ends by itself. */
static void sj_stop(struct ieee80211_hw *hw, bool suspend)
{
	struct sj_radio *radio = radio_of(hw);
	int ac;

	spin_lock_bh(&sj.lock);
	radio->started = false;
	radio->beacon_ns = 0;
	for (ac = 0; ac < IEEE80211_NUM_ACS; ac++) {
		struct sj_edcaf *edcaf = &radio->edcafs[ac];
		struct sj_burst *burst, *next;

		list_for_each_entry_safe(burst, next, &edcaf->queue, list)
			if (!burst->on_air)
				sj_burst_drop(radio, burst);
		if (edcaf->state == SJ_WAITING && list_empty(&edcaf->queue))
			edcaf->state = SJ_IDLE;
	}
	spin_unlock_bh(&sj.lock);
}

static int sj_add_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	struct sj_radio *radio = radio_of(hw);
	int i, result = 0;

	spin_lock_bh(&sj.lock);
	if (radio->vif && radio->vif != vif)
		result = -EBUSY;
	else
		radio->vif = vif;
	for (i = 0; i < IEEE80211_NUM_ACS; i++)
		vif->hw_queue[i] = i;
	spin_unlock_bh(&sj.lock);
	return result;
}

static void sj_remove_interface(struct ieee80211_hw *hw, struct ieee80211_vif *vif)
{
	struct sj_radio *radio = radio_of(hw);

	spin_lock_bh(&sj.lock);
	if (vif->txq)
		sj_txq_purge(radio, vif->txq);
	if (radio->vif == vif)
		radio->vif = NULL;
	radio->beacon_ns = 0;
	spin_unlock_bh(&sj.lock);
}

static int sj_config(struct ieee80211_hw *hw, u32 changed)
{
	struct sj_radio *radio = radio_of(hw);

	spin_lock_bh(&sj.lock);
	radio->channel = hw->conf.chandef.chan;
	spin_unlock_bh(&sj.lock);
	return 0;
}

static void sj_bss_info_changed(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
				struct ieee80211_bss_conf *info, u64 changed)
{
	if (!(changed & (BSS_CHANGED_BEACON_ENABLED | BSS_CHANGED_BEACON_INT)))
		return;
	if (vif->type != NL80211_IFTYPE_AP)
		return;
	spin_lock_bh(&sj.lock);
	/* A time unit is 1024 us. */
	sj_beacon(radio_of(hw), info->enable_beacon ? info->beacon_int * 1024000ULL : 0);
	spin_unlock_bh(&sj.lock);
}

/* Every radio hears everything for its address; mac80211 drops the rest. */
static void sj_configure_filter(struct ieee80211_hw *hw, unsigned int changed,
				unsigned int *total, u64 multicast)
{
	*total &= FIF_ALLMULTI | FIF_BCN_PRBRESP_PROMISC | FIF_CONTROL | FIF_PROBE_REQ;
}

/* There is no RTS; mac80211 asks this of every radio that has its own rate control. */
static int sj_set_rts_threshold(struct ieee80211_hw *hw, u32 value)
{
	return -EOPNOTSUPP;
}

static int sj_conf_tx(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
		      unsigned int link_id, u16 ac,
		      const struct ieee80211_tx_queue_params *params)
{
	struct sj_edcaf *edcaf = &radio_of(hw)->edcafs[ac];
	struct sj_edca edca = {
		.aifsn = params->aifs,
		.cw_min = params->cw_min,
		.cw_max = params->cw_max,
		/* In units of 32 us. */
		.txop_ns = params->txop * 32000,
	};

	spin_lock_bh(&sj.lock);
	if (!edcaf->pinned)
		sj_edca_set(edcaf, &edca);
	spin_unlock_bh(&sj.lock);
	return 0;
}

static int sj_sta_state(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
			struct ieee80211_sta *sta, enum ieee80211_sta_state old,
			enum ieee80211_sta_state new)
{
	int i;

	if (new != IEEE80211_STA_NOTEXIST)
		return 0;
	spin_lock_bh(&sj.lock);
	for (i = 0; i < ARRAY_SIZE(sta->txq); i++)
		if (sta->txq[i])
			sj_txq_purge(radio_of(hw), sta->txq[i]);
	spin_unlock_bh(&sj.lock);
	return 0;
}

static int sj_ampdu_action(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
			   struct ieee80211_ampdu_params *params)
{
	struct sj_txq *queue = sj_txq_ready(params->sta->txq[params->tid]);

	switch (params->action) {
	case IEEE80211_AMPDU_RX_START:
	case IEEE80211_AMPDU_RX_STOP:
		return 0;
	case IEEE80211_AMPDU_TX_START:
		return IEEE80211_AMPDU_TX_START_IMMEDIATE;
	case IEEE80211_AMPDU_TX_OPERATIONAL:
		spin_lock_bh(&sj.lock);
		queue->ampdu = true;
		queue->buffer = min_t(u16, params->buf_size, SJ_AMPDU_FRAMES);
		spin_unlock_bh(&sj.lock);
		return 0;
	case IEEE80211_AMPDU_TX_STOP_CONT:
	case IEEE80211_AMPDU_TX_STOP_FLUSH:
	case IEEE80211_AMPDU_TX_STOP_FLUSH_CONT:
		spin_lock_bh(&sj.lock);
		queue->ampdu = false;
		spin_unlock_bh(&sj.lock);
		if (params->action == IEEE80211_AMPDU_TX_STOP_CONT)
			ieee80211_stop_tx_ba_cb_irqsafe(vif, params->sta->addr, params->tid);
		return 0;
	}
	return -EOPNOTSUPP;
}

const struct ieee80211_ops sj_ops = {
	.add_chanctx = ieee80211_emulate_add_chanctx,
	.remove_chanctx = ieee80211_emulate_remove_chanctx,
	.change_chanctx = ieee80211_emulate_change_chanctx,
	.switch_vif_chanctx = ieee80211_emulate_switch_vif_chanctx,
	.tx = sj_tx,
	.wake_tx_queue = sj_wake_tx_queue,
	.start = sj_start,
	.stop = sj_stop,
	.add_interface = sj_add_interface,
	.remove_interface = sj_remove_interface,
	.config = sj_config,
	.bss_info_changed = sj_bss_info_changed,
	.configure_filter = sj_configure_filter,
	.set_rts_threshold = sj_set_rts_threshold,
	.conf_tx = sj_conf_tx,
	.sta_state = sj_sta_state,
	.ampdu_action = sj_ampdu_action,
};
