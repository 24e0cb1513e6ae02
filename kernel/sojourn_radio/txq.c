// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is pulled when: from mac80211's TXQs in the order of its airtime
 * scheduler, or, as drivers did before there were TXQs, through a FIFO.
 */
#include "radio.h"

static bool has_more(const struct sj_txq *queue)
{
	return queue->held || !skb_queue_empty(&queue->retries);
}

static struct ieee80211_txq *txq_of(struct sj_txq *queue)
{
	return container_of((void *)queue, struct ieee80211_txq, drv_priv);
}

/* A TXQ of which the driver has something takes part in the round. */
static void join_round(struct sj_radio *radio, struct ieee80211_txq *txq)
{
	struct sj_txq *queue = sj_txq(txq);

	if (list_empty(&queue->turn) && (has_more(queue) || !skb_queue_empty(&queue->fifo)))
		list_add_tail(&queue->turn, &radio->edcafs[txq->ac].round);
}

/* A new frame, or %NULL. */
struct sk_buff *sj_pull(struct sj_radio *radio, struct ieee80211_txq *txq)
{
	return radio->fifo ? __skb_dequeue(&sj_txq(txq)->fifo) :
			 ieee80211_tx_dequeue(radio->hw, txq);
}

/*
 * Something of the TXQ came back, to be sent again: it must be looked at even
 * if mac80211 has no frame of it.
 */
void sj_txq_again(struct sj_radio *radio, struct ieee80211_txq *txq)
{
	join_round(radio, txq);
	if (!radio->fifo && has_more(sj_txq(txq)))
		ieee80211_schedule_txq(radio->hw, txq);
}

/*
 * AQL counts what the driver holds as pending, and may let nothing more of its
 * TXQ go, nor, if there is much of it, of any other. If nothing else is pending
 * of the TXQ, or, with @all, of the access category, nothing will ever end: so
 * it goes without being asked for, as hardware sends a frame again. The frames
 * of one such TXQ become a burst; whether there was one.
 */
static bool fill_held(struct sj_edcaf *edcaf, bool all)
{
	struct sj_radio *radio = edcaf->radio;
	struct sj_txq *queue, *next;

	list_for_each_entry_safe(queue, next, &edcaf->round, turn) {
		struct ieee80211_txq *txq = txq_of(queue);

		if (!has_more(queue)) {
			list_del_init(&queue->turn);
		} else if (!queue->bursts &&
			   (all || !ieee80211_txq_airtime_check(radio->hw, txq)) &&
			   sj_burst_build(radio, txq)) {
			list_move_tail(&queue->turn, &edcaf->round);
			return true;
		}
	}
	return false;
}

static bool fill_round(struct sj_edcaf *edcaf)
{
	struct sj_radio *radio = edcaf->radio;
	struct ieee80211_txq *txq;
	bool built = fill_held(edcaf, false);

	ieee80211_txq_schedule_start(radio->hw, edcaf->ac);
	while (edcaf->pulled < sj_hardware_queue &&
	       (txq = ieee80211_next_txq(radio->hw, edcaf->ac))) {
		built |= sj_burst_build(radio, txq);
		join_round(radio, txq);
		ieee80211_return_txq(radio->hw, txq, has_more(sj_txq(txq)));
	}
	ieee80211_txq_schedule_end(radio->hw, edcaf->ac);
	return built || (!edcaf->pulled && fill_held(edcaf, true));
}

static bool fill_fifo(struct sj_edcaf *edcaf)
{
	struct sj_txq *queue;
	struct ieee80211_txq *txq;
	bool built;

	queue = list_first_entry_or_null(&edcaf->round, struct sj_txq, turn);
	if (!queue)
		return false;
	list_del_init(&queue->turn);
	txq = txq_of(queue);
	built = sj_burst_build(edcaf->radio, txq);
	if (built)
		join_round(edcaf->radio, txq);
	return true;
}

