import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import { currentVersion } from '../../parts/versioning.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { callerContext } from './access.ts';
import type { Before } from './expectation.ts';
import { beforeFrom, expectedAfter } from './expected.ts';
import type { Evaluated } from './expressions.ts';
import { sentKeepsRules } from './field-rules.ts';
import type { Model } from './model.ts';
import type { StatedRefusal } from './refusals.ts';
import { followedIn } from './row-known.ts';
import { idIn, rowsShown, rowWith } from './row-shown.ts';

/**
 * Whether one of the service's own errors has to answer an exchange: yes, no, or not to be known from outside. `isLatest`: nothing was changed since
 * those beside it showed their rows.
 */
export function ownErrorOf(
  model: Model,
  stated: StatedRefusal,
  exchange: TrialExchange,
  beside: readonly TrialExchange[],
  isLatest = false,
) {
  const { endpoint } = exchange;
  if (!endpoint || !fits(model, endpoint, exchange) || changesFixed(model, exchange, beside)) return 'unknown';
  const rules = ownRulesAt(model, endpoint);
  const place = rules.findIndex(({ rule }) => rule.at === stated.rule.at);
  // They are tried in the order of the document: one before it answers first.
  const earlier = rules.slice(0, place).map((rule) => holdsFor(model, rule, exchange, { beside, isLatest }));
  if (place < 0 || earlier.some((answer) => answer !== 'no')) return 'unknown';
  return holdsFor(model, stated, exchange, { beside, isLatest });
}

/** An own error that something would be refused with if none before it did, as far as that can be known from outside. */
export function anyOwnError(
  model: Model,
  exchange: TrialExchange,
  beside: readonly TrialExchange[],
  isLatest: boolean,
): StatedRefusal | undefined {
  const { endpoint } = exchange;
  if (!endpoint || !fits(model, endpoint, exchange) || changesFixed(model, exchange, beside)) return undefined;
  const shown = { beside, isLatest };
  return ownRulesAt(model, endpoint).find((stated) => holdsFor(model, stated, exchange, shown) === 'yes');
}

/** Whether a body fits its shape, and keeps the rules over several fields: what does not is refused before. */
function fits(model: Model, endpoint: Endpoint, { sent }: TrialExchange): boolean {
  const shape = statedValue(model.requestShape(endpoint));
  if (sentKeepsRules(model, endpoint, sent.json) === 'no') return false;
  return shape === undefined || model.schemas.of(shape, 'sent')(sent.json ?? {}).length === 0;
}

/** Whether a change gives a field another value that it keeps for good: that is refused before. */
function changesFixed(model: Model, exchange: TrialExchange, beside: readonly TrialExchange[]): boolean {
  const { endpoint, sent } = exchange;
  const resource = model.resource(resourceOfEffect(endpoint && statedValue(endpoint.does)) ?? '');
  if (!resource || !isMap(sent.json)) return false;
  const before = beforeOf(model, resource.name, exchange, beside);
  const { json } = sent;
  return entriesOf(resource.fields).some(
    ([name, { immutable }]) => immutable && before && Object.hasOwn(json, name) && !isSame(json[name], before.fields[name]),
  );
}

/** The own errors that can answer an endpoint, in the order in which they are tried. */
export function ownRulesAt(model: Model, endpoint: Endpoint): readonly StatedRefusal[] {
  const all = rulesAt.get(model) ?? new WeakMap<Endpoint, readonly StatedRefusal[]>();
  rulesAt.set(model, all);
  const operation = model.operationOf(endpoint);
  const rules =
    all.get(endpoint) ??
    model.refusals
      .all()
      .filter(({ rule }) => rule.if !== undefined && (rule.on === undefined || namesOperation(rule.on, operation)));
  all.set(endpoint, rules);
  return rules;
}

const rulesAt = new WeakMap<Model, WeakMap<Endpoint, readonly StatedRefusal[]>>();

type Answer = 'yes' | 'no' | 'unknown';

