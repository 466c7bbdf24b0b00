import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import type { Model } from '../../model/model.ts';

const usersMost = 4;

/** Whose rows a caller is tried on: those of another of the same user first, then of one of each other user, its own last. */
export function makersFor(model: Model, caller: TrialCaller): TrialCaller[] {
  const others = model.callers.filter((one) => !isSamePerson(one, caller));
  const users = [...new Set([caller.user, ...others.map(({ user }) => user)])].slice(0, usersMost);
  return [...users.flatMap((user) => others.find((one) => one.user === user) ?? []), caller];
}
