/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Radios, bursts and the medium: what the parts of the driver share.
 *
 * One lock, sj_medium.lock, is over all of it. It is not held while frames or
 * statuses are handed to mac80211, because that comes back into the driver.
 */
#ifndef SOJOURN_RADIO_H
#define SOJOURN_RADIO_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <net/mac80211.h>

#include "airtime.h"

#define SJ_RADIOS 64
#define SJ_NOBODY (-1)
#define SJ_SEQUENCES 4096

struct sj_rng {
	u64 state;
};

/**
 * struct sj_stats - what is counted for one sender, receiver and access category
 * @bursts: PPDUs
 * @mpdus: MPDUs in them, those sent again included
 * @delivered: MPDUs that arrived
 * @retried: MPDUs that did not arrive and were sent again
 * @dropped: MPDUs that were given up, or found the driver's FIFO full
 * @bytes: of the MPDUs that arrived, with header and FCS
 * @airtime_ns: PPDUs, SIFS and answers; answers that did not come as well
 * @wait_ns: of the MPDUs that arrived, from the pull to the burst's end
 * @collisions: PPDUs that collided
 */
struct sj_stats {
	u64 bursts, mpdus, delivered, retried, dropped, bytes;
	u64 airtime_ns, wait_ns, collisions;
};

/**
 * struct sj_link - one direction between two radios
 * @rate: what data is sent at
 * @error: an MPDU is lost if a number drawn is below, in units of 2^-32
 * @rng: draws for @error
 * @stats: by access category
 */
struct sj_link {
	struct sj_rate rate;
	u32 error;
	struct sj_rng rng;
	struct sj_stats stats[IEEE80211_NUM_ACS];
};

/**
 * struct sj_txq - the driver's part of a TXQ, that is of one TID of one peer
 * @ready: this has been set up
 * @to: the peer's radio
 * @ampdu: there is a block-ack session
 * @buffer: frames that its receiver reorders
 * @start: the oldest sequence number that is neither acknowledged nor given up
 * @next: that of the next new frame; equal to @start if all are settled
 * @settled: bit i: frame @start + i is acknowledged or given up
 * @given_up: bit i: frame @start + i is given up
 * @retries: frames to be sent again, by sequence number
 * @held: a frame that was pulled and did not fit into the burst
 * @fifo: in FIFO mode: frames that wait
 * @turn: place in the round
 * @bursts: in the hardware queue
 */
struct sj_txq {
	bool ready;
	int to;
	bool ampdu;
	u16 buffer;
	u16 start, next;
	u64 settled, given_up;
	struct sk_buff_head retries;
	struct sk_buff *held;
	struct sk_buff_head fifo;
	struct list_head turn;
	unsigned int bursts;
};

/* What the driver keeps in a frame, behind the rates of its tx_info. */
struct sj_frame {
	u64 pulled_ns;
	u16 sequence;
	u8 sent;
	bool ampdu;
	bool basic;
};

/**
 * struct sj_burst - what is sent at one transmit opportunity
 * @list: place in the hardware queue
 * @txq: where its frames came from; %NULL for frames without a queue, and
 *	when the station has gone
 * @to: the receiver's radio, or %SJ_NOBODY
 * @pulled: its frames came from a TXQ
 * @group: sent to all, and not answered
 * @basic: sent at the basic rate, and lost only in collisions
 * @on_air: it is being sent
 * @ac: whose queue it is in
 * @tid: of all frames
 * @frames: of one peer and TID, by sequence number
 * @count: at least one
 * @rate: of the PPDU
 * @ppdu_ns: the PPDU
 * @answer_ns: SIFS and answer
 * @received: bit i: frame i will arrive; once it is on the air
 * @collided: with others
 */
struct sj_burst {
	struct list_head list;
	struct ieee80211_txq *txq;
	int to;
	bool pulled, group, basic, on_air;
	u8 ac;
	u8 tid;
	u8 count;
	struct sj_rate rate;
	u32 ppdu_ns, answer_ns;
	u64 received;
	bool collided;
	struct sk_buff *frames[SJ_AMPDU_FRAMES];
};

enum sj_state { SJ_IDLE, SJ_WAITING, SJ_TRANSMITTING };

