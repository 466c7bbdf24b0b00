import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { answersWithRows } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import { toFilter } from '../../parts/expressions/filter.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import type { Choosing, Parameter } from '../../parts/parameters.ts';
import { pathParameters } from '../../parts/payload.ts';
import { isOfSeveralRows, type Reach, reachOf } from '../../parts/reach.ts';
import type { Resource } from '../../parts/resources.ts';
import { onlyType, typesOf } from '../subject/json-types.ts';
import { fieldVocabulary, isZone, unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** How parameters choose rows of a list by more than one field as it is. */
export const choosingRules: readonly Rule[] = [
  error(
    'endpoints/unknown-path',
    'A parameter filters by a path that leads to no value of a row.',
    'Go through fields, references and, by `RESOURCE.FIELD`, to the rows that refer to this one: `customer.email`, `line.order.price`.',
    (subject) => eachPath(subject, (parameter, chooses, resource) => pathWrongs(subject, parameter, chooses, resource)),
  ),
  error(
    'endpoints/choosing-words',
    'The words of a parameter that chooses rows do not go together.',
    'Write one of `filters`, `keeps` and `search`; `split`, `match`, `ignore_case` and `zone` stand beside `filters`.',
    (subject) => eachChoosing(subject, (parameter, resource) => wordsWrongs(subject, parameter, resource)),
  ),
  error(
    'endpoints/path-unread',
    'A parameter filters through rows of which no database can decide whether the caller may read them, so it would find nothing.',
    'Let rules for reading them compare fields of `resource` with values of `caller`, or filter by a field of the row itself.',
    (subject) => eachPath(subject, (_parameter, chooses, resource) => unreadWrongs(subject, chooses, resource)),
  ),
  error(
    'endpoints/keeps-undecidable',
    'What a parameter keeps cannot be decided in a database, so no rows can be chosen by it.',
    'Compare fields of `resource` with `value`; `filters` goes through references.',
    keepsWrongs,
  ),
  error(
    'endpoints/unknown-search',
    'A parameter searches in what is no text of the resource.',
    'Name fields that hold texts under `search`.',
    (subject) => eachChoosing(subject, (parameter, resource) => searchWrongs(subject, parameter, resource)),
  ),
];

/** What is found at each parameter of each list whose resource is stated, where it chooses. */
function eachChoosing(subject: Subject, find: (parameter: Parameter, resource: Resource) => readonly Wrong[]): Wrong[] {
  return subject.endpoints.flatMap(({ does, parameters }) => {
    const effect = statedValue(does);
    const resource = effect?.verb === 'list' ? subject.resources.get(resourceOfEffect(effect) ?? '') : undefined;
    return resource ? entriesOf(parameters).flatMap(([, parameter]) => (parameter.chooses ? find(parameter, resource) : [])) : [];
  });
}

type PathChoosing = Extract<Choosing, { by: 'path' }>;

function eachPath(
  subject: Subject,
  find: (parameter: Parameter, chooses: PathChoosing, resource: Resource) => readonly Wrong[],
): Wrong[] {
  return eachChoosing(subject, (parameter, resource) =>
    parameter.chooses?.by === 'path' ? find(parameter, parameter.chooses, resource) : [],
  );
}

function pathWrongs({ spec }: Subject, { op }: Parameter, { path, at }: PathChoosing, resource: Resource): Wrong[] {
  const [first = ''] = path.split('.');
  const isResource = entryOf(spec.resources.all, first) !== undefined && path.split('.').length > 2;
  if (!isResource) {
    const unknown = unstated(fieldVocabulary(resource), first, at);
    if (unknown.length > 0) return unknown;
  }
  const reached = reachOf(spec, resource.name, path);
  if ('wrong' in reached) return isOpen(reached.of, spec) ? [] : [{ message: `${reached.wrong}.`, at }];
  const { shape, names } = reached;
  const [resourceAt, field = ''] = [entryOf(spec.resources.all, reached.resource), names[0]];
  if (resourceAt && entryOf(resourceAt.fields, field)?.stored === false)
    return [{ message: `\`${field}\` is never stored, so no list can be filtered by it.`, at }];
  const types = [...(typesOf(shape) ?? [])].filter((type) => type !== 'null');
  if (types.length === 0 && Array.isArray(shape.enum)) return [];
  if (types.length !== 1 || types[0] === 'object' || types[0] === 'array')
    return [{ message: `\`${path}\` is no single value of a known type.`, at }];
  if ((op === 'prefix' || (op === 'contains' && !reached.isList)) && types[0] !== 'string')
    return [{ message: `\`${op}\` cannot compare \`${path}\`, which is of type ${types[0]}.`, at }];
  return [];
}

function isOpen(name: string, spec: Subject['spec']): boolean {
  const resource = entryOf(spec.resources.all, name);
  return !resource || !isStated(resource.fields) || resource.additionalProperties;
}

function wordsWrongs(
  subject: Subject,
  { name, at, chooses, op, sorts, shape, in: place }: Parameter,
  resource: Resource,
): Wrong[] {
  const wrong = (word: string, message: string): Wrong[] => [{ message, at: below(at, word) }];
  const has = (word: string) => valueAt(subject.spec.document.tree, below(at, word)) !== undefined;
  if (sorts) return wrong('sorts', `\`${name}\` chooses rows and sorts them at once.`);
  if (place === 'path') return [{ message: `\`${name}\` stands in the path, which names rows already.`, at, onKey: true }];
  if (chooses?.by !== 'path') {
    const idle = ['filters', 'op', 'split', 'match', 'ignore_case', 'zone', ...(chooses?.by === 'keeps' ? ['search'] : [])].find(
      has,
    );
    return idle === undefined ? [] : wrong(idle, `\`${idle}\` says nothing beside \`${chooses?.by}\`.`);
  }
  if (has('split') && (has('style') || has('explode')))
    return wrong('split', 'A style says already what stands between several values.');
  const reached = reachOf(subject.spec, resource.name, chooses.path);
  if ('wrong' in reached) return [];
  const takesSeveral = chooses.split !== undefined || op === 'in' || onlyType(statedValue(shape) ?? {}) === 'array';
  if (has('match') && !takesSeveral) return wrong('match', `\`${name}\` takes one value.`);
  if (chooses.isAll && !reached.isList && !isOfSeveralRows(reached) && op !== 'contains')
    return wrong('match', `\`${chooses.path}\` is one value, which cannot be several at once.`);
  if (chooses.ignoreCase && onlyType(reached.shape) !== 'string') return wrong('ignore_case', `\`${chooses.path}\` is no text.`);
  return chooses.zone === undefined ? [] : zoneWrongs(chooses.zone, reached, op, wrong);
}

function zoneWrongs(
  zone: string,
  { shape }: Reach,
  op: Parameter['op'],
  wrong: (word: string, message: string) => Wrong[],
): Wrong[] {
  if (!isZone(zone)) return wrong('zone', `\`${zone}\` is no time zone.`);
  if (typeof shape.format !== 'string' || formatNamed(shape.format)?.time === undefined)
    return wrong('zone', 'What is compared is no point in time, so no day can hold it.');
  return ['in', 'prefix', 'contains'].includes(op) ? wrong('op', `\`${op}\` compares no days.`) : [];
}

/** Through each resource on the way: is there a rule by which a database can tell what is shown of it? */
function unreadWrongs(subject: Subject, { path, at }: PathChoosing, resource: Resource): Wrong[] {
  const { spec } = subject;
  const reached = reachOf(spec, resource.name, path);
  if ('wrong' in reached || !isStated(spec.authentication.permissions)) return [];
  for (const step of reached.steps) {
    const name = 'to' in step ? step.to : step.of;
    const why = unreadReason(subject, name);
    if (why !== undefined) return [{ message: `\`${path}\` goes through \`${name}\`, and ${why}.`, at }];
  }
  return [];
}

function unreadReason({ spec, endpointsByResource, expressions }: Subject, resource: string): string | undefined {
  const verbOf = (does: Parameters<typeof statedValue>[0]) => (statedValue(does) as { verb?: string } | undefined)?.verb;
  const all = endpointsByResource.get(resource) ?? [];
  const reads = all.filter(({ does }) => verbOf(does) === 'read');
  const showing = reads.length > 0 ? reads : all.filter(({ does }) => verbOf(does) === 'list');
  const operations = showing.map((endpoint) => ({ name: endpoint.operation, resource, endpoint }));
  if (operations.some((operation) => namesOperation(spec.authentication.public, operation))) return undefined;
  const rules = (statedValue(spec.authentication.permissions) ?? []).filter(({ allow }) =>
    operations.some((operation) => namesOperation(allow, operation)),
  );
  if (rules.length === 0) return 'nobody may read it';
  for (const { if: condition, allow } of rules) {
    const operation = operations.find((one) => namesOperation(allow, one));
    if (operation?.endpoint.identity)
      return `\`${operation.name}\` shows the row that its \`identity\` says, which no list can look for`;
    const checked = condition && expressions.find(({ use }) => use.at === condition.at);
    const scope = checked?.use.scopes.find((one) => one.operation === operation?.name)?.scope;
    if (!condition || !checked || !scope || checked.problems.length > 0) continue;
    const asks = compileExpression(spec, { ...checked.use, scope }).reads.find(({ root }) =>
      ['params', 'request', 'operation'].includes(root),
    );
    if (asks) return `who may read it hangs on \`${asks.root}\`, which is of another request`;
    const decided = toFilter(spec, { source: condition.source, scope });
    if ('undecidable' in decided) return `who may read it cannot be decided: ${decided.undecidable.replace(/\.$/, '')}`;
  }
  return undefined;
}

function keepsWrongs(subject: Subject): Wrong[] {
  return eachChoosing(subject, ({ chooses }) => {
    if (chooses?.by !== 'keeps') return [];
    const { condition } = chooses;
    const checked = subject.expressions.find(({ use }) => use.at === condition.at);
    const [used] = checked?.use.scopes ?? [];
    if (!checked || !used || checked.problems.length > 0) return [];
    const use = { ...checked.use, scope: used.scope };
    const beyond =
      compileExpression(subject.spec, use).reads.some(({ follows }) => follows) || /\bfind\s*\(/.test(condition.source);
    if (beyond)
      return [
        {
          message: 'It reads other rows, of which the caller may not read all.',
          remedy: 'Write `filters` with a path, through which a caller is shown what it may read.',
          at: condition.at,
        },
      ];
    const decided = toFilter(subject.spec, use);
    if (!('undecidable' in decided)) return [];
    const { undecidable, offset, length } = decided;
    return [{ message: undecidable.endsWith('.') ? undecidable : `${undecidable}.`, at: condition.at, offset, length }];
  });
}

function searchWrongs(subject: Subject, { chooses }: Parameter, resource: Resource): Wrong[] {
  if (chooses?.by !== 'search') return [];
  return chooses.fields.flatMap((name, index) => {
    const at = itemPlace(subject, chooses.at, chooses.fields, index);
    const unknown = unstated(fieldVocabulary(resource), name, at);
    if (unknown.length > 0) return unknown;
    const field = entryOf(resource.fields, name);
    const type = onlyType(statedValue(field?.shape) ?? {});
    if (!field?.stored) return field ? [{ message: `\`${name}\` is never stored, so nothing can be found in it.`, at }] : [];
    return type === undefined || type === 'string' ? [] : [{ message: `\`${name}\` is of type ${type}, and no text.`, at }];
  });
}

/** How callers choose the fields that an answer shows. */
export const selectingRules: readonly Rule[] = [
  error(
    'endpoints/nothing-to-select',
    'An endpoint offers to choose fields, and its answer shows no rows as they are.',
    'Take `select` out, or let its answer follow by rule.',
    ({ endpoints }) =>
      endpoints.flatMap(({ key, does, response, select }) => {
        if (!select || answersWithRows(does, response) || !isStated(does)) return [];
        return [{ message: `\`${key}\` answers with no rows of which fields could be chosen.`, at: select.at, onKey: true }];
      }),
  ),
  error(
    'endpoints/select-taken',
    'The parameter that chooses fields has another meaning, or no name.',
    'Give it a name that nothing else has.',
    (subject) =>
      subject.endpoints.flatMap((endpoint) => {
        const other = endpoint.select && otherMeaning(subject, endpoint, endpoint.select.parameter);
        if (endpoint.select?.parameter === '')
          return [{ message: 'It has no name, so nobody can ask.', at: endpoint.select.at, onKey: true }];
        if (!endpoint.select || other === undefined) return [];
        return [{ message: `\`${endpoint.select.parameter}\` ${other}.`, at: endpoint.select.at, onKey: true }];
      }),
  ),
];

/** What a query parameter of this name does besides; nothing where it does nothing else. */
function otherMeaning({ spec }: Subject, endpoint: Endpoint, name: string): string | undefined {
  const parameter = entryOf(endpoint.parameters, name);
  const does =
    parameter && (parameter.filters !== undefined || parameter.sorts || parameter.chooses || parameter.directs !== undefined);
  if (parameter && (parameter.in !== 'query' || does)) return 'is a parameter that is stated to do something else';
  if (pathParameters(endpoint.path).includes(name)) return 'is a parameter of the path';
  if (endpoint.expand?.parameter === name) return 'says what is expanded';
  const isList = statedValue(endpoint.does)?.verb === 'list';
  const pages = isList ? statedValue(endpoint.pagination ?? spec.limits.pagination) : undefined;
  if (pages && [...Object.values(pages.names), pages.size].includes(name)) return 'says which page is meant';
  const versions = statedValue(spec.versioning.select);
  return versions?.by === 'query' && versions.carrier === name ? 'says which version is meant' : undefined;
}
