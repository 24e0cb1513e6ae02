// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: links, contention, and what was counted.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "radio.h"

/*
 * Hands each line that was written to @set, up to the first that it refuses;
 * the writer is told of it.
 */
static ssize_t write_lines(const char __user *from, size_t size, int (*set)(char *line))
{
	char *text, *rest, *line;
	ssize_t result = size;

	if (size > SZ_1M)
		return -E2BIG;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (set(line)) {
			result = -EINVAL;
			break;
		}
	}
	kfree(text);
	return result;
}

static int links_show(struct seq_file *file, void *unused)
{
	int from, to;
	char rate[40];

	for (from = 0; from < sj.count; from++) {
		for (to = 0; to < sj.count; to++) {
			if (from == to)
				continue;
			sj_rate_print(rate, sizeof(rate), sj_link(from, to)->rate);
			seq_printf(file, "%d %d %s %u\n", from, to, rate, sj_link(from, to)->error);
		}
	}
	return 0;
}

static ssize_t links_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	return write_lines(from, size, sj_link_set);
}

static int edca_show(struct seq_file *file, void *unused)
{
	int i, ac;

	for (i = 0; i < sj.count; i++) {
		for (ac = 0; ac < IEEE80211_NUM_ACS; ac++) {
			const struct sj_edcaf *edcaf = &sj.radios[i]->edcafs[ac];

			seq_printf(file, "%d %d %u %u %u %u%s\n", i, ac, edcaf->edca.aifsn,
				   edcaf->edca.cw_min, edcaf->edca.cw_max,
				   edcaf->edca.txop_ns / 1000, edcaf->pinned ? " pinned" : "");
		}
	}
	return 0;
}

/* RADIO AC AIFSN CWMIN CWMAX TXOP_US: from now on mac80211 does not change it. */
static int edca_set(char *line)
{
	unsigned int number, ac, aifsn, cw_min, cw_max, txop_us;
	struct sj_edca edca;
	char end;

	if (sscanf(line, "%u %u %u %u %u %u %c", &number, &ac, &aifsn, &cw_min, &cw_max,
		   &txop_us, &end) != 6)
		return -EINVAL;
	if (number >= sj.count || ac >= IEEE80211_NUM_ACS || aifsn < 1 || aifsn > 15 ||
	    cw_max > 32767 || cw_min > cw_max || cw_min & (cw_min + 1) ||
	    cw_max & (cw_max + 1) || txop_us > 8160)
		return -EINVAL;
	edca = (struct sj_edca){ aifsn, cw_min, cw_max, txop_us * 1000 };
	spin_lock_bh(&sj.lock);
	sj_edca_set(&sj.radios[number]->edcafs[ac], &edca);
	sj.radios[number]->edcafs[ac].pinned = true;
	spin_unlock_bh(&sj.lock);
	return 0;
}

static ssize_t edca_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	return write_lines(from, size, edca_set);
}

static void show_link(struct seq_file *file, int from, int to, int ac)
{
	const struct sj_stats *s = &sj_link(from, to)->stats[ac];
	char receiver[12] = "*";

	if (!s->bursts && !s->dropped)
		return;
	if (from != to)
		scnprintf(receiver, sizeof(receiver), "%d", to);
	seq_printf(file, "%d %s %d %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
		   from, receiver, ac, s->bursts, s->mpdus, s->delivered, s->retried,
		   s->dropped, s->bytes, s->airtime_ns / 1000, s->wait_ns / 1000,
		   s->collisions);
}

/* Pairs of which nothing was sent have no line. */
static int stats_show(struct seq_file *file, void *unused)
{
	u64 busy, now;
	int from, to, ac;

	spin_lock_bh(&sj.lock);
	now = ktime_get_ns();
	busy = sj.busy_ns + (sj.busy && now > sj.began ? now - sj.began : 0);
	seq_puts(file, "tx rx ac bursts mpdus delivered retried dropped bytes airtime_us wait_us_sum collisions\n");
	for (from = 0; from < sj.count; from++)
		for (to = 0; to < sj.count; to++)
			for (ac = 0; ac < IEEE80211_NUM_ACS; ac++)
				show_link(file, from, to, ac);
	seq_printf(file, "medium busy_us %llu idle_us %llu collisions %llu internal_collisions %llu\n",
		   busy / 1000, (now - sj.counted_since - busy) / 1000, sj.collisions,
		   sj.internal_collisions);
	spin_unlock_bh(&sj.lock);
	return 0;
}

static int stats_reset(char *line)
{
	int i;

	if (strcmp(line, "reset"))
		return -EINVAL;
	spin_lock_bh(&sj.lock);
	for (i = 0; i < sj.stride * sj.stride; i++)
		memset(sj.links[i].stats, 0, sizeof(sj.links[i].stats));
	sj.counted_since = ktime_get_ns();
	/* What is on the air counts from now. */
	sj.began = max(sj.began, sj.counted_since);
	sj.busy_ns = sj.collisions = sj.internal_collisions = 0;
	spin_unlock_bh(&sj.lock);
	return 0;
}

static ssize_t stats_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	return write_lines(from, size, stats_reset);
}

#define SJ_FILE(name)								\
	static int name##_open(struct inode *inode, struct file *file)		\
	{									\
		return single_open(file, name##_show, NULL);			\
	}									\
	static const struct file_operations name##_fops = {			\
		.open = name##_open, .read = seq_read, .write = name##_write,	\
		.llseek = seq_lseek, .release = single_release }

SJ_FILE(links);
SJ_FILE(edca);
SJ_FILE(stats);

void sj_debug_init(void)
{
	struct dentry *folder = debugfs_create_dir("sojourn_radio", NULL);

	debugfs_create_file("links", 0600, folder, NULL, &links_fops);
	debugfs_create_file("edca", 0600, folder, NULL, &edca_fops);
	debugfs_create_file("stats", 0600, folder, NULL, &stats_fops);
}
