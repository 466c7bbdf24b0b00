/** The words of a list in which a thing begins: the states that it goes through, and how far something has come. */
import type { Json } from '../../document/document.ts';
import { describedWords } from './described-words.ts';

/** Without a word that stands for none having been said (`STATE_UNSPECIFIED`), where there are others. */
export function specified<T extends Json>(listed: readonly T[]): readonly T[] {
  const others = listed.filter((one) => !/(?:^|_)UNSPECIFIED$/.test(String(one)));
  return others.length > 0 ? others : listed;
}

/**
 * The state that a thing begins in: the first that is listed, or that the description names where the list is in the order of the alphabet;
 * nothing begins as cancelled, deleted or failed where there is another.
 */
export function firstState<T extends Json>(listed: readonly T[], name: string, description: unknown): T | undefined {
  const words = describedWords(name, description);
  const told = words.filter((word) => listed.some((one) => one === word));
  const isSorted = listed.every((one, at) => at === 0 || String(listed[at - 1]) <= String(one));
  const inOrder =
    isSorted && told.length * 2 >= listed.length ? told.flatMap((word) => listed.filter((one) => one === word)) : listed;
  return settledIn(inOrder.filter((one) => !endedBadly.test(String(one)))) ?? inOrder[0];
}

/**
 * The first of the states that a thing goes through; where that is one of its making, which nothing would ever end here, the one in which it can be used: `ACTIVE` of
 * `STATE_UNSPECIFIED, CREATING, ACTIVE, DELETING`.
 */
export function settledIn<T extends Json>(states: readonly T[]): T | undefined {
  const all = specified(states);
  const begun = all.filter((one) => !ending.test(String(one)));
  const [first, ...later] = begun.length > 0 ? begun : all;
  if (makingIt.test(String(first))) return later.find((one) => usable.test(String(one))) ?? first;
  return isInAlphabet(states) && !usable.test(String(first)) ? (firstByName(begun) ?? first) : first;
}

/** Whether words stand in the order of the alphabet, which says nothing of which comes first. */
function isInAlphabet(words: readonly Json[]): boolean {
  return words.length >= 4 && words.every((one, at) => at === 0 || String(words[at - 1]) <= String(one));
}

/** The word for what was just made; where there are words of its making, the one for what they lead to. */
function firstByName<T extends Json>(words: readonly T[]): T | undefined {
  const isMade = words.some((one) => makingIt.test(String(one)));
  const named = isMade ? [usable, ...beginnings] : beginnings;
  return named.flatMap((name) => words.filter((one) => name.test(String(one))))[0];
}

const beginnings = [
  /^(?:new|created|draft|not_?started)$/i,
  /^(?:open|requested|submitted|registered|queued|scheduled|issued)$/i,
  /^pending/i,
  /^(?:processing|running|in_?progress)$/i,
];

/** Nothing that was just made is on its way to its end. */
const ending = /^(?:delet|stopp|terminat|cancel|remov|shutting|clos|fail|expir)(?:ing|ling|ed|led)?(?![a-z])/i;
const makingIt = /^(?:creat|provision|start|initiali[sz]|prepar|launch|deploy)ing$/i;
const usable = /^(?:active|ready|running|available|online|enabled|healthy|in_?service|succeeded|completed?)$/i;

const endedBadly = /^(?:cancel|delet|fail|expir|archiv|clos|reject|declin|abort|err|terminat|void|revok|refus)/i;

/** How far something has come, `provisioningState`, is moved on by nothing: it is told as over and well, where that is among its words. */
export function overIn<T extends Json>(listed: readonly T[], name: string): T | undefined {
  return /\w(?:status|state)$/i.test(name) ? listed.find((one) => /^succeeded$/i.test(String(one))) : undefined;
}
