import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { membersSent, type SentMember } from '../../make/fields-sent.ts';
import { placesTold, placeWrittenAs, standingAt } from '../../make/told-places.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { hasWayTo, withMember, withoutMember } from '../../values/at-path.ts';
import { conditionOfBreak, type Variant } from '../../values/variants.ts';
import { isBodyPromised } from '../endpoints/bodies.ts';
import { breaksHeld } from '../endpoints/members-begun.ts';

/** The reason of a claim that a refusal says where something is wrong, as places are written. */
const placeWritten = 'its place';

const fact = { kind: 'error payload shapes', subject: 'service' } as const;

/** What a refusal tells of the place of what is wrong is that place, written as the document says. */
export const writtenPlaces: Trial = {
  name: 'errors/written places',
  part: 'errors',
  about: 'A refusal says which member of the body is wrong, in the way in which places are written.',
  noise: 'quiet',
  *cases(model) {
    if (model.spec.errors.payload.standing !== 'stated' || !model.refusals.placeAt('request.invalid')) return;
    for (const endpoint of model.endpoints) {
      if (!isBodyPromised(model, endpoint) || !isStructured(endpoint)) continue;
      yield { name: endpoint.key, facts: [fact], run: (session) => breakSome(session, endpoint) };
    }
  },
};

/** A form, or JSON: what is inside of anything else has no names. */
function isStructured({ consumes }: Endpoint): boolean {
  const [type = 'application/json'] = consumes ?? [];
  return type === 'application/json' || type === 'application/x-www-form-urlencoded';
}

/** So many members are broken, those that lie deepest first: at the top the ways of writing are alike. */
const membersMost = 3;

async function breakSome(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'whole');
  const broken = membersSent(model, endpoint, begun.caller)
    .flatMap((member) => brokenOf(model, endpoint, begun, member))
    .sort((one, other) => other.member.path.length - one.member.path.length);
  session.need(broken.length > 0, `nothing in the body of ${endpoint.key} can be made wrong alone`);
  for (const { member, variant } of broken.slice(0, membersMost)) {
    const done = await session.send(begun.request(withMember(begun.json, member.path, variant.value)));
    claimPlace(session, begun, done, {
      path: member.path,
      value: variant.value,
      condition: conditionOfBreak(member.shape, variant.value),
    });
  }
  // What is missing has no value, and a place all the same.
  const [lacking] = membersSent(model, endpoint, begun.caller)
    .filter(({ isNeeded, isUnknown, within, path }) => isNeeded && !isUnknown && !within && hasWayTo(begun.json, path))
    .sort((one, other) => other.path.length - one.path.length);
  if (!lacking) return;
  const done = await session.send(begun.request(withoutMember(begun.json, lacking.path)));
  claimPlace(session, begun, done, { path: lacking.path, value: undefined, condition: 'request.invalid.missing' });
}

/** What is wrong with a body: where, what stands there or that nothing does, and what that comes to. */
interface Wrong {
  readonly path: readonly string[];
  readonly value: Json | undefined;
  readonly condition: ErrorCondition;
}

function claimPlace(session: Session, { valid }: Begun, done: Done<TrialExchange>, wrong: Wrong): void {
  const { model } = session;
  session.claim({
    fact,
    reason: placeWritten,
    at: `${model.spec.errors.payload.at.replace(/\/payload$/, '')}/paths`,
    of: [done] as const,
    control: valid,
    judge: (exchange: TrialExchange) => judgePlace(model, exchange, wrong),
  });
}

/** How a member is broken, where a text says it too: what a form cannot say is sent in no form. */
function brokenOf(
  model: Model,
  endpoint: Endpoint,
  { json, isNew }: Begun,
  member: SentMember,
): { readonly member: SentMember; readonly variant: Variant }[] {
  if (member.isUnknown || member.within || (member.isImmutable && !isNew) || !hasWayTo(json, member.path)) return [];
  const isForm = endpoint.consumes?.[0] === 'application/x-www-form-urlencoded';
  const variant = breaksHeld(model, endpoint, member.shape).find(
    ({ value }) => !isForm || (typeof value === 'string' && value !== ''),
  );
  return variant ? [{ member, variant }] : [];
}

function judgePlace(model: Model, exchange: TrialExchange, { path, value, condition }: Wrong): Judgement {
  if (isDone(exchange) || exchange.status >= 500 || model.refusals.isHurried(exchange)) return moot('it was not refused for it');
  if (!isIn(exchange.sent.json, path, value)) return moot('something else was sent');
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  const code = model.refusals.codeIn(exchange);
  const codes = model.refusals.codesFor(condition, operation);
  if (code === undefined ? model.refusals.showsCodes : !codes.includes(code)) return moot('it was refused for something else');
  const places = placesTold(model, exchange, condition);
  const wanted = placeWrittenAs(path, model.spec.errors.paths);
  // What is refused for something in its body has a violation: where the payload tells of these it is told.
  if (places.length === 0)
    return code === undefined
      ? moot('no place is told')
      : { promised: `the place of what is wrong: ${wanted}`, seen: 'no place' };
  // Which of several things that are wrong is told first, nobody says.
  if (places.includes(wanted)) return undefined;
  const others = new Set(pathsIn(exchange.sent.json).map((other) => placeWrittenAs(other, model.spec.errors.paths)));
  if (places.some((place) => others.has(asText(place)))) return moot('something else is told to be wrong');
  return { promised: `the place of what is wrong: ${wanted}`, seen: places.join(', ') };
}

const deepest = 4;

/** The ways to all members of what was sent. */
function pathsIn(sent: Json | undefined, above: readonly string[] = []): (readonly string[])[] {
  if (typeof sent !== 'object' || sent === null || above.length === deepest) return [];
  return Object.entries(sent).flatMap(([name, inner]) => {
    const path = [...above, name];
    return [path, ...pathsIn(inner, path)];
  });
}

function isIn(sent: Json | undefined, path: readonly string[], value: Json | undefined): boolean {
  const found = path.reduce<Json | undefined>(standingAt, sent);
  // Nothing stands in what is there.
  if (value === undefined) return found === undefined && isMap(path.slice(0, -1).reduce<Json | undefined>(standingAt, sent));
  return found !== undefined && JSON.stringify(found) === JSON.stringify(value);
}
