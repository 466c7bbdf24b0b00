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

/**
 * The one word that a description says a text always is: ``Always has the value `list` ``, `This is always "tasks#task".`; a bare word (`Always location.`), or one that is
 * the whole of what is said (``The type of this resource: `accounts` ``) or in brackets at its end, only of a member that says of which kind a thing is. What is always so in some case alone (``Always `null` if …``) is said of that case.
 */
export function describedAlways(name: string, description: unknown): string | undefined {
  if (typeof description !== 'string') return undefined;
  const text = description.slice(0, readMost);
  const [, , marked] = alwaysMarked.exec(text) ?? [];
  const ofItsKind = () => alwaysBare.exec(text)?.[1] ?? kindSaid.exec(text)?.[2] ?? kindInBrackets.exec(text)?.[2];
  const word = marked ?? (ofKind.test(name) ? ofItsKind() : undefined);
  return word === undefined || word === 'null' ? undefined : word;
}

const alwaysLeads = String.raw`\balways(?: (?:be|is|has|have|contains?|set to|equals?|equal to))?(?: the)?(?: (?:value|string|word|constant)(?: of)?)?:? `;
/** The word in its marks, and after it no case in which it is so. */
const alwaysMarked = new RegExp(
  `${alwaysLeads}(["'\`]|_(?=[^_\\s]+_))([\\w.#:/-]{1,60})\\1(?!,? *(?:if|when|where|while|unless|until|for|in|on|or|and|but|once|except)\\b)`,
  'i',
);
const alwaysBare = new RegExp(`${alwaysLeads}([A-Za-z][\\w.-]{1,40}?)\\.?\\s*$`, 'i');
/** `The object type: "track".`, and nothing before or after it. */
const kindSaid = /^\s*(?:the )?(?:\w+ ){0,2}(?:type|kind)(?: of (?:this|the|an?) \w+)?: (["'`])([\w.#:/-]{1,60})\1\.?\s*$/i;
/** ``The type identifier of a file (`files`).``, with no other word in marks. */
const kindInBrackets = /^[^"`]*\((["`])([\w.#:/-]{1,60})\1\)\.?\s*$/;
/** Members by which a thing says of which kind it is. */
const ofKind = /^_?(?:[a-z]+_)?(?:type|kind)$|^object$/i;

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
