import { formatNamed } from '../../kinds/formats/all.ts';
import type { Format } from '../../kinds/formats/kind.ts';
import type { Chance } from './chance.ts';

/** A format as samples need it: a test, and values of it. */
interface SampledFormat {
  readonly type: 'string' | 'number';
  test(value: string | number | bigint): boolean;
  make(chance: Chance): string | number;
}

/** A format by its word: this language's own, or one of JSON Schema 2020-12 (validation, section 7.3); nothing for another, which constrains nothing. */
export function formatOf(word: string): SampledFormat | undefined {
  const stated = formatNamed(word);
  if (stated) return { type: stated.type, test: (value) => stated.test(value), make: makerOf(stated) };
  const [test, make] = [tests[word], makers[word]];
  return test && make ? { type: 'string', test: (value) => test.test(String(value)), make } : undefined;
}

/** What makes values of a format of this language: of a time, a moment; else what makes those that it covers, or its example. */
function makerOf({ time, covers, example }: Format): SampledFormat['make'] {
  if (time) return (chance) => time.write(secondsOf(chance) * 1000);
  return makers[covers ?? ''] ?? (() => example);
}

/** What a value of each of JSON Schema's formats surely is; narrower than the standards, so that nothing doubtful passes for a sample. */
const tests: Readonly<Record<string, RegExp | undefined>> = {
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/,
  time: /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/,
  duration: /^P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/,
  email: /^[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/,
  hostname: /^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?){0,4}$/i,
  ipv4: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/,
  ipv6: /^(?:[\da-f]{1,4}:){7}[\da-f]{1,4}$|^2001:db8::[\da-f]{1,4}$/i,
  uri: /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d+)?(?:\/[\w./~%-]*)?(?:\?[\w=&%.-]*)?(?:#[\w-]*)?$/i,
  'uri-reference': /^(?:[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+)?(?:\/[\w./~-]*)?$/i,
  'uri-template': /^\/[\w./{}-]*$/,
  uuid: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
  'json-pointer': /^(?:\/[\w-]*)*$/,
  'relative-json-pointer': /^(?:0|[1-9]\d*)(?:\/[\w-]*)*$/,
  regex: /^[\w-]*$/,
};

const makers: Readonly<Record<string, ((chance: Chance) => string | number) | undefined>> = {
  date: (chance) => instant(chance).replace(/-\d\dT.*/, `-${String(1 + chance.below(28)).padStart(2, '0')}`),
  time: (chance) => instant(chance).replace(/^.*T|\.000/g, ''),
  duration: (chance) => `P${1 + chance.below(28)}D`,
  email: (chance) => `somebody-${letters(chance, 4)}@example.com`,
  hostname: (chance) => `${letters(chance, 6)}.example.com`,
  ipv4: (chance) => `192.0.2.${1 + chance.below(254)}`,
  ipv6: (chance) => `2001:db8::${(1 + chance.below(65_534)).toString(16)}`,
  uri: (chance) => `https://example.com/${letters(chance, 6)}`,
  'uri-reference': (chance) => `/${letters(chance, 6)}`,
  'uri-template': (chance) => `/${letters(chance, 6)}/{id}`,
  uuid: (chance) => chance.uuid(),
  'json-pointer': (chance) => `/${letters(chance, 6)}`,
  'relative-json-pointer': () => '0',
  regex: (chance) => letters(chance, 6),
};

/** Seconds since 1970 of a moment in the year before samples are of. */
export function secondsOf(chance: Chance): number {
  return Math.floor(chance.nowMs / 1000) - chance.below(31_536_000);
}

function instant(chance: Chance): string {
  return new Date(secondsOf(chance) * 1000).toISOString();
}

export function letters(chance: Chance, length: number): string {
  return Array.from({ length }, () => 'abcdefghijkmnpqrstuvwxyz'.charAt(chance.below(24))).join('');
}

/** A value of each format of JSON Schema 2020-12 that is none of ours as well (section 7.3 of its validation vocabulary). */
export const standardExamples: ReadonlyMap<string, string> = new Map([
  ['date', '2030-01-01'],
  ['time', '09:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'somebody@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/'],
  ['uri-reference', '/example'],
  ['uri-template', '/example/{id}'],
  ['uuid', '3f2b8f4e-6c1d-4a57-9f0e-1b2c3d4e5f60'],
  ['json-pointer', '/example'],
  ['relative-json-pointer', '0'],
  ['regex', 'example'],
]);
