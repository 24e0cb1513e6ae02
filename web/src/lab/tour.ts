import { shown } from "../charts/numbers";
import { FIRST, type Lab } from "./model/lab";
import type { Side } from "./player.svelte";

// The guided tour. A sentence with a number is made of the run that is shown.

export interface Step {
  title: string;
  lab: Lab;
  /** The discipline that stands beside it. */
  compare?: string;
  text: string;
  /** What the run says, once it has gone on for `afterS` seconds. */
  says: (sides: Side[]) => string;
}

const WINDOW_S = 5;
/** Every sentence with a ping begins with this. */
const LATELY = `In the last ${WINDOW_S} s, the median ping took`;
const ping = (side: Side | undefined): string => `${shown(side?.history.medianPing(WINDOW_S), 3)} ms`;
const both = (sides: Side[]): string =>
  sides.map((side) => `${ping(side)} with ${String(side.scenario["qdisc_up"])}`).join(", and ");
const sum = (side: Side | undefined): string => {
  const [up, down] = side?.history.meanGoodput(WINDOW_S) ?? [0, 0];
  const has = (direction: string): boolean =>
    ((side?.scenario["flows"] ?? []) as { direction: string }[]).some((flow) => flow.direction === direction);
  const ways = [has("up") ? `${shown(up, 3)} Mbit/s up` : "", has("down") ? `${shown(down, 3)} Mbit/s down` : ""];
  return ways.filter((way) => way !== "").join(" and ");
};

const RRUL: Lab = { ...FIRST, flowsUp: ["cubic", "cubic"], flowsDown: ["cubic", "cubic"] };

export const TOUR: Step[] = [
  {
    title: "A FIFO fills",
    lab: { ...FIRST, flowsDown: [] },
    text:
      "One upload meets a queue of 1000 packets. TCP sends faster until a packet is lost, and a queue that long seldom " +
      "loses one. So the queue fills, and each ping waits behind it.",
    says: ([side]) => `The path alone takes 50 ms. ${LATELY} ${ping(side)}.`,
  },
  {
    title: "Active queue management",
    lab: { ...FIRST, flowsDown: [] },
    compare: "codel",
    text:
      "CoDel looks at how long packets have waited. When none has waited less than 5 ms for 100 ms, it begins to drop, " +
      "and the sender slows down before the queue is long.",
    says: (sides) => `${LATELY} ${both(sides)}. The first has ${sum(sides[0])}, the second ${sum(sides[1])}.`,
  },
  {
    title: "Fair queueing",
    lab: { ...RRUL, voice: true, qdiscUp: "codel", qdiscDown: "codel" },
    compare: "fq_codel",
    text:
      "FQ-CoDel gives each flow a queue of its own and serves them in turn. A flow that sends little never waits behind " +
      "those that send much. Look at the lanes of ping and voice: they are nearly empty.",
    says: (sides) => `${LATELY} ${both(sides)}.`,
  },
  {
    title: "An asymmetric link",
    lab: { ...RRUL, up: "1mbit", down: "20mbit", qdiscUp: "pfifo limit 100", qdiscDown: "pfifo limit 100" },
    compare: "cake ack-filter",
    text:
      "Downloads need the way up for their acknowledgements. When an upload fills the queue there, acknowledgements come " +
      "late or not at all, and the downloads slow down as well.",
    says: (sides) => `The first has ${sum(sides[0])}. The second has ${sum(sides[1])}.`,
  },
  {
    title: "Wi-Fi's slow station",
    lab: {
      ...FIRST,
      up: "100mbit",
      down: "100mbit",
      rtt: "20ms",
      flowsUp: [],
      flowsDown: ["cubic", "cubic", "cubic"],
      wifi: {
        scheme: "fq_codel",
        stations: [
          { name: "station-1", rate: "ht mcs 15 20mhz sgi" },
          { name: "station-2", rate: "ht mcs 15 20mhz sgi" },
          { name: "slow", rate: "ht mcs 0 20mhz" },
        ],
      },
    },
    compare: "airtime",
    text:
      "All stations of a cell share the air, and a packet for a slow station is on the air for a long time. A discipline " +
      "above the driver knows nothing of that. The scheme airtime deals out time in place of packets. Look at the airtime.",
    says: (sides) => {
      const each = sides.map((side) => {
        const share = side.history.meanAirtime(WINDOW_S)[side.opened.stations.indexOf("slow")];
        const scheme = (side.scenario["wifi"] as { scheme: string }).scheme;
        return `${shown(100 * (share ?? NaN), 3)} % of the airtime with ${scheme}, where all had ${sum(side)}`;
      });
      return `In the last ${WINDOW_S} s, the slow station had ${each.join(", and ")}.`;
    },
  },
  {
    title: "Marks instead of drops",
    lab: { ...RRUL, ecn: true, qdiscUp: "fq_codel noecn", qdiscDown: "fq_codel noecn" },
    compare: "fq_codel ecn",
    text:
      "With Explicit Congestion Notification a queue marks a packet in place of dropping it. The sender slows down all the " +
      "same, and nothing must be sent again.",
    says: (sides) =>
      sides
        .map((side, i) => {
          const [up, down] = [side.frame?.up, side.frame?.down];
          const drops = (up?.dropped ?? 0) + (down?.dropped ?? 0);
          return `The ${i === 0 ? "first" : "second"} has ${drops} drops and ${(up?.marked ?? 0) + (down?.marked ?? 0)} marks.`;
        })
        .join(" "),
  },
];
