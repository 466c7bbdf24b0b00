import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { isDone } from '../exchange/exchange.ts';
import { membersSent, type SentMember } from '../make/fields-sent.ts';
import type { Model } from '../model/model.ts';
import { isByRule } from '../model/promises.ts';
import { isBodyPromised } from '../trials/endpoints/bodies.ts';
import { breaksHeld } from '../trials/endpoints/breaks.ts';
import { isHandedOn } from '../trials/endpoints/members-begun.ts';
import type { Variant } from '../values/variant.ts';
import { edgesOf } from '../values/variants.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/**
 * Each edge of a value taken, and each value just beyond refused, wherever it is sent: that one of them is refused, or that all are
 * where a row is made, says nothing of the others and of what changes it.
 */
export function looksAtBounds(model: Model, { kind, subject }: LedgerFact): Obligation[] {
  return bodiesOf(model).flatMap(({ endpoint, members }) =>
    members
      .filter((member) => member.fact('types').subject === subject)
      .flatMap((member) => boundsOf(model, endpoint, member, kind)),
  );
}

interface BodyOf {
  readonly endpoint: Endpoint;
  readonly members: readonly SentMember[];
}

const known = new WeakMap<Model, readonly BodyOf[]>();

/** The members that bodies have at once, and no alternative of which they are part. */
function bodiesOf(model: Model): readonly BodyOf[] {
  const found = known.get(model) ?? model.endpoints.filter((one) => isTaken(model, one)).map((one) => bodyOf(model, one));
  known.set(model, found);
  return found;
}

function bodyOf(model: Model, endpoint: Endpoint): BodyOf {
  const members = membersSent(model, endpoint, callerOf(model, endpoint) ?? undefined);
  return { endpoint, members: members.filter(({ path, within, isUnknown }) => path.length === 1 && !within && !isUnknown) };
}

function isTaken(model: Model, endpoint: Endpoint): boolean {
  const isJson = endpoint.consumes === undefined || endpoint.consumes[0] === 'application/json';
  return isJson && isByRule(endpoint) && isBodyPromised(model, endpoint) && callerOf(model, endpoint) !== null;
}

/** Who sends it; null where nobody who was given may. */
function callerOf(model: Model, endpoint: Endpoint): TrialCaller | undefined | null {
  const operation = model.operationOf(endpoint);
  return (
    model.callers.find((one) => model.access.allows(operation, one) === 'yes') ??
    model.callers.find((one) => model.access.allows(operation, one) !== 'no') ??
    (model.callers.length === 0 ? undefined : null)
  );
}

function boundsOf(model: Model, endpoint: Endpoint, member: SentMember, kind: string): Obligation[] {
  const { shape, path } = member;
  const [name = ''] = path;
  const isChange = isChanging(endpoint);
  const edges = (member.isImmutable && isChange) || isHandedOn(model, endpoint, member) ? [] : [...edgesOf(shape)];
  const isAt = (one: TrialExchange) => one.endpoint?.key === endpoint.key;
  const isOf = (one: TrialExchange, { value }: Variant) => isAt(one) && hasMember(one, name, value);
  return [
    ...edges
      .filter((edge) => member.fact(edge.kind).kind === kind)
      .map((edge) => ({
        name: `${edge.label}, taken at ${endpoint.key}`,
        isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isDone(one) && isOf(one, edge)),
      })),
    ...breaksHeld(model, endpoint, shape)
      .filter((broken) => member.fact(broken.kind).kind === kind)
      .map((broken) => ({
        name: `${broken.label}, refused at ${endpoint.key}`,
        isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isRefused(one) && isOf(one, broken)),
      })),
    ...(member.isNeeded && member.fact('required flags').kind === kind
      ? [
          {
            name: `left out, refused at ${endpoint.key}`,
            isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isRefused(one) && isAt(one) && !hasMember(one, name)),
          },
        ]
      : []),
  ];
}

function isChanging({ does }: Endpoint): boolean {
  const verb = statedValue(does)?.verb;
  return verb === 'update' || verb === 'replace';
}

function isRefused({ status }: TrialExchange): boolean {
  return status >= 400 && status < 500;
}

/** Whether a body has a member, of this value where one is meant. */
function hasMember({ sent }: TrialExchange, name: string, value?: Json): boolean {
  const { json } = sent;
  if (!isMap(json) || !Object.hasOwn(json, name)) return false;
  return value === undefined || isSame(json[name], value);
}
