import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import { beginBody } from '../endpoints/begin-body.ts';
import { taken } from '../endpoints/bodies.ts';
import { lookAt } from '../make/look.ts';
import type { Row } from '../make/row.ts';
import type { Exchange } from '../script/exchange.ts';
import { isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { withMember, withoutMember } from '../values/at-path.ts';
import { claimRow } from './claim-row.ts';

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
      if (!resource || (verb !== 'update' && verb !== 'replace') || isStated(endpoint.request)) continue;
      const fields = entriesOf(resource.fields);
      const facts = fields.map(([field]) => ({ kind: 'allowed values', subject: `${resource.name}.${field}` }));
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
export function withForeign(json: Symbolic, field: Field): Symbolic {
  if (field.immutable) return json;
  const shape = statedValue(field.shape);
  const value =
    shape?.type === 'integer' || shape?.type === 'number'
      ? 7
      : shape?.type === 'boolean'
        ? true
        : shape?.format === 'date-time'
          ? '2001-01-01T00:00:00Z'
          : 'nf-foreign';
  return withMember(json, [field.name], value);
}

async function change(session: Session, endpoint: Endpoint, edit: (json: Symbolic) => Symbolic): Promise<void> {
  const begun = await beginBody(session, endpoint, 'full');
  const { row } = begun;
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  const before = (await lookAt(session, row)).done;
  const done = await session.send(begun.request(edit(begun.json)));
  claimTaken(session, endpoint, done);
  if (!isDone(done.value)) return;
  claimRow(session, { resource: row.resource, before, change: done, seen: done, reason: 'answered' });
  await claimLater(session, row, before, done);
}

function claimTaken(session: Session, endpoint: Endpoint, done: Done<Exchange>): void {
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  session.claim({ fact, reason: 'taken', of: [done] as const, judge: (exchange: Exchange) => taken(session.model, exchange) });
}

async function claimLater(session: Session, row: Row, before: Done<Exchange>, done: Done<Exchange>): Promise<void> {
  const after = await lookAt(session, row);
  claimRow(session, { resource: row.resource, before, change: done, seen: after.done, reason: 'stored' });
}
