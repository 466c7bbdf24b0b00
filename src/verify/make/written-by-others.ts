import type { Json } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import { isDone } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { mayHold, writesFields } from '../model/own-body.ts';
import type { Session } from '../session/session.ts';
import { NoValue } from '../values/scalars.ts';
import { arbitraryValuesOf, Reference } from '../values/values.ts';
import { callersFor } from './callers-for.ts';
import { lookAt } from './look.ts';
import { requestAbout } from './request-about.ts';

/** Has fields of a row written by those who may, where it has none of them since its maker may not; with these values, or any. */
export async function writtenByOthers(
  session: Session,
  row: TrialRow,
  names: readonly string[],
  values: Readonly<Record<string, Json>> = {},
): Promise<void> {
  const { model } = session;
  const resource = model.resource(row.resource);
  if (!row.fields) await ifTestable(lookAt(session, row));
  const lacking = entriesOf(resource?.fields).flatMap(([name, field]) => {
    const isOthers = field.writable !== undefined && !field.writable.includes(row.caller?.user ?? '');
    const isLacking = names.includes(name) && row.fields?.[name] === undefined;
    return resource && isOthers && isLacking && !field.immutable && isWritable(model.spec, resource, field) ? [field] : [];
  });
  for (const field of lacking) await ifTestable(writeAs(session, row, field, values[field.name]));
  if (lacking.length > 0) await ifTestable(lookAt(session, row));
}

async function writeAs(session: Session, row: TrialRow, field: Field, given: Json | undefined): Promise<void> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('update', row.resource)) {
    if (endpoint.takes || !writesFields(model, endpoint) || !mayHold(model, endpoint, field.name)) continue;
    const writer = callersFor(session, endpoint, row).find(({ user }) => field.writable?.includes(user));
    const value = given ?? drawn(session, field);
    if (!writer || value === undefined) continue;
    const headers = await session.preconditions(endpoint, row, writer);
    const json = { [field.name]: value };
    const done = await session.send(await requestAbout(session, row, endpoint, { caller: writer, headers, json }));
    if (isDone(done.value)) return;
  }
}

/** Any value of a field that is no reference; nothing where there is none. */
function drawn({ model, chance }: Session, { shape }: Field): Json | undefined {
  const stated = statedValue(shape);
  try {
    const value = stated && chance.value(arbitraryValuesOf(model.spec, stated, 'full'));
    // What is no reference, and has none in it, is a value.
    return value instanceof Reference || JSON.stringify(stated).includes('"resource"') ? undefined : (value as Json | undefined);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

/** The newest names of what a version has otherwise. */
export function carriedNames(lines: readonly { readonly newer: string | undefined }[]): readonly string[] {
  return lines.flatMap(({ newer }) => newer ?? []);
}
