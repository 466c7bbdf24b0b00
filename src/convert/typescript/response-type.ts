import { standsFor } from '../../kinds/formats/all.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import type { Answer } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { unsettledLine } from '../unsettled.ts';
import { literal } from './names.ts';
import { paginationOf } from './parameters.ts';
import type { ResourceTypes } from './resource-types.ts';
import { literalType, shapeType } from './shape-type.ts';
import { applied, listOf, type Member, objectOf, type Type, undefinedType, union, unknownType, word } from './syntax.ts';

/** What an operation answers on success, and what its own code has to return for it, where that is something else. */
export interface ResponseType {
  readonly type: Type;
  readonly result?: Type;
  /** What is open about it. */
  readonly doc: readonly string[];
}

/** The bodies of the stated answers of success, or the one that follows from the effect. */
export function responseOf(endpoint: Endpoint, types: ResourceTypes): ResponseType {
  if (isStated(endpoint.response)) return statedResponse(endpoint, endpoint.response.value, types);
  const effect = statedValue(endpoint.does);
  if (endpoint.response.standing === 'none') return { type: undefinedType, doc: [] };
  if (!effect || effect.verb === 'handler' || effect.verb === 'reply' || endpoint.response.standing === 'any')
    return { type: unknownType, doc: [unsettledLine('its response payload shape', endpoint.response)] };
  if (effect.verb === 'delete') return { type: undefinedType, doc: [] };
  const shown = types.named(effect.resource, 'shown') ?? unknownType;
  if (effect.verb === 'list') return { type: pageType(endpoint, shown, types), doc: [] };
  return { type: effect.verb === 'create' ? withSecrets(effect.resource, shown, types) : shown, doc: [] };
}

function statedResponse(endpoint: Endpoint, answers: readonly Answer[], types: ResourceTypes): ResponseType {
  const good = answers.filter(({ status }) => /^2(\d\d|XX)$/i.test(status));
  const bodies = good.map((answer) => bodyOf(answer, endpoint, types));
  const doc = good.flatMap((answer) =>
    isStated(answer.shape) || answer.shape.standing === 'none' || isEmpty(answer)
      ? []
      : [unsettledLine(`the response payload shape of ${answer.status}`, answer.shape)],
  );
  // What `data` makes of a result says nothing about the result itself.
  const isMade = good.some(({ data }) => data !== undefined);
  return { type: good.length === 0 ? undefinedType : union(bodies), doc, ...(isMade && { result: unknownType }) };
}

function bodyOf(answer: Answer, { produces }: Endpoint, types: ResourceTypes): Type {
  if (isEmpty(answer) || answer.shape.standing === 'none') return undefinedType;
  if (!isStated(answer.shape)) return unknownType;
  const shape = answer.shape.value;
  const isBytes = shape.type === 'string' && standsFor(shape.format, 'bytes');
  return isBytes && produces && !produces.some(isJson) ? word('Uint8Array') : shapeType(shape, types.shapes('shown'));
}

function isEmpty({ status }: Answer): boolean {
  return status === '204' || status === '205';
}

export function isJson(media: string): boolean {
  return /^application\/(json|.*\+json)/i.test(media);
}

/** The answer that makes a thing shows what it never shows again. */
function withSecrets(name: string, shown: Type, { reading }: ResourceTypes): Type {
  const resource = entryOf(reading.spec.resources.all, name);
  const secrets = (resource ? entriesOf(resource.fields) : []).filter(
    ([, field]) =>
      field.reveal === 'once' && statedValue(field.required) === true && field.visible === undefined && !field.writeOnly,
  );
  return secrets.length === 0 ? shown : applied('Filled', shown, union(secrets.map(([field]) => word(literal(field)))));
}

/** The envelope of a page; a bare array without one. */
function pageType(endpoint: Endpoint, shown: Type, types: ResourceTypes): Type {
  const pagination = paginationOf(endpoint, types.shapes('shown'));
  const items = listOf(shown);
  if (pagination?.items === undefined) return items;
  const { data, style, isToldInBody, next, previous, hasMore, total } = pagination;
  const step = union([word(pageStyle(style).count ? 'number' : 'string'), word('null')]);
  const constants = Object.entries(data).map(([name, value]): Member => ({ name, type: literalType(value) }));
  const rest: [string | undefined, Type][] = [
    [isToldInBody ? next : undefined, step],
    [isToldInBody ? previous : undefined, step],
    [hasMore, word('boolean')],
    [total, word('number')],
  ];
  const members = rest.flatMap(([name, type]): Member[] => (name === undefined ? [] : [{ name, type }]));
  return objectOf([...constants, { name: pagination.items, type: items }, ...members]);
}
