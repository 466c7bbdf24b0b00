import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated } from '../../../parts/fact.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { arrange } from '../../make/begin-body.ts';
import { membersSent } from '../../make/fields-sent.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { hasWayTo, withMember } from '../../values/at-path.ts';

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
