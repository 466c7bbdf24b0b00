import { below } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import { fieldOf, fieldsOf, unstated } from '../names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';

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
          : unstated(fieldsOf(resource), name, at, {
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
    return pathParameters(endpoint.path).flatMap((name) => (name === identifier ? [] : find(resource, name, endpoint)));
  });
}

function speaksOf(source: string, name: string): boolean {
  return source.includes(`params.${name}`) || source.includes(`params['${name}']`) || source.includes(`params["${name}"]`);
}
