import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { ownIdentifier } from './entrusted.ts';
import { lookAt } from './look.ts';

/**
 * The row that has an identifier, as `ashford` of a caller's `branch`: as it is there, else made where whoever makes one says what it is called.
 * Nothing where it is neither.
 */
export async function rowCalledSo(
  session: Session,
  resource: string,
  id: Json,
  make: (wanted: WantedRow) => Promise<TrialRow>,
): Promise<TrialRow | undefined> {
  const row: TrialRow = { resource, id, known: {}, caller: undefined, shown: undefined, fields: undefined };
  const look = await ifTestable(lookAt(session, row));
  if (look?.fields) return { ...row, known: look.fields };
  const { model } = session;
  const field = model.identifierField(resource);
  const isInPath = model.endpointsThat('upsert', resource).some(({ path }) => path.endsWith(`{${field}}`));
  if (isInPath) return ifTestable(make({ id }));
  const isInBody = statedValue(model.resource(resource)?.identifier)?.generate === 'client';
  return isInBody ? ifTestable(make({ body: { [field]: id } })) : undefined;
}

/** The identifier that a caller chooses: the body's, where that has one. */
export function identifierChosen(
  { model }: Session,
  endpoint: Endpoint,
  json: Symbolic | undefined,
  { id, for: asking }: WantedRow,
): Symbolic {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const field = model.identifierField(resource);
  const sent =
    typeof json === 'object' && json !== null && Object.hasOwn(json, field)
      ? (json as Readonly<Record<string, Symbolic>>)[field]
      : undefined;
  return sent ?? id ?? ownIdentifier(model, resource, asking) ?? model.freshValue(resource, field) ?? null;
}
