import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { fieldParameters, identifierParameter, isWritable } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import { bodyFields, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import { withMember } from '../../values/at-path.ts';

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
      return told !== undefined && String(told) !== String(sent.path[parameter]);
    },
  });
}

async function anotherFor(session: Session, resource: string, { name, ref }: Field): Promise<Symbolic | undefined> {
  return ref === undefined ? session.model.freshValue(resource, name) : (await rowFor(session, resource, name, ref)).id;
}
