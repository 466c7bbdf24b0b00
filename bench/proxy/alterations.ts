/** Every alteration that a document has room for. */
import { ledgerOf } from '../../src/parts/facts/ledger.ts';
import type { Alteration, Setting } from './alteration.ts';
import { ofEvents } from './events.ts';
import { ofCallers, ofEndpoints } from './exchanges.ts';
import { ofErrors, ofLimits, ofVersions } from './refusals.ts';
import { ofResources, ofStates } from './rows.ts';

/** The subjects of facts beside which an alteration is found soonest: those that its name speaks of. */
export function nearest({ id }: Alteration, { spec, endpoints }: Setting): string[] {
  const [, inner = ''] = /\(([^)]+)\)$/.exec(id) ?? [];
  const [word = ''] = id.split(' ');
  const endpoint = endpoints.find(({ operation }) => operation === inner);
  const resource = endpoint ? inner.split(' ').at(-1) : inner;
  const subjects = new Set(ledgerOf(spec).facts.map(({ subject }) => subject));
  const named = [endpoint?.key, inner, `${resource}.${word}`, word, /: (\w+)$/.exec(id)?.[1]];
  return named.filter((one): one is string => one !== undefined && subjects.has(one));
}

/** Reads them off the document, part by part. */
export function alterationsOf(setting: Setting): Alteration[] {
  const all = [ofResources, ofStates, ofEndpoints, ofCallers, ofEvents, ofErrors, ofLimits, ofVersions];
  return all.flatMap((of) => of(setting));
}
