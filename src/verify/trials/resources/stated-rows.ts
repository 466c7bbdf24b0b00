import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf } from '../../../parts/fact.ts';
import { identifierParameter, isAlwaysShown, isWritable } from '../../../parts/payload.ts';
import type { Resource, StatedRow } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { lookAt, showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** The reason of a claim about a row that is there from the start. */
export const fromTheStart = 'a row from the start';

/** So many rows of one resource are looked at. */
const rowsMost = 10;

/** Rows that a document states are there, as it states them. */
export const statedRows: Trial = {
  name: 'resources/from the start',
  part: 'resources',
  about: 'Rows that are there from the start can be read, with what nobody may change of them as it is stated.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const field = model.identifierField(name);
      const reading = readingOf(model, resource);
      if (!reading || field === undefined) continue;
      for (const row of (resource.rows ?? []).slice(0, rowsMost)) {
        const id = asText(row.fields[field]);
        const facts = [{ kind: 'identifiers', subject: name }];
        yield { name: `${name} ${id}`, facts, run: (session) => lookAtStated(session, { resource, row, id, ...reading }) };
      }
    }
  },
};

interface Reading {
  readonly endpoint: Endpoint;
  readonly parameter: string;
}

/** An endpoint that reads a row by its identifier alone. */
function readingOf(model: Model, { name }: Resource): Reading | undefined {
  for (const endpoint of model.endpointsThat('read', name)) {
    const parameter = identifierParameter(endpoint);
    if (parameter !== undefined && endpoint.path.split('{').length === 2) return { endpoint, parameter };
  }
  return undefined;
}

interface Looked extends Reading {
  readonly resource: Resource;
  readonly row: StatedRow;
  readonly id: string;
}

async function lookAtStated(session: Session, { resource, row, id, endpoint, parameter }: Looked): Promise<void> {
  const { model } = session;
  const context = { resource: row.fields };
  const operation = model.operationOf(endpoint);
  const isPublic = model.access.isPublic(operation);
  const caller: TrialCaller | undefined = model.callers.find((one) => model.access.allows(operation, one, { context }) === 'yes');
  session.need(caller !== undefined || isPublic, `nobody surely may read the ${resource.name} ${id}`);
  const done = await session.send(model.request(endpoint, { path: { [parameter]: id }, caller }));
  session.claim({
    fact: { kind: 'identifiers', subject: resource.name },
    reason: fromTheStart,
    at: row.at,
    of: [done] as const,
    judge(exchange: TrialExchange) {
      const promised = `the ${resource.name} ${id}, which is there from the start`;
      if (exchange.status === 404 || exchange.status === 410) return { promised, seen: asText(exchange.status) };
      const shown = isDone(exchange) ? rowIn(exchange) : undefined;
      if (!shown) return moot('it was not shown');
      const wrong = Object.entries(row.fields).find(
        ([name, value]) => isFixed(model, resource, name) && !isSame(shown[name], value),
      );
      return (
        wrong && {
          promised: `${promised}, with ${wrong[0]} ${JSON.stringify(wrong[1])}`,
          seen: JSON.stringify(shown[wrong[0]] ?? null),
        }
      );
    },
  });
}

/** Whether everybody is shown a field, and nobody may change it: one with a plain value. */
function isFixed(model: Model, resource: Resource, name: string): boolean {
  const field = entryOf(resource.fields, name);
  if (
    !field ||
    !isAlwaysShown(model.spec, field) ||
    field.shape.standing !== 'stated' ||
    field.shape.value.resource !== undefined
  )
    return false;
  return (
    (field.immutable === true || !isWritable(model.spec, resource, field)) &&
    Object.keys(field.set).every((word) => word === 'create')
  );
}

/** How many rows of each resource are read. */
const readMost = 2;

/** Rows are shown as stated, by each operation that shows them: what every answer is held to says the rest. */
export const there: Trial = {
  name: 'resources/there',
  part: 'resources',
  about:
    'Rows, those that are there already with --read-only, are shown as stated by each operation that shows them, to each user.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      for (const endpoint of [...model.endpointsThat('list', resource), ...model.endpointsThat('read', resource)])
        if (showsWhole(endpoint)) yield caseOf(model, resource, endpoint);
    }
  },
};

function caseOf(model: Model, resource: string, endpoint: Endpoint): Case {
  return {
    name: endpoint.key,
    facts: [{ kind: 'response payload shapes', subject: endpoint.key }],
    async run(session: Session) {
      const operation = model.operationOf(endpoint);
      for (let count = 0; count < readMost; count++) {
        const row = await session.make(resource, { style: count === 0 ? 'full' : 'plain' });
        await lookAt(session, row);
        for (const caller of model.callers) {
          const mayRead = model.access.allows(operation, caller, row.fields && { context: { resource: row.fields } });
          if (mayRead === 'no') continue;
          await session.send(await requestAbout(session, row, endpoint, { caller }));
        }
        // What is made for it is alike; what was there before may not be.
        if (!session.run.isReadOnly) break;
      }
    },
  };
}