/* Bursts are built until the hardware queue is full or nothing may be sent. */
void sj_fill(struct sj_edcaf *edcaf)
{
	if (!edcaf->radio->started)
		return;
	while (edcaf->pulled < sj_hardware_queue)
		if (!(edcaf->radio->fifo ? fill_fifo(edcaf) : fill_round(edcaf)))
			break;
}

/*
 * FIFO mode with back pressure: the device's queue is stopped while the FIFO
 * of any access category is full; mac80211 gives a device only one.
 */
static void set_pressure(struct sj_radio *radio)
{
	bool full = false;
	int ac;

	if (!sj_backpressure || !radio->fifo || !radio->vif)
		return;
	for (ac = 0; ac < IEEE80211_NUM_ACS; ac++)
		full |= radio->edcafs[ac].frames >= radio->fifo;
	if (full == radio->stopped)
		return;
	radio->stopped = full;
	if (full)
		netif_stop_queue(ieee80211_vif_to_wdev(radio->vif)->netdev);
	else
		netif_wake_queue(ieee80211_vif_to_wdev(radio->vif)->netdev);
}

/* FIFO mode: a frame has left the driver. */
void sj_frame_left(struct sj_edcaf *edcaf)
{
	if (!edcaf->radio->fifo)
		return;
	edcaf->frames--;
	set_pressure(edcaf->radio);
}

/* FIFO mode: all that mac80211 has comes into the driver at once. */
static void drain(struct sj_edcaf *edcaf, struct ieee80211_txq *txq)
{
	struct sj_radio *radio = edcaf->radio;
	struct sj_txq *queue = sj_txq_ready(txq);
	struct sk_buff *skb;

	while ((skb = ieee80211_tx_dequeue(radio->hw, txq))) {
		if (edcaf->frames >= radio->fifo && !sj_backpressure) {
			int to = queue->to == SJ_NOBODY ? radio->number : queue->to;

			sj_link(radio->number, to)->stats[edcaf->ac].dropped++;
			ieee80211_free_txskb(radio->hw, skb);
			continue;
		}
		edcaf->frames++;
		__skb_queue_tail(&queue->fifo, skb);
	}
	set_pressure(radio);
	join_round(radio, txq);
}

/* mac80211 has something in a TXQ. */
void sj_wake_tx_queue(struct ieee80211_hw *hw, struct ieee80211_txq *txq)
{
	struct sj_radio *radio = *(struct sj_radio **)hw->priv;
	struct sj_edcaf *edcaf = &radio->edcafs[txq->ac];

	spin_lock_bh(&sj.lock);
	if (radio->fifo)
		drain(edcaf, txq);
	if (edcaf->pulled < sj_hardware_queue) {
		sj_fill(edcaf);
		sj_contend(edcaf);
	}
	spin_unlock_bh(&sj.lock);
}

/* The TXQ goes: nothing of it is left in the driver but what is on the air. */
void sj_txq_purge(struct sj_radio *radio, struct ieee80211_txq *txq)
{
	struct sj_edcaf *edcaf = &radio->edcafs[txq->ac];
	struct sj_txq *queue = sj_txq_ready(txq);
	struct sj_burst *burst, *next;
	struct sk_buff *skb;

	list_for_each_entry_safe(burst, next, &edcaf->queue, list) {
		if (burst->txq != txq)
			continue;
		if (burst->on_air)
			burst->txq = NULL;
		else
			sj_burst_drop(radio, burst);
	}
	if (edcaf->state == SJ_WAITING && list_empty(&edcaf->queue))
		edcaf->state = SJ_IDLE;
	list_del_init(&queue->turn);
	if (queue->held)
		__skb_queue_tail(&queue->retries, queue->held);
	queue->held = NULL;
	skb_queue_splice_tail_init(&queue->fifo, &queue->retries);
	while ((skb = __skb_dequeue(&queue->retries))) {
		sj_frame_left(edcaf);
		ieee80211_free_txskb(radio->hw, skb);
	}
	queue->bursts = 0;
}
