import type { Json } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Change } from '../../parts/versioning.ts';
import { shortJson } from '../subject/json-types.ts';
import { fieldOf, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** What changed between versions. */
export const versionChangeRules: readonly Rule[] = [
  error(
    'versioning/unknown-resource',
    'A change is about a resource that is not stated.',
    'Write `RESOURCE.FIELD` of a stated resource.',
    (subject) =>
      eachChange(subject, (change) =>
        'resource' in change ? unstated(subject.names.resources, change.resource, below(change.at, change.kind)) : [],
      ),
  ),
  error(
    'versioning/unknown-field',
    'A change is about a field that its version does not have.',
    'Write the name that the field had in that version.',
    (subject) =>
      walkBack(subject).flatMap(({ change, version, fields, name, word, mustBe }) => {
        if (!mustBe || fields.has(name)) return [];
        const meant = nearest(name, fields);
        const message = `\`${'resource' in change ? change.resource : ''}\` has no field \`${name}\` in version \`${version}\`.`;
        return [{ message, ...(meant !== undefined && { remedy: `Write \`${meant}\`.` }), at: below(change.at, word) }];
      }),
  ),
  error(
    'versioning/still-there',
    'A field that a version renamed or removed is still there in it.',
    'Take the change out, or the field.',
    (subject) =>
      walkBack(subject).flatMap(({ change, version, fields, name, word, mustBe }) =>
        mustBe || !fields.has(name)
          ? []
          : [{ message: `\`${name}\` is still there in version \`${version}\`.`, at: below(change.at, word) }],
      ),
  ),
  error(
    'versioning/unknown-endpoint',
    'A change is about an endpoint that is not stated.',
    'Write method and path as they stand under `endpoints`; older versions need its statement too.',
    ({ spec, endpoints, names, ...subject }) =>
      eachChange({ spec, endpoints, names, ...subject }, (change) => {
        if (change.kind !== 'endpoint' || !isStated(spec.endpoints.all) || spec.endpoints.others) return [];
        const keys = endpoints.map(({ key }) => key);
        if (keys.includes(change.endpoint)) return [];
        const meant = nearest(change.endpoint, keys);
        const remedy = meant === undefined ? {} : { remedy: `Write \`${meant}\`.` };
        return [{ message: `The endpoint \`${change.endpoint}\` is not stated.`, ...remedy, at: below(change.at, 'endpoint') }];
      }),
  ),
  error(
    'versioning/incomplete-change',
    'A change does not say all that is needed to serve the older version.',
    'Add what is missing.',
    (subject) => [...eachChange(subject, (change) => incomplete(subject, change)), ...unread(subject)],
  ),
  error(
    'versioning/unknown-value',
    'A change of allowed values leads to a value that the field does not allow.',
    'Write an allowed value of the newest version on the right.',
    (subject) => {
      const last = entriesOf(subject.spec.versioning.versions).at(-1)?.[0];
      return eachChange(subject, (change, version) =>
        change.kind === 'enum' && version === last ? unknownValues(subject, change, version) : [],
      );
    },
  ),
];

function eachChange({ spec }: Subject, find: (change: Change, version: string) => readonly Wrong[]): Wrong[] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).flatMap((change) => find(change, version)),
  );
}

function incomplete({ spec, resources }: Subject, change: Change): Wrong[] {
  const missing = (word: string, why: string): Wrong[] => [
    { message: `There is no \`${word}\`: ${why}.`, remedy: `Add \`${word}\`.`, at: change.at },
  ];
  if (change.kind === 'rename') return change.to === '' ? missing('to', 'nothing says what the field is called now') : [];
  if (change.kind === 'map') {
    return [
      ...(change.down ? [] : missing('down', 'nothing makes the older value')),
      ...(change.up || !isSent(spec, resources.get(change.resource), change.field)
        ? []
        : missing('up', 'nothing makes the newer value from what is sent')),
    ];
  }
  if (change.kind === 'endpoint' && !change.added && !change.removed)
    return missing('added: true', 'nothing says what became of the endpoint');
  if (change.kind !== 'add') return [];
  const resource = resources.get(change.resource);
  const field = fieldOf(resource, change.field);
  const isSupplied =
    change.default || field?.default || field?.generate !== undefined || Object.keys(field?.set ?? {}).length > 0;
  const isNeeded = resource && field && statedValue(field.required) === true && isWritable(spec, resource, field);
  return isNeeded && !isSupplied ? missing('default', 'older requests cannot send the field, and it is required') : [];
}

