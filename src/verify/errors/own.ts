import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import { machineOf } from '../../parts/states.ts';
import { beginBody } from '../endpoints/begin-body.ts';
import { callersFor } from '../make/callers-for.ts';
import { lookAt } from '../make/look.ts';
import { requestAbout } from '../make/request-about.ts';
import type { Row } from '../make/row.ts';
import type { Model } from '../model/model.ts';
import type { StatedRefusal } from '../model/refusals.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import type { Exchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { Untestable } from '../untestable.ts';
import { claimRefused } from './claim-refused.ts';

const draws = 12;

/** The service's own errors arise where their condition holds. */
export const ownErrors: Trial = {
  name: 'errors/own',
  part: 'errors',
  about: 'An error with a condition of its own arises where that holds.',
  noise: 'quiet',
  *cases(model) {
    for (const stated of model.refusals.all()) {
      const condition = stated.rule.if;
      if (!condition) continue;
      for (const endpoint of model.endpoints) {
        const operation = model.operationOf(endpoint);
        const effect = statedValue(endpoint.does);
        if (stated.rule.on !== undefined && !namesOperation(stated.rule.on, operation)) continue;
        if (!effect || !('resource' in effect) || effect.verb === 'list') continue;
        const facts = [{ kind: 'conditions', subject: stated.code.name }];
        yield { name: `${stated.code.name} at ${endpoint.key}`, facts, run: (session) => provoke(session, endpoint, stated) };
      }
    }
  },
};

/** Draws rows and bodies until the condition holds, as far as it can be reckoned here; then it has to be answered with the code. */
async function provoke(session: Session, endpoint: Endpoint, stated: StatedRefusal): Promise<void> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const isNew = effect?.verb === 'create' || effect?.verb === 'upsert';
  for (let draw = 0; draw < draws; draw++) {
    if (isNew) {
      const begun = await beginBody(session, endpoint, 'full');
      const done = await session.send(begun.request(begun.json));
      if (!isMet(model, stated, done.value, undefined)) continue;
      claimRefused(session, done, refusing(model, stated, endpoint));
      return;
    }
    const row = await rowInState(session, endpoint);
    const before = (await lookAt(session, row)).done;
    const [caller] = callersFor(session, endpoint, row);
    const headers = await session.preconditions(endpoint, row, caller);
    const plan = await requestAbout(session, row, endpoint, { caller, headers, style: 'full' });
    const known = rowWith(model, before.value, before.value.sent.path.id ?? row.fields?.[model.identifierField(row.resource)]);
    if (!mayBeMet(model, stated, known)) continue;
    const done = await session.send(plan);
    if (!isMet(model, stated, done.value, before.value)) continue;
    claimRefused(session, done, {
      ...refusing(model, stated, endpoint),
      beside: [before],
      isSo: (exchange, was) => isMet(model, stated, exchange, was),
    });
    return;
  }
  throw new Untestable(`${draws} draws brought nothing for which ${stated.rule.if?.source} holds`);
}

function refusing(model: Model, stated: StatedRefusal, endpoint: Endpoint) {
  return {
    by: { code: stated.code.name },
    fact: { kind: 'conditions', subject: stated.code.name },
    reason: `arises at ${endpoint.key}`,
    what: stated.rule.if?.source ?? '',
    at: stated.rule.at,
    isSo: (exchange: Exchange) => isMet(model, stated, exchange, undefined),
  };
}

function mayBeMet(model: Model, { rule }: StatedRefusal, row: Readonly<Record<string, unknown>> | undefined): boolean {
  if (!rule.if || !row) return true;
  const holds = model.expressions.evaluate(rule.if, undefined, { context: { resource: row as never } });
  return typeof holds !== 'object' || holds.value === true;
}

function isMet(model: Model, { rule }: StatedRefusal, exchange: Exchange, was: Exchange | undefined): boolean {
  const { sent, endpoint } = exchange;
  if (!rule.if || !endpoint) return false;
  const row = was && rowWith(model, was, idIn(model, exchange));
  const request = sent.json;
  const holds = model.expressions.evaluate(rule.if, endpoint.operation, {
    context: {
      ...{ now: exchange.toMs, params: { ...sent.path, ...sent.query }, operation: endpoint.operation },
      ...(row && { resource: row, next: row }),
      ...(request !== undefined && { request, ...(!row && { next: request }) }),
    },
    unseen: row
      ? {
          resource: model.unseenBy(resourceOf(endpoint), exchange.caller),
          next: model.unseenBy(resourceOf(endpoint), exchange.caller),
        }
      : {},
  });
  return typeof holds === 'object' && holds.value === true;
}

function resourceOf(endpoint: Endpoint): string {
  const effect = statedValue(endpoint.does);
  return effect && 'resource' in effect ? effect.resource : '';
}

async function rowInState(session: Session, endpoint: Endpoint): Promise<Row> {
  const effect = statedValue(endpoint.does);
  const resource = resourceOf(endpoint);
  const machine = machineOf(session.model.spec.states, resource);
  const transition =
    machine && effect?.verb === 'transition'
      ? entriesOf(machine.transitions).find(([name]) => name === effect.transition)?.[1]
      : undefined;
  const [state] = endpoint.in ?? (transition && transition.from !== '*' ? transition.from : []);
  return session.make(resource, { style: 'full', ...(state !== undefined && { state }) });
}
