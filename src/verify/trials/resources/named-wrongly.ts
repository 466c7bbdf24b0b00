import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { breaksOf } from '../../values/variants.ts';

/** The reason of a claim that a name which no row may have is refused where an upsert would make one of it. */
export const namedWrongly = (key: string): string => `another name than it may have, refused at ${key}`;

/** A name that callers choose has to be one that its field may have. */
export const wrongNames: Trial = {
  name: 'resources/named wrongly',
  part: 'resources',
  about: 'A name that no row may have is refused where an upsert would make a row of it.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all))
      for (const { endpoint, field, names } of namesOf(model, resource)) {
        const facts = [{ kind: 'allowed values', subject: `${name}.${field.name}` }];
        yield { name: endpoint.key, facts, run: (session) => nameWrongly(session, endpoint, facts[0]!, names) };
      }
  },
};

interface Naming {
  readonly endpoint: Endpoint;
  readonly field: Field;
  /** Names that the field may not have, with what is wrong with each. */
  readonly names: readonly { readonly label: string; readonly value: string }[];
}

/** So many wrong names are sent. */
const namesMost = 8;
/** Longer names are kept from services by how long an address may be. */
const lengthMost = 200;

/** The upserts of a resource by a name in their path, where some names are wrong. */
export function namesOf(model: Model, resource: Resource): readonly Naming[] {
  const upserts = model.endpointsThat('upsert', resource.name);
  const identifier = upserts.length > 0 ? statedValue(resource.identifier) : undefined;
  const field = identifier && entryOf(resource.fields, identifier.field);
  const shape = field && statedValue(field.shape);
  if (!field || !isMap(shape)) return [];
  const names = [...breaksOf(shape)].flatMap(({ label, value, kind }) => {
    const isName = typeof value === 'string' && value.length > 0 && value.length <= lengthMost && !/[/?#%.\s]/u.test(value);
    return isName && kind === 'allowed values' ? [{ label, value }] : [];
  });
  if (names.length === 0) return [];
  return upserts.flatMap((endpoint) => {
    const isPlain = identifierParameter(endpoint) !== undefined && !endpoint.rows && endpoint.identity === undefined;
    return isPlain ? [{ endpoint, field, names: names.slice(0, namesMost) }] : [];
  });
}

async function nameWrongly(
  session: Session,
  endpoint: Endpoint,
  fact: { readonly kind: string; readonly subject: string },
  names: Naming['names'],
): Promise<void> {
  const { request } = await ready(session, endpoint);
  const last = identifierParameter(endpoint) ?? '';
  for (const { label, value } of names) {
    const done = await session.send({ ...request, path: { ...request.path, [last]: value }, isWhole: true });
    claimRefused(session, done, {
      by: { when: 'request.invalid' },
      fact,
      reason: namedWrongly(endpoint.key),
      what: `a name ${label}`,
      control: request,
    });
  }
}
