import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { toldIn } from './envelope.ts';
import type { Pair } from './pair.ts';
import type { Delivery } from './receiver.ts';

/** The kinds of what came, in order. */
export function kindsIn(model: Model, deliveries: readonly Delivery[]): (string | undefined)[] {
  return deliveries.map(({ body }) => toldIn(model.spec, body).kind);
}

function ofFirst(model: Model, { first }: Pair, deliveries: readonly Delivery[]): Delivery[] {
  return deliveries.filter(({ body }) => toldIn(model.spec, body).kind === first.name);
}

/** What was not accepted comes again. */
export function retryJudgement(model: Model, pair: Pair, deliveries: readonly Delivery[]): Judgement {
  const tries = ofFirst(model, pair, deliveries);
  if (tries[0] === undefined || tries[0].status < 300) return moot('the first one was not refused');
  return tries.length > 1
    ? undefined
    : { promised: `what was answered ${tries[0].status} is tried again after the stated wait`, seen: 'it came once' };
}

/** The envelope of a try is that of the first one, and so is what it is told apart by. */
export function oneIdJudgement(model: Model, pair: Pair, deliveries: readonly Delivery[]): Judgement {
  const [first, second] = ofFirst(model, pair, deliveries);
  if (!first || !second || first.status < 300) return moot('it was not tried again');
  const ids = [first, second].map(({ body, headers }) => toldIn(model.spec, body).id ?? headers['webhook-id']);
  if (ids[0] !== ids[1]) return { promised: `every try has one id: ${ids[0]}`, seen: ids[1] ?? 'none' };
  const names = [first, second].map(({ headers }) => headers['webhook-id']);
  return names[0] === names[1] ? undefined : { promised: `every try has one webhook-id: ${names[0]}`, seen: names[1] ?? 'none' };
}

/** A later event of the same row waits until the earlier one is accepted. */
export function orderJudgement(model: Model, pair: Pair, deliveries: readonly Delivery[]): Judgement {
  const kinds = kindsIn(model, deliveries);
  const later = kinds.indexOf(pair.second.name);
  if (later < 0) return moot('the later one has not come');
  const accepted = deliveries.findIndex(({ status }, at) => kinds[at] === pair.first.name && status < 300);
  if (accepted >= 0 && accepted < later) return undefined;
  return {
    promised: `${pair.second.name} waits until ${pair.first.name} of the same row is accepted`,
    seen: `they came as ${kinds.join(', ')}, the first of them refused`,
  };
}

/** It does not come again long before the stated wait is over. */
export function waitJudgement(model: Model, pair: Pair, deliveries: readonly Delivery[], waitMs: number): Judgement {
  const [first, second] = ofFirst(model, pair, deliveries);
  if (!first || !second || first.status < 300) return moot('it was not tried again');
  const tookMs = second.atMs - first.atMs;
  if (tookMs >= waitMs / 2) return undefined;
  return { promised: `it is tried again after ${waitMs} ms`, seen: `it came again after ${tookMs} ms` };
}
