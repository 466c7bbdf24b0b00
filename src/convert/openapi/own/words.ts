import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';

/**
 * What OpenAPI has no word for is written at its own place, as the word of this language with this before it:
 * `x-ninefold-does` at an operation, `x-ninefold-set` at a property.
 */
export const prefix = 'x-ninefold-';

/** At the top of an export: what the parts state that belongs to no single place of it. */
export const ownKey = 'x-ninefold';

/**
 * `true`: all of this object follows from what stands elsewhere. A list: these words of it do. Reading a document back passes
 * over what follows.
 */
export const followsKey = `${prefix}follows`;

/** A schema stands for this very value, which is no schema: a standing, `true` or `false`. */
export const statedKey = `${prefix}stated`;

/** `long`: what could be written as a short name is written out. `list`: a list is written as `[string]`. */
export const formKey = `${prefix}form`;

/** The forms of a union whose first branch alone is stated: beside it stands what follows. */
export const orRefused = 'or refused';
export const orChosenForm = 'or chosen';

/** Whether of a union the first branch alone is stated. */
export function isFirstStated(form: Json | undefined): boolean {
  return form === orRefused || form === orChosenForm;
}

/** The resource that a schema is of. */
export const resourceKey = `${prefix}resource`;

/** The schema of a resource is its whole shape, in place of fields. */
export const valueKey = `${prefix}value`;

/** The resource that a schema was made of for requests. */
export const originKey = `${prefix}of`;

/** Marks the component whose words are the stated payload of errors. */
export const errorPayloadKey = `${prefix}error-payload`;

/** Marks the schema of what a kind of event carries, inside its envelope. */
export const payloadKey = `${prefix}payload`;

/** Whether an object says nothing of its own. */
export function isFollowing(value: Json | undefined): boolean {
  return isMap(value) && value[followsKey] === true;
}

/** The words of an object that follow from elsewhere. */
export function followingWords(value: JsonMap): readonly string[] {
  const words = value[followsKey];
  return Array.isArray(words) ? words.filter((word: Json): word is string => typeof word === 'string') : [];
}

/** The word of this language that a key carries, if it carries one. */
export function carriedWord(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

/** The base addresses, where they are stated as addresses: one, or a list. */
export function urlsOf(value: Json | undefined): readonly string[] | undefined {
  const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const urls = list.filter((url): url is string => typeof url === 'string' && url !== 'none' && url !== 'any');
  return urls.length > 0 && urls.length === list.length ? urls : undefined;
}
