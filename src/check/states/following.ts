import { below } from '../../document/pointer.ts';
import { type Following, type FollowingEffect, followingBounds } from '../../parts/effects.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { type Followed, followedOf, followingName, isFollowedBy, referringRows, transitionOf } from '../../parts/followed.ts';
import { verbOf } from '../../parts/operations.ts';
import { isSuppliedByService, isWritable, takesChildren } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { machineOn, machineWith } from '../../parts/states.ts';
import { followingScopes, shapeAlong } from '../../parts/uses/states.ts';
import { fieldOf, fieldVocabulary, knownTransitions, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What follows from changes: what is done, to which rows, and whether it can ever be. */
export const followingRules: readonly Rule[] = [
  error(
    'states/then-act',
    'What follows from a change does not say what is done.',
    'Write one of `create: RESOURCE`, `do: TRANSITION RESOURCE`, `update: RESOURCE` and `delete: RESOURCE`.',
    (subject) =>
      eachAct(subject, ({ does, at }) =>
        does ? [] : [{ message: 'It is not said what is done, or two things are said.', at, onKey: true }],
      ),
  ),
  error(
    'states/then-unknown',
    'What follows from a change is done to a resource, or fires a transition, that is not stated.',
    'Write the name of a stated one, or state it.',
    (subject) => eachAct(subject, (act) => unknownNames(subject, act)),
  ),
  error(
    'states/then-row',
    'It is not said to which row something is done because of a change.',
    'Say `to`, the identifier of the row; or `each: seat.order`, the rows of seat whose field order refers to what changed.',
    (subject) => eachAct(subject, (act, followed) => wrongRows(subject, act, followed)),
  ),
  error(
    'states/then-field',
    'What follows from a change gives a value to a field that it cannot give one to.',
    'Name a field of the row that it is done to; a state is entered by `do`.',
    (subject) => eachAct(subject, (act) => wrongFields(subject, act)),
  ),
  error(
    'states/then-lacks',
    'A row that is made because of a change lacks a field that answers must carry.',
    'Give it in `set`, or say what sets it when one is made.',
    (subject) => eachAct(subject, (act, followed) => lackedFields(subject, act, followed)),
  ),
  error(
    'states/then-endless',
    'What follows from a change leads back to itself, without a condition that ends it.',
    'Add an `if` that fails in the end, or take one of them out.',
    (subject) => eachAct(subject, (act) => endless(subject, act)),
  ),
  warning(
    'states/then-never',
    'Something is to follow from a change that never comes, or is always refused.',
    'Take it out, or state what brings the change about.',
    (subject) => [
      ...followedOf(subject.spec).flatMap((followed) => neverComes(subject, followed)),
      ...eachAct(subject, (act, followed) => alwaysRefused(subject, act, followed)),
    ],
  ),
  warning(
    'states/then-unbounded',
    'Something is to follow for each item of a list that may be longer than is allowed.',
    `State \`maxItems\`, ${followingBounds.acts} at most: that much may follow from one change.`,
    (subject) => eachAct(subject, (act, followed) => unbounded(subject, act, followed)),
  ),
];

function eachAct({ spec }: Subject, find: (act: Following, followed: Followed) => readonly Wrong[]): Wrong[] {
  return followedOf(spec).flatMap((followed) => followed.acts.flatMap((act) => find(act, followed)));
}

const wordOf = (does: FollowingEffect) => (does.verb === 'transition' ? 'do' : does.verb);

function unknownNames({ spec, names, resources }: Subject, { does, at }: Following): readonly Wrong[] {
  if (!does) return [];
  const place = below(at, wordOf(does));
  const unknown = unstated(names.resources, does.resource, place);
  if (unknown.length > 0) return unknown;
  const resource = resources.get(does.resource);
  if (resource && resource.identifier.standing === 'none')
    return [{ message: `\`${does.resource}\` is a value, and has no rows of its own.`, at: place }];
  if (does.verb !== 'transition') return [];
  const known = knownTransitions(spec, does.resource);
  if (!known || known.includes(does.transition)) return [];
  const remedy = known.length === 0 ? 'State a machine for it.' : `Known: ${listed(known)}.`;
  return [{ message: `\`${does.resource}\` has no transition \`${does.transition}\`.`, remedy, at: place }];
}

function wrongRows({ spec, resources }: Subject, { does, each, to, at, children }: Following, { resource }: Followed): Wrong[] {
  if (!does) return [];
  const rows = each && referringRows(spec, each);
  const wrong: Wrong[] = [];
  if (rows) {
    const field = fieldOf(resources.get(rows.resource), rows.field);
    if (resources.has(rows.resource) && field?.ref !== resource)
      wrong.push({
        message: `\`${rows.field}\` of \`${rows.resource}\` does not refer to a \`${resource}\`, which is what changed.`,
        at: below(at, 'each'),
      });
  }
  if (does.verb === 'create')
    return to
      ? [...wrong, { message: 'What is made is no row that is there.', remedy: 'Take `to` out.', at: below(at, 'to') }]
      : wrong;
  if (!to && !each && children === undefined)
    wrong.push({ message: `It is not said which \`${does.resource}\` is meant.`, at: below(at, wordOf(does)) });
  if (!to && rows && rows.resource !== does.resource)
    wrong.push({
      message: `\`each\` gives rows of \`${rows.resource}\`, and it is done to a \`${does.resource}\`.`,
      remedy: `Say which by \`to\`, such as \`to: item.${does.resource}\`.`,
      at: below(at, 'each'),
    });
  return wrong;
}

function wrongFields({ spec, resources }: Subject, { does, set, at }: Following): Wrong[] {
  const resource = does && resources.get(does.resource);
  if (!resource) return [];
  return Object.keys(set).flatMap((name): readonly Wrong[] => {
    const place = below(below(at, 'set'), name);
    if (does.verb === 'delete') return [{ message: 'What is deleted is given nothing.', at: place, onKey: true }];
    if (fieldOf(resource, name)?.derive)
      return [
        { message: `\`${name}\` of a \`${resource.name}\` is derived, and given by nothing else.`, at: place, onKey: true },
      ];
    if (machineOn(spec.states, resource.name, name))
      return [
        {
          message: `\`${name}\` holds the state of a \`${resource.name}\`, which transitions alone write.`,
          at: place,
          onKey: true,
        },
      ];
    if (does.verb !== 'create' && statedValue(resource.identifier)?.field === name)
      return [{ message: `\`${name}\` is what a \`${resource.name}\` is known by, and stays.`, at: place, onKey: true }];
    return unstated(fieldVocabulary(resource), name, place, { onKey: true });
  });
}

function lackedFields(
  { spec, resources }: Subject,
  { does, set, at, children }: Following,
  { resource: from, change }: Followed,
): Wrong[] {
  const resource = does?.verb === 'create' ? resources.get(does.resource) : undefined;
  if (!resource) return [];
  // Children that a creation takes lack the same there.
  const field = children === undefined ? undefined : fieldOf(resources.get(from), children);
  if (change === 'updated' && field && takesChildren(field)) return [];
  const lacked = entriesOf(resource.fields).flatMap(([name, field]) => {
    const isOwn = field.set[`create ${resource.name}`] !== undefined || isSuppliedByService(field, 'create');
    const isSent = children !== undefined && isWritable(spec, resource, field);
    const isGiven = set[name] || isOwn || isSent || field.children?.least === 0 || isMade(spec, resource, name);
    return statedValue(field.required) !== true || isGiven ? [] : [name];
  });
  if (lacked.length === 0) return [];
  return [
    {
      message: `Nothing gives the new \`${resource.name}\` its ${listed(lacked)}.`,
      at: children === undefined ? below(at, 'create') : at,
    },
  ];
}

/** The state that it starts in, and an identifier that the service makes. */
function isMade(spec: Subject['spec'], resource: Resource, name: string): boolean {
  const identifier = statedValue(resource.identifier);
  const isIdentified = identifier?.field === name && identifier.generate !== 'client';
  return isIdentified || machineOn(spec.states, resource.name, name) !== undefined;
}

/** An act without a condition after which acts without one lead back to it. */
function endless({ spec }: Subject, act: Following): Wrong[] {
  const path: Following[] = [act];
  const met = new Set<Following>();
  const leadsBack = (from: Following): boolean => {
    const { does } = from;
    if (!does || !isCertain(from)) return false;
    for (const followed of followedOf(spec)) {
      if (!isFollowedBy(followed, does)) continue;
      for (const next of followed.acts) {
        if (next === act) return isCertain(next);
        if (met.has(next)) continue;
        met.add(next);
        path.push(next);
        if (leadsBack(next)) return true;
        path.pop();
      }
    }
    return false;
  };
  if (!leadsBack(act)) return [];
  const names = path.flatMap(({ does }) => (does ? [followingName(does)] : []));
  return [{ message: `After ${listed(names)} comes \`${names[0]}\` again, and so on.`, at: act.at, onKey: true }];
}

/** Whether it is done wherever the change before it is. */
function isCertain({ if: condition, each, skips, children }: Following): boolean {
  return !condition && !each && !skips && children === undefined;
}

/** What no endpoint, handler, act or clock brings about. A transition that nothing fires is found by `states/never-fired`. */
function neverComes({ spec, operations, names }: Subject, { resource, change, at, acts }: Followed): Wrong[] {
  if (typeof change !== 'string' || !names.operations.closed || acts.every(({ children }) => children !== undefined)) return [];
  const verbs = operations.flatMap((operation) => (operation.resource === resource ? [verbOf(operation)] : []));
  const isHandled = operations.some((operation) => verbOf(operation) === 'handler');
  const wanted: readonly string[] =
    change === 'created' ? ['create', 'upsert'] : change === 'updated' ? ['update', 'replace', 'upsert'] : ['delete'];
  const isAlong = entriesOf(entryOf(spec.resources.all, resource)?.fields ?? none).some(([, { onDelete }]) =>
    change === 'deleted' ? onDelete === 'cascade' : onDelete === 'clear',
  );
  if (isHandled || isAlong || verbs.some((verb) => verb !== undefined && wanted.includes(verb))) return [];
  return [{ message: `No \`${resource}\` is ever ${change}.`, at, onKey: true }];
}

const none = { standing: 'none', at: '' } as const;

/** A transition of the very row that has just entered a state which it does not leave. */
function alwaysRefused({ spec, resources }: Subject, { does, to, at }: Following, { resource, change }: Followed): Wrong[] {
  const transition = does && transitionOf(spec, does);
  const machine = transition && machineWith(spec.states, resource, transition.name);
  const stated = resources.get(resource);
  if (!does || !transition || !machine || !stated || does.resource !== resource || transition.from === '*') return [];
  const field = statedValue(stated.identifier)?.field ?? '';
  const [, name] = /^\s*(?:next|resource)\.(\w+)\s*$/.exec(to?.source ?? '') ?? [];
  if (name !== field || change === 'updated' || change === 'deleted') return [];
  // What another machine entered says nothing of this one.
  if (change !== 'created' && machineWith(spec.states, resource, change.transition.name) !== machine) return [];
  const entered = (change === 'created' ? machine.initial : change.transition.to).map(({ state }) => state);
  const { from } = transition;
  if (entered.length === 0 || from.length === 0 || entered.some((state) => from.includes(state))) return [];
  return [{ message: `The row is ${listed(entered)} then, which \`${transition.name}\` does not leave.`, at: below(at, 'do') }];
}

function unbounded({ spec, operations }: Subject, { each, at }: Following, followed: Followed): Wrong[] {
  if (!each || referringRows(spec, each)) return [];
  const [first] = followingScopes(spec, operations, followed);
  const shape = first && shapeAlong(spec, first.scope, each.source);
  const most = shape?.maxItems;
  if (shape?.type !== 'array' || (typeof most === 'number' && most <= followingBounds.acts)) return [];
  return [
    { message: `\`${each.source}\` may have ${typeof most === 'number' ? most : 'any number of'} items.`, at: below(at, 'each') },
  ];
}
