import type { Pointer } from '../document/document.ts';
import type { Answer } from './answers.ts';
import type { Effect } from './effects.ts';
import { type Fact, isStated, statedValue } from './fact.ts';
import type { Source } from './source.ts';

/** A parameter by which callers choose what an answer shows of its rows. */
export interface Selecting {
  readonly at: Pointer;
  /** The name of the query parameter. */
  readonly parameter: string;
}

/** How much one request may choose. */
export const selectBounds = {
  /** Names in one request. */
  namesMax: 100,
  /** Steps of one path: `lines.data.price` has three. */
  stepsMax: 8,
} as const;

/** What an endpoint states of it, as its member. */
export function readSelecting(source: Source): { readonly select?: Selecting } {
  if (source.value === undefined || source.unstated()) return {};
  return { select: { at: source.at, parameter: source.get('parameter').text() ?? 'fields' } };
}

const showing: ReadonlySet<string> = new Set(['create', 'read', 'list', 'update', 'replace', 'upsert', 'transition']);

/** Whether an endpoint answers with the rows of its resource as they are: by rule, or by answers that say no more than their shape. */
export function answersWithRows(does: Fact<Effect>, response: Fact<readonly Answer[]>): boolean {
  const effect = statedValue(does);
  if (!effect || !('resource' in effect) || !showing.has(effect.verb)) return false;
  if (!isStated(response)) return response.standing === 'open';
  const made = response.value.filter(({ status }) => /^2/.test(status));
  return effect.verb !== 'list' && made.every((answer) => made.length > 0 && isRow(answer, effect.resource));
}

/** Whether an answer of an endpoint that offers a choice is of what was chosen: a stated row of success. */
export function isOfChosen(
  { does, select }: { readonly does: Fact<Effect>; readonly select?: Selecting },
  answer: Answer,
): boolean {
  const effect = statedValue(does);
  const isWhole = effect !== undefined && 'resource' in effect && isStated(answer.shape) && isRow(answer, effect.resource);
  return select !== undefined && isWhole && /^2/.test(answer.status);
}

function isRow({ shape, data, example, stream }: Answer, resource: string): boolean {
  if (data !== undefined || example !== undefined || stream !== undefined) return false;
  return isStated(shape) ? shape.value.resource === resource && Object.keys(shape.value).length === 1 : true;
}

/** The paths that were chosen: several parameters, or one text parted by commas. */
export function selectedPaths(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list
    .flatMap((entry) => String(entry).split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
}
