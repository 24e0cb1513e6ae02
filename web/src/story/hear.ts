// The call to hear: a voice, and what comes out at the other end when its packets have the delays and losses of a run.

/** Length of a packet of the call, s. */
const FRAME_S = 0.02;
/** What the receiver waits beyond the delay of the first packet, s: its playout buffer. */
const BUFFER_S = 0.06;
/** Vowels of "hello, can you hear me now": three resonances (Hz), begin and length (s), pitch (Hz). */
const SYLLABLES: [number, number, number, number, number, number][] = [
  [550, 1770, 2490, 0.05, 0.16, 150],
  [460, 880, 2540, 0.22, 0.3, 130],
  [690, 1660, 2490, 0.66, 0.2, 140],
  [310, 870, 2250, 0.9, 0.18, 135],
  [280, 2250, 2890, 1.12, 0.28, 150],
  [300, 2200, 2800, 1.44, 0.22, 145],
  [750, 1100, 2500, 1.7, 0.42, 120],
];
export const PHRASE_S = 2.2;

/** A spoken phrase, made of tones: no file is needed for it. */
export async function phrase(rate = 24_000): Promise<Float32Array> {
  const context = new OfflineAudioContext(1, Math.ceil(PHRASE_S * rate), rate);
  for (const [first, second, third, begin, length, pitch] of SYLLABLES) {
    const source = new OscillatorNode(context, { type: "sawtooth", frequency: pitch });
    source.frequency.setValueAtTime(pitch * 1.08, begin);
    source.frequency.linearRampToValueAtTime(pitch * 0.9, begin + length);
    const loud = new GainNode(context, { gain: 0 });
    loud.gain.setValueAtTime(0, begin);
    loud.gain.linearRampToValueAtTime(1, begin + 0.03);
    loud.gain.setValueAtTime(1, begin + length - 0.06);
    loud.gain.linearRampToValueAtTime(0, begin + length);
    for (const [frequency, gain] of [
      [first, 1],
      [second, 0.55],
      [third, 0.3],
    ] as const) {
      const filter = new BiquadFilterNode(context, { type: "bandpass", frequency, Q: frequency / 90 });
      source.connect(filter).connect(new GainNode(context, { gain })).connect(loud);
    }
    loud.connect(context.destination);
    source.start(begin);
    source.stop(begin + length);
  }
  return (await context.startRendering()).getChannelData(0);
}

/** A packet: its one-way delay, s; NaN if it was lost. */
export type Delays = number[];

/**
 * What the other end plays, and how long after it was said, s. A packet that comes later than the first one and the
 * playout buffer say is not played.
 */
export function received(said: Float32Array, rate: number, delays: Delays): { heard: Float32Array; lateS: number } {
  const first = delays.find((delay) => !Number.isNaN(delay)) ?? 0;
  const lateS = first + BUFFER_S;
  const heard = new Float32Array(said.length);
  const size = Math.round(FRAME_S * rate);
  for (let frame = 0; frame * size < said.length; frame += 1) {
    const delay = delays[frame] ?? NaN;
    if (Number.isNaN(delay) || delay > lateS) continue;
    heard.set(said.subarray(frame * size, (frame + 1) * size), frame * size);
  }
  return { heard, lateS };
}

/** Plays the phrase at the left, and what is received at the right. Answers what ends it, and when it is over. */
export function play(
  said: Float32Array,
  heard: Float32Array,
  lateS: number,
  rate: number,
): { stop(): void; over: Promise<void> } {
  const context = new AudioContext({ sampleRate: rate });
  const at = context.currentTime + 0.1;
  const sources = [
    { samples: said, pan: -0.9, gain: 0.35, begin: at },
    { samples: heard, pan: 0.9, gain: 0.9, begin: at + lateS },
  ].map(({ samples, pan, gain, begin }) => {
    const buffer = new AudioBuffer({ length: samples.length, sampleRate: rate });
    buffer.copyToChannel(new Float32Array(samples), 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source
      .connect(new GainNode(context, { gain }))
      .connect(new StereoPannerNode(context, { pan }))
      .connect(context.destination);
    source.start(begin);
    return source;
  });
  const over = new Promise<void>((resolve) => {
    sources[1]?.addEventListener("ended", () => {
      resolve();
      void context.close();
    });
  });
  return { stop: () => sources.forEach((source) => source.stop()), over };
}
