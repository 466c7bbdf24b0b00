import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { showsWhole } from '../make/look.ts';
import { carriesTo, versionsOf } from '../make/versions.ts';
import { carriedNames } from '../make/written-by-others.ts';
import type { Model } from '../model/model.ts';
import { rowIn } from '../model/row-shown.ts';
import { readOlder } from '../trials/versioning/shapes.ts';
import { olderDoors, thereIn } from '../trials/versioning/there.ts';
import { usesOf } from '../trials/versioning/used.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

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
  // Whether there is what a function names is looked for with the functions.
  const older = olderDoors(model).filter(({ isFunction }) => !isFunction);
  for (const { operation, version } of older) reasons.add(thereIn(operation, version));
  return [...named, ...readInOlder(model), ...[...reasons].map((reason) => looksFor(reason))];
}

/** What an older version has under another name, or with other values, read of a row that has it. */
function readInOlder(model: Model): Obligation[] {
  const versions = versionsOf(model);
  return (versions?.all ?? []).flatMap(({ name: version }) => {
    const carries = versions && carriesTo(model, versions, version);
    return entriesOf(model.spec.resources.all).flatMap(([resource]) => {
      const carry = carries?.resource(resource);
      if (!carry || !model.endpointsThat('read', resource).some(showsWhole)) return [];
      const altered = carry.lines.filter(({ older, newer, isMapped }) => older !== undefined && (isMapped || older !== newer));
      return carriedNames(altered).map(
        (field): Obligation => ({
          name: `${resource}.${field} is read in ${version}`,
          isMetBy: ({ claim, exchanges: [newest] }: HeldClaim) =>
            claim.reason === readOlder(resource) && newest !== undefined && rowIn(newest)?.[field] !== undefined,
        }),
      );
    });
  });
}
