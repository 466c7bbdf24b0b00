import { takenOf } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { machineOn } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRow, foreignValue } from '../../make/claim-row.ts';
import { identifiedByMaker } from '../../make/entrusted.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFrom } from '../../make/row-made.ts';
import { statesOf } from '../../make/walk.ts';
import { isHiddenFrom, isShownToSomebody } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { isJsonMap, writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { isValid, taken } from '../endpoints/bodies.ts';
import { turningPoints } from './turning.ts';

const rounds = ['plain', 'full', 'full', 'full'] as const;

/** What is created has every field as it was sent, defaulted, set, generated, or left out: in the answer, and when it is read again. */
export const stored: Trial = {
  name: 'resources/stored',
  part: 'resources',
  about: 'What is created is what the document makes of what was sent, in the answer and afterwards.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      const seen = entriesOf(resource.fields).filter(
        ([, field]) => field.reveal === 'once' || isShownToSomebody(field, model.callers),
      );
      const facts = seen.map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
      // What refuses it is a matter of its own trial.
      const isRefused = model.endpointsThat('create', name).some(({ readOnlySent }) => readOnlySent !== undefined);
      for (const [field, stated] of entriesOf(resource.fields)) {
        const value = otherState(model, name, stated) ?? foreignValue(stated);
        if (value === undefined || isRefused || isWritable(model.spec, resource, stated)) continue;
        const fact = { kind: 'allowed values', subject: `${name}.${field}` };
        yield {
          name: `${name} with ${field}`,
          facts: [fact],
          run: (session) => createAndLook(session, name, 'plain', { [field]: value }),
        };
      }
      for (const [what, text] of [
        ['texts as long as they may be', longest],
        ['texts of all sorts', ofAllSorts],
      ] as const) {
        const body = textsOf(model, resource, text);
        const named = seen
          .filter(([field]) => Object.hasOwn(body, field))
          .map(([field]) => ({ kind: 'allowed values', subject: `${name}.${field}` }));
        if (named.length > 0)
          yield { name: `${name}, ${what}`, facts: named, run: (session) => createAndLook(session, name, 'plain', body) };
      }
      for (const [field, stated] of seen) {
        for (const { sent, value } of turningPoints(model, resource, stated)) {
          const fact = { kind: 'allowed values', subject: `${name}.${field}` };
          const run = (session: Session) => createAndLook(session, name, 'plain', { [sent]: value });
          yield { name: `${name}, ${field} where ${sent} is ${value}`, facts: [fact], run };
        }
      }
      for (const [round, style] of rounds.entries()) {
        yield { name: `${name}, ${style} ${round}`, facts, run: (session) => createAndLook(session, name, style) };
      }
    }
  },
};

/** A state in which no row begins: whoever writes what is sent for it begins there. */
function otherState({ spec }: Model, resource: string, { name }: Field): string | undefined {
  const machine = machineOn(spec.states, resource, name);
  const begun = new Set(machine?.initial.map(({ state }) => state));
  return machine && statesOf(machine).find((state) => !begun.has(state));
}

async function createAndLook(
  session: Session,
  resource: string,
  style: 'plain' | 'full',
  body: Readonly<Record<string, Symbolic>> = {},
): Promise<void> {
  const row = await session.make(resource, { style, body });
  const change = row.made;
  session.need(change !== undefined, `rows of ${resource} are given, not made`);
  claimLeftOut(session, resource, change);
  claimRow(session, { resource, change, seen: change, reason: 'answered' });
  const { done } = await lookAt(session, row);
  claimRow(session, { resource, change, seen: done, reason: 'stored' });
}

