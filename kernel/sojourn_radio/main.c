// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sojourn's radios: IEEE 802.11a/g/n/ac radios without hardware that share one
 * medium, for measurements of mac80211's queues. This part has the parameters
 * and tells mac80211 what a radio can do. See README.md.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "radio.h"

struct sj_medium sj;

static unsigned int radios;
module_param(radios, uint, 0444);
MODULE_PARM_DESC(radios, "how many radios there are (0 to 64)");

unsigned long long sj_seed = 1;
module_param_named(seed, sj_seed, ullong, 0444);
MODULE_PARM_DESC(seed, "of backoffs and losses");

bool sj_aql = true;
module_param_named(aql, sj_aql, bool, 0444);
MODULE_PARM_DESC(aql, "announce airtime queue limits; not with a FIFO");

bool sj_fairness = true;
module_param_named(fairness, sj_fairness, bool, 0444);
MODULE_PARM_DESC(fairness, "announce airtime fairness");

bool sj_backpressure;
module_param_named(backpressure, sj_backpressure, bool, 0444);
MODULE_PARM_DESC(backpressure, "a full FIFO stops the device's queue, not dropping");

/* A parameter that is a number from MIN to MAX; what lies outside is refused. */
#define SJ_NUMBER(name, value, min, max, mode, text)				\
	unsigned int sj_##name = value;						\
	static int set_##name(const char *given, const struct kernel_param *kp)	\
	{									\
		return param_set_uint_minmax(given, kp, min, max);		\
	}									\
	static const struct kernel_param_ops name##_ops = {			\
		.set = set_##name, .get = param_get_uint };			\
	module_param_cb(name, &name##_ops, &sj_##name, mode);			\
	MODULE_PARM_DESC(name, text " (" #min " to " #max ")")

SJ_NUMBER(fifo, 0, 0, 100000, 0444, "radio 0: frames of a FIFO in each access category; 0: TXQs");
SJ_NUMBER(station_fifo, 0, 0, 100000, 0444, "the same of all other radios");
SJ_NUMBER(hardware_queue, 2, 1, 64, 0644, "bursts of an access category that are out at most");
SJ_NUMBER(aggregate_frames, 32, 1, 64, 0644, "frames of a burst at most");
SJ_NUMBER(aggregate_us, 4000, 1, 5484, 0644, "PPDU of a burst of several frames at most");
SJ_NUMBER(aggregate_bytes, 65535, 1, 65535, 0644, "bytes of a burst of several frames at most");
SJ_NUMBER(retries, 10, 1, 100, 0644, "transmissions of a frame at most");

bool sj_minstrel;

static int set_rate_control(const char *given, const struct kernel_param *kp)
{
	if (sysfs_streq(given, "fixed"))
		sj_minstrel = false;
	else if (sysfs_streq(given, "minstrel"))
		sj_minstrel = true;
	else
		return -EINVAL;
	return 0;
}

static int get_rate_control(char *told, const struct kernel_param *kp)
{
	return sysfs_emit(told, "%s\n", sj_minstrel ? "minstrel" : "fixed");
}

static const struct kernel_param_ops rate_control_ops = {
	.set = set_rate_control, .get = get_rate_control };
module_param_cb(rate_control, &rate_control_ops, NULL, 0444);
MODULE_PARM_DESC(rate_control, "fixed (debugfs links) or minstrel");

/* Where an access point may be without any database. */
static const struct ieee80211_regdomain domain = {
	.n_reg_rules = 2,
	.alpha2 = "99",
	.reg_rules = {
		REG_RULE(2412 - 20, 2472 + 20, 40, 0, 30, 0),
		REG_RULE(5180 - 20, 5320 + 20, 80, 0, 30, 0),
	},
};

static void set_channel(struct ieee80211_channel *channel, enum nl80211_band band, int mhz)
{
	channel->band = band;
	channel->center_freq = mhz;
	channel->hw_value = mhz;
	channel->max_power = 20;
}

/* 802.11n with four streams, and at 5 GHz 802.11ac with as many. */
static void set_band(struct sj_radio *radio, struct ieee80211_supported_band *band)
{
	int stream;

	band->bitrates = radio->bitrates;
	band->n_bitrates = ARRAY_SIZE(radio->bitrates);
	band->ht_cap.ht_supported = true;
	band->ht_cap.cap = IEEE80211_HT_CAP_SUP_WIDTH_20_40 | IEEE80211_HT_CAP_SGI_20 |
			   IEEE80211_HT_CAP_SGI_40;
	band->ht_cap.ampdu_factor = IEEE80211_HT_MAX_AMPDU_64K;
	band->ht_cap.ampdu_density = IEEE80211_HT_MPDU_DENSITY_NONE;
	for (stream = 0; stream < 4; stream++)
		band->ht_cap.mcs.rx_mask[stream] = 0xff;
	band->ht_cap.mcs.tx_params = IEEE80211_HT_MCS_TX_DEFINED;
	if (band->band != NL80211_BAND_5GHZ)
		return;
	band->vht_cap.vht_supported = true;
	band->vht_cap.cap = IEEE80211_VHT_CAP_MAX_MPDU_LENGTH_11454 |
			    IEEE80211_VHT_CAP_SHORT_GI_80;
	band->vht_cap.vht_mcs.rx_mcs_map = cpu_to_le16(0xffaa);
	band->vht_cap.vht_mcs.tx_mcs_map = cpu_to_le16(0xffaa);
}

static void set_bands(struct sj_radio *radio)
{
	struct ieee80211_supported_band *low = &radio->bands[0], *high = &radio->bands[1];
	int i;

	for (i = 0; i < ARRAY_SIZE(sj_legacy); i++) {
		radio->bitrates[i].bitrate = sj_legacy[i] * 5;
		radio->bitrates[i].hw_value = sj_legacy[i];
	}
	for (i = 0; i < ARRAY_SIZE(radio->channels_2ghz); i++)
		set_channel(&radio->channels_2ghz[i], NL80211_BAND_2GHZ, 2412 + 25 * i);
	for (i = 0; i < ARRAY_SIZE(radio->channels_5ghz); i++)
		set_channel(&radio->channels_5ghz[i], NL80211_BAND_5GHZ, 5180 + 20 * i);
	low->band = NL80211_BAND_2GHZ;
	low->channels = radio->channels_2ghz;
	low->n_channels = ARRAY_SIZE(radio->channels_2ghz);
	high->band = NL80211_BAND_5GHZ;
	high->channels = radio->channels_5ghz;
	high->n_channels = ARRAY_SIZE(radio->channels_5ghz);
	set_band(radio, low);
	set_band(radio, high);
	radio->hw->wiphy->bands[NL80211_BAND_2GHZ] = low;
	radio->hw->wiphy->bands[NL80211_BAND_5GHZ] = high;
}

static void set_features(struct ieee80211_hw *hw, const struct sj_radio *radio)
{
	ieee80211_hw_set(hw, SIGNAL_DBM);
	ieee80211_hw_set(hw, AMPDU_AGGREGATION);
	ieee80211_hw_set(hw, REPORTS_TX_ACK_STATUS);
	ieee80211_hw_set(hw, SUPPORT_FAST_XMIT);
	if (!sj_minstrel)
		ieee80211_hw_set(hw, HAS_RATE_CONTROL);
	hw->queues = IEEE80211_NUM_ACS;
	hw->max_rates = IEEE80211_TX_MAX_RATES;
	hw->max_rate_tries = 11;
	hw->max_tx_aggregation_subframes = SJ_AMPDU_FRAMES;
	hw->max_rx_aggregation_subframes = SJ_AMPDU_FRAMES;
	hw->txq_data_size = sizeof(struct sj_txq);
	hw->wiphy->interface_modes = BIT(NL80211_IFTYPE_STATION) | BIT(NL80211_IFTYPE_AP);
	hw->wiphy->regulatory_flags |= REGULATORY_CUSTOM_REG | REGULATORY_COUNTRY_IE_IGNORE;
	wiphy_apply_custom_regulatory(hw->wiphy, &domain);
	/* With a FIFO everything is pulled at once: a limit would hold it back. */
	if (sj_aql && !radio->fifo)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AQL);
	if (sj_fairness)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS);
}

