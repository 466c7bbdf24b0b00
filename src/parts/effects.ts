/** What an endpoint does, and what a change has the service do after it. */

import type { Pointer } from '../document/document.ts';
import type { Expression, Named } from './fact.ts';
import type { Source } from './source.ts';

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

/** One act that the service carries out because something changed, in the same transaction. */
export interface Following {
  readonly at: Pointer;
  /** What it does; absent where that cannot be read. */
  readonly does?: FollowingEffect;
  /** Once for each of these: the items of a list, or the rows that refer to what changed. */
  readonly each?: Expression;
  /** The row that it is done to. */
  readonly to?: Expression;
  readonly if?: Expression;
  /** What it gives to the row, by field. */
  readonly set: Named<Expression>;
  /** Whether it is passed over where it is refused, and the rest goes on. */
  readonly skips: boolean;
  /** The field of what was made with which its rows were sent; each of them is what was sent there. */
  readonly children?: string;
}

export type FollowingEffect =
  | { readonly verb: 'create' | 'update' | 'delete'; readonly resource: string }
  | { readonly verb: 'transition'; readonly transition: string; readonly resource: string };

/** The changes of a resource, other than its transitions, that acts can follow. */
export const followedChanges = ['created', 'updated', 'deleted'] as const;
export type FollowedChange = (typeof followedChanges)[number];

/** How much may follow from one change, and how deep one thing from another. */
export const followingBounds = { acts: 1000, depth: 16 } as const;

/** The acts of a `then`, in order. */
export function readFollowing(source: Source): Following[] {
  return source.items().map((item): Following => {
    const does = readDoing(item);
    const [each, to, condition] = ['each', 'to', 'if'].map((word) => item.get(word).expression());
    return {
      at: item.at,
      ...(does && { does }),
      ...(each && { each }),
      ...(to && { to }),
      ...(condition && { if: condition }),
      set: item.get('set').expressions(),
      skips: item.get('else').text() === 'skip',
    };
  });
}

/** The words of which an act has one. */
const followingVerbs = ['create', 'do', 'update', 'delete'] as const;

function readDoing(source: Source): FollowingEffect | undefined {
  const words = followingVerbs.filter((word) => source.has(word));
  const [word] = words;
  const named = word && source.get(word).text()?.trim();
  if (words.length !== 1 || word === undefined || !named) return undefined;
  if (word !== 'do') return { verb: word, resource: named };
  const effect: Effect | undefined = readEffect(named);
  return effect?.verb === 'transition' ? effect : undefined;
}
