import { below } from '../../document/pointer.ts';
import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import type { Kept, Resource } from '../../parts/resources.ts';
import { machineWith, stateOfDeleted } from '../../parts/states.ts';
import { knownTransitions, listed } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** What refers to a resource, and what becomes of it. */
export const referenceRules: readonly Rule[] = [
  error(
    'resources/on-delete-without-ref',
    '`onDelete` stands on a field that refers to nothing.',
    'Write the field as `{ ref: RESOURCE }`, or take `onDelete` out.',
    (subject) =>
      eachField(subject, ({ name, at, onDelete, ref, shape }) =>
        onDelete && ref === undefined && isStated(shape)
          ? [{ message: `\`${name}\` is no \`ref\`, so no deletion touches it.`, at: below(at, 'onDelete') }]
          : [],
      ),
  ),
  error(
    'resources/show-without-ref',
    '`show` stands on a field that refers to nothing.',
    'Write the field as `{ ref: RESOURCE }`, or take `show` out.',
    (subject) =>
      eachField(subject, ({ name, at, show, ref, shape }) =>
        show !== undefined && ref === undefined && isStated(shape)
          ? [{ message: `\`${name}\` is no \`ref\`, so there is nothing to show in its place.`, at: below(at, 'show') }]
          : [],
      ),
  ),
  error(
    'resources/clear-set',
    'A reference is to be cleared when what it refers to is deleted, and every change sets it anew.',
    'Set it in `create` or `update`, or take `onDelete: clear` out.',
    (subject) =>
      eachField(subject, ({ name, at, onDelete, set }) =>
        onDelete === 'clear' && set.write
          ? [{ message: `\`${name}\` would be set again by the change that clears it.`, at: below(at, 'onDelete') }]
          : [],
      ),
  ),
  error(
    'resources/clear-required',
    'A reference is to be cleared when what it refers to is deleted, and is required.',
    'Write `restrict` or `cascade`, let it be null (`ref: "owner?", null: kept`), or take the field out of `required`.',
    (subject) =>
      eachField(subject, ({ name, at, onDelete, required, keepsNull }) =>
        onDelete === 'clear' && statedValue(required) === true && !keepsNull
          ? [{ message: `\`${name}\` cannot be both required and cleared.`, at: below(at, 'onDelete') }]
          : [],
      ),
  ),
  warning(
    'resources/unused',
    'A resource is used by no endpoint, no field and no event.',
    'Use it, or take it out.',
    unusedResources,
  ),
];

/** Only where the endpoints and all shapes are known; what is open may use anything. */
function unusedResources({ spec, resources, endpoints, endpointsByResource, shapeNodes }: Subject): Wrong[] {
  if (!isStated(spec.endpoints.all) || spec.endpoints.others || spec.resources.others || isAnyOpen(spec)) return [];
  const others = shapeNodes.flatMap(({ names, root }) => names.filter(({ word }) => word !== root.resource?.name));
  const children = [...resources.values()].flatMap(({ fields }) =>
    entriesOf(fields).map(([, field]) => field.children?.resource),
  );
  const followed = followedOf(spec).flatMap(({ acts }) => acts.flatMap(({ does }) => does?.resource ?? []));
  const used = new Set([...others.map(({ word }) => word), ...children, ...followed]);
  const subscribers = statedValue(spec.events.delivery)?.push?.subscribers?.resource;
  const mayBeKept = endpoints.some(({ does }) => !isStated(does) || does.value.verb === 'handler');
  return [...resources.values()]
    .filter(({ name }) => !used.has(name) && !endpointsByResource.has(name) && name !== subscribers)
    .filter(({ identifier }) => !mayBeKept || identifier.standing === 'none')
    .map(({ name, at }) => ({ message: `Nothing uses \`${name}\`.`, at, onKey: true }));
}

function isAnyOpen({ resources, endpoints, events }: Subject['spec']): boolean {
  return (
    entriesOf(resources.all).some(
      ([, { fields }]) => isOpen(fields) || entriesOf(fields).some(([, { shape }]) => isOpen(shape)),
    ) ||
    entriesOf(endpoints.all).some(([, { does }]) => isOpen(does)) ||
    isOpen(events.kinds) ||
    entriesOf(events.kinds).some(([, { payload }]) => isOpen(payload))
  );
}

function isOpen(fact: Fact<unknown>): boolean {
  return !isStated(fact) && fact.standing !== 'none';
}

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
