"""What programs for queues give `tc`, on a link of 10 Mbit/s up, with 44 bytes of overhead where they say it.

Each was printed by the program itself: sqm-scripts, qosmate and wondershaper with a `tc` that wrote its arguments
down, and LibreQoS by its own formats, for one queue. `cake` is without `nat`, which needs connection tracking.
"""

SQM_CLASSES = """
tc class add dev X parent 1: classid 1:1 htb quantum 72451 rate 10000kbit ceil 10000kbit burst 72451 cburst 72451
tc class add dev X parent 1:1 classid 1:10 htb quantum 72451 rate 10000kbit ceil 10000kbit burst 72451 cburst 72451
tc qdisc add dev X parent 1:10 handle 110: fq_codel limit 1001 target 5000us interval 100000us ecn flows 1024
"""
STAB = "stab mtu 2047 tsize 512 mpu 0 overhead 44 linklayer"
#: By name: the text, and what a packet of 1514 bytes takes of the 10 Mbit/s, in bytes.
TREES = {
    "simplest": ("tc qdisc add dev X root handle 1: htb default 10" + SQM_CLASSES, 1514),
    "simple, ingress": (f"tc qdisc add dev X root handle 1: {STAB} atm htb default 10" + SQM_CLASSES, 33 * 53),
    "simplest_tbf": (
        f"""tc qdisc add dev X root handle 1: {STAB} ethernet tbf rate 10000kbit burst 72451 latency 300ms
tc qdisc add dev X parent 1: handle 110: fq_codel limit 1001 target 5000us interval 100000us ecn flows 1024""",
        1514 + 44,
    ),
    "piece_of_cake": (f"tc qdisc add dev X root {STAB} atm cake bandwidth 10000kbit diffserv3 besteffort", 33 * 53),
    "layer_cake": (f"tc qdisc add dev X root {STAB} ethernet cake bandwidth 10000kbit diffserv3", 1514 + 44),
    "qosmate": (
        """tc qdisc add dev X root handle 1: stab overhead 44 linklayer ethernet htb default 13
tc class add dev X parent 1: classid 1:1 htb quantum 1500 rate 10000kbit ceil 10000kbit burst 1500 cburst 1500
tc class add dev X parent 1:1 classid 1:11 htb quantum 1500 rate 2000kbit ceil 3333kbit burst 2500 cburst 1500 prio 1
tc class add dev X parent 1:1 classid 1:13 htb quantum 1500 rate 1666kbit ceil 9984kbit burst 2082 cburst 1500 prio 2
tc class add dev X parent 1:1 classid 1:15 htb quantum 1500 rate 1666kbit ceil 9984kbit burst 2082 cburst 1500 prio 3
tc qdisc add dev X parent 1:11 handle 110: fq_codel interval 100ms target 4ms quantum 300
tc qdisc add dev X parent 1:13 handle 130: fq_codel interval 100ms target 4ms quantum 1500
tc qdisc add dev X parent 1:15 handle 150: fq_codel interval 200ms target 8ms quantum 300
tc filter add dev X parent 1: protocol ip prio 10 u32 match ip dsfield 0xb8 0xfc classid 1:11
tc filter add dev X parent 1: protocol ip prio 10 u32 match ip dsfield 0x20 0xfc classid 1:15
tc filter add dev X parent 1: protocol ipv6 prio 11 u32 match u16 0x0B80 0x0FC0 at 0 classid 1:11""",
        # Class 1:13, the default, has a ceiling of 9,984 kbit/s.
        (1514 + 44) / 0.9984,
    ),
    "wondershaper, ingress": (
        """tc qdisc add dev X root handle 2: htb
tc class add dev X parent 2: classid 2:1 htb rate 10000kbit
tc filter add dev X protocol ip parent 2: prio 1 u32 match ip src 0.0.0.0/0 flowid 2:1""",
        1514,
    ),
    "LibreQoS": (
        """qdisc replace dev X root handle 7FFF: mq
qdisc add dev X parent 7FFF:0x1 handle 0x1: htb default 2
class add dev X parent 0x1: classid 0x1:1 htb rate 10.0mbit ceil 10.0mbit quantum 1522
qdisc add dev X parent 0x1:1 cake diffserv4
class add dev X parent 0x1:1 classid 0x1:2 htb rate 2.5mbit ceil 10.0mbit prio 5 quantum 1522
qdisc add dev X parent 0x1:2 cake diffserv4
class add dev X parent 0x1:1 classid 0x3 htb rate 1.0mbit ceil 2.0mbit prio 3 quantum 1522
qdisc add dev X parent 0x1:0x3 cake diffserv4""",
        1514,
    ),
}