function isSent(spec: Subject['spec'], resource: Parameters<typeof isWritable>[1] | undefined, name: string): boolean {
  const field = fieldOf(resource, name);
  return !resource || !field || isWritable(spec, resource, field);
}

/** Entries of the list that are no change of any known kind. */
function unread({ spec }: Subject): Wrong[] {
  const { changes } = spec.versioning;
  return entriesOf(changes).flatMap(([, list]) => {
    const written = isStated(list) ? valueAt(spec.document.tree, list.at) : undefined;
    if (!Array.isArray(written)) return [];
    const read = new Set((statedValue(list) ?? []).map(({ at }) => at));
    return (written as readonly Json[]).flatMap((_, index) => {
      const at = below(list.at, index);
      return read.has(at)
        ? []
        : [{ message: 'Nothing says what changed.', remedy: 'Write rename, add, remove, map, enum or endpoint.', at }];
    });
  });
}

/** Values that are allowed neither now nor where a later change of the same list takes them on. */
function unknownValues({ resources, spec }: Subject, change: EnumChange, version: string): Wrong[] {
  const field = fieldOf(resources.get(change.resource), change.field);
  const allowed = field && statedValue(field.shape)?.enum;
  if (!Array.isArray(allowed)) return [];
  const changes = entriesOf(spec.versioning.changes).flatMap(([name, list]) =>
    name === version ? (statedValue(list) ?? []) : [],
  );
  const later = changes.slice(changes.indexOf(change) + 1).filter((one): one is EnumChange => one.kind === 'enum');
  const isTakenOn = (value: Json) =>
    later.some(
      ({ resource, field: name, values }) =>
        resource === change.resource &&
        name === change.field &&
        typeof value !== 'object' &&
        Object.hasOwn(values, String(value)),
    );
  return Object.entries(change.values)
    .filter(([, value]) => !allowed.includes(value) && !isTakenOn(value))
    .map(([old, value]) => ({
      message: `${shortJson(value)} is no allowed value of \`${change.resource}.${change.field}\`.`,
      at: below(below(change.at, 'values'), old),
    }));
}

type EnumChange = Extract<Change, { kind: 'enum' }>;

/** A field that a change speaks of, held to the fields that its resource has in that version. */
interface Spoken {
  readonly change: Change;
  readonly version: string;
  /** As they are after the change. */
  readonly fields: ReadonlySet<string>;
  readonly name: string;
  /** The word of the change under which the name stands. */
  readonly word: string;
  /** Whether the field must be there after the change, or must not. */
  readonly mustBe: boolean;
}

/**
 * Undoes the changes from the newest shape back, the last first, and tells what each of them speaks of. A version whose
 * changes are open ends the walk: nothing is known of what was before it.
 */
function walkBack({ spec, resources }: Subject): Spoken[] {
  const { versions, changes, others } = spec.versioning;
  if (others || !isStated(versions) || !isStated(changes)) return [];
  const shapes = new Map<string, Set<string>>();
  for (const [name, { fields, additionalProperties }] of resources) {
    if (isStated(fields) && !additionalProperties) shapes.set(name, new Set(Object.keys(fields.value)));
  }
  const spoken: Spoken[] = [];
  for (const [version] of entriesOf(versions).toReversed()) {
    const list = changes.value[version];
    if (!list || list.standing === 'open' || list.standing === 'any') return spoken;
    for (const change of isStated(list) ? list.value.toReversed() : []) {
      const fields = 'resource' in change ? shapes.get(change.resource) : undefined;
      if (fields) spoken.push(...undo(change, version, fields));
    }
  }
  return spoken;
}

function undo(change: Change, version: string, fields: Set<string>): Spoken[] {
  if (change.kind === 'endpoint') return [];
  const name = rootOf(change.field);
  const after = new Set(fields);
  const spoken = (word: string, field: string, mustBe: boolean): Spoken => ({
    change,
    version,
    fields: after,
    name: field,
    word,
    mustBe,
  });
  if (change.kind === 'rename') {
    const to = rootOf(change.to);
    if (change.to === '' || change.field.includes('.')) return [];
    fields.delete(to);
    fields.add(name);
    return [spoken('to', to, true), spoken('rename', name, false)];
  }
  if (change.kind === 'remove') {
    if (!change.field.includes('.')) fields.add(name);
    return change.field.includes('.') ? [spoken('remove', name, true)] : [spoken('remove', name, false)];
  }
  if (change.kind === 'add' && !change.field.includes('.')) fields.delete(name);
  return [spoken(change.kind, name, true)];
}

/** A change may go into a value: `parcel.to.city`. */
function rootOf(field: string): string {
  return field.split('.')[0] as string;
}
