import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import type { Model } from '../model/model.ts';
import { looksFor } from './looks-at-limits.ts';
import type { Obligation } from './obligation.ts';

/** Each version that a request can name. */
export function looksAtVersions({ spec }: Model, { subject }: LedgerFact): Obligation[] {
  const select = statedValue(spec.versioning.select);
  if (subject !== 'service' || !select || select.by === 'pin') return [];
  const carrier = select.carrier.toLowerCase();
  return entriesOf(spec.versioning.versions).map(([, { name }]) => ({
    name: `version ${name}`,
    isMetBy: ({ exchanges }) =>
      exchanges.some(
        ({ sent }) => sent.headers[carrier] === name || new RegExp(`[/=]${RegExp.escape(name)}(?![\\w.-])`).test(sent.target),
      ),
  }));
}

/** That it is told, and that a version is served until its last day and refused from then on. */
export function looksAtDeprecation({ spec }: Model, { subject }: LedgerFact): Obligation[] {
  const stated = statedValue(entryOf(spec.versioning.versions, subject)?.deprecation ?? { standing: 'open', at: '' });
  if (!stated) return [];
  const told = stated.deprecated === undefined ? [] : [looksFor('that it is told', 'told')];
  if (stated.sunset === undefined) return told;
  const overMs = Date.parse(stated.sunset);
  const isOver = ({ toMs }: { readonly toMs: number }): boolean => toMs > overMs;
  const bySide = (name: string, isSide: (one: { readonly toMs: number }) => boolean, why: string): Obligation => ({
    name,
    why,
    isMetBy: ({ claim, exchanges }) => claim.reason === 'sunset' && exchanges.some(isSide),
  });
  return [
    ...told,
    bySide(`served until ${stated.sunset}`, (one) => !isOver(one), 'that is over'),
    bySide(`refused after ${stated.sunset}`, isOver, 'that is still to come'),
  ];
}
