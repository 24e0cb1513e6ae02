import { toTc } from "../lab/model/command";

// The lines that cure a line at home. They shape to less than the line has, so that the queue is where it is managed.

const SHARE = 0.9;

/** The rate to shape to, kbit/s. */
export const shaped = (mbit: number): number => Math.round(mbit * 1000 * SHARE);

/** OpenWrt: the package SQM, set up by its configuration. */
export function openwrt(downMbit: number, upMbit: number): string {
  const settings = {
    interface: "wan",
    download: shaped(downMbit),
    upload: shaped(upMbit),
    qdisc: "cake",
    script: "piece_of_cake.qos",
    enabled: 1,
  };
  return [
    "opkg update && opkg install sqm-scripts luci-app-sqm",
    "uci -q delete sqm.eth1",
    "uci set sqm.wan=queue",
    ...Object.entries(settings).map(([key, value]) => `uci set sqm.wan.${key}=${value}`),
    "uci commit sqm && /etc/init.d/sqm enable && /etc/init.d/sqm restart",
  ].join("\n");
}

/** `tc` on a Linux router: up on the interface itself, down by way of an ifb. */
export function linux(downMbit: number, upMbit: number): string {
  return [
    ...toTc("eth0", `${shaped(upMbit)}kbit`, "cake nat"),
    "modprobe ifb numifbs=1 && ip link set ifb0 up",
    "tc qdisc replace dev eth0 handle ffff: ingress",
    "tc filter replace dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0",
    ...toTc("ifb0", `${shaped(downMbit)}kbit`, "cake nat ingress"),
  ].join("\n");
}
