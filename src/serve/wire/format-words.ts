import { formats } from '../../kinds/formats/all.ts';

/** What a format asks for, in words. */
export function formatMeaning(format: string): string {
  return meanings.get(format) ?? `a string of format ${format}`;
}

const meanings = new Map<string, string>([
  ['date', 'a date such as 2026-01-31'],
  ['time', 'a time such as 12:00:00Z'],
  ['duration', 'a duration such as P1DT2H'],
  ['email', 'a mail address'],
  ['hostname', 'a host name'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['uri', 'a URI with its scheme'],
  ['uri-reference', 'a URI or a reference to one'],
  ['uri-template', 'a URI template'],
  ['uuid', 'a UUID'],
  ['json-pointer', 'a JSON Pointer'],
  ['relative-json-pointer', 'a relative JSON Pointer'],
  ['regex', 'a regular expression'],
  ['byte', 'bytes in base64'],
  ...formats.map(({ word, meaning }) => [word, meaning] as const),
]);