/** What showed the rows that a condition reads, and whether nothing was changed since. */
interface Shown {
  readonly beside: readonly TrialExchange[];
  readonly isLatest: boolean;
}

function holdsFor(model: Model, stated: StatedRefusal, exchange: TrialExchange, shown: Shown): Answer {
  const condition = stated.rule.if;
  const { endpoint } = exchange;
  if (!condition || !endpoint) return 'unknown';
  const known = knownOnce(model, exchange, shown);
  const ask = (nowMs: number): Evaluated =>
    model.expressions.evaluate(condition, endpoint.operation, { ...known, context: { ...known.context, now: nowMs } });
  // Between two moments nothing but what reads the time is otherwise.
  const isTimed = exchange.fromMs !== exchange.toMs && model.expressions.reads(condition, endpoint.operation, 'now');
  const moments = isTimed ? [exchange.fromMs, exchange.toMs] : [exchange.fromMs];
  const answers = moments.map(ask).map((one) => (typeof one === 'string' ? 'unknown' : one.value));
  if (answers.every((one) => one === true)) return 'yes';
  return answers.every((one) => one === false) ? 'no' : 'unknown';
}

const reckoned = new WeakMap<TrialExchange, { readonly shown: Shown; readonly known: ReturnType<typeof knownOf> }>();

/** What is known of an exchange is the same for each of the rules that could answer it. */
function knownOnce(model: Model, exchange: TrialExchange, shown: Shown): ReturnType<typeof knownOf> {
  const found = reckoned.get(exchange);
  if (found && found.shown.beside === shown.beside && found.shown.isLatest === shown.isLatest) return found.known;
  const known = knownOf(model, exchange, shown);
  reckoned.set(exchange, { shown, known });
  return known;
}

function knownOf(model: Model, exchange: TrialExchange, { beside, isLatest }: Shown) {
  const { endpoint, sent, caller } = exchange;
  const effect = endpoint && statedValue(endpoint.does);
  const name = resourceOfEffect(effect) ?? '';
  const before = beforeOf(model, name, exchange, beside);
  const next = effect?.verb === 'delete' || effect?.verb === 'read' ? undefined : nextOf(model, name, exchange, before);
  const version = currentVersion(model.spec.versioning);
  return {
    context: {
      ...callerContext(caller),
      params: { ...sent.path, ...sent.query },
      operation: endpoint?.operation ?? '',
      ...(version !== undefined && { version }),
      ...(sent.json !== undefined && { request: sent.json }),
      ...(before && { resource: before.fields }),
      ...(next && { next: next.fields }),
      // The first of them is the newest.
      follow: followedIn(model, beside.toReversed(), isLatest),
    },
    unseen: { ...(before && { resource: before.unseen }), ...(next && { next: next.unseen }) },
  };
}

/** The row that an exchange is about, as one of those beside it showed it. */
function beforeOf(model: Model, resource: string, exchange: TrialExchange, beside: readonly TrialExchange[]): Before | undefined {
  const verb = exchange.endpoint && statedValue(exchange.endpoint.does)?.verb;
  if (verb === 'create') return undefined;
  for (const shown of beside) {
    const fields = rowsShown(model, shown)?.resource === resource ? rowWith(model, shown, idIn(model, exchange)) : undefined;
    if (fields) return beforeFrom(model, resource, shown, fields);
  }
  return undefined;
}

/** The row as it would be stored, as far as it can be reckoned. */
function nextOf(model: Model, name: string, exchange: TrialExchange, before: Before | undefined): Before {
  // What was not there before, an upsert makes: its identifier is a new one.
  const made = before ? exchange : { ...exchange, status: 201 };
  const expected = expectedAfter(model, made, before);
  const fields: Record<string, Json> = {};
  const unseen = new Set<string>();
  const resource = model.resource(name);
  for (const [field] of resource ? entriesOf(resource.fields) : []) {
    const expectation = expected.get(field);
    if (expectation?.is === 'value') fields[field] = expectation.value;
    else if (expectation?.is !== 'absent') unseen.add(field);
  }
  return { fields, unseen };
}
