/** Which of several forms an error has, and which listed word says what happened. */

import { type ErrorCondition, ownAnswer } from '../../../parts/conditions.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { alternativesOf } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { phrase } from '../../http/refusals.ts';

/** So many forms of one error are looked at. */
const branchesMost = 200;

/** Of an error that comes in several forms, of which each says its status or a word, the form for what happened. */
export function branchFor(
  shape: Shape,
  told: { readonly status: number; readonly condition: ErrorCondition | undefined },
  samples: Samples,
): Shape {
  const branches = formsOf(shape, samples);
  if (branches.length < 2) return branches[0] ?? shape;
  const said = branches.map((branch) => ({ branch, ...saidBy(branch, samples) }));
  const own = said.filter(({ status }) => status === String(told.status));
  const fitting = own.length > 0 ? own : said.filter(({ status }) => status === undefined);
  const word = nearestWord(
    fitting.flatMap((one) => one.word ?? []),
    told,
  );
  const chosen = fitting.find((one) => word !== undefined && one.word === word) ?? own[0];
  return chosen?.branch ?? branches.find((branch) => saysWhy(branch, samples)) ?? shape;
}

/** Of an error that may be null, or comes in several forms, the one that says what is wrong; the shape itself where that is not one of several. */
export function tellingForm(shape: Shape, samples: Samples): Shape {
  const forms = formsOf(shape, samples);
  return forms.length < 2 ? (forms[0] ?? shape) : (forms.find((form) => saysWhy(form, samples)) ?? shape);
}

/** The forms of an error: null is none. */
function formsOf(shape: Shape, samples: Samples): readonly Shape[] {
  const branches = branchesOf(samples.whole(shape), samples, branchesMost);
  return branches.length < 2 ? [] : branches.filter((branch) => samples.whole(branch).type !== 'null');
}

function saysWhy(shape: Shape, samples: Samples): boolean {
  return Object.keys(samples.membersOf(shape)).some((name) => isMessage.test(name));
}

/** What the words of an error are called that tell somebody what is wrong. */
export const isMessage =
  /^(?:(?:error|err|api|status|user|developer|display|response|fault)_?(?:message|msg|description|details?)|message|detail|details|description|msg|reason|errors)$/i;

function branchesOf(shape: Shape, samples: Samples, left: number): Shape[] {
  const branches = alternativesOf(shape).slice(0, left);
  if (branches.length === 0) return [shape];
  return branches.flatMap((branch) => branchesOf(samples.whole(branch), samples, Math.floor((left - 1) / branches.length)));
}

/** The one status and the one word that a form of an error says. */
function saidBy(shape: Shape, samples: Samples): { readonly status?: string; readonly word?: string } {
  const out: { status?: string; word?: string } = {};
  for (const [name, member] of Object.entries(samples.membersOf(shape))) {
    const only = isPlainMap(member) ? onlyValue(samples.whole(member)) : undefined;
    if (only === undefined) continue;
    if (/^(?:status|status_?code|http_?status)$/i.test(name)) out.status = String(only);
    else if (/^(?:type|code|error|error_?code|name)$/i.test(name) && typeof only === 'string') out.word = only;
  }
  return out;
}

function onlyValue({ const: only, enum: listed }: Shape): unknown {
  return only ?? (Array.isArray(listed) && listed.length === 1 ? listed[0] : undefined);
}

/** The listed word that says most of what happened; nothing where none says any of it. */
export function nearestWord(
  listed: readonly string[],
  { condition, status }: { readonly condition: ErrorCondition | undefined; readonly status: number },
): string | undefined {
  // What HTTP calls it, whatever status it is answered with.
  const own = condition === undefined ? status : ownAnswer(condition).status;
  const said = new Set([...wordsOf(condition ?? ''), ...wordsOf(phrase(own))]);
  const usual = new Set(own < 500 ? ['invalid', 'request', 'bad', 'client'] : ['internal', 'server', 'api', 'service']);
  let best: { readonly word: string; readonly score: number } | undefined;
  for (const word of listed) {
    const words = wordsOf(word);
    const score = words.filter((one) => said.has(one)).length * 3 + words.filter((one) => usual.has(one)).length;
    // Of two words that say as much, the one that says nothing else.
    const told = score === 0 ? 0 : score - words.length / 10;
    if (told > (best?.score ?? 0)) best = { word, score: told };
  }
  return best?.word;
}

function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return [...new Set(parted.split(/[^a-z]+/).filter((word) => word !== ''))];
}
