import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { ErrorCode, ErrorRule } from '../../parts/errors.ts';
import { type Expression, entriesOf, isStated } from '../../parts/fact.ts';
import { tellsViolation } from '../../parts/message-template.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Expressions } from './expressions.ts';

/** Codes by their words in refusals that show no code. */
export interface ToldByMessage {
  readonly path: readonly string[];
  readonly codes: ReadonlyMap<string, string>;
  readonly names: ReadonlySet<string>;
}

/** The words that are stated for one code alone, and that a refusal shows as they are. */
export function toldByMessage(spec: Spec, expressions: Expressions): ToldByMessage | undefined {
  const path = spec.errors.payload.standing === 'stated' ? placeInRefusals(spec, expressions, 'message') : undefined;
  if (!path?.length) return undefined;
  const codes = new Map<string, string>();
  const shared = new Set<string>();
  for (const [name, { rules }] of entriesOf(spec.errors.codes)) {
    for (const { message } of rules) {
      if (message === undefined || tellsViolation(message)) continue;
      if ((codes.get(message) ?? name) !== name) shared.add(message);
      codes.set(message, name);
    }
  }
  for (const message of shared) codes.delete(message);
  // A code of which one rule says something else, or what others say too, is not known by its words.
  const isTold = (rules: readonly ErrorRule[]) => rules.every(({ message }) => message !== undefined && codes.has(message));
  const names = entriesOf(spec.errors.codes).flatMap(([name, { rules }]) => (isTold(rules) ? [name] : []));
  return { path, codes, names: new Set(names) };
}

/** What stands for what a refusal tells, to be found again. */
export const refusalMarks = {
  code: 'ninefold_code_mark',
  status: 486,
  message: 'ninefold message mark',
  result: { ninefold: 'result mark' },
  place: 'ninefold place mark',
};

/** The members on the way to the code, the status or the message in the stated payload; nothing where it has none, or none that can be found. */
export function placeInRefusals(
  { errors }: Spec,
  expressions: Expressions,
  what: keyof typeof refusalMarks,
  told: Readonly<Record<string, Json>> = {},
): readonly string[] | undefined {
  const { payload } = errors;
  if (!isStated(payload)) return undefined;
  // A problem tells nothing of the row that was made.
  if (payload.value === 'problem') return what === 'result' ? undefined : [what];
  const { data } = payload.value;
  const codes = entriesOf(errors.codes).map(([, { constants }]) => constants);
  // A member that every code states may be needed: what a refusal looks like is shown by one that there is.
  for (const constants of codes.length > 0 ? codes : [{}]) {
    const path = placeWith(data, refusalMarks[what], (expression) => {
      const evaluated = expressions.evaluate(expression, undefined, {
        context: { ...absentIn(codes), ...constants, ...unsaid, ...told },
      });
      return typeof evaluated === 'string' ? undefined : evaluated.value;
    });
    if (path) return path;
  }
  return undefined;
}

/** What any refusal has, with the marks. */
const unsaid = {
  code: refusalMarks.code,
  status: refusalMarks.status,
  message: refusalMarks.message,
  path: '/',
  violations: [],
  request_id: 'r',
  result: null,
  operation: '',
  version: '',
};

/** What some code states is absent in the refusals of the others. */
function absentIn(codes: readonly ErrorCode['constants'][]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(codes.flatMap((constants) => Object.keys(constants).map((name) => [name, undefined])));
}

function placeWith(
  data: Expression | Readonly<Record<string, Expression>>,
  mark: Json,
  give: (expression: Expression) => Json | undefined,
): readonly string[] | undefined {
  if (isOneExpression(data)) return pathTo(give(data), mark);
  for (const [name, expression] of Object.entries(data)) {
    const path = pathTo(give(expression), mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

function pathTo(value: Json | undefined, mark: Json): string[] | undefined {
  if (isSame(value ?? null, mark)) return [];
  if (!isMap(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = pathTo(inner, mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

/** Whether a payload is made of one expression, and not of one for each member. */
export function isOneExpression(data: Expression | Readonly<Record<string, Expression>>): data is Expression {
  return 'source' in data && typeof data.source === 'string';
}
