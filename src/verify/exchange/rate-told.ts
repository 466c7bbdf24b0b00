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
