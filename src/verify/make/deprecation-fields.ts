import type { Deprecation } from '../../parts/versioning.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * What is wrong with the fields that tell of a deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288).
 * Where several things are deprecated, the dates of any of them will do, and all links have to be there.
 */
export function deprecationFlaw(stated: readonly Deprecation[], headers: Headers): string | undefined {
  const dates = stated.flatMap(({ deprecated }) => dateMs(deprecated) ?? []);
  const sunsets = stated.flatMap(({ sunset }) => dateMs(sunset) ?? []);
  return deprecatedFlaw(dates, headers) ?? sunsetFlaw(sunsets, headers) ?? linkFlaw(stated, headers);
}

/** Whether an answer says that something about it is deprecated. */
export function saysDeprecated(headers: Headers): boolean {
  return headers.deprecation !== undefined || headers.sunset !== undefined;
}

/** RFC 9745 section 2.1: a date of structured fields, `@` and the seconds since 1970. */
function deprecatedFlaw(dates: readonly number[], { deprecation }: Headers): string | undefined {
  if (dates.length === 0) return undefined;
  if (deprecation === undefined) return 'there is no Deprecation';
  const seconds = /^@(-?\d+)(?:\s*;.*)?$/.exec(deprecation.trim())?.[1];
  if (seconds === undefined) return `Deprecation is ${deprecation}, which is no date of RFC 9745, such as @1688169599`;
  const isStated = dates.some((ms) => Math.floor(ms / 1000) === Number(seconds));
  return isStated ? undefined : `Deprecation is ${deprecation}, which is ${shown(Number(seconds) * 1000)}`;
}

const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

/** RFC 8594 section 3: an HTTP date. */
function sunsetFlaw(sunsets: readonly number[], { sunset }: Headers): string | undefined {
  if (sunsets.length === 0) return undefined;
  if (sunset === undefined) return 'there is no Sunset';
  if (!httpDate.test(sunset)) return `Sunset is ${sunset}, which is no HTTP date`;
  return sunsets.some((ms) => Math.floor(ms / 1000) * 1000 === Date.parse(sunset)) ? undefined : `Sunset is ${sunset}`;
}

function linkFlaw(stated: readonly Deprecation[], { link = '' }: Headers): string | undefined {
  const links = linksIn(link);
  const lacking = stated.flatMap(({ link: href }) => (href === undefined || hasLink(links, href) ? [] : [href]))[0];
  if (lacking === undefined) return undefined;
  return `there is no Link to ${lacking} with rel="deprecation"${link === '' ? '' : `, but ${link}`}`;
}

function hasLink(links: readonly Link[], href: string): boolean {
  return links.some((one) => one.href === href && one.rel.includes('deprecation'));
}

interface Link {
  readonly href: string;
  readonly rel: readonly string[];
}

/** The links of a `Link` field (RFC 8288 section 3), with their relations in lower case. */
export function linksIn(field: string): Link[] {
  return [...field.matchAll(/<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,]*))?)*)/g)].map(
    ([, href = '', rest = '']) => {
      const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i.exec(rest);
      const words = (rel?.[1] ?? rel?.[2] ?? '').toLowerCase();
      return { href, rel: words.split(/\s+/) };
    },
  );
}

/** A date as a document states it, in milliseconds since 1970. */
export function dateMs(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function shown(ms: number): string {
  return Math.abs(ms) > 8.64e15 ? 'no time' : new Date(ms).toISOString();
}
