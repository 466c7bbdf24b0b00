import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import { keywords } from '../../parts/shapes/keywords.ts';
import { formatNames } from '../../parts/shapes/validators.ts';
import { typesOf } from '../subject/json-types.ts';
import { fieldOf, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { unstatedShape } from './type-words.ts';

/** What JSON Schema itself asks of a shape. */
export const schemaRules: readonly Rule[] = [
  error(
    'shapes/refused',
    'A shape is no JSON Schema that a validator takes.',
    'Write keywords of JSON Schema 2020-12 with values as it defines them.',
    (subject) => [...refused(subject), ...namedFromInside(subject)],
  ),
  warning(
    'shapes/unknown-format',
    'A format is not known, so nothing is checked by it.',
    'Write a format of JSON Schema or of this language, or a pattern.',
    unknownFormats,
  ),
  warning(
    'shapes/idle-keyword',
    'A keyword says nothing about values of the stated type.',
    'Take the keyword out, or correct the type.',
    idleKeywords,
  ),
  error(
    'shapes/field-word',
    'A word of fields stands inside a shape, where nothing acts on it.',
    'Let the value be a resource of its own, with `identifier: none`: its fields have such words.',
    fieldWordsInside,
  ),
  warning(
    'shapes/required-not-named',
    'A shape requires a property that it does not describe, and has one of nearly that name.',
    'Write the name as it stands under `properties`.',
    misspeltRequired,
  ),
];

function refused({ shapeRoots, schemas }: Subject): Wrong[] {
  return shapeRoots.flatMap(({ shape, at }) => {
    const refusal = schemas.refusal(shape);
    return refusal === undefined ? [] : [{ message: `No validator takes this shape: ${refusal}.`, at }];
  });
}

/** A field's shape stands inside that of its resource, where a reference to the whole of it would name something else. */
function namedFromInside({ shapeNodes }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, at, root }) => {
    const { $ref } = schema;
    if (!inside.has(root.role) || typeof $ref !== 'string' || !/^#(?!\/\$defs\/)/.test($ref)) return [];
    const message = `\`${$ref}\` cannot be named from inside a ${root.role}.`;
    return [{ message, remedy: 'Put the schema under `$defs`, and name it `#/$defs/NAME`.', at: below(at, '$ref') }];
  });
}

const inside: ReadonlySet<string> = new Set(['field', 'parameter', 'show']);

function unknownFormats({ shapeNodes }: Subject): Wrong[] {
  const known = new Set(formatNames());
  return shapeNodes.flatMap(({ schema, at }) => {
    const { format } = schema;
    if (typeof format !== 'string' || known.has(format)) return [];
    const meant = nearest(format, known);
    const remedy = meant === undefined ? {} : { remedy: `Write \`${meant}\`.` };
    return [{ message: `The format \`${format}\` is not known.`, ...remedy, at: below(at, 'format') }];
  });
}

function idleKeywords({ shapeNodes }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, at }) => {
    const types = typesOf(schema);
    if (!types || types.size === 0) return [];
    return Object.keys(schema)
      .filter((keyword) => keywords.get(keyword)?.about?.some((type) => types.has(type)) === false)
      .map((keyword) => ({
        message: `\`${keyword}\` says nothing about values of type ${listed(types)}.`,
        at: below(at, keyword),
        onKey: true,
      }));
  });
}

/** The words of fields that say nothing in JSON Schema, and something only of a field. */
const wordsOfFields = [
  ...['set', 'generate', 'within', 'derive', 'reveal', 'visible', 'writable', 'immutable', 'stored', 'ignore_case'],
  ...['onDelete', 'show', 'children'],
];

function fieldWordsInside({ shapeNodes }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, at, root }) => {
    if (schema === root.shape) return [];
    return wordsOfFields
      .filter((word) => Object.hasOwn(schema, word))
      .map((word) => {
        const remedy =
          word === 'show' ? { remedy: 'Take it out: a reference is shown whole where it is a field of its own.' } : {};
        return { message: `\`${word}\` is for fields, and this lies inside one.`, at: below(at, word), onKey: true, ...remedy };
      });
  });
}

function misspeltRequired({ shapeNodes }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, at }) => {
    const { required, properties } = schema;
    if (!Array.isArray(required) || !isMap(properties)) return [];
    return required.flatMap((name, index) => {
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) return [];
      const meant = nearest(name, Object.keys(properties));
      if (meant === undefined || required.includes(meant)) return [];
      const message = `\`${name}\` is required, and is not among the properties.`;
      return [{ message, remedy: `Write \`${meant}\`.`, at: below(below(at, 'required'), index) }];
    });
  });
}

/** The resources that shapes speak of. */
export const nameRules: readonly Rule[] = [
  error(
    'shapes/unknown-resource',
    'A shape names a resource that is not stated.',
    'Write the name of a stated resource, or a JSON type.',
    ({ shapeNodes, names }) =>
      shapeNodes.flatMap((node) =>
        node.names.flatMap(({ word, as, at }) => (as === 'ref' ? unstated : unstatedShape)(names.resources, word, at)),
      ),
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
