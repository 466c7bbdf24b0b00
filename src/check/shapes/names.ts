import { statedValue } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import { typesOf } from '../subject/json-types.ts';
import { fieldOf, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** The resources that shapes speak of. */
export const nameRules: readonly Rule[] = [
  error(
    'shapes/unknown-resource',
    'A shape names a resource that is not stated.',
    'Write the name of a stated resource, or a JSON type.',
    ({ shapeNodes, names }) =>
      shapeNodes.flatMap((node) => node.names.flatMap(({ word, at }) => unstated(names.resources, word, at))),
  ),
  error(
    'shapes/ref-to-value',
    'A `ref` refers to a value, which has no identifier.',
    'Embed the value by its name, or give the resource an identifier.',
    ({ shapeNodes, resources }) =>
      shapeNodes.flatMap((node) =>
        node.names
          .filter(({ word, as }) => as === 'ref' && resources.get(word)?.identifier.standing === 'none')
          .map(({ word, at }) => ({
            message: `\`${word}\` is a value without an identifier, so nothing can refer to one.`,
            remedy: `Write \`${word}\` instead of \`{ ref: ${word} }\`.`,
            at,
          })),
      ),
  ),
  error(
    'shapes/ref-type',
    'A `ref` states another type than the identifier that it refers to.',
    'Leave the type out.',
    refsOfOtherTypes,
  ),
];

function refsOfOtherTypes({ shapeNodes, resources }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, names, at }) => {
    const name = names.find(({ as }) => as === 'ref');
    const own = typesOf(schema);
    const target = name && identifierTypes(resources.get(name.word));
    if (!name || !own || !target || [...own].some((type) => target.has(type))) return [];
    const message = `An identifier of \`${name.word}\` is of type ${[...target].join(' or ')}, not ${[...own].join(' or ')}.`;
    if (!own.has('null')) return [{ message, at }];
    return [{ message, remedy: `Write \`{ ref: ${name.word}, type: [${[...target].join(', ')}, "null"] }\`.`, at }];
  });
}

function identifierTypes(resource: Resource | undefined): ReadonlySet<string> | undefined {
  const identifier = resource && statedValue(resource.identifier);
  const field = identifier && fieldOf(resource, identifier.field);
  const shape = field && statedValue(field.shape);
  return shape && typesOf(shape);
}
