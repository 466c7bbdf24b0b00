import { below } from '../../document/pointer.ts';
import { type Endpoint, isBelow, type PathRow, rowsAlong } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { lookupOf, ownRow, parentRows, pathWays, referringField } from '../../parts/path-keys.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import { fieldOf, fieldVocabulary, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** Rows that paths name by keys: `under`, and `identity` as a map. */
export const keyRules: readonly Rule[] = [
  error(
    'endpoints/key-use',
    'A row is named by a key where none is looked for by one.',
    'State the key under `identity` where one row is read or changed, or under `under` for a path that goes on; an upsert names what it makes by its identifier.',
    (subject) => [...misplaced(subject), ...unkeyed(subject)],
  ),
  error(
    'endpoints/key-parameter',
    'A key does not fit the parameters of its path: it names one that the path lacks, or leaves one out.',
    'Write each parameter of the path once, as the field that it is: `{ owner.login: owner, name: repo }`.',
    (subject) => keysOf(subject).flatMap(({ row, before }) => wrongParameters(row, before)),
  ),
  error(
    'endpoints/key-field',
    'A key is made of a field that its resource does not have, or goes through one that is no reference.',
    'Write fields of the resource; what belongs to a row that it refers to is written behind the reference: `owner.login`.',
    (subject) => keysOf(subject).flatMap((key) => wrongFields(subject, key)),
  ),
  error(
    'endpoints/key-not-unique',
    'A key is made of fields by which several rows may be found.',
    'State the fields as a `unique` rule without `while`, or count one of them: `generate: integer` with `within`.',
    (subject) =>
      keysOf(subject).flatMap(({ row, before }) => {
        const found = lookupOf(subject.spec, row, before);
        if (!('wrong' in found) || found.wrong !== 'unique' || found.field === '') return [];
        const fields = Object.keys(row.key).filter((path) => found.resource === row.resource || path.includes('.'));
        return [
          {
            message: `No rule of \`${found.resource}\` says that ${listed(fields)} tell one from another.`,
            at: row.at,
            onKey: true,
          },
        ];
      }),
  ),
  error(
    'endpoints/key-unbound',
    'A path goes below a row, and nothing of what it is about refers to that row.',
    'Give the resource a field that refers to it, of its name where there are several, or take the row out of the path.',
    (subject) => subject.endpoints.flatMap((endpoint) => unbound(subject, endpoint)),
  ),
  error(
    'endpoints/key-in-versions',
    'A key is made of a field whose values are others in another version, so that a path would name another row there.',
    'Find the row by its identifier, or by a field that no version maps.',
    mappedKeys,
  ),
  warning(
    'endpoints/under-unused',
    'A prefix is said to name a row, and no path begins with it.',
    'Write the prefix as the paths have it, with the same names of parameters, or take it out.',
    ({ spec, endpoints }) =>
      spec.endpoints.under
        .filter(({ prefix }) => endpoints.length > 0 && !endpoints.some(({ path }) => isBelow(path, prefix)))
        .map(({ prefix, at }) => ({ message: `No path begins with \`${prefix}\`.`, at, onKey: true })),
  ),
];

/** A key, and the rows that its path names before it. */
interface StatedKey {
  readonly row: PathRow;
  readonly before: readonly PathRow[];
}

/** Every key that is stated where one can be, of resources that have rows. */
function keysOf(subject: Subject): StatedKey[] {
  const { under } = subject.spec.endpoints;
  const ofPrefixes = under.map((row) => ({
    row,
    before: rowsAlong(under, row.prefix).filter(({ prefix }) => prefix !== row.prefix),
  }));
  const own = subject.endpoints.flatMap((endpoint) => {
    const row = ownRow(endpoint);
    return !row || under.includes(row) ? [] : [{ row, before: parentRows(endpoint) }];
  });
  return [...ofPrefixes, ...own].filter(({ row }) => hasRows(subject, row));
}

function hasRows({ resources }: Subject, { resource }: PathRow): boolean {
  const stated = resources.get(resource);
  return stated?.fields.standing === 'stated' && stated.identifier.standing !== 'none';
}

function wrongParameters({ prefix, key, at }: PathRow, before: readonly PathRow[]): Wrong[] {
  const there = pathParameters(prefix);
  const strange = Object.entries(key)
    .filter(([, parameter]) => !there.includes(parameter))
    .map(([field, parameter]) => ({ message: `\`${prefix}\` has no \`{${parameter}}\`.`, at: below(at, field) }));
  const named = new Set([key, ...before.map((row) => row.key)].flatMap((one) => Object.values(one)));
  const left = there.filter((name) => !named.has(name));
  return left.length === 0 || strange.length > 0
    ? strange
    : [{ message: `Nothing says what ${listed(left.map((name) => `{${name}}`))} of \`${prefix}\` is.`, at, onKey: true }];
}