/**
 * struct sj_edca - how an access category contends
 * @aifsn: slots after SIFS
 * @cw_min: contention window at first
 * @cw_max: and at most
 * @txop_ns: how long it may go on once it has won; 0: one exchange
 */
struct sj_edca {
	u8 aifsn;
	u16 cw_min, cw_max;
	u32 txop_ns;
};

/**
 * struct sj_edcaf - one access category of one radio: contention and queue
 * @radio: whose it is
 * @ac: as mac80211 counts: voice is 0, background is 3
 * @edca: its parameters
 * @pinned: they were set through debugfs, and mac80211 does not change them
 * @cw: contention window now
 * @failures: transmissions in a row that were not answered
 * @state: what it does
 * @clock: slot boundaries that it has seen
 * @zero_at: reading of @clock at which its counter is zero
 * @queue: bursts; the first is on the air or about to be
 * @pulled: bursts in @queue that came from TXQs
 * @round: TXQs of which the driver has something to send
 * @frames: FIFO mode: frames in the driver
 */
struct sj_edcaf {
	struct sj_radio *radio;
	u8 ac;
	struct sj_edca edca;
	bool pinned;
	u16 cw;
	unsigned int failures;
	enum sj_state state;
	u64 clock, zero_at;
	struct list_head queue;
	unsigned int pulled;
	struct list_head round;
	unsigned int frames;
};

/**
 * struct sj_radio - one radio, which is one wiphy
 * @hw: mac80211's
 * @number: phy0 is 0
 * @fifo: frames of its FIFO in each access category; 0: it pulls from TXQs
 * @started: mac80211 uses it
 * @vif: its interface, one at most
 * @channel: that it is on
 * @sequence: of frames to which mac80211 gives no sequence number
 * @beacon_ns: beacon interval; 0: it sends none
 * @beacon_due: when the next one is due
 * @backoff: draws backoffs
 * @edcafs: by access category
 * @stopped: FIFO mode with back pressure: the device's queue is stopped
 * @status: frames that are done with, their tx_info being a status
 * @arrived: frames for it, with an rx_status
 */
struct sj_radio {
	struct ieee80211_hw *hw;
	int number;
	unsigned int fifo;
	bool started;
	struct ieee80211_vif *vif;
	struct ieee80211_channel *channel;
	u16 sequence;
	u64 beacon_ns, beacon_due;
	struct sj_rng backoff;
	struct sj_edcaf edcafs[IEEE80211_NUM_ACS];
	bool stopped;
	struct sk_buff_head status, arrived;
	struct ieee80211_channel channels_5ghz[8], channels_2ghz[3];
	struct ieee80211_rate bitrates[8];
	struct ieee80211_supported_band bands[2];
};

/**
 * struct sj_medium - the channel, and all radios on it
 * @lock: over everything
 * @timer: for whatever is due next
 * @programmed: when @timer fires; U64_MAX: it does not
 * @running: @timer's function runs, and sets it at its end
 * @busy: something is on the air
 * @idle_since: if not @busy: since when
 * @passed: slot boundaries since then
 * @began: when what is on the air began
 * @ends: and ends
 * @txop_ends: when the TXOP of who transmits ends
 * @on_air: access categories that transmit
 * @on_air_count: how many
 * @busy_ns: time on the air since @counted_since
 * @counted_since: when counting began
 * @collisions: PPDUs that collided
 * @internal_collisions: how often a radio could have begun with two categories
 * @radios: by number
 * @count: how many
 * @stride: how many there will be
 * @links: from radio i to radio j at i * @stride + j
 */
struct sj_medium {
	spinlock_t lock;
	struct hrtimer timer;
	u64 programmed;
	bool running;
	bool busy;
	u64 idle_since, passed;
	u64 began, ends, txop_ends;
	struct sj_edcaf *on_air[SJ_RADIOS];
	int on_air_count;
	u64 busy_ns, counted_since, collisions, internal_collisions;
	struct sj_radio *radios[SJ_RADIOS];
	int count, stride;
	struct sj_link *links;
};

extern struct sj_medium sj;

