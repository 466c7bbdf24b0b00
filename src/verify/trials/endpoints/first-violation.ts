import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { arrange, beginBody } from '../../make/begin-body.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { membersSent } from '../../make/fields-sent.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { bareMap, hasWayTo, membersOf, withMember } from '../../values/at-path.ts';
import { conditionOfBreak } from '../../values/variants.ts';
import { isBodyPromised } from './bodies.ts';
import { breaksHeld } from './members-begun.ts';

/** Of several things that are wrong in a body, the first that was sent names the refusal. */
export const firstViolation: Trial = {
  name: 'errors/first violation',
  part: 'errors',
  about: 'Where several things are wrong in a body and have codes of their own, the first that was sent says which one answers.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const codes = model.refusals.codesFor('request.invalid', model.operationOf(endpoint));
      if (bodyMedia(endpoint) !== 'json' || codes.length < 2 || !isBodyPromised(model, endpoint)) continue;
      const factsOf = (told: readonly { readonly code: string }[]) =>
        told.map(({ code }) => ({ kind: 'conditions', subject: code }));
      const wrong = wrongMembers(model, endpoint);
      const pair = pairOf(wrong);
      if (pair) yield { name: endpoint.key, facts: factsOf(pair), run: (session) => sendBoth(session, endpoint, pair) };
      const lacking = lackingOf(model, endpoint, wrong);
      if (lacking)
        yield {
          name: `${endpoint.key}, where one is missing`,
          facts: factsOf([lacking.wrong]),
          run: (session) => sendLacking(session, endpoint, lacking),
        };
    }
  },
};

/** A member that is wrong by itself, what it comes to, and the code of that. */
interface WrongMember {
  readonly name: string;
  readonly value: Symbolic;
  readonly when: ErrorCondition;
  readonly code: string;
}

type Pair = readonly [WrongMember, WrongMember];

async function sendBoth(session: Session, endpoint: Endpoint, [one, other]: Pair): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const { [one.name]: _one, [other.name]: _other, ...rest } = membersOf(begun.json);
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const json = bareMap({ [first.name]: first.value, ...rest, [second.name]: second.value });
    const done = await session.send(begun.request(json));
    const what = `a body in which ${first.name} is wrong before ${second.name}`;
    claimRefusedAs(session, done, { by: { when: first.when }, what, control: begun.valid });
  }
}

/** A member that is wrong, beside another that is missing. */
interface Lacking {
  readonly wrong: WrongMember;
  readonly missing: string;
}

/** What is missing comes after what was sent. */
async function sendLacking(session: Session, endpoint: Endpoint, { wrong, missing }: Lacking): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const { [wrong.name]: _wrong, [missing]: _missing, ...rest } = membersOf(begun.json);
  const done = await session.send(begun.request(bareMap({ ...rest, [wrong.name]: wrong.value })));
  const what = `a body in which ${wrong.name} is wrong and ${missing} is missing`;
  claimRefusedAs(session, done, { by: { when: wrong.when }, what, control: begun.valid });
}

/** A member that has to be there, and one that can be wrong in a way that has another code than what is missing. */
function lackingOf(model: Model, endpoint: Endpoint, wrong: readonly WrongMember[]): Lacking | undefined {
  const code = model.refusals.of('request.invalid.missing', model.operationOf(endpoint))?.code.name;
  const needed = membersSent(model, endpoint, model.callers[0]).flatMap(({ path, within, isNeeded }) =>
    isNeeded && !within && path.length === 1 ? path : [],
  );
  for (const one of wrong) {
    const missing = needed.find((name) => name !== one.name);
    if (code !== undefined && one.code !== code && missing !== undefined) return { wrong: one, missing };
  }
  return undefined;
}

/** Two members that can be wrong in ways that have codes of their own; nothing where there are none. */
function pairOf(wrong: readonly WrongMember[]): Pair | undefined {
  const pairs = wrong.flatMap((one) =>
    wrong.filter((other) => other.name !== one.name && other.code !== one.code).map((other): Pair => [one, other]),
  );
  // A name that is not stated tells less than two ways of being wrong in what is.
  return pairs.find((pair) => pair.every(({ when }) => when !== 'request.invalid.unknown')) ?? pairs[0];
}

