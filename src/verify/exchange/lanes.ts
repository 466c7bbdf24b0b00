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

/** The header fields of a document's own under which rates are told. */
export interface ToldNames {
  readonly remaining?: string;
  readonly reset?: { readonly name: string; readonly as: 'seconds' | 'unix' | 'http-date' };
}

interface Told {
  readonly headers: Readonly<Record<string, string>>;
  /** When the answer had come, by the service's clock, where it does not say itself. */
  readonly toMs: number;
}

/**
 * What an answer says of when more can be used, in milliseconds: `Retry-After`, the document's own header field, else `RateLimit` or `RateLimit-Reset`
 * (draft-ietf-httpapi-ratelimit-headers, of this and of older forms).
 */
export function refillMs(told: Told, { reset }: ToldNames = {}): number | undefined {
  const { headers, toMs } = told;
  const own = reset === undefined ? undefined : headers[reset.name.toLowerCase()];
  const date = Date.parse(headers.date ?? '');
  const nowMs = Number.isFinite(date) ? date : toMs;
  return (
    retryAfterMs(told) ??
    (reset === undefined ? undefined : ownResetMs(own, reset.as, nowMs)) ??
    limitsIn(headers).find(({ left }) => left === 0)?.refillMs ??
    ownResetMs(headers['ratelimit-reset'], 'seconds', nowMs)
  );
}

/** Whether an answer says that nothing is left of some rate; nothing where it does not speak of that. */
export function isNothingLeft({ headers }: Pick<Told, 'headers'>, { remaining }: ToldNames = {}): boolean | undefined {
  const own = headers[(remaining ?? 'ratelimit-remaining').toLowerCase()];
  const left = own !== undefined && /^\d+$/.test(own.trim()) ? [Number(own)] : limitsIn(headers).map((limit) => limit.left);
  return left.length === 0 ? undefined : Math.min(...left) === 0;
}

function ownResetMs(told: string | undefined, as: 'seconds' | 'unix' | 'http-date', nowMs: number): number | undefined {
  const text = told?.trim() ?? '';
  if (as !== 'http-date' && !/^\d+(?:\.\d+)?$/.test(text)) return undefined;
  const ms = as === 'http-date' ? Date.parse(text) - nowMs : Number(text) * 1000 - (as === 'unix' ? nowMs : 0);
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Each rate that `RateLimit` speaks of, the one that takes longest first: `"default";r=0;t=30`, or `limit=10, remaining=0, reset=30`. */
function limitsIn({ ratelimit = '' }: Told['headers']): { readonly left: number; readonly refillMs: number | undefined }[] {
  const members = /(?:^|[,;\s])remaining=/.test(ratelimit) ? [ratelimit] : ratelimit.split(',');
  const limits = members.flatMap((member) => {
    const [, left] = /[;,\s](?:r|remaining)\s*=\s*(\d+)/.exec(`;${member}`) ?? [];
    const [, seconds] = /[;,\s](?:t|reset)\s*=\s*(\d+)/.exec(`;${member}`) ?? [];
    return left === undefined
      ? []
      : [{ left: Number(left), refillMs: seconds === undefined ? undefined : Number(seconds) * 1000 }];
  });
  return limits.sort((one, other) => (other.refillMs ?? 0) - (one.refillMs ?? 0));
}

/** What an answer says of when to ask again, in milliseconds: `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3). */
export function retryAfterMs({
  headers,
  toMs,
}: {
  readonly headers: Readonly<Record<string, string>>;
  /** When the answer had come, by the service's clock, where it does not say itself. */
  readonly toMs: number;
}): number | undefined {
  const told = headers['retry-after']?.trim();
  if (told === undefined) return undefined;
  if (/^\d+$/.test(told)) return Number(told) * 1000;
  const sentMs = Date.parse(headers.date ?? '');
  const ms = Date.parse(told) - (Number.isFinite(sentMs) ? sentMs : toMs);
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
