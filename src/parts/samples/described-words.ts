/**
 * The words that a description says a text may be, where it lists several: in capitals (`APPROVED, COMPLETED, or CANCELED`) or as code
 * (`` `preparing`, `ready` or `errored` ``), in their order. Only of what is called a status or the like: elsewhere capitals are
 * abbreviations, and code is the names of other members.
 */
export function describedWords(name: string, description: unknown): readonly string[] {
  if (typeof description !== 'string' || !ofFewWords.test(name)) return [];
  const text = description.slice(0, readMost);
  for (const listed of [asCode, inCapitals]) {
    const words = [...new Set([...text.matchAll(listed)].map(([, word]) => word!))].filter((word) => !abbreviations.has(word));
    if (words.length >= 2) return words;
  }
  return [];
}

const readMost = 2000;
const ofFewWords = /(?:^|_)(?:status|state|phase)$|[a-z](?:Status|State|Phase)$/;
const asCode = /[`"']([A-Za-z][A-Za-z0-9_-]{2,30})[`"']/g;
const inCapitals = /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\b(?<=[A-Z0-9_]{4})/g;
const abbreviations: ReadonlySet<string> = new Set([
  'HTTP',
  'HTTPS',
  'JSON',
  'UUID',
  'ISO_8601',
  'ASCII',
  'NULL',
  'TRUE',
  'FALSE',
  'true',
  'false',
  'null',
  'status',
  'state',
]);
