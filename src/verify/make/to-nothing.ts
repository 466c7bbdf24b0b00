import type { Endpoint } from '../../parts/endpoints.ts';
import { boundByPath, isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import { freshText, type Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { mayHold, writesFields } from '../model/own-body.ts';

/** The endpoints that take the reference in their bodies; of those that change a row, where it may be another one than before. */
export function takers(
  model: Model,
  resource: Resource,
  field: Field,
  verbs = ['create', 'upsert', 'update', 'replace'],
): Endpoint[] {
  return verbs
    .filter((verb) => !field.immutable || verb === 'create' || verb === 'upsert')
    .flatMap((verb) => model.endpointsThat(verb, resource.name))
    .filter(
      (endpoint) =>
        writesFields(model, endpoint) &&
        mayHold(model, endpoint, field.name) &&
        !boundByPath(model.spec, endpoint).includes(field.name) &&
        isWritable(model.spec, resource, field),
    );
}

/** The identifier of a row that a reference could name, and that is not there. */
export function identifierOfNothing(model: Model, { ref = '' }: Field): Symbolic {
  if (identifierType(model.spec, ref) === 'integer') return 2_000_000_011;
  return model.freshValue(ref, model.identifierField(ref)) ?? freshText('nf-nothing-');
}
