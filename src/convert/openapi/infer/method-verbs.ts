/** What the verbs of methods do to things: `get-thing`, `things.info`, `DeleteThing`. */

/** Shows one. */
export const reads: ReadonlySet<string> = new Set(['info', 'get', 'retrieve', 'show', 'read', 'describe']);
/** Makes one. */
export const creates: ReadonlySet<string> = new Set(['create', 'add', 'new']);
/** Makes one, or puts it in the place of the one that is there. */
export const upserts: ReadonlySet<string> = new Set(['put', 'upsert']);
export const deletes: ReadonlySet<string> = new Set(['delete', 'remove', 'destroy']);
/** Makes one where its answer tells a new one: `StartJob`, which answers with a `JobId`, and not `StartServer`, which is told one. */
export const launches: ReadonlySet<string> = new Set([
  'start',
  'request',
  'submit',
  'run',
  'launch',
  'register',
  'import',
  'allocate',
  'schedule',
  'initiate',
  'open',
]);
/** Changes one. */
export const updates: ReadonlySet<string> = new Set(['update', 'edit', 'rename', 'modify']);

/** Whether a word says what a method does to things. */
export function isVerb(word: string): boolean {
  return word === 'list' || [reads, creates, upserts, deletes, updates].some((verbs) => verbs.has(word));
}
