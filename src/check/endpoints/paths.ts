import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { pullKind } from '../../kinds/deliveries/all.ts';
import { isToken } from '../../kinds/http-token.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { pullOf } from '../../parts/events.ts';
import { pathPieces } from '../../parts/expressions/find.ts';
import { inferTypes } from '../../parts/expressions/infer.ts';
import { parseExpression } from '../../parts/expressions/node.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { callableOperations } from '../../parts/operations.ts';
import { fieldParameters, identifierParameter, namesRow, pathParameters } from '../../parts/payload.ts';
import { ruleFor } from '../../parts/possible-errors.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What the parameters of a path bind to. */
export const pathRules: readonly Rule[] = [
  error(
    'endpoints/unbound-path-parameter',
    'A path parameter is neither the identifier nor a field of the resource, so it binds to nothing.',
    'Name it after the field that it is, state `identity`, or, where it is none and expressions read it, `{ in: path, filters: none }`.',
    (subject) =>
      eachBound(subject, (resource, name, { at, identity }) =>
        identity && speaksOf(identity.source, name)
          ? []
          : unstated(fieldVocabulary(resource), name, at, {
              message: `\`{${name}}\` is no field of \`${resource.name}\`, so it binds to nothing.`,
              onKey: true,
            }),
      ),
  ),
  warning(
    'endpoints/parent-without-ref',
    'A path parameter has the name of a resource, and the field that it binds does not refer to one.',
    'Write the field as `{ ref: RESOURCE }`, so that the parent must exist.',
    (subject) =>
      eachBound(subject, (resource, name, { at }) => {
        const field = fieldOf(resource, name);
        const parent = subject.resources.get(name);
        if (!field || !parent || parent.identifier.standing === 'none' || !statedValue(field.shape) || field.ref !== undefined)
          return [];
        const message = `\`${resource.name}.${name}\` does not refer to a \`${name}\`, so nothing checks that \`{${name}}\` exists.`;
        return [{ message, at, onKey: true, also: [{ message: 'The field stands here.', at: field.at }] }];
      }),
  ),
  error(
    'endpoints/path-parameter-not-there',
    'A parameter is said to stand in the path, and the path has none of that name.',
    'Put it into the path, or say where it stands: `in: query`.',
    ({ endpoints }) =>
      endpoints.flatMap(({ path, parameters }) =>
        entriesOf(parameters)
          .filter(([name, parameter]) => parameter.in === 'path' && !pathParameters(path).includes(name))
          .map(([name, { at }]) => ({ message: `\`${path}\` has no \`{${name}}\`.`, at: below(at, 'in') })),
      ),
  ),
  error(
    'endpoints/path-parameter-elsewhere',
    'A parameter of the path is said to stand elsewhere, or may be left out.',
    'Write `in: path`, and leave `required` out.',
    ({ endpoints }) =>
      endpoints.flatMap(({ path, parameters }) =>
        entriesOf(parameters)
          .filter(([name, parameter]) => pathParameters(path).includes(name) && (parameter.in !== 'path' || !parameter.required))
          .map(([name, parameter]) => ({
            message: `\`{${name}}\` stands in the path and can stand nowhere else.`,
            at: below(parameter.at, parameter.in === 'path' ? 'required' : 'in'),
          })),
      ),
  ),
  warning(
    'endpoints/path-parameter-idle',
    'A path parameter names no row and is no field, and no expression reads it, so the answer is the same whatever it is.',
    'Read it as `params.NAME`, or take `filters: none` out where it is a field.',
    ({ endpoints, expressions }) =>
      endpoints.flatMap(({ does, parameters }) => {
        const effect = statedValue(does);
        if (!effect || !('resource' in effect)) return [];
        return entriesOf(parameters)
          .filter(([name, { isApart }]) => isApart && !expressions.some(({ use }) => speaksOf(use.source, name)))
          .map(([name, { at }]) => ({ message: `Nothing reads \`{${name}}\`.`, at: below(at, 'filters') }));
      }),
  ),
];

