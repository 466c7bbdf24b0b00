import type { Pointer } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { durationMs } from '../../kinds/measures.ts';
import { type Expression, entriesOf, isStated, type Named, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import type { Shape } from '../../parts/shape.ts';
import { hasMeaning } from '../../parts/shapes/branches.ts';
import { asWritten } from './json-types.ts';
import { listed } from './names.ts';
import type { Subject, Wrong } from './rule.ts';

/** The properties that a shape of an object asks for; nothing where it is no plain object. */
interface ObjectProperties {
  readonly names: ReadonlySet<string>;
  readonly required: readonly string[];
  /** Whether others are refused. */
  readonly closed: boolean;
}

/** What is wrong with the names under `data`, held to the shape that they are to make, at any depth. */
export function dataMisfits(subject: Subject, shape: Shape, data: Named<Expression>, at: Pointer): Wrong[] {
  const names = Object.keys(data);
  const inner = Object.entries(data).flatMap(([name, { parts }]) => {
    const member = isMap(shape.properties) ? shape.properties[name] : undefined;
    return parts && isMap(member) && member.type !== 'array' ? dataMisfits(subject, member, parts, below(at, name)) : [];
  });
  return [...ownMisfits(subject, shape, names, at), ...inner];
}

function ownMisfits(subject: Subject, shape: Shape, names: readonly string[], at: Pointer): Wrong[] {
  const properties = objectPropertiesOf(subject, shape);
  if (!properties) return [];
  const isOpen = (name: string) => isStanding(valueAt(subject.spec.document.tree, below(at, name)));
  const missing = properties.required.filter((name) => !names.includes(name) && !isOpen(name));
  const strange = names.filter((name) => !properties.names.has(name));
  return [
    ...(missing.length > 0
      ? [
          {
            message: `The shape requires ${listed(missing)}, which \`data\` does not make.`,
            remedy: `Add ${listed(missing)}.`,
            at,
            onKey: true,
          },
        ]
      : []),
    ...strange.flatMap((name) => {
      const meant = nearest(name, properties.names);
      if (!properties.closed && (meant === undefined || names.includes(meant))) return [];
      const remedy = meant === undefined ? `Write ${listed(properties.names)}.` : `Write \`${meant}\`.`;
      return [{ message: `The shape has no property \`${name}\`.`, remedy, at: below(at, name), onKey: true }];
    }),
  ];
}

/** What a shape asks of an object, its own or a resource's. */
export function objectPropertiesOf({ resources, spec }: Subject, shape: Shape): ObjectProperties | undefined {
  if (typeof shape.resource === 'string') {
    const resource = resources.get(shape.resource);
    if (!resource || !isStated(resource.fields)) return undefined;
    const fields = entriesOf(resource.fields);
    const leftOut = leftOutOf(spec, 'anybody');
    const always = fields.filter(
      ([, field]) => statedValue(field.required) && !field.visible && !field.writeOnly && !field.reveal && !leftOut.has(field),
    );
    return {
      names: new Set(fields.map(([name]) => name)),
      required: always.map(([name]) => name),
      closed: !resource.additionalProperties,
    };
  }
  if (
    !isMap(shape.properties) ||
    hasMeaning(shape, 'exclusive alternatives', 'alternatives', 'conjunction', 'reference', 'condition')
  ) {
    return undefined;
  }
  return {
    names: new Set(Object.keys(shape.properties)),
    required: Array.isArray(shape.required) ? shape.required.filter((name) => typeof name === 'string') : [],
    closed: shape.additionalProperties === false,
  };
}

/** Whether `data` is one expression for the whole. */
export function isExpression(data: Named<Expression> | Expression): data is Expression {
  return typeof data.source === 'string' && typeof data.at === 'string';
}

/** What is wrong where a text that stands at a place is no duration; nothing where nothing, or something open, stands. */
export function notADuration({ spec }: Subject, at: Pointer, orNone: 'or none' | 'no standing' = 'no standing'): Wrong[] {
  const text = valueAt(spec.document.tree, at);
  if (orNone === 'or none' && text === 'none') return [];
  if (text === undefined || isMap(text) || (typeof text === 'string' && durationMs(text) !== undefined)) return [];
  return [{ message: `${asWritten(text)} is no duration.`, at }];
}
