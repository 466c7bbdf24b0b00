import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isStanding } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { followsKey } from '../own/words.ts';
import { statedSchema } from './stated-schema.ts';
import { present, statedAt, type Writing } from './writing.ts';

/** The body that an endpoint takes, in each of its media types; nothing where it takes none or that is open. */
export function requestBody(endpoint: Endpoint, writing: Writing): JsonMap | undefined {
  const { spec, schemas, examples } = writing;
  const stated = statedAt(spec.document.tree, 'endpoints', endpoint.key, 'request');
  const isOwn = stated !== undefined && isStated(endpoint.request) && !(isMap(stated) && isStanding(stated));
  const schema = isOwn ? statedSchema(stated, writing, 'create') : schemas.request(endpoint);
  if (schema === undefined) return undefined;
  const shape = statedValue(endpoint.request);
  const example = shape ? examples.ofShape(shape, 'create', 'value') : effectExample(endpoint, writing);
  const body = present({ schema, example, [followsKey]: isOwn && example !== undefined ? ['example'] : undefined });
  return {
    ...(endpoint.body !== 'optional' && { required: true }),
    content: Object.fromEntries(mediaOf(endpoint).map((media) => [media, body])),
    ...(!isOwn && { [followsKey]: true }),
  };
}

/** JSON unless stated; a change may also call itself a merge patch. */
export function mediaOf({ consumes, does }: Endpoint): readonly string[] {
  if (consumes) return consumes;
  return statedValue(does)?.verb === 'update' ? ['application/json', 'application/merge-patch+json'] : ['application/json'];
}

function effectExample({ does }: Endpoint, { examples }: Writing): Json | undefined {
  const effect = statedValue(does);
  if (!effect || !('resource' in effect)) return undefined;
  return examples.ofResource(effect.resource, effect.verb === 'update' ? 'update' : 'create');
}
