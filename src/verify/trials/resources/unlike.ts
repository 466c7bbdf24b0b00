import { entryOf, statedValue } from '../../../parts/fact.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { WantedRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { heldOf } from '../../make/entrusted.ts';
import { makerMember } from '../../make/of-maker.ts';
import { rowBounds } from '../../make/places.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { isValid } from '../endpoints/bodies.ts';

/** The reason of a claim that rows are no two of one where one of the fields that are unique together is another. */
export function otherIn({ fields }: Pick<Unique, 'fields'>, name: string): string {
  return `${fields.join(' and ')}, with another ${name}`;
}

/** The fields of which each may be another, where several are unique together: none that are so by fewer fields, or that nobody can have otherwise. */
export function otherFields(model: Model, resource: Resource, rule: Unique): readonly string[] {
  const isMade = model.endpointsThat('create', resource.name).some(({ exists }) => !exists);
  // That there is one already is how there may be no more of them, too.
  const isBounded = rowBounds(model).some(({ of, refused }) => of === resource.name && refused === 'resource.exists');
  if (rule.fields.length < 2 || !isMade || isBounded) return [];
  return rule.fields.filter((name) => {
    const shared = new Set(rule.fields.filter((one) => one !== name));
    const isByFewer = resource.unique.some((other) => other !== rule && other.fields.every((one) => shared.has(one)));
    const field = entryOf(resource.fields, name);
    const isOthers = makerMember(field?.set.create) !== undefined && model.callers.length > 1;
    return !isByFewer && field !== undefined && (!field.readOnly || isOthers);
  });
}

/** What was made first, and what is known of it. */
interface First {
  readonly made: Done<TrialExchange>;
  readonly caller: TrialCaller | undefined;
  readonly wanted: Required<Pick<WantedRow, 'body' | 'parents'>>;
}

/** Makes a second row that differs in one of the fields that are unique together: that it is there already is no answer to it. */
export async function makeUnlike(
  session: Session,
  { resource, rule }: { readonly resource: Resource; readonly rule: Unique },
  { made, caller, wanted }: First,
  fresh: (fields: readonly string[]) => Promise<First['wanted']>,
): Promise<void> {
  const { model } = session;
  const { endpoint } = made.value;
  if (!endpoint || statedValue(endpoint.does)?.verb !== 'create' || endpoint.exists) return;
  for (const name of otherFields(model, resource, rule)) {
    const other = await ifTestable(fresh([name]));
    const isOurs = other !== undefined && (name in other.body || name in other.parents);
    const maker = isOurs ? caller : anotherMaker(model, resource, name, caller, made.value);
    if (!other || !maker) continue;
    const own = { body: { ...wanted.body, ...other.body }, parents: { ...wanted.parents, ...other.parents } };
    const parts = await ifTestable(session.parts(endpoint, { ...own, caller: maker }));
    if (!parts) continue;
    const plan = model.request(endpoint, {
      path: parts.path,
      caller: maker,
      ...(parts.json !== undefined && { json: parts.json }),
    });
    const second = await session.send(plan);
    session.claim({
      fact: { kind: 'allowed values', subject: `${resource.name}.${rule.fields.at(-1) ?? ''}` },
      reason: otherIn(rule, name),
      at: rule.at,
      of: [made, second] as const,
      judge: (first: TrialExchange, seen: TrialExchange): Judgement => {
        if (!isDone(first)) return moot('there was nothing to be like');
        if (isDone(seen)) return undefined;
        const exists = model.refusals.of('resource.exists', model.operationOf(endpoint))?.code.name;
        if (exists === undefined || model.refusals.codeIn(seen) !== exists || !isValid(model, seen))
          return moot('something else stood in its way');
        return { promised: `a ${resource.name} with another ${name} is no second one`, seen: `${seen.status} (${exists})` };
      },
    });
  }
}

/** Somebody else who may make such a row, where a field is of whoever makes it. */
function anotherMaker(
  model: Model,
  { fields }: Resource,
  name: string,
  caller: TrialCaller | undefined,
  { endpoint }: TrialExchange,
): TrialCaller | undefined {
  const member = makerMember(entryOf(fields, name)?.set.create);
  if (!member || !caller || !endpoint) return undefined;
  const operation = model.operationOf(endpoint);
  return model.callers.find(
    (one) =>
      one.user === caller.user &&
      !isSamePerson(one, caller) &&
      heldOf(one, member) !== undefined &&
      heldOf(one, member) !== heldOf(caller, member) &&
      model.access.allows(operation, one) === model.access.allows(operation, caller),
  );
}
