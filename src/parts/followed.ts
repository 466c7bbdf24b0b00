import type { Pointer } from '../document/document.ts';
import { type Effect, type FollowedChange, type Following, type FollowingEffect, followedChanges } from './effects.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from './fact.ts';
import { named } from './source.ts';
import type { Spec } from './spec.ts';
import { allMachines, machinesOf, type Transition, transitionNamed, transitionsOn } from './states.ts';

/** A change with the acts that follow it. */
export interface Followed {
  readonly at: Pointer;
  readonly resource: string;
  readonly change: FollowedChange | { readonly transition: Transition };
  readonly acts: readonly Following[];
}

/** Every change of a document that acts follow. */
export function followedOf(spec: Spec): readonly Followed[] {
  const known = followedBySpec.get(spec);
  if (known) return known;
  const found = [...takenChildren(spec), ...followedTransitions(spec), ...followedRows(spec)];
  followedBySpec.set(spec, found);
  return found;
}

const followedBySpec = new WeakMap<Spec, readonly Followed[]>();

/** Whoever makes or changes a row with children makes or changes each of these: that comes before anything else that follows. */
function takenChildren(spec: Spec): Followed[] {
  return entriesOf(spec.resources.all).flatMap(([resource, { fields, identifier }]) => {
    const own = statedValue(identifier)?.field;
    return entriesOf(fields).flatMap(([name, field]): Followed[] => {
      const { children, readOnly } = field;
      const child = children && entryOf(spec.resources.all, children.resource);
      const { at, resource: made, field: tie } = children ?? nothing;
      const isTied = children && child && isStated(child.identifier) && entryOf(child.fields, tie)?.ref === resource;
      if (readOnly || own === undefined || !isTied) return [];
      const act = (verb: 'create' | 'update' | 'delete'): Following => ({
        at,
        does: { verb, resource: made },
        set: named(verb === 'create' ? [[tie, { source: `next.${own}`, at }]] : []),
        skips: false,
        children: name,
      });
      const isChanged = children.takenBy.some((taker) => taker !== 'create');
      return [
        ...(children.takenBy.includes('create') ? [{ at, resource, change: 'created' as const, acts: [act('create')] }] : []),
        ...(isChanged ? [{ at, resource, change: 'updated' as const, acts: childrenActs.map(act) }] : []),
      ];
    });
  });
}

/** What a change of a row does to its children, in this order: what one of them lets go, another may have. */
const childrenActs = ['delete', 'update', 'create'] as const;

const nothing = { at: '', resource: '', field: '' };

function followedTransitions(spec: Spec): Followed[] {
  return allMachines(spec.states).flatMap(({ resource, transitions }) =>
    entriesOf(transitions).flatMap(([, transition]): Followed[] =>
      transition.following ? [{ at: `${transition.at}/then`, resource, change: { transition }, acts: transition.following }] : [],
    ),
  );
}

function followedRows(spec: Spec): Followed[] {
  return entriesOf(spec.resources.all).flatMap(([resource, { following, at }]) =>
    followedChanges.flatMap((change): Followed[] => {
      const acts = following?.[change];
      return acts ? [{ at: `${at}/${change}/then`, resource, change, acts }] : [];
    }),
  );
}

/** The rows of a resource whose field refers to what changed: what `each: seat.order` means. Nothing where it is an expression. */
export function referringRows(spec: Spec, each: Expression): { readonly resource: string; readonly field: string } | undefined {
  const [, resource = '', field = ''] = /^\s*(\w+)\.(\w+)\s*$/.exec(each.source) ?? [];
  if (field === '' || scopeWords.has(resource) || !entryOf(spec.resources.all, resource)) return undefined;
  return { resource, field };
}

const scopeWords: ReadonlySet<string> = new Set(['request', 'params', 'resource', 'next', 'caller', 'item']);

/** The field by which an act names the row that it is done to, `next.hawk` or, of one that may be left out, `has(next.hawk) ? next.hawk : null`; nothing for what has to be reckoned. */
export function fieldNaming(source: string | undefined): string | undefined {
  const text = source?.trim() ?? '';
  const [, plain] = /^(?:next|resource)\.(\w+)$/.exec(text) ?? [];
  const [, , guarded] = /^has\(\s*((?:next|resource)\.(\w+))\s*\)\s*\?\s*\1\s*:\s*null$/.exec(text) ?? [];
  return plain ?? guarded;
}

/** What an act is called where others speak of it: `create ticket`, `confirm booking`. */
export function followingName(does: FollowingEffect): string {
  return `${does.verb === 'transition' ? does.transition : does.verb} ${does.resource}`;
}

/** Whether acts follow what an act, or an operation, does. */
export function isFollowedBy({ resource, change }: Followed, does: FollowingEffect): boolean {
  if (resource !== does.resource) return false;
  if (does.verb === 'transition') return typeof change !== 'string' && change.transition.name === does.transition;
  return change === `${does.verb}d`;
}

/** Whether a transition of a resource is fired by what is done to other rows too: a window that shuts lapses what was asked for in it. */
export function followsOthers(spec: Spec, resource: string, transition: string): boolean {
  return followedOf(spec).some(({ acts }) =>
    acts.some(({ does }) => does?.verb === 'transition' && does.resource === resource && does.transition === transition),
  );
}

/** The transition that an act fires, where one is stated. */
export function transitionOf(spec: Spec, does: FollowingEffect): Transition | undefined {
  if (does.verb !== 'transition') return undefined;
  return transitionNamed(spec.states, does.resource, does.transition);
}

/** Every act that comes of these in the end, themselves first. */
export function comingOf(spec: Spec, acts: readonly Following[]): Following[] {
  const found = new Set<Following>(acts);
  // What is added while a set is gone through is gone through as well.
  for (const { does } of found) {
    if (!does) continue;
    for (const followed of followedOf(spec)) {
      if (isFollowedBy(followed, does)) for (const act of followed.acts) found.add(act);
    }
  }
  return [...found];
}

/** The acts that follow at once what an effect changes. */
export function actsAfter(spec: Spec, effect: Effect | undefined, operation?: string): Following[] {
  if (!effect || !('resource' in effect)) return [];
  const done = [...doneBy(effect), ...movesOf(spec, effect, operation)];
  return followedOf(spec)
    .filter((followed) => done.some((does) => isFollowedBy(followed, does)))
    .flatMap(({ acts }) => acts);
}

/** The transitions that an update may be. */
function movesOf(
  { states }: Spec,
  { verb, resource }: { readonly verb: string; readonly resource: string },
  operation?: string,
): FollowingEffect[] {
  if (verb !== 'update') return [];
  return machinesOf(states, resource)
    .flatMap((machine) => transitionsOn(machine, operation))
    .map(([transition]) => ({ verb: 'transition', transition, resource }));
}

function doneBy(effect: Extract<Effect, { readonly resource: string }>): FollowingEffect[] {
  const { resource } = effect;
  switch (effect.verb) {
    case 'transition':
      return [effect];
    case 'create':
    case 'delete':
      return [{ verb: effect.verb, resource }];
    case 'update':
    case 'replace':
      return [{ verb: 'update', resource }];
    case 'upsert':
      return [
        { verb: 'create', resource },
        { verb: 'update', resource },
      ];
    default:
      return [];
  }
}

/** Whether rows of a resource go with others that are deleted, or let go of them, by their references. */
export function isChangedAlong(spec: Spec, resource: string, how: 'cascade' | 'clear'): boolean {
  const stated = entryOf(spec.resources.all, resource);
  return stated !== undefined && entriesOf(stated.fields).some(([, { onDelete }]) => onDelete === how);
}
