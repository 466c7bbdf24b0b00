import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { pullKind } from '../../kinds/deliveries/all.ts';
import { isToken } from '../../kinds/http-token.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { pullOf } from '../../parts/events.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { fieldParameters, identifierParameter, pathParameters } from '../../parts/payload.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What the parameters of a path bind to. */
export const pathRules: readonly Rule[] = [
  error(
    'endpoints/unbound-path-parameter',
    'A path parameter is neither the identifier nor a field of the resource, so it binds to nothing.',
    'Name it after the field that it is, or state `identity`.',
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