function wrongFields({ spec, resources }: Subject, { row, before }: StatedKey): Wrong[] {
  const found = lookupOf(spec, row, before);
  if (!('wrong' in found) || found.wrong === 'unique') return [];
  const resource = resources.get(found.resource);
  const path = Object.keys(row.key).find((one) => one.split('.').includes(found.field));
  const at = path === undefined ? row.at : below(row.at, path);
  if (!resource || found.wrong === 'field')
    return resource ? unstated(fieldVocabulary(resource), found.field, at, { onKey: true }) : [];
  return [{ message: `\`${found.resource}.${found.field}\` refers to nothing, so there is nothing behind it.`, at, onKey: true }];
}

/** What stands as a key where none can be. */
function misplaced({ spec, endpoints, resources, names }: Subject): Wrong[] {
  const { under } = spec.endpoints;
  return [
    ...under.flatMap(({ resource, prefix, at }): Wrong[] => {
      const stated = resources.get(resource);
      if (!stated) return unstated(names.resources, resource, at, { onKey: true });
      if (stated.identifier.standing === 'none')
        return [{ message: `\`${resource}\` is a value, and has no rows.`, at, onKey: true }];
      const [first] = under.filter((one) => one.prefix === prefix);
      return first?.resource === resource
        ? []
        : [{ message: `\`${prefix}\` names a row of \`${first?.resource}\` already.`, at, onKey: true }];
    }),
    ...endpoints.flatMap((endpoint): Wrong[] => {
      const own = endpoint.rows?.find((row) => !under.includes(row));
      if (!own || ownRow(endpoint)) return [];
      return [{ message: `\`${endpoint.operation}\` is not about one row.`, at: own.at, onKey: true }];
    }),
  ];
}

/** Upserts, whose rows are named by what they are called from then on. */
function unkeyed({ endpoints }: Subject): Wrong[] {
  return endpoints.flatMap((endpoint) => {
    const own = ownRow(endpoint);
    if (!own || statedValue(endpoint.does)?.verb !== 'upsert') return [];
    return [
      { message: `\`${endpoint.operation}\` may make the row, and is not told its identifier.`, at: endpoint.at, onKey: true },
    ];
  });
}

/** The rows of a path that nothing leads to, from what it is about. */
function unbound(subject: Subject, endpoint: Endpoint): Wrong[] {
  const { spec, resources } = subject;
  const effect = statedValue(endpoint.does);
  const resource = effect && 'resource' in effect ? resources.get(effect.resource) : undefined;
  const above = parentRows(endpoint).filter((row) => spec.endpoints.under.includes(row) && hasRows(subject, row));
  const nearest = above.at(-1);
  if (resource?.fields.standing !== 'stated' || !nearest) return [];
  const ways = pathWays(spec, endpoint, identifierParameter(endpoint));
  const isBound = referringField(spec, resource.name, nearest.resource) !== undefined;
  const row = isBound ? above.find(({ key }) => Object.values(key).some((parameter) => !ways.has(parameter))) : nearest;
  if (!row) return [];
  const several = entriesOf(resource.fields).filter(([, { ref }]) => ref === row.resource).length;
  const message =
    several > 1
      ? `${several} fields of \`${resource.name}\` refer to \`${row.resource}\`, and none of them has its name.`
      : `Nothing of \`${resource.name}\` refers to the \`${row.resource}\` of \`${row.prefix}\`.`;
  return [{ message, at: endpoint.at, onKey: true, also: [{ message: 'The path names it here.', at: row.at }] }];
}

function mappedKeys(subject: Subject): Wrong[] {
  const mapped = entriesOf(subject.spec.versioning.changes).flatMap(([, changes]) =>
    (statedValue(changes) ?? []).filter((change) => change.kind === 'map' || change.kind === 'enum'),
  );
  return keysOf(subject).flatMap(({ row }) =>
    Object.keys(row.key).flatMap((path) => {
      const fields = path.split('.');
      const last = fields.pop() ?? '';
      const target = fields.reduce<string | undefined>(
        (at, field) => fieldOf(subject.resources.get(at ?? ''), field)?.ref,
        row.resource,
      );
      const change = mapped.find(({ resource, field }) => resource === target && field === last);
      if (!change) return [];
      const also = [{ message: 'It is mapped here.', at: change.at }];
      return [{ message: `\`${target}.${last}\` is another value in another version.`, at: below(row.at, path), also }];
    }),
  );
}
