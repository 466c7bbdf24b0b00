import type { JsonMap } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { membersSent, type SentMember } from '../../make/fields-sent.ts';
import type { Model } from '../../model/model.ts';
import { plainValue } from '../../model/needed.ts';
import type { Session } from '../../session/session.ts';
import { hasWayTo, withMember } from '../../values/at-path.ts';

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
    if (isThere(plain)) yield { begun: plain, member };
    else {
      whole ??= await beginBody(session, endpoint, 'whole');
      if (isThere(whole)) yield { begun: whole, member };
    }
  }
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
    : ifTestable(beginBody(session, endpoint, 'plain', { [name]: value }));
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
