import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';

const known = new WeakMap<Model, Map<string, string>>();

/**
 * A caller with its identifier: the one that was given with its credential, else the one that the service itself writes into what the
 * caller makes, `set: { create: caller.id }`. Where neither is to be had, the caller stays without.
 */
export async function identified(session: Session, caller: TrialCaller): Promise<TrialCaller> {
  if (caller.id !== undefined) return caller;
  const { model } = session;
  const ids = known.get(model) ?? new Map<string, string>();
  known.set(model, ids);
  const id = ids.get(caller.name) ?? (await signedBy(session, caller));
  if (id === undefined) return caller;
  ids.set(caller.name, id);
  return { ...caller, id };
}

/** The identifier with which a caller's own rows are signed. */
async function signedBy(session: Session, caller: TrialCaller): Promise<string | undefined> {
  for (const { resource, field } of signatures(session.model)) {
    try {
      const row = await session.make(resource, { caller });
      const id = row.fields?.[field];
      if (typeof id === 'string') return id;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
  return undefined;
}

/** The fields that hold who made a row. */
function signatures({ spec }: Model): { readonly resource: string; readonly field: string }[] {
  return entriesOf(spec.resources.all).flatMap(([resource, stated]) =>
    entriesOf(stated.fields).flatMap(([field, { set }]) =>
      set.create?.source.trim() === 'caller.id' ? [{ resource, field }] : [],
    ),
  );
}

/** The field that identifies a resource's rows. */
export function identifierField(model: Model, resource: string): string {
  return statedValue(model.resource(resource)?.identifier)?.field ?? 'id';
}
