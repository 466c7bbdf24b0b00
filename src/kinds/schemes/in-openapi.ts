import type { JsonMap } from '../../document/document.ts';
import type { InOpenApi, PlacedScheme } from './kind.ts';

const usualHeader = 'Authorization';

/** A credential as OpenAPI speaks of any that stands somewhere: a key. */
export function asKey(scheme: PlacedScheme, isKindTold: boolean, usual = usualHeader): InOpenApi {
  const { carriedIn: name } = scheme;
  return {
    written: { type: 'apiKey', in: scheme.in, name: name ?? usual },
    // Where its place is open too, this one stands there; so it is not told by standing there.
    told: name === undefined || (name === usual && !isKindTold) ? [] : [scheme.in],
    isKindTold,
    takesScopes: false,
  };
}

/** A token in `Authorization`, as RFC 6750 has it; elsewhere it stands as a key does. */
export function asBearer(scheme: PlacedScheme): InOpenApi {
  const isUsual = (scheme.carriedIn ?? 'Authorization').toLowerCase() === 'authorization';
  if (!isUsual || (scheme.prefix ?? 'Bearer').toLowerCase() !== 'bearer') return asKey(scheme, false);
  return { written: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, told: [], isKindTold: false, takesScopes: false };
}

/** A credential that stands somewhere, as AsyncAPI speaks of it; nothing where its place is open. */
export function asHttpKey({ in: place, carriedIn: name }: PlacedScheme): JsonMap | undefined {
  return name === undefined ? undefined : { type: 'httpApiKey', in: place, name };
}
