/** Instants in what was sent once, as they are when it is sent again later: before or after the clock as they were. */

const instant = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(\.\d+)?)?)(Z|[+-]\d\d:\d\d)$/i;
const day = /^\d{4}-\d\d-\d\d$/;
const dayMs = 86_400_000;
/** What is sent again within this is sent as it was. */
const soonMs = 60_000;

/** A text that is a time (RFC 3339 section 5.6), so much later; any other as it is. */
export function asLater(text: string, laterMs: number): string {
  if (Math.abs(laterMs) < soonMs || text.length < 10 || text.length > 40) return text;
  if (day.test(text)) return written(Date.parse(text) + Math.round(laterMs / dayMs) * dayMs)?.slice(0, 10) ?? text;
  const [, , fraction, zone = ''] = instant.exec(text) ?? [];
  const offsetMs = zone === '' ? Number.NaN : Date.parse('1970-01-01T00:00:00Z') - Date.parse(`1970-01-01T00:00:00${zone}`);
  const shifted = written(Date.parse(text) + Math.round(laterMs / 1000) * 1000 + offsetMs);
  if (shifted === undefined) return text;
  return `${fraction === undefined ? shifted.slice(0, 19) : shifted.slice(0, 23)}${zone}`;
}

/** Nothing where it is no time, or one of no year with four digits. */
function written(ms: number): string | undefined {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8e15) return undefined;
  const text = new Date(ms).toISOString();
  return text.length === 24 ? text : undefined;
}
