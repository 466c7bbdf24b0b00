/** A stated rate as far as it counts the requests of one caller, or of all who are counted together. */
export interface Lane {
  /** Requests of one key are counted together. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

interface LaneState {
  readonly lane: Lane;
  closedUntilMs: number;
  /** It has refused before: from then on no more is sent than it lets through. */
  isTight: boolean;
  /** When the last were sent, the oldest first; no more than it lets through at once. */
  readonly sentMs: number[];
}

/** What is known of stated rates that refuse: who waits for one waits before sending, and who does not count in it goes on. */
export class Lanes {
  readonly #known = new Map<string, LaneState>();

  /** How long a request that these rates count has to wait. */
  waitMs(lanes: readonly Lane[], nowMs: number): number {
    return Math.max(0, ...lanes.map((lane) => waitOf(this.#of(lane), nowMs)));
  }

  /** A request that these rates count is sent. */
  note(lanes: readonly Lane[], nowMs: number): void {
    for (const lane of lanes) {
      const { sentMs } = this.#of(lane);
      sentMs.push(nowMs);
      if (sentMs.length > lane.limit) sentMs.shift();
    }
  }

  /** One of these rates has refused a request: the one that is nearest to its limit. */
  close(lanes: readonly Lane[], nowMs: number, ms: number): void {
    const states = lanes.map((lane) => this.#of(lane)).sort((one, other) => fullness(other, nowMs) - fullness(one, nowMs));
    const [full] = states;
    if (!full) return;
    full.closedUntilMs = Math.max(full.closedUntilMs, nowMs + ms);
    full.isTight = true;
  }

  #of(lane: Lane): LaneState {
    const known = this.#known.get(lane.key) ?? { lane, closedUntilMs: 0, isTight: false, sentMs: [] };
    this.#known.set(lane.key, known);
    return known;
  }
}

function waitOf({ lane, closedUntilMs, isTight, sentMs }: LaneState, nowMs: number): number {
  const [oldest] = sentMs;
  const isFull = isTight && oldest !== undefined && sentMs.length >= lane.limit;
  return Math.max(closedUntilMs - nowMs, isFull ? oldest + lane.windowMs - nowMs : 0);
}

function fullness({ lane, sentMs }: LaneState, nowMs: number): number {
  return sentMs.filter((ms) => ms > nowMs - lane.windowMs).length / lane.limit;
}

/** A stated quota as far as it counts what one caller does, or all who are counted together. */
export interface QuotaCount {
  /** Requests of one key are counted together. */
  readonly key: string;
  /** What it is, in words. */
  readonly says: string;
}

/** What is known to be used up, for whom, and until when: what could only be refused is not sent. */
export class UsedUp {
  readonly #untilMs = new Map<string, number>();

  /** Notes that it is used up until a time of the service's clock. */
  note({ key }: QuotaCount, untilMs: number): void {
    this.#untilMs.set(key, Math.max(this.#untilMs.get(key) ?? 0, untilMs));
  }

  /** The one of these that is used up for the longest. */
  among(counts: readonly QuotaCount[], nowMs: number): { readonly says: string; readonly untilMs: number } | undefined {
    const used = counts.map(({ key, says }) => ({ says, untilMs: this.#untilMs.get(key) ?? 0 }));
    return used.filter(({ untilMs }) => untilMs > nowMs).sort((one, other) => other.untilMs - one.untilMs)[0];
  }
}
