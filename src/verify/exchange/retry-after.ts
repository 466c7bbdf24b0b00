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
