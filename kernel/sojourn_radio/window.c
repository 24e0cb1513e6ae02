// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sender's side of a block-ack session: its window, and the frames to be
 * sent again.
 *
 * Invariant: all numbers from start to next - 1 are less than 64 ahead of
 * start, and those that are not settled are in a burst or in retries.
 * Source: IEEE 802.11-2020 section 10.25.6.3.
 */
#include "radio.h"

/* How far one number is ahead of another; they are taken modulo 4096. */
static u16 ahead(u16 sequence, u16 start)
{
	return (u16)(sequence - start) % SJ_SEQUENCES;
}

/* The driver's part of @txq, set up when it is first asked for. */
struct sj_txq *sj_txq_ready(struct ieee80211_txq *txq)
{
	struct sj_txq *queue = sj_txq(txq);

	if (!queue->ready) {
		queue->ready = true;
		queue->to = txq->sta ? sj_radio_with(txq->sta->addr) : SJ_NOBODY;
		queue->buffer = SJ_AMPDU_FRAMES;
		__skb_queue_head_init(&queue->retries);
		__skb_queue_head_init(&queue->fifo);
		INIT_LIST_HEAD(&queue->turn);
	}
	return queue;
}

/* Whether one more new frame may be sent. */
bool sj_window_is_open(const struct sj_txq *queue)
{
	return ahead(queue->next, queue->start) < queue->buffer;
}

/* Whether the new frame of this number may be sent. */
bool sj_window_admits(const struct sj_txq *queue, u16 sequence)
{
	return queue->start == queue->next ||
	       ahead(sequence, queue->start) < queue->buffer;
}

/*
 * A new frame is sent. Numbers that it leaves out were sent outside of the
 * session, and need no answer.
 */
void sj_window_assign(struct sj_txq *queue, u16 sequence)
{
	if (queue->start == queue->next) {
		queue->start = sequence;
		queue->settled = queue->given_up = 0;
	} else if (ahead(sequence, queue->start) > ahead(queue->next, queue->start)) {
		u16 skipped;

		for (skipped = queue->next; skipped != sequence;
		     skipped = (skipped + 1) % SJ_SEQUENCES)
			queue->settled |= BIT_ULL(ahead(skipped, queue->start));
	}
	queue->next = (sequence + 1) % SJ_SEQUENCES;
}

/* The frame of this number arrived, or will not be sent again. */
void sj_window_settle(struct sj_txq *queue, u16 sequence, bool given_up)
{
	u16 offset = ahead(sequence, queue->start);

	if (offset >= SJ_AMPDU_FRAMES)
		return;
	queue->settled |= BIT_ULL(offset);
	if (given_up)
		queue->given_up |= BIT_ULL(offset);
}

/*
 * Moves the window over the settled frames at its start. Whether it went over
 * one that was given up: the receiver waits for that one until it is told.
 */
bool sj_window_advance(struct sj_txq *queue)
{
	bool missed = false;

	while (queue->start != queue->next && queue->settled & 1) {
		missed |= queue->given_up & 1;
		queue->settled >>= 1;
		queue->given_up >>= 1;
		queue->start = (queue->start + 1) % SJ_SEQUENCES;
	}
	return missed;
}

/* The frame is to be sent again; it takes its place by number. */
void sj_window_retry(struct sj_txq *queue, struct sk_buff *skb)
{
	u16 offset = ahead(sj_frame(skb)->sequence, queue->start);
	struct sk_buff *before;

	skb_queue_reverse_walk(&queue->retries, before) {
		if (ahead(sj_frame(before)->sequence, queue->start) < offset)
			break;
	}
	/* Behind @before, which is the list's head if all come later. */
	__skb_queue_after(&queue->retries, before, skb);
}
