/** What is sent again to make another thing: the answer tells another name of it, where nothing but shapes is known. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { otherText } from './renewed-secrets.ts';
import type { Sampling } from './sampling.ts';

/**
 * Whether a POST of which only shapes are known makes something each time: none that is called after reading, and no act on a thing, which is a verb behind
 * its name (`/jobs/{job}/cancel`).
 */
export function makesEachTime({ method, path, does }: Endpoint): boolean {
  if (method !== 'POST' || statedValue(does) !== undefined) return false;
  const steps = path.replace(/[?#].*$/, '').split(/[/:]/);
  const [before = '', last = ''] = steps.slice(-2);
  if (last.startsWith('{')) return false;
  const words = last
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return !words.some((word) => reading.test(word)) && (!before.startsWith('{') || /s$/i.test(last));
}

const reading =
  /^(?:get|list|search|query|find|filter|count|check|validate|verify|preview|calculate|estimate|lookup|match|test|parse|render|convert|translate|exists?|contains|info|read|fetch|stats|status|login|logout|refresh|exchange)$/;

/** Counts the requests that were sent to a path so, and says which one this is; one that comes again under its idempotency key is the same. */
export function timesSent(rows: Pick<Transaction, 'record' | 'keep'>, { call, nowMs }: Exchange): number {
  const key = `sent again\n${call.path}`;
  const told = call.headers['idempotency-key'];
  const own = typeof told === 'string' ? `${key}\n${told.slice(0, keyMost)}` : undefined;
  const known = own === undefined ? undefined : rows.record(own, nowMs)?.body;
  if (known !== undefined) return Number(known);
  const body = String(Number(rows.record(key, 0)?.body ?? 0) + 1);
  rows.keep(key, { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER });
  if (own !== undefined) rows.keep(own, { fingerprint: '', body, expiresMs: nowMs + keptMs });
  return Number(body);
}

const keyMost = 200;
/** An idempotency key is known for a day. */
const keptMs = 86_400_000;

/** Gives what an answer tells of the new thing another name than an earlier one had, in place. */
type NameAgain = (whole: Value, exchange: Exchange, sent: Fields) => void;

/**
 * Compiles it: the member that is called after the last word of the path (`registrant_id`), else its own identifier, else the only one that is called so,
 * at the top of the answer or in the one map that it holds. Nothing where it has none.
 */
export function compileNameAgain(shape: Shape, sampling: Sampling): NameAgain {
  const samples = sampling.shown;
  return (whole, { repeated = 1, call }, sent) => {
    if (repeated < 2 || !isFields(whole)) return;
    const found = namingIn(whole, shape, call.path, sent, samples);
    if (!found) return;
    const { holder, name, of } = found;
    const before: Value = holder[name];
    const chance = sampling.chance(`${call.path}\n${name}\n${repeated}`);
    const other: Value = typeof before === 'number' ? before + repeated - 1 : otherText(String(before), chance);
    const member = samples.membersOf(of)[name];
    if (isPlainMap(member) && samples.of(member, name).fits(other)) holder[name] = other;
  };
}

function namingIn(whole: Fields, shape: Shape, path: string, sent: Fields, samples: Samples) {
  const inside = Object.entries(whole).filter(([, value]) => isFields(value));
  const [[only, value] = [], ...others] = inside;
  const own = namedSo(whole, path, sent);
  if (own !== undefined) return { holder: whole, name: own, of: shape };
  const of = only === undefined ? undefined : samples.membersOf(shape)[only];
  if (others.length > 0 || !isFields(value) || !isPlainMap(of)) return undefined;
  const name = namedSo(value, path, sent);
  return name === undefined ? undefined : { holder: value, name, of };
}

function namedSo(fields: Fields, path: string, sent: Fields): string | undefined {
  const names = Object.keys(fields).filter(
    (name) => /(?:^|_)(?:id|uuid|guid)$|[a-z](?:Id|ID|Uuid)$/i.test(name) && isName(fields[name]) && fields[name] !== sent[name],
  );
  const noun = plain(path.split('/').at(-1) ?? '').replace(/s$/, '');
  const meant = names.find((name) => plain(name) === `${noun}id`) ?? names.find((name) => /^_?(?:id|uuid|guid)$/i.test(name));
  return meant ?? (names.length === 1 ? names[0] : undefined);
}

const isName = (value: Value): boolean => (typeof value === 'string' && value !== '') || Number.isSafeInteger(value);
const plain = (name: string): string => name.replaceAll(/[^A-Za-z\d]/g, '').toLowerCase();
