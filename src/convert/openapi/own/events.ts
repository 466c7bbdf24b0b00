import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import type { OperationReading } from './endpoints.ts';
import { readStated } from './stated-schema.ts';
import { carriedWord, isFollowing, payloadKey, statedKey } from './words.ts';

/** Reads the webhooks of our own export back as the kinds of event. */
export function readKinds(webhooks: Json | undefined, reading: OperationReading): JsonMap | undefined {
  const out = newMap();
  for (const [name, item] of Object.entries(isMap(webhooks) ? webhooks : {})) {
    const post = isMap(item) ? item.post : undefined;
    if (isMap(post) && !isFollowing(post)) out[name] = readKind(post, reading);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function readKind(post: JsonMap, reading: OperationReading): Json {
  const whole = post[statedKey];
  if (whole !== undefined) return whole;
  const out = newMap();
  for (const [key, value] of Object.entries(post)) {
    const word = carriedWord(key);
    if (word !== undefined && word !== 'follows') out[word] = value;
  }
  const payload = payloadIn(post.requestBody, reading);
  if (payload) out.payload = readStated(payload, reading);
  return out;
}

/** What an event carries, alone or inside its envelope: what says so of itself. */
function payloadIn(body: Json | undefined, reading: OperationReading): JsonMap | undefined {
  const content = isMap(body) ? body.content : undefined;
  const [first] = isMap(content) ? Object.values(content) : [];
  const schema = isMap(first) && first.schema !== undefined ? reading.resolve(first.schema) : undefined;
  const properties = isMap(schema) && isMap(schema.properties) ? Object.values(schema.properties) : [];
  const isPayload = (one: Json | undefined) => isMap(one) && one['x-ninefold-payload'] !== undefined;
  const found = isPayload(schema) ? schema : properties.find(isPayload);
  if (!isMap(found)) return undefined;
  const { [payloadKey]: _mark, ...payload } = found;
  return payload;
}