static int add_radio(int number)
{
	struct ieee80211_hw *hw = ieee80211_alloc_hw(sizeof(struct sj_radio *), &sj_ops);
	struct sj_radio *radio = kzalloc(sizeof(*radio), GFP_KERNEL);
	u8 address[ETH_ALEN] = { 0x02, 0, 0, number >> 8, number, 0 };
	int result = -ENOMEM;

	if (!hw || !radio)
		goto fail;
	radio->hw = hw;
	radio->number = number;
	radio->fifo = number ? sj_station_fifo : sj_fifo;
	*(struct sj_radio **)hw->priv = radio;
	__skb_queue_head_init(&radio->status);
	__skb_queue_head_init(&radio->arrived);
	SET_IEEE80211_PERM_ADDR(hw, address);
	set_bands(radio);
	set_features(hw, radio);
	sj_edca_init(radio);
	spin_lock_bh(&sj.lock);
	sj.radios[number] = radio;
	sj.count = number + 1;
	spin_unlock_bh(&sj.lock);
	result = ieee80211_register_hw(hw);
	if (!result)
		return 0;
	spin_lock_bh(&sj.lock);
	sj.count = number;
	spin_unlock_bh(&sj.lock);
fail:
	kfree(radio);
	if (hw)
		ieee80211_free_hw(hw);
	return result;
}

/* The driver is part of the kernel: radios live as long as it does. */
static int __init sj_init(void)
{
	int i, result;

	if (radios > SJ_RADIOS) {
		pr_err("sojourn_radio: radios is %u, but must be 0 to %d\n", radios, SJ_RADIOS);
		return -EINVAL;
	}
	sj_medium_init();
	result = sj_links_init(max(radios, 1U));
	for (i = 0; !result && i < radios; i++)
		result = add_radio(i);
	if (!result)
		sj_debug_init();
	return result;
}
device_initcall(sj_init);

MODULE_DESCRIPTION("Sojourn: radios that share a medium of their own");
MODULE_LICENSE("GPL");
