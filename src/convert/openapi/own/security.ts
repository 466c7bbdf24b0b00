import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame, newMap, type OpenMap } from '../../../document/values.ts';
import { schemeKinds } from '../../../kinds/schemes/all.ts';
import { openApiFlows, statedFlows } from '../../../kinds/schemes/flows.ts';
import type { SchemeKind } from '../../../kinds/schemes/kind.ts';
import { carriedWord, statedKey } from './words.ts';

const kinds: readonly SchemeKind[] = schemeKinds;

/** Reads a security scheme back. */
export function readScheme(scheme: JsonMap): Json {
  const whole = scheme[statedKey];
  if (whole !== undefined) return whole;
  const out = newMap();
  const told = kinds.find((kind) => kind.isInOpenApi(scheme))?.word;
  if (told !== undefined) out.type = told;
  for (const [key, value] of Object.entries(scheme)) {
    const word = carriedWord(key);
    if (word !== undefined && word !== 'name') out[word] = value;
  }
  if (scheme.type === 'apiKey') takeCarrier(scheme, told, out);
  if (isMap(scheme.flows)) takeFlows(scheme.flows, out);
  return out;
}

/** Where the credential stands; what is open of it is carried, and a place that was never stated stays so. */
function takeCarrier({ in: place, name }: JsonMap, told: string | undefined, out: OpenMap): void {
  if (typeof place !== 'string' || typeof name !== 'string' || out[place] !== undefined) return;
  const usual = kinds.find(({ word }) => word === out.type)?.usualHeader ?? 'Authorization';
  if (out.type !== told && name === usual) return;
  for (const other of ['header', 'query', 'cookie']) delete out[other];
  out[place] = name;
}

function takeFlows(flows: JsonMap, out: OpenMap): void {
  const carried = isMap(out.flows) ? openApiFlows(out.flows, isMap(out.scopes) ? out.scopes : {}) : undefined;
  if (carried && isSame(carried, flows)) return;
  const read = statedFlows(flows);
  out.flows = read.flows;
  if (Object.keys(read.scopes).length > 0) out.scopes = read.scopes;
}
