import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { trialsMost, trialValues } from '../../parts/samples/trials.ts';
import { machineOn } from '../../parts/states.ts';
import type { Change } from '../../parts/versioning.ts';
import { CannotCarry, ChangeValues, shapeAfter, type ValueChange, versioningUses } from '../../parts/versions/change-values.ts';
import { shortJson } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** Values carried down to an older version and up again: what is lost on the way, and what comes out of it that may not be. */
export const carriedRules: readonly Rule[] = [
  warning(
    'versioning/lossy-map',
    'A value that goes down to an older version does not come back as it was.',
    'Write `down` and `up` so that each undoes the other, or let the older version keep more.',
    (subject) => trialsOf(subject).flatMap(({ lost }) => lost ?? []),
  ),
  error(
    'versioning/outside-shape',
    'What `down` or `up` comes to is no value of the version that it is for.',
    'Correct the expression, or the shape under `was`.',
    (subject) => trialsOf(subject).flatMap(({ outside }) => outside ?? []),
  ),
  warning(
    'versioning/not-one-to-one',
    'Two values of one version are the same value in the other, so that one of them is lost.',
    'Give each value a name of its own in both versions.',
    (subject) =>
      changesOf(subject).flatMap(([version, change]) => (change.kind === 'enum' ? mixedUp(subject, version, change) : [])),
  ),
];

interface Trial {
  readonly lost?: Wrong;
  readonly outside?: Wrong;
}

const tried = new WeakMap<Subject['spec'], readonly Trial[]>();

/** Both rules about maps look at the same trials, which are run once. */
function trialsOf(subject: Subject): readonly Trial[] {
  const known = tried.get(subject.spec);
  if (known) return known;
  const sound = new Set(subject.expressions.filter(({ problems }) => problems.length === 0).map(({ use }) => use.at));
  const trials = changesOf(subject).flatMap(([version, change]) =>
    change.kind === 'map' && change.down && sound.has(change.down.at) && (!change.up || sound.has(change.up.at))
      ? [tryMap(subject, version, change)]
      : [],
  );
  tried.set(subject.spec, trials);
  return trials;
}

function tryMap({ spec, schemas }: Subject, version: string, change: Extract<Change, { kind: 'map' }>): Trial {
  const now = shapeAfter(spec, change);
  const was = versioningUses(spec).find(({ at }) => at === change.down?.at)?.expected.shape ?? {};
  const carry = new ChangeValues(spec, { version, now: () => 0 }).of(change);
  const field = `${change.resource}.${change.field}`;
  const outside = (word: 'down' | 'up', message: string): Trial => ({ outside: { message, at: below(change.at, word) } });
  let left = trialsMost;
  for (const value of trialValues(now, `${change.at} ${change.down?.source} ${change.up?.source}`)) {
    if (value === null || schemas.misfit(now, value) !== undefined) continue;
    if (left-- <= -boundsMost) break;
    const older = carried(carry.down, value);
    if ('why' in older) return outside('down', `For ${shortJson(value)} of \`${field}\` there is no older value: ${older.why}`);
    const misfit = schemas.misfit(was, older.value);
    if (misfit !== undefined)
      return outside(
        'down',
        `${shortJson(value)} of \`${field}\` becomes ${shortJson(older.value)} before \`${version}\`, which does not fit there: ${misfit}.`,
      );
    if (!change.up) continue;
    const back = carried(carry.up, older.value);
    if ('why' in back)
      return outside(
        'up',
        `For ${shortJson(older.value)}, which \`${field}\` was before \`${version}\`, there is no newer value: ${back.why}`,
      );
    const wrong = schemas.misfit(now, back.value);
    if (wrong !== undefined)
      return outside(
        'up',
        `${shortJson(older.value)}, which \`${field}\` was before \`${version}\`, becomes ${shortJson(back.value)}, which does not fit: ${wrong}.`,
      );
    if (isSame(back.value, value)) continue;
    const message = `${shortJson(value)} of \`${field}\` becomes ${shortJson(older.value)} before \`${version}\` and comes back as ${shortJson(back.value)}.`;
    return { lost: { message, at: below(change.at, 'map') } };
  }
  return {};
}

/** How many bounds and allowed values are tried at most besides. */
const boundsMost = 1000;

/** Integers past 2^53 come out as bigints; no JSON value of a document is one, so they are tried as numbers. */
function carried(turn: ValueChange['down'], value: Json): { readonly value: Json } | { readonly why: string } {
  try {
    const result = turn(value);
    return { value: (typeof result === 'bigint' ? Number(result) : result) as Json };
  } catch (failure) {
    if (failure instanceof CannotCarry) return { why: failure.message };
    throw failure;
  }
}

function mixedUp({ spec }: Subject, version: string, change: Extract<Change, { kind: 'enum' }>): Wrong[] {
  const firsts = new Map<Json, string>();
  const wrongs: Wrong[] = [];
  const renamed = new Set(Object.values(change.values));
  const machine = machineOn(spec.states, change.resource, change.field);
  const { enum: listed } = shapeAfter(spec, change);
  const allowed = new Set<Json>(machine ? statedValue(machine.states) : Array.isArray(listed) ? listed : []);
  for (const [old, value] of Object.entries(change.values)) {
    const at = below(below(change.at, 'values'), old);
    const first = firsts.get(value);
    if (first !== undefined)
      wrongs.push({ message: `\`${old}\` and \`${first}\` are both ${shortJson(value)} now: it reads as \`${first}\`.`, at });
    else if (allowed.has(old) && !renamed.has(old))
      wrongs.push({
        message: `\`${old}\` is a value of its own in \`${version}\`, and was ${shortJson(value)} before: it comes back as that.`,
        at,
      });
    firsts.set(value, first ?? old);
  }
  return wrongs;
}

function changesOf({ spec }: Subject): [string, Change][] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).map((change): [string, Change] => [version, change]),
  );
}
