export const resourceVerbs = ['create', 'read', 'list', 'update', 'replace', 'upsert', 'delete'] as const;
export type ResourceVerb = (typeof resourceVerbs)[number];

/** What an endpoint does. */
export type Effect =
  | { readonly verb: ResourceVerb; readonly resource: string }
  | { readonly verb: 'transition'; readonly transition: string; readonly resource: string }
  | { readonly verb: 'handler'; readonly name: string }
  | { readonly verb: 'reply' };

/** `create parcel`, `handler quote`, `reply`, or a transition such as `buy parcel`. */
export function readEffect(text: string): Effect | undefined {
  const [verb = '', ...rest] = text.trim().split(/\s+/);
  const name = rest.join(' ');
  if (verb === 'reply' && name === '') return { verb: 'reply' };
  if (name === '') return undefined;
  if (verb === 'handler') return { verb: 'handler', name };
  if ((resourceVerbs as readonly string[]).includes(verb)) return { verb: verb as ResourceVerb, resource: name };
  return { verb: 'transition', transition: verb, resource: name };
}
