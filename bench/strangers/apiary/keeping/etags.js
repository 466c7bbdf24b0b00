import { createHash } from 'node:crypto';
import { broken } from './faults.js';

/** The tag of a representation: any difference of what is shown makes another. */
export function etagOf(shown) {
  const { honey_g, left_g, hives_kept, ...rest } = shown;
  const told = broken('en-etag-derived') ? rest : shown;
  return `"${createHash('sha256').update(JSON.stringify(told)).digest('base64url').slice(0, 22)}"`;
}
