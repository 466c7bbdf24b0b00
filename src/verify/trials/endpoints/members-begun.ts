import type { JsonMap } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { fieldParameters, identifierParameter, isWritable } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { bodyFields, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { membersSent, type SentMember } from '../../make/fields-sent.ts';
import { rowFor } from '../../make/row-where.ts';
import { askedAtEdge } from '../../model/asked-kinds.ts';
import type { Model } from '../../model/model.ts';
import { plainValue } from '../../model/needed.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import { hasWayTo, withMember, withoutMember } from '../../values/at-path.ts';
import { saidInForms } from '../../values/forms.ts';
import { breaksOf, edgesOf, lenientBreaksOf, type Variant } from '../../values/variants.ts';

/** The members of an endpoint's body with one that has them: as little as it takes, and for those inside of values that may be left out, with all. */
export async function* membersBegun(
  session: Session,
  endpoint: Endpoint,
): AsyncIterable<{ readonly begun: Begun; readonly member: SentMember }> {
  const plain = await beginBody(session, endpoint, 'plain');
  const isPatch = statedValue(endpoint.does)?.verb === 'update' && !isStated(endpoint.request);
  let whole: Begun | undefined;
  const inBranches = new Map<JsonMap, Begun | undefined>();
  for (const member of membersSent(session.model, endpoint, plain.caller)) {
    if (isPatch && member.within) {
      const { shape } = member.within;
      if (!inBranches.has(shape)) inBranches.set(shape, await begunInBranch(session, endpoint, member.within));
      const begun = inBranches.get(shape);
      if (begun) yield { begun, member };
      continue;
    }
    const isThere = (begun: Begun) => hasWayTo(inBranch(session, begun.json, member), member.path);
    if (isThere(plain)) yield { begun: await chosenAlone(session, endpoint, plain, member), member };
    else {
      whole ??= await beginBody(session, endpoint, 'whole');
      if (isThere(whole)) yield { begun: await chosenAlone(session, endpoint, whole, member), member };
    }
  }
  yield* membersOfOthers(session, endpoint, plain.caller);
}

/** The members that only others than somebody may write, with bodies of theirs. */
async function* membersOfOthers(
  session: Session,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
): AsyncIterable<{ readonly begun: Begun; readonly member: SentMember }> {
  const { model } = session;
  const own = new Set(membersSent(model, endpoint, caller).map(({ path: [name] }) => name));
  const others = model.callers.flatMap((other) => membersSent(model, endpoint, other).map(({ path: [name = ''] }) => name));
  for (const writing of new Set(others).difference(own)) {
    const begun = await ifTestable(beginBody(session, endpoint, 'whole', { writing }));
    const members = begun ? membersSent(model, endpoint, begun.caller) : [];
    for (const member of members)
      if (begun && member.path[0] === writing && !member.within && hasWayTo(begun.json, member.path)) yield { begun, member };
  }
}

/**
 * Where one of several fields may be there alone, a body in which it is this one: beside another it would be refused for that. It is begun anew, since
 * what is valid of it and of the body with the other cannot both be taken where values are unique.
 */
async function chosenAlone(session: Session, endpoint: Endpoint, given: Begun, member: SentMember): Promise<Begun> {
  const { spec } = session.model;
  const [name = '', ...deeper] = member.path;
  const resource = session.model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const choice = isStated(endpoint.request) ? undefined : resource?.choices.find(({ fields }) => fields.includes(name));
  const value = choice && deeper.length === 0 ? plainValue(spec, member.shape) : undefined;
  if (!choice || value === undefined) return given;
  // A patch merges with what is there.
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const others = choice.fields.filter((other) => other !== name);
  const without = (json: Symbolic, other: string) => (isPatch ? withMember(json, [other], null) : withoutMember(json, [other]));
  const begun = await given.again();
  const json = others.reduce(without, withMember(begun.json, [name], value));
  return { ...begun, json, valid: begun.request(json), again: () => chosenAlone(session, endpoint, given, member) };
}

/** A patch merges with what is there: one of an alternative is of a row that has it. Nothing where none can be made. */
async function begunInBranch(
  session: Session,
  endpoint: Endpoint,
  { path, shape }: NonNullable<SentMember['within']>,
): Promise<Begun | undefined> {
  const [name, ...deeper] = path;
  const value = name === undefined || deeper.length > 0 ? undefined : plainValue(session.model.spec, shape);
  return value === undefined || name === undefined
    ? undefined
    : ifTestable(beginBody(session, endpoint, 'plain', { rowBody: { [name]: value } }));
}

/** A body in which the alternative that a member belongs to stands where it has to. */
export function inBranch(session: Session, json: Symbolic, { within }: SentMember): Symbolic {
  if (!within) return json;
  const value = plainValue(session.model.spec, within.shape);
  return value === undefined ? json : withMember(json, within.path, value);
}

/** Whether what follows from a change refers to rows by the words of a field: which of them there are, no shape says. */
export function isHandedOn(model: Model, endpoint: Endpoint, { path: [name = ''] }: SentMember): boolean {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const reads = new RegExp(`\\b(?:next|resource)\\.${RegExp.escape(name)}\\b`);
  return followedOf(model.spec).some(
    (followed) =>
      followed.resource === resource &&
      followed.acts.some(({ each, to, set, does }) => {
        if (to && reads.test(to.source)) return true;
        const isEach = each !== undefined && reads.test(each.source);
        const fields = does === undefined ? undefined : model.resource(does.resource)?.fields;
        return Object.entries(set).some(
          ([field, { source }]) =>
            entryOf(fields, field)?.ref !== undefined && (reads.test(source) || (isEach && /\bitem\b/.test(source))),
        );
      }),
  );
}

/** Values that a shape does not admit, where it is promised that they are refused. */
export function breaksHeld(model: Model, endpoint: Endpoint, shape: JsonMap): Variant[] {
  const isFormatHeld = model.isHeld('a format in a request', endpoint);
  return [...breaksOf(shape)].filter(({ kind }) => kind !== 'formats' || isFormatHeld);
}

/** Those that a body of an endpoint can say: a form has no way to send a number as a text. */
export function bodyBreaks(model: Model, endpoint: Endpoint, shape: JsonMap): Variant[] {
  const breaks = breaksHeld(model, endpoint, shape);
  const media = bodyMedia(endpoint);
  if (media === 'form') return saidInForms(shape, breaks);
  return media === 'json' ? [...breaks, ...lenientBreaksOf(shape)] : breaks;
}

/** The values at the edges of a shape, as far as there are so many of what it asks for. */
export function edgesHeld(model: Model, endpoint: Endpoint, { path, shape }: Pick<SentMember, 'path' | 'shape'>): Variant[] {
  return [...edgesOf(shape)].flatMap((edge) => {
    const value = askedAtEdge(model, endpoint, path, edge.value);
    return value === undefined ? [] : [{ ...edge, value }];
  });
}

/** The values at the edges of a shape that a body of an endpoint can say. */
export function bodyEdges(model: Model, endpoint: Endpoint, { path, shape }: SentMember): Variant[] {
  const edges = edgesHeld(model, endpoint, { path, shape });
  return bodyMedia(endpoint) === 'form' ? saidInForms(shape, edges) : edges;
}

/** A field that the path of what makes a row has a value for, and that a body may have too. */
export interface BesidePath {
  readonly resource: string;
  readonly parameter: string;
  readonly field: Field;
}

/** What a body could say otherwise than the path: the parents of what is made, and the name that it is put under. */
export function besidePath(model: Model, endpoint: Endpoint): BesidePath[] {
  const effect = statedValue(endpoint.does);
  if ((effect?.verb !== 'create' && effect?.verb !== 'upsert') || endpoint.request.standing !== 'open' || !isByRule(endpoint))
    return [];
  const resource = model.resource(effect.resource);
  const last = identifierParameter(endpoint);
  // What a key of a row above it is called, a field of what is made may be called too.
  return fieldParameters(endpoint).flatMap((parameter) => {
    const field = resource && entryOf(resource.fields, parameter === last ? model.identifierField(effect.resource) : parameter);
    return field && isWritable(model.spec, resource, field) && field.writable === undefined
      ? [{ resource: effect.resource, parameter, field }]
      : [];
  });
}

/** A body that names something else than the path does is refused. */
export async function sendBesidePath(
  session: Session,
  endpoint: Endpoint,
  { resource, parameter, field }: BesidePath,
): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const other = await anotherFor(session, resource, field);
  session.need(other !== undefined, `no other ${field.name} is known`);
  const { name } = field;
  claimRefused(session, await session.send(begun.request(withMember(begun.json, [name], other))), {
    by: { when: 'request.invalid' },
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: `${name} beside the path`,
    what: `another ${name} than the path says`,
    control: begun.valid,
    isSo: ({ sent }: TrialExchange) => {
      const told = bodyFields({ body: sent.json })?.[name];
      return told !== undefined && asText(told) !== asText(sent.path[parameter]);
    },
  });
}

async function anotherFor(session: Session, resource: string, { name, ref }: Field): Promise<Symbolic | undefined> {
  return ref === undefined ? session.model.freshValue(resource, name) : (await rowFor(session, resource, name, ref)).id;
}