/* Parameters: main.c */
extern bool sj_aql, sj_fairness, sj_minstrel, sj_backpressure;
extern unsigned long long sj_seed;
extern unsigned int sj_fifo, sj_station_fifo, sj_hardware_queue, sj_aggregate_frames;
extern unsigned int sj_aggregate_us, sj_aggregate_bytes, sj_retries;

static inline struct sj_frame *sj_frame(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct sj_frame) >
		     IEEE80211_TX_INFO_RATE_DRIVER_DATA_SIZE);
	return (void *)IEEE80211_SKB_CB(skb)->rate_driver_data;
}

static inline u32 sj_mpdu_bytes(const struct sk_buff *skb)
{
	return skb->len + FCS_LEN;
}

static inline struct sj_txq *sj_txq(struct ieee80211_txq *txq)
{
	return (void *)txq->drv_priv;
}

static inline struct sj_burst *sj_head(struct sj_edcaf *edcaf)
{
	return list_first_entry_or_null(&edcaf->queue, struct sj_burst, list);
}

/* link.c: links, their rates and errors, and random numbers */
void sj_rng_seed(struct sj_rng *rng, u32 kind, u32 number);
u32 sj_rng_draw(struct sj_rng *rng);
int sj_links_init(int radios);
struct sj_link *sj_link(int from, int to);
struct sj_stats *sj_stats(struct sj_radio *from, struct sj_burst *burst);
int sj_radio_with(const u8 *address);
enum sj_band sj_band(const struct sj_radio *radio);
int sj_link_set(char *line);
extern const struct sj_rate sj_basic_rate;
extern const u8 sj_legacy[8];
u8 sj_legacy_index(u8 mcs);
int sj_rate_print(char *text, size_t size, struct sj_rate rate);

/* edca.c: who transmits when */
void sj_edca_init(struct sj_radio *radio);
void sj_edca_set(struct sj_edcaf *edcaf, const struct sj_edca *edca);
void sj_edca_wants(struct sj_edcaf *edcaf, u64 now);
bool sj_edca_due(u64 *due);
void sj_edca_transmit(void);
void sj_edca_finished(struct sj_edcaf *edcaf, bool answered, bool more);
void sj_edca_idle(u64 now);

/* window.c: the sender's side of a block-ack session */
struct sj_txq *sj_txq_ready(struct ieee80211_txq *txq);
bool sj_window_is_open(const struct sj_txq *queue);
bool sj_window_admits(const struct sj_txq *queue, u16 sequence);
void sj_window_assign(struct sj_txq *queue, u16 sequence);
void sj_window_settle(struct sj_txq *queue, u16 sequence, bool given_up);
bool sj_window_advance(struct sj_txq *queue);
void sj_window_retry(struct sj_txq *queue, struct sk_buff *skb);

/* burst.c: from frames to bursts, and what becomes of them */
bool sj_burst_build(struct sj_radio *radio, struct ieee80211_txq *txq);
void sj_burst_single(struct sj_radio *radio, struct sk_buff *skb, u64 now);
void sj_burst_complete(struct sj_edcaf *edcaf, struct sj_burst *burst, u64 now);
void sj_burst_drop(struct sj_radio *radio, struct sj_burst *burst);

/* txq.c: what is pulled when */
struct sk_buff *sj_pull(struct sj_radio *radio, struct ieee80211_txq *txq);
void sj_fill(struct sj_edcaf *edcaf);
void sj_wake_tx_queue(struct ieee80211_hw *hw, struct ieee80211_txq *txq);
void sj_txq_again(struct sj_radio *radio, struct ieee80211_txq *txq);
void sj_txq_purge(struct sj_radio *radio, struct ieee80211_txq *txq);
void sj_frame_left(struct sj_edcaf *edcaf);

/* medium.c: what is on the air */
void sj_medium_init(void);
void sj_contend(struct sj_edcaf *edcaf);
void sj_beacon(struct sj_radio *radio, u64 interval_ns);
void sj_deliver(struct sj_radio *to, struct sj_radio *from, struct sk_buff *skb,
		struct sj_rate rate);

/* ops.c, debug.c */
extern const struct ieee80211_ops sj_ops;
void sj_debug_init(void);

#endif
