import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import { beginBody } from '../endpoints/begin-body.ts';
import { taken } from '../endpoints/bodies.ts';
import { callersFor } from '../make/callers-for.ts';
import { lookAt } from '../make/look.ts';
import { pathValues } from '../make/request-about.ts';
import type { TrialRow } from '../make/row.ts';
import { isShownToSomebody } from '../model/fields.ts';
import { moot } from '../script/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { withMember, withoutMember } from '../values/at-path.ts';
import { claimRow, gapMinMs } from './claim-row.ts';
import { foreignValue } from './foreign-value.ts';

/** An update or replacement changes what it says and nothing else; what is read-only stays, whatever is sent. */
export const changed: Trial = {
  name: 'resources/changed',
  part: 'resources',
  about: 'An update, replacement or upsert makes of a row what the document says, and leaves the rest.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const verb = statedValue(endpoint.does)?.verb;
      const name = resourceOfEffect(statedValue(endpoint.does));
      const resource = name === undefined ? undefined : model.resource(name);
      if (!resource || isStated(endpoint.request)) continue;
      const fields = entriesOf(resource.fields).filter(([, field]) => isShownToSomebody(field, model.callers));
      const facts = fields.map(([field]) => ({ kind: 'allowed values', subject: `${resource.name}.${field}` }));
      if (verb === 'upsert') {
        for (const style of ['full', 'plain'] as const)
          yield { name: `${endpoint.key} again, ${style}`, facts, run: (session) => upsertAgain(session, endpoint, style) };
      }
      if (verb !== 'update' && verb !== 'replace') continue;
      const alone = (json: Symbolic, field: string) => onlyMember(json, field);
      for (const round of [1, 2])
        yield { name: `${endpoint.key}, drawn ${round}`, facts, run: (session) => change(session, endpoint, (json) => json) };
      for (const [field, stated] of fields) {
        const fact = [{ kind: 'allowed values', subject: `${resource.name}.${field}` }];
        const isOurs = isWritable(model.spec, resource, stated) && !stated.immutable;
        if (!isOurs)
          yield {
            name: `${endpoint.key} with ${field}`,
            facts: fact,
            run: (session) => change(session, endpoint, (json) => withForeign(json, stated)),
          };
        else if (verb === 'update') {
          yield {
            name: `${endpoint.key}, ${field} alone`,
            facts: fact,
            run: (session) => change(session, endpoint, (json) => alone(json, field)),
          };
          const isRemovable = statedValue(stated.required) === false && stated.default === undefined;
          if (isRemovable)
            yield {
              name: `${endpoint.key}, ${field} removed`,
              facts: fact,
              run: (session) => change(session, endpoint, () => ({ [field]: null })),
            };
        } else if (statedValue(stated.required) === false) {
          yield {
            name: `${endpoint.key} without ${field}`,
            facts: fact,
            run: (session) => change(session, endpoint, (json) => withoutMember(json, [field])),
          };
        }
      }
    }
  },
};

function onlyMember(json: Symbolic, field: string): Symbolic {
  const value = typeof json === 'object' && json !== null ? (json as Readonly<Record<string, Symbolic>>)[field] : undefined;
  return value === undefined ? {} : { [field]: value };
}

/** A value for a field that is not a caller's to write; immutable ones are for another trial. */
function withForeign(json: Symbolic, field: Field): Symbolic {
  const value = field.immutable ? undefined : foreignValue(field);
  return value === undefined ? json : withMember(json, [field.name], value);
}

/** An upsert of what is there makes of it what a replacement would. */
async function upsertAgain(session: Session, endpoint: Endpoint, style: 'full' | 'plain'): Promise<void> {
  const { model } = session;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const row = await session.make(name, { style: 'full' });
  const [caller] = callersFor(session, endpoint, row);
  const { path, json } = await session.parts(endpoint, { style, caller, changes: row });
  session.need(json !== undefined, `${endpoint.key} takes no body`);
  const before = (await lookAt(session, row)).done;
  const plan = model.request(endpoint, { path: { ...path, ...pathValues(endpoint, row) }, caller, json });
  const done = await session.send({ ...plan, afterMs: 2 * gapMinMs });
  claimTaken(session, endpoint, done);
  if (!isDone(done.value)) return;
  claimRow(session, { resource: name, before, change: done, seen: done, reason: 'answered' });
  await claimLater(session, row, before, done);
  claimWhole(session, endpoint, { before, done });
}

async function change(session: Session, endpoint: Endpoint, edit: (json: Symbolic) => Symbolic): Promise<void> {
  const begun = await beginBody(session, endpoint, 'full');
  const { row } = begun;
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  const before = (await lookAt(session, row)).done;
  const done = await session.send({ ...begun.request(edit(begun.json)), afterMs: 2 * gapMinMs });
  claimTaken(session, endpoint, done);
  if (!isDone(done.value)) return;
  claimRow(session, { resource: row.resource, before, change: done, seen: done, reason: 'answered' });
  await claimLater(session, row, before, done);
  claimWhole(session, endpoint, { before, done });
}

function claimTaken(session: Session, endpoint: Endpoint, done: Done<TrialExchange>): void {
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  session.claim({
    fact,
    reason: 'taken',
    of: [done] as const,
    judge: (exchange: TrialExchange) => taken(session.model, exchange),
  });
}

/** A replacement leaves nothing that was not sent, an update everything: what the verb itself says. */
function claimWhole(
  session: Session,
  endpoint: Endpoint,
  { before, done }: { readonly before: Done<TrialExchange>; readonly done: Done<TrialExchange> },
): void {
  const { model } = session;
  const verb = statedValue(endpoint.does)?.verb;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: verb === 'update' ? 'merges' : 'replaces',
    of: [done, before] as const,
    judge(change: TrialExchange, was: TrialExchange) {
      const sent = bodyFields({ body: change.sent.json });
      const now = isDone(change) ? bodyFields(change) : undefined;
      const old = bodyFields(was);
      if (!sent || !now || !old || !resource) return moot('the row is not shown');
      for (const [name, field] of entriesOf(resource.fields)) {
        const isPlain =
          isWritable(model.spec, resource, field) && Object.keys(field.set).length === 0 && !field.default && !field.immutable;
        if (
          !isPlain ||
          Object.hasOwn(sent, name) ||
          field.visible ||
          field.writable ||
          old[name] === undefined ||
          old[name] === null
        )
          continue;
        const isThere = now[name] !== undefined && now[name] !== null;
        if (verb === 'update' && !isThere) return { promised: `${name}, which was not sent, stays`, seen: 'it is gone' };
        if (verb !== 'update' && isThere && statedValue(field.required) === false)
          return { promised: `${name}, which was not sent, is gone`, seen: JSON.stringify(now[name]) };
      }
      return undefined;
    },
  });
}

async function claimLater(
  session: Session,
  row: TrialRow,
  before: Done<TrialExchange>,
  done: Done<TrialExchange>,
): Promise<void> {
  const after = await lookAt(session, row);
  claimRow(session, { resource: row.resource, before, change: done, seen: after.done, reason: 'stored' });
}