/** A name that is not stated, where none is let pass, and each member in each way that its shape tells. */
function wrongMembers(model: Model, endpoint: Endpoint): WrongMember[] {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const isClosed = resource !== undefined && !resource.additionalProperties && !isStated(endpoint.request);
  const strange = { name: 'nf_not_stated', value: 'x', when: 'request.invalid.unknown' as const };
  const members = membersSent(model, endpoint, model.callers[0]).filter(
    ({ path, within, isUnknown, isImmutable }) => path.length === 1 && !within && !isUnknown && !isImmutable,
  );
  const known = members.flatMap(({ path: [name = ''], shape }) =>
    breaksHeld(model, endpoint, shape)
      .map(({ value }) => ({ name, value, when: conditionOfBreak(shape, value) }))
      .filter(({ when }) => when !== 'request.invalid'),
  );
  return [...(isClosed ? [strange] : []), ...known].slice(0, membersMost).flatMap((member) => {
    const code = model.refusals.of(member.when, model.operationOf(endpoint))?.code.name;
    return code === undefined ? [] : [{ ...member, code }];
  });
}

/** So many ways of being wrong are put beside each other. */
const membersMost = 40;

/** Values that are seldom thought of make no operation fail, whether they are taken or refused. */
export const oddValues: Trial = {
  name: 'errors/odd values',
  part: 'errors',
  about: 'Texts, numbers and whole bodies that are seldom thought of are taken or refused, and make nothing fail.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      yield { name: endpoint.key, facts: [], run: (session) => sendOdd(session, endpoint) };
    }
  },
};

/** So many requests an endpoint gets; fewer where all that it takes is stated, and tried at its edges by others. */
const requestsMost = { stated: 8, readOff: 60 };

async function sendOdd(session: Session, endpoint: Endpoint): Promise<void> {
  let left = isByRule(endpoint) ? requestsMost.stated : requestsMost.readOff;
  const plan = await arrange(session, endpoint, 'whole');
  for (const odd of oddPlans(session, endpoint, plan)) {
    if (left-- <= 0) return;
    await session.send(odd);
  }
}

function* oddPlans(session: Session, endpoint: Endpoint, plan: RequestPlan): Iterable<RequestPlan> {
  const { body } = plan;
  if (body && 'value' in body) {
    for (const value of wholes) yield { ...plan, body: { ...body, value } };
    const members = membersSent(session.model, endpoint, plan.caller).filter(
      ({ path, isImmutable }) => !isImmutable && hasWayTo(body.value, path),
    );
    // One value after another over all members, so that each has its turn where not all do.
    for (const at of Array(texts.length).keys())
      for (const { path, shape } of members)
        for (const value of [oddFor(shape, at)])
          if (value !== undefined) yield { ...plan, body: { ...body, value: withMember(body.value, path, value) } };
  }
  const { properties } = paramsShape(session.model.spec, endpoint);
  for (const at of Array(texts.length).keys()) {
    for (const [name, parameter] of entriesOf(endpoint.parameters)) {
      const shape = isMap(properties) ? properties[name] : undefined;
      const value = isStated(parameter.shape) && isMap(shape) && parameter.in === 'query' ? words[at] : undefined;
      if (value !== undefined) yield { ...plan, query: { ...plan.query, [name]: value } };
    }
  }
}

const wholes: readonly Json[] = [[], null, 'nf', 0, {}, [{}]];

/** Ends of statements, signs of other alphabets, what looks like something else, and what is long. */
const texts: readonly Json[] = [
  null,
  "nf'--",
  '\u0000',
  '',
  'nf%00%',
  '😀'.repeat(30),
  'x'.repeat(5000),
  '{"$gt":""}',
  '../../nf',
  ' ',
];
const words: readonly Json[] = ["nf'--", 'nf', '', '%00', '-1', '99999999999999999999', '1e309', '../../nf', '0.5'];
const numbers: readonly Json[] = [null, 0, -1, 9007199254740992, -2147483649, 1e308, 0.1, 'NaN', ''];

/** The value at a turn: of the sort of the member, and now and then of another. */
function oddFor({ type, enum: allowed, format, pattern }: JsonMap, at: number): Json | undefined {
  // Whether a format is asserted is not said: what is stored may be shown again.
  if (allowed !== undefined || format !== undefined || pattern !== undefined) return at === 0 ? null : undefined;
  if (type === 'integer' || type === 'number') return numbers[at];
  if (type === 'array') return [null, [null], [[]], 'nf'][at];
  if (type === 'object') return [null, [], 'nf'][at];
  return texts[at];
}
