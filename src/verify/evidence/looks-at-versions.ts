import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import type { Model } from '../model/model.ts';
import { usesOf } from '../trials/versioning/used.ts';
import { looksFor } from './looks-at-limits.ts';
import type { Obligation } from './obligation.ts';

/** Each version that a request can name. */
export function looksAtVersions(model: Model, { subject }: LedgerFact): Obligation[] {
  const { spec } = model;
  const select = statedValue(spec.versioning.select);
  if (subject !== 'service' || !select || select.by === 'pin') return [];
  const carrier = select.carrier.toLowerCase();
  const named = entriesOf(spec.versioning.versions).map(
    ([, { name }]): Obligation => ({
      name: `version ${name}`,
      isMetBy: ({ exchanges }) =>
        exchanges.some(
          ({ sent }) => sent.headers[carrier] === name || new RegExp(`[/=]${RegExp.escape(name)}(?![\\w.-])`).test(sent.target),
        ),
    }),
  );
  // What reading shows says nothing of lists, filters and changes in the same words.
  const reasons = new Set([...usesOf(model)].map(({ reason }) => reason));
  return [...named, ...[...reasons].map((reason) => looksFor(reason))];
}

/** That it is told while it is served, and that a version is served until its last day and refused from then on. */
export function looksAtDeprecation({ spec }: Model, { subject }: LedgerFact): Obligation[] {
  const stated = statedValue(entryOf(spec.versioning.versions, subject)?.deprecation);
  if (!stated) return [];
  const told = stated.deprecated === undefined ? [] : [looksFor('that it is told', 'told')];
  if (stated.sunset === undefined) return told;
  if (stated.isAnnouncedOnly) return [...told, looksFor('that it is served after its end', 'sunset')];
  const overMs = Date.parse(stated.sunset);
  // What was served until a day that has gone by is nobody's to see.
  const isOver = overMs < Date.now();
  const isMeant = ({ toMs }: { readonly toMs: number }): boolean => toMs > overMs === isOver;
  const served: Obligation = {
    name: isOver ? `refused after ${stated.sunset}` : `served until ${stated.sunset}`,
    isMetBy: ({ claim, exchanges }) => claim.reason === 'sunset' && exchanges.some(isMeant),
  };
  const refused: Obligation = {
    name: `refused after ${stated.sunset}`,
    why: 'that is still to come',
    isMetBy: ({ claim, exchanges }) => claim.reason === 'sunset' && exchanges.some(({ toMs }) => toMs > overMs),
  };
  // Of a version that is over, nothing is left that could tell of its end but the refusal.
  return isOver ? [served] : [...told, served, refused];
}
