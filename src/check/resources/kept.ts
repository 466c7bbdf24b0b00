import { below } from '../../document/pointer.ts';
import { stateOfDeleted } from '../../parts/deleted-state.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Kept } from '../../parts/kept.ts';
import type { Resource } from '../../parts/resources.ts';
import { machineWith } from '../../parts/states.ts';
import { knownTransitions } from '../subject/misspelt.ts';
import { listed } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** Rows that are kept when they are deleted. */
export const keptRules: readonly Rule[] = [
  error(
    'resources/kept',
    'It is not said how long deleted rows are kept, or what is said of them says nothing.',
    'Write `keep: 30d` or `keep: forever`, and `read: 410` or the answer of success that tells of a deleted row.',
    (subject) => eachKept(subject, unclear),
  ),
  error(
    'resources/kept-restore',
    'What is to bring deleted rows back is no transition that can.',
    'Name a transition of the resource that leaves one state which nothing enters: `undelete: deleted -> open`.',
    (subject) => eachKept(subject, wrongRestore),
  ),
];

function eachKept(subject: Subject, find: (subject: Subject, resource: Resource, kept: Kept) => readonly Wrong[]): Wrong[] {
  return [...subject.resources.values()].flatMap((resource) => (resource.kept ? find(subject, resource, resource.kept) : []));
}

function unclear(_subject: Subject, { name, identifier }: Resource, { at, keepMs, answers }: Kept): Wrong[] {
  if (identifier.standing === 'none') return [{ message: `\`${name}\` is a value, of which no rows are kept.`, at, onKey: true }];
  const wrong: Wrong[] = keepMs === undefined ? [{ message: 'It is not said how long.', at: below(at, 'keep') }] : [];
  const other = answers?.find(({ status }) => !/^2\d\d$/.test(status));
  if (other)
    wrong.push({
      message: `\`${other.status}\` is no answer of success; that a row is gone is \`resource.gone\`.`,
      at: other.at,
      onKey: true,
    });
  return wrong;
}

function wrongRestore({ spec, resources }: Subject, { name }: Resource, { at, restore }: Kept): Wrong[] {
  if (restore === undefined) return [];
  const place = below(at, 'restore');
  const known = knownTransitions(spec, name);
  if (known && !known.includes(restore)) {
    const remedy = known.length === 0 ? 'State a machine for it.' : `Known: ${listed(known)}.`;
    return [{ message: `\`${name}\` has no transition \`${restore}\`.`, remedy, at: place }];
  }
  const machine = machineWith(spec.states, name, restore);
  const resource = resources.get(name);
  if (!machine || !resource) return [];
  const state = stateOfDeleted(spec, resource);
  if (state === undefined) return [{ message: `\`${restore}\` does not leave one state alone.`, at: place }];
  const targets = [...machine.initial, ...Object.values(statedValue(machine.transitions) ?? {}).flatMap(({ to }) => to)];
  if (!targets.some((target) => target.state === state)) return [];
  return [{ message: `Rows that are there may be \`${state}\` as well, which \`${restore}\` leaves.`, at: place }];
}
