import { statedValue } from '../../parts/fact.ts';
import { isCut, type Limits, pageRowsMost } from '../../parts/limits.ts';
import { doorBounds, ownBounds, type SomeBounds } from '../http/bounds.ts';
import { addressRoom } from './usage.ts';

/** How large a body may be where the document does not say. */
const bodyBytesProtected = 1024 * 1024;

/** What stands around a file in a form. */
const formBytes = 64 * 1024;

/** How large a body may be: where only files have a size, as large as one with what stands around it. */
export function bodyBytesMaxOf({ size }: Limits): number {
  const { body, file } = statedValue(size) ?? {};
  return body ?? Math.max(bodyBytesProtected, file === undefined ? 0 : file + formBytes);
}

/**
 * What a document states of sizes and times, as the door takes it. The exact bounds of what is small enough to come through are
 * the road's; the door itself only has to let through all that is allowed.
 */
export function statedBounds({ size, timeout }: Limits): SomeBounds {
  const { url, headers } = statedValue(size) ?? {};
  const { requestMs, idleMs } = statedValue(timeout) ?? {};
  return {
    ...(url !== undefined && { urlBytesMax: url }),
    // The target is counted with the headers, unless it has room of its own.
    ...(url === undefined && headers !== undefined && { urlBytesMax: ownBounds.headerBytesMax }),
    ...(headers !== undefined && { headerBytesMax: Math.max(headers, ownBounds.headerBytesMax) }),
    ...(requestMs !== undefined && { requestTimeoutMs: requestMs, headersTimeoutMs: requestMs }),
    ...(idleMs !== undefined && { keepAliveTimeoutMs: idleMs }),
  };
}

/** What protects the process beyond what the document states, in words for whoever runs it, a line each. */
export function protectingBounds(limits: Limits): string[] {
  const bounds = statedBounds(limits);
  const pagination = statedValue(limits.pagination);
  const isTarget = statedValue(limits.size)?.url !== undefined;
  // A line that the document has a part in would be another if it stated another number.
  const others = new Set(
    doorBounds(
      Object.fromEntries(
        Object.entries(bounds).map(([name, value]) => [name, name === 'urlBytesMax' && !isTarget ? value : Number(value) + 1]),
      ),
    ),
  );
  return [
    ...(statedValue(limits.size)?.body === undefined
      ? [`Bodies take up to ${Math.round((bodyBytesMaxOf(limits) / 1024 ** 2) * 100) / 100} MiB (413).`]
      : []),
    ...doorBounds(bounds).filter((line) => others.has(line)),
    ...(isCut(pagination) && pagination.max === undefined ? [`Pages hold up to ${pageRowsMost.toLocaleString('en')} rows.`] : []),
    ...(statedValue(limits.rate) === undefined
      ? []
      : [`A rate counts up to ${addressRoom.keys.toLocaleString('en')} addresses and callers apart, and those beyond together.`]),
  ];
}