/** A text for each field that a caller may write any text into, of the length that its shape has. */
function textsOf(model: Model, resource: Resource, text: (least: number, most: number) => Fresh): Record<string, Symbolic> {
  const bound = new Set(model.endpointsThat('create', resource.name).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  const out: Record<string, Symbolic> = {};
  for (const [name, field] of entriesOf(resource.fields)) {
    const shape = statedValue(field.shape);
    const isText = shape?.type === 'string' && ['enum', 'const', 'pattern', 'format'].every((word) => shape[word] === undefined);
    // What whoever makes a row has to be called is nobody else's to say.
    if (!isText || field.ref !== undefined || bound.has(name) || name === identifiedByMaker(model, resource.name)?.field)
      continue;
    if (!isWritable(model.spec, resource, field)) continue;
    const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
    const most = typeof shape.maxLength === 'number' ? shape.maxLength : 2 * shortest;
    if (most >= shortest && most <= longestMax) out[name] = text(least, most);
  }
  return out;
}

/** Shorter ones are not sure to be another each time. */
const shortest = 20;
/** Longer ones may be more than a body may have. */
const longestMax = 1000;

function longest(_least: number, most: number): Fresh {
  return new Fresh((draw) => Buffer.from(draw.bytes(most)).toString('base64url').slice(0, most));
}

/** Letters of other scripts, signs that mean something somewhere, more than one blank, and blanks at both ends. */
function ofAllSorts(least: number, most: number): Fresh {
  return new Fresh((draw) => {
    const own = Buffer.from(draw.bytes(5)).toString('hex');
    const text = ` ${own}  Ä"<&'\\%😀 `;
    return [...text.padStart(least)].slice(-most).join('');
  });
}

/** What may be left out was left out, and the row was made without it. */
function claimLeftOut(session: Session, name: string, change: Done<TrialExchange>): void {
  const resource = session.model.resource(name);
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    if (statedValue(stated.required) !== false) continue;
    session.claim({
      fact: { kind: 'required flags', subject: `${name}.${field}` },
      reason: 'left out',
      of: [change] as const,
      judge(exchange: TrialExchange) {
        const sent = takenOf(exchange.endpoint ?? {}, exchange.sent.json);
        // Of what has more than may be sent no refusal would have shown anything.
        if (exchange.sent.json !== undefined && !isValid(session.model, exchange)) return moot('it is not valid');
        return !isJsonMap(sent) || sent[field] === undefined
          ? taken(session.model, exchange, `a body without ${field}`)
          : moot('it was not left out');
      },
    });
  }
}

/** What a user sends for a field that is for others to write is not stored. */
export const notWritable: Trial = {
  name: 'resources/not writable',
  part: 'resources',
  about: 'A field that only some users write is not written by the others.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const [, field] of entriesOf(resource.fields)) {
        const { writable } = field;
        if (writable === undefined || field.readOnly || !statedValue(resource.identifier)) continue;
        for (const endpoint of writersOf(model, name)) {
          const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
          for (const user of strangersTo(model, endpoint, writable))
            yield {
              name: `${endpoint.key} with ${field.name} as ${user}`,
              facts,
              run: (session) => writeAs(session, endpoint, field, user),
            };
        }
      }
    }
  },
};

function writersOf(model: Model, resource: string): Endpoint[] {
  const verbs = ['create', 'update', 'replace', 'upsert'];
  return verbs
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter((endpoint) => !isStated(endpoint.request) && writesFields(model, endpoint));
}

/** The users who may call an endpoint, and not write the field. */
function strangersTo(model: Model, endpoint: Endpoint, writable: readonly string[]): string[] {
  const operation = model.operationOf(endpoint);
  const able = model.callers.filter(
    (caller) => !writable.includes(caller.user) && model.access.allows(operation, caller) !== 'no',
  );
  return [...new Set(able.map(({ user }) => user))];
}

async function writeAs(session: Session, endpoint: Endpoint, field: Field, user: string): Promise<void> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const name = effect && 'resource' in effect ? effect.resource : '';
  const isNew = effect?.verb === 'create' || effect?.verb === 'upsert';
  const value = model.freshValue(name, field.name);
  session.need(value !== undefined, `no value could be made for ${field.name}`);
  const [state] = endpoint.in ?? [];
  const row = isNew ? undefined : await session.make(name, { style: 'whole', ...(state !== undefined && { state }) });
  const caller = callersFor(session, endpoint, row).find((one) => one.user === user);
  session.need(caller !== undefined, `no ${user} may call ${endpoint.key}`);
  const reader = readerOf(model, field);
  session.need(reader !== undefined, `nobody is shown ${field.name}`);
  const before = row && (await lookAt(session, row, reader)).done;
  const plan = row
    ? await requestAbout(session, row, endpoint, { caller, headers: await session.preconditions(endpoint, row, caller) })
    : await creation(session, endpoint, caller);
  const json = plan.body && 'value' in plan.body ? plan.body.value : {};
  const body = { value: withMember(json, [field.name], value), type: plan.body?.type ?? 'application/json' };
  const change = await session.send({ ...plan, body });
  if (!isDone(change.value)) return;
  const after = await lookAt(session, row ?? rowFrom(session, name, endpoint, change), reader);
  claimRow(session, { resource: name, change, seen: after.done, reason: 'stored', ...(before && { before }) });
}

async function creation(session: Session, endpoint: Endpoint, caller: TrialCaller): Promise<RequestPlan> {
  const { path, json } = await session.parts(endpoint, { caller });
  return session.model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
}

/** Somebody who would see it. */
function readerOf(model: Model, field: Field): TrialCaller | undefined {
  return model.callers.find((caller) => !isHiddenFrom(field, caller));
}
