import { hasIriCharacters } from './iri.ts';
import type { Format } from './kind.ts';

/** An IRI or a reference relative to one (RFC 3987 section 2.2). */
export const iriReference = {
  word: 'iri-reference',
  type: 'string',
  meaning: 'an IRI or a reference to one',
  example: '/straße?q=ä',
  covers: 'uri-reference',
  test: (value) => typeof value === 'string' && hasIriCharacters(value) && (!leadsWithColon(value) || SCHEME.test(value)),
} as const satisfies Format;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Whether the first segment holds a colon, and so must begin with a scheme. */
function leadsWithColon(text: string): boolean {
  const border = text.search(/[/?#]/);
  const colon = text.indexOf(':');
  return colon !== -1 && (border === -1 || colon < border);
}