/** What is found at each path parameter that has to be a field of the resource that its endpoint is about. */
function eachBound(
  { endpoints, resources }: Subject,
  find: (resource: NonNullable<ReturnType<Subject['resources']['get']>>, name: string, endpoint: Endpoint) => readonly Wrong[],
): Wrong[] {
  return endpoints.flatMap((endpoint) => {
    const effect = statedValue(endpoint.does);
    const resource = effect && 'resource' in effect ? resources.get(effect.resource) : undefined;
    if (!resource) return [];
    const identifier = identifierParameter(endpoint);
    return fieldParameters(endpoint).flatMap((name) => (name === identifier ? [] : find(resource, name, endpoint)));
  });
}

function speaksOf(source: string, name: string): boolean {
  return source.includes(`params.${name}`) || source.includes(`params['${name}']`) || source.includes(`params["${name}"]`);
}

/** Methods and paths. */
export const routeRules: readonly Rule[] = [
  error('endpoints/key', 'The key of an endpoint is not a method and a path.', 'Write `GET /parcels/{id}`.', ({ endpoints }) =>
    endpoints
      .filter(({ method, path }) => !isToken(method) || !path.startsWith('/'))
      .map(({ key, at }) => ({ message: `\`${key}\` is not a method and a path.`, at, onKey: true })),
  ),
  warning(
    'endpoints/method',
    'A method is none of those that HTTP registers for such use, so many clients cannot send it.',
    'Write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.',
    ({ endpoints }) =>
      endpoints
        .filter(({ method, path }) => path.startsWith('/') && !methods.has(method))
        .map(({ method, at }) => ({ message: `\`${method}\` is not a usual method.`, at, onKey: true })),
  ),
  error(
    'endpoints/same-route',
    'Two endpoints take the same requests: their method and path differ in the names of parameters at most.',
    'Keep one of them, or make the paths differ.',
    sameRoutes,
  ),
  error(
    'endpoints/braces',
    'The braces of a path do not pair, or hold nothing.',
    'Write each parameter as `{name}`.',
    ({ endpoints }) =>
      endpoints
        .filter(({ path }) => /[{}]/.test(path.replaceAll(/\{[^{}]+\}/g, '')))
        .map(({ path, at }) => ({ message: `The braces of \`${path}\` do not pair.`, at, onKey: true })),
  ),
  error(
    'endpoints/parameter-twice',
    'A path has the same parameter twice.',
    'Give each parameter a name of its own.',
    ({ endpoints }) =>
      endpoints.flatMap(({ path, at }) => {
        const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
        const twice = names.find((name, index) => names.indexOf(name) !== index);
        return twice === undefined ? [] : [{ message: `\`{${twice}}\` stands in \`${path}\` twice.`, at, onKey: true }];
      }),
  ),
  error(
    'endpoints/defaults-key',
    'What holds by default is stated for something that is no method.',
    'Write a method such as `POST`, or `all`.',
    ({ spec, endpoints }) => {
      const at = below(spec.endpoints.at, 'defaults');
      const defaults = valueAt(spec.document.tree, at);
      if (!isMap(defaults)) return [];
      const known = new Set([...methods, ...endpoints.map(({ method }) => method), 'all']);
      return Object.keys(defaults)
        .filter((key) => !known.has(key))
        .map((key) => ({
          message: `\`${key}\` is no method.`,
          ...(known.has(key.toUpperCase()) && { remedy: `Write \`${key.toUpperCase()}\`.` }),
          at: below(at, key),
          onKey: true,
        }));
    },
  ),
];

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);

/** The stream of events is a route too. */
function sameRoutes({ spec, endpoints }: Subject): Wrong[] {
  const pull = pullOf(spec.events);
  const routes = [
    ...endpoints.map(({ key, method, path, at }) => ({ key, route: routeOf(method, path), at, onKey: true })),
    ...(pull
      ? [
          {
            key: `${pull.method} ${pull.path}`,
            route: routeOf(pull.method, pull.path),
            at: below(pull.at, 'path'),
            onKey: false,
          },
        ]
      : []),
  ];
  const first = new Map<string, { readonly key: string; readonly at: string }>();
  return routes.flatMap(({ key, route, at, onKey }) => {
    const other = first.get(route);
    if (!other) {
      first.set(route, { key, at });
      return [];
    }
    const also = [{ message: 'It is first stated here.', at: `${other.at}#` }];
    const what = onKey || !pull ? `\`${key}\`` : pullKind(pull.word).noun;
    return [{ message: `${what} takes the same requests as \`${other.key}\`.`, at, onKey, also }];
  });
}

function routeOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
}

const aboutThere: ReadonlySet<string> = new Set(['read', 'update', 'replace', 'delete', 'transition']);

/** Rows that are at another address by now. */
export const movedRules: readonly Rule[] = [
  error(
    'endpoints/moved-no-row',
    'An endpoint says where its row has gone, and its path names no row, or not by what the row has.',
    'State `moved` where a path names the one row that is read, changed or deleted; leave `identity` to the path.',
    ({ spec, endpoints }) =>
      endpoints.flatMap((endpoint) => {
        if (!endpoint.moved) return [];
        const verb = statedValue(endpoint.does)?.verb;
        const isAbout = verb !== undefined && aboutThere.has(verb) && namesRow(endpoint) && !endpoint.identity;
        const isLed = pathPieces(spec, endpoint).every((piece) => typeof piece === 'string' || piece.way);
        if (isAbout && isLed) return [];
        return [{ message: `\`${endpoint.key}\` names no row that could be at another address.`, at: endpoint.moved.at }];
      }),
  ),
  error(
    'endpoints/moved-other-row',
    'What says where a row has gone refers to no row of that resource.',
    'Write a reference to one: `has(find(rename, { old: params.name })) ? find(rename, { old: params.name }).repository : null`.',
    (subject) =>
      subject.endpoints.flatMap(({ does, moved }) => {
        const effect = statedValue(does);
        if (!moved || !effect || !('resource' in effect)) return [];
        const resource = referredBy(subject, moved);
        if (resource === undefined || resource === effect.resource) return [];
        const seen = resource === 'none' ? 'This is no reference' : `This refers to one \`${resource}\``;
        return [{ message: `${seen}, and the row is one \`${effect.resource}\`.`, at: moved.at }];
      }),
  ),
  error(
    'endpoints/moved-unanswered',
    'An endpoint says where its row has gone, and no error tells it.',
    'State an error for it: `moved: { status: 308, when: resource.moved }`.',
    ({ spec }) =>
      callableOperations(spec).flatMap((operation) => {
        const moved = operation.endpoint?.moved;
        if (!moved || ruleFor(spec.errors, 'resource.moved', operation)) return [];
        return [{ message: `No error answers \`resource.moved\` at \`${operation.name}\`.`, at: moved.at }];
      }),
  ),
];

/** What tells that a row is elsewhere leads there. */
export const movedErrorRules: readonly Rule[] = [
  error(
    'errors/moved-status',
    'An error tells that a row is at another address, with a status that leads nowhere.',
    'Write 308 or 301 where it stays there, 307 or 302 where it may come back; 307 and 308 keep the method (RFC 9110 section 15.4).',
    ({ spec }) =>
      entriesOf(spec.errors.codes).flatMap(([name, { rules }]) =>
        rules.flatMap(({ status, when, at }) => {
          const value = statedValue(status);
          if (value === undefined || redirects.has(value) || !statedValue(when)?.includes('resource.moved')) return [];
          return [
            { message: `\`${name}\` answers with ${value}, and nobody follows its \`Location\`.`, at: below(at, 'status') },
          ];
        }),
      ),
  ),
];

/** The statuses by which clients follow `Location` with the same request. */
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** The resource that an expression refers to a row of, `none` where it is no reference; nothing where something else is wrong with it. */
function referredBy({ spec, expressions }: Subject, { at, source }: Expression): string | undefined {
  const checked = expressions.find(({ use }) => use.at === at);
  const parsed = parseExpression(source);
  const [scope] = checked?.use.scopes ?? [];
  if (!checked || checked.problems.length > 0 || !scope || 'unparsed' in parsed) return undefined;
  const { type } = inferTypes(spec, scope.scope, source, parsed.node);
  const bare = type.is === 'nullable' ? type.of : type;
  return bare.is === 'ref' ? bare.resource : 'none';
}
