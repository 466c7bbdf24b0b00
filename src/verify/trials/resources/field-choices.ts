import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { FactName } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt } from '../../make/look.ts';
import { changeKeepsRules, isThere } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { membersOf } from '../../values/at-path.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** Of several fields of which a row has one, no change takes away the one that is there, and none gives another beside it. */
export function* changedChoices(model: Model, resource: Resource): Iterable<Case> {
  for (const { fields, at } of resource.choices)
    for (const endpoint of choosingEndpoints(model, resource.name, fields))
      yield {
        name: `one of ${fields.join(', ')} at ${endpoint.key}`,
        facts: fields.map((field) => flagsOf(resource.name, field)),
        run: (session) => changeChoice(session, endpoint, { resource, fields, at }),
      };
}

interface Choosing {
  readonly resource: Resource;
  readonly fields: readonly string[];
  readonly at: string;
}

/** The operations that change a row and take each of these fields. */
export function choosingEndpoints(model: Model, resource: string, fields: readonly string[]): readonly Endpoint[] {
  return ['update', 'replace']
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter((endpoint) => {
      const properties = statedValue(model.requestShape(endpoint))?.properties;
      const taken = typeof properties === 'object' && properties !== null ? properties : {};
      const isFree = (name: string) => entryOf(model.resource(resource)?.fields, name)?.immutable !== true;
      return !isStated(endpoint.request) && fields.every((name) => Object.hasOwn(taken, name) && isFree(name));
    });
}

/** The reason of a claim that the one of these fields that a row has is not taken away at an endpoint. */
export const leftNone = (key: string): string => `none is left at ${key}, refused`;

const flagsOf = (resource: string, field: string): FactName => ({ kind: 'required flags', subject: `${resource}.${field}` });

/** For each of the fields: a row that has it, from which it is taken, and to which another is given. */
async function changeChoice(session: Session, endpoint: Endpoint, choosing: Choosing): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const { row } = begun;
  session.need(row !== undefined, 'no row is changed');
  const values = valuesOf(session, choosing);
  const names = choosing.fields.filter((name) => isThere(values[name]));
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const without = Object.fromEntries(
    Object.entries(membersOf(begun.json)).filter(([name]) => !isPatch && !choosing.fields.includes(name)),
  );
  for (const name of names) {
    // A patch takes the others away by null, a replacement by leaving them out.
    const others = isPatch ? Object.fromEntries(choosing.fields.map((one) => [one, null])) : {};
    const good = begun.request({ ...without, ...others, [name]: values[name] as Symbolic });
    const headers = await session.preconditions(endpoint, row, begun.caller);
    const given = await session.send({ ...good, headers: { ...good.headers, ...headers } });
    const shown = (await lookAt(session, row, begun.caller)).done;
    if (!isDone(given.value)) continue;
    const other = names.find((one) => one !== name);
    await refuse(session, begun, { choosing, shown, name, what: 'none of them', json: isPatch ? { [name]: null } : without });
    if (other === undefined) continue;
    const both = { [name]: values[name] as Symbolic, [other]: values[other] as Symbolic };
    await refuse(session, begun, { choosing, shown, name: other, what: 'two of them', json: { ...without, ...both } });
  }
}

async function refuse(
  session: Session,
  begun: Begun,
  refusal: {
    readonly choosing: Choosing;
    /** The row as it is. */
    readonly shown: Done<TrialExchange>;
    readonly name: string;
    readonly what: string;
    readonly json: Readonly<Record<string, Symbolic>>;
  },
): Promise<void> {
  const { model } = session;
  const { choosing, shown, name, what, json } = refusal;
  const { endpoint } = begun.valid;
  session.need(endpoint !== undefined && begun.row !== undefined, 'no row is changed');
  const plan = begun.request(json);
  const headers = await session.preconditions(endpoint, begun.row, begun.caller);
  const done = await session.send({ ...plan, headers: { ...plan.headers, ...headers } });
  claimRefused(session, done, {
    by: { when: 'request.invalid' },
    fact: flagsOf(choosing.resource.name, name),
    reason: what === 'none of them' ? leftNone(endpoint.key) : `two at ${endpoint.key}, refused`,
    at: choosing.at,
    what: `${what}: ${choosing.fields.join(', ')}`,
    beside: [shown],
    isSo: (exchange, was) => {
      const row = was && rowWith(model, was, idIn(model, was));
      return row !== undefined && changeKeepsRules(model, endpoint, row, exchange.sent.json) === 'no';
    },
    // What keeps the row as it is, in all but that.
    control: async () => (await beginBody(session, endpoint, 'plain')).valid,
  });
}

/** A value for each of the fields that has one. */
function valuesOf({ model, chance }: Session, { resource, fields }: Choosing): Record<string, Symbolic> {
  const out: Record<string, Symbolic> = {};
  for (const name of fields) {
    const shape = statedValue(entryOf(resource.fields, name)?.shape);
    try {
      // A reference is none of these values.
      if (shape) out[name] = chance.value(arbitraryValuesOf(model.spec, shape, 'plain')) as Symbolic;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return out;
}
