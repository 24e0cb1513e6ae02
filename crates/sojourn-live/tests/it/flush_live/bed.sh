# A row of three hosts in namespaces that end with this shell: the sender (this one), a router, and a receiver.
#   sender s0 10.77.1.1 - 10.77.1.2 r0 router r1 10.77.2.2 - 10.77.2.1 and 10.77.3.1 b0 receiver
# The router's way to the receiver has 5 Mbit/s and a queue of 120 kB unless RATE, BURST and LIMIT say otherwise. DAEMON is the daemon, DIR where its files go.
set -eu
cd "$DIR"
unshare -n sleep 60 & ROUTER=$!
unshare -n sleep 60 & RECEIVER=$!
trap 'kill $ROUTER $RECEIVER 2>/dev/null || true' EXIT
for pid in $ROUTER $RECEIVER; do
  until [ "$(readlink /proc/$pid/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
done
in_router() { nsenter -t $ROUTER -n "$@"; }
in_receiver() { nsenter -t $RECEIVER -n "$@"; }
near_link() {
  ip link add s0 type veth peer name r0 netns $ROUTER
  ip link set s0 gso_max_segs 1
  ip addr add 10.77.1.1/24 dev s0
  ip link set s0 up
  ip route add 10.77.0.0/16 via 10.77.1.2 2>/dev/null || true
  in_router ip addr add 10.77.1.2/24 dev r0
  in_router ip link set r0 up
  ip route replace 10.77.0.0/16 via 10.77.1.2
}
ip link set lo up
near_link
in_router ip link add r1 type veth peer name b0 netns $RECEIVER
in_router ip addr add 10.77.2.2/24 dev r1
in_router ip addr add 10.77.3.2/24 dev r1
in_router ip link set r1 up
in_router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
in_router tc qdisc add dev r1 root tbf rate ${RATE:-5mbit} burst ${BURST:-5kb} limit ${LIMIT:-120kb}
in_receiver ip link set lo up
in_receiver ip addr add 10.77.2.1/24 dev b0
in_receiver ip addr add 10.77.3.1/24 dev b0
in_receiver ip link set b0 up
in_receiver ip route add default via 10.77.2.2
# Counts what comes to port 9, and swallows TCP.
cat > receiver.py <<'PY'
import json, select, socket, sys, threading
counts = {}
def udp(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.bind((address, 9))
    counts[address] = [0, 0]
    while True:
        size = len(s.recv(65536))
        counts[address][0] += 1
        counts[address][1] += size + 28
def tcp():
    s = socket.create_server(("", 5001))
    while True:
        c, _ = s.accept()
        threading.Thread(target=swallow, args=(c,), daemon=True).start()
def swallow(c):
    try:
        while c.recv(1 << 16):
            pass
    except OSError:
        pass
for a in ("10.77.2.1", "10.77.3.1"):
    threading.Thread(target=udp, args=(a,), daemon=True).start()
threading.Thread(target=tcp, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
json.dump(counts, open("counts.json", "w"))
PY
cat > sender.py <<'PY'
import socket, sys, time
s = socket.create_connection((sys.argv[1], 5001))
s.settimeout(0.2)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    try:
        s.send(b"x" * 65536)
    except TimeoutError:
        pass
PY
mkfifo hold
in_receiver python3 receiver.py < hold > receiver.out & COUNTER=$!
exec 3> hold
until grep -q ready receiver.out; do sleep 0.05; done
# On so short a path any queue is to be seen, and soon.
cat > bed.toml <<'TOML'
[flusher]
preset = "adaptive"
floor = "5ms"
TOML
# daemon OPTION... begins it on s0, with files named by $NAME. These namespaces have one user, who is root in them.
daemon() {
  "$DAEMON" flush -i s0 ${USER_OPTION---user root} --config ${CONFIG:-bed.toml} --decisions $NAME.jsonl --write $NAME.pcap --log $NAME.log "$@" & PID=$!
  until grep -q '"capturing"' $NAME.log 2>/dev/null; do
    kill -0 $PID || exit 9
    sleep 0.05
  done
}
# Waits until the log says so often that something happened.
logged() {
  for _ in $(seq 200); do
    [ "$(grep -c "$1" $NAME.log)" -lt "$2" ] || return 0
    sleep 0.1
  done
  echo "the log does not say: $1" >&2
  return 1
}
stop() { kill -TERM $PID; wait $PID; }
# The end: what came to port 9, and all datagrams that left this host.
finish() {
  sleep 0.5
  exec 3>&-
  wait $COUNTER
  grep '^Udp:' /proc/net/snmp > snmp
}
