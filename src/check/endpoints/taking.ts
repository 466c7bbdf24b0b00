import { below } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { isComposed } from '../../parts/shapes/branches.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Taking } from '../../parts/taking.ts';
import { fieldVocabulary, unstated } from '../subject/names.ts';
import type { Subject, Wrong } from '../subject/rule.ts';

/** What is wrong with where an endpoint takes the fields of its row from. */
export function wrongTaking(subject: Subject, { does, request, at: from }: Endpoint, { path, fields }: Taking): Wrong[] {
  const effect = statedValue(does);
  const at = below(from, 'takes');
  if (effect !== undefined && !writing.has(effect.verb))
    return [{ message: 'No fields of a row are sent here.', at, onKey: true }];
  if (!isStated(request)) return [{ message: 'It says how to read a body of which nothing is stated.', at, onKey: true }];
  const members = bodyMembersOf(subject, request.value);
  const [first] = path;
  if (first !== undefined) return members && !members.includes(first) ? [{ message: noMember(first), at }] : [];
  const resource = effect && 'resource' in effect ? subject.resources.get(effect.resource) : undefined;
  // A member that is not named is the field of its own name.
  const taken = new Map(members?.flatMap((member) => (Object.hasOwn(fields, member) ? [] : [[member, member] as const])));
  return Object.entries(fields).flatMap(([member, field]) => {
    const place = below(at, member);
    if (members && !members.includes(member)) return [{ message: noMember(member), at: place, onKey: true }];
    const other = taken.get(field);
    taken.set(field, member);
    if (other !== undefined) return [{ message: `\`${other}\` of the body is the field \`${field}\` too.`, at: place }];
    return resource ? unstated(fieldVocabulary(resource), field.split('.')[0] ?? field, place) : [];
  });
}

const writing: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The members of a body, where one map lists them all. */
export function bodyMembersOf({ resources }: Subject, shape: Shape): readonly string[] | undefined {
  if (typeof shape.resource === 'string') {
    const named = resources.get(shape.resource);
    return named && isStated(named.fields) ? Object.keys(named.fields.value) : undefined;
  }
  return !isComposed(shape) && isPlainMap(shape.properties) ? Object.keys(shape.properties) : undefined;
}

function noMember(name: string): string {
  return `The body has no member \`${name}\`.`;
}
