import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { ErrorCondition, ErrorRule } from '../../parts/errors.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Exchange } from '../script/exchange.ts';

/** What a refusal has to look like, as far as the document says. */
export interface Refusal {
  readonly code: string;
  readonly status: number | undefined;
}

/** The refusal for a condition at an operation; nothing where no code is stated for it. A narrower `on` wins. */
export function refusalFor(spec: Spec, when: ErrorCondition, operation?: Operation): Refusal | undefined {
  const rules = entriesOf(spec.errors.codes).flatMap(([code, { rules }]) =>
    rules.filter((rule) => !rule.if && statedValue(rule.when)?.includes(when)).map((rule) => ({ code, rule })),
  );
  const fits = (rule: ErrorRule) => rule.on !== undefined && operation !== undefined && namesOperation(rule.on, operation);
  const found = rules.find(({ rule }) => fits(rule)) ?? rules.find(({ rule }) => rule.on === undefined);
  return found && { code: found.code, status: statedValue(found.rule.status) };
}

/** Whether an answer is that refusal: by its status and, where it shows a code, by its code. */
export function isRefusal(exchange: Pick<Exchange, 'status' | 'body'>, refusal: Refusal): boolean {
  return (refusal.status ?? exchange.status) === exchange.status && shows(exchange.body, refusal.code) !== 'another';
}

/** Whether an answer is a refusal of whatever kind: errors may come with a status of success where a document says so. */
export function isRefused(spec: Spec, { status, body }: Pick<Exchange, 'status' | 'body'>): boolean {
  if (status >= 400) return true;
  const codes = entriesOf(spec.errors.codes).filter(([, { rules }]) =>
    rules.some((rule) => (statedValue(rule.status) ?? 500) < 400),
  );
  return codes.some(([code]) => shows(body, code) === 'yes');
}

/** Whether a text stands in a body as a value; a body without any text that could be a code says nothing. */
function shows(body: Json | undefined, code: string): 'yes' | 'another' | 'nothing' {
  const texts = body === undefined ? [] : textsIn(body);
  if (texts.includes(code)) return 'yes';
  return texts.length === 0 ? 'nothing' : 'another';
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((item: Json) => textsIn(item));
  return isMap(value) ? Object.values(value).flatMap((item) => textsIn(item as Json)) : [];
}
