import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { selectBounds, selectedPaths } from '../../parts/selecting.ts';
import type { Exchange, Fields, OperationRun, Value } from '../exchange/exchange.ts';
import { refusalReply } from '../exchange/exchange.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import { compileSelectable, type Selectable } from './selectable.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** What was chosen, by member: all of it, or what was chosen within. */
type Chosen = Map<string, Chosen | 'whole'>;

type Selection = { readonly keep: (row: Value) => Value } | { readonly violations: readonly Violation[] };

/** What is remembered of what callers choose: so many texts, of so many characters. */
const remembered = { textsMax: 200, charactersMax: 500 } as const;

/**
 * Compiles the choosing of the fields that an answer shows, before its run; the run alone where nobody chooses. A name that its caller is never
 * shown is refused as one that there is not.
 */
export function compileSelecting(endpoint: Endpoint, compilation: ViewCompilation, run: OperationRun): OperationRun {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const { select } = endpoint;
  if (!select || resource === undefined) return run;
  const root = compileSelectable(resource, endpoint, compilation);
  const known = new Map<string, Selection>();
  const read = (sent: Value): Selection => {
    const text = Array.isArray(sent) ? sent.join(',') : String(sent);
    const found = known.get(text);
    if (found) return found;
    const made = selectionOf(selectedPaths(text), root, select.parameter);
    if (text.length > remembered.charactersMax) return made;
    // The one that was remembered first gives way.
    if (known.size >= remembered.textsMax) known.delete(known.keys().next().value as string);
    known.set(text, made);
    return made;
  };
  return (exchange: Exchange) => {
    const sent = exchange.params[select.parameter];
    if (sent === undefined) return run(exchange);
    const selection = read(sent);
    if ('violations' in selection)
      return refusalReply(exchange, { when: 'request.parameter', violations: selection.violations, inVersion: true });
    exchange.selected = selection.keep;
    return run(exchange);
  };
}

function selectionOf(paths: readonly string[], root: Selectable, parameter: string): Selection {
  const { namesMax, stepsMax } = selectBounds;
  const wrong = (found: string, expected: string): Violation => ({ in: 'query', path: parameter, found, expected });
  if (paths.length > namesMax) return { violations: [wrong(`${paths.length} names`, `up to ${namesMax} names`)] };
  const chosen: Chosen = chosenIn(root);
  const bad = paths.filter((path) => {
    const steps = path.split('.');
    return steps.length > stepsMax || !choose(chosen, root, steps);
  });
  if (bad.length > 0) return { violations: bad.map((path) => wrong(describeValue(path), 'a field that is shown here')) };
  return { keep: (row) => keep(row, chosen) };
}

/** What a row is told by is always there. */
function chosenIn({ identifier }: Selectable): Chosen {
  return new Map(identifier === undefined ? [] : [[identifier, 'whole']]);
}

/** Adds a path to what was chosen, unless it leads nowhere. */
function choose(chosen: Chosen, selectable: Selectable, [name = '', ...rest]: readonly string[]): boolean {
  const member = selectable.member(name);
  if (!member) return false;
  const before = chosen.get(name);
  if (rest.length === 0) {
    chosen.set(name, 'whole');
    return true;
  }
  const inner = before === undefined ? chosenIn(member) : before;
  if (!choose(inner === 'whole' ? chosenIn(member) : inner, member, rest)) return false;
  chosen.set(name, inner);
  return true;
}

/** Of a list, what was chosen of each; what has no members stays as it is. */
function keep(value: Value, chosen: Chosen): Value {
  if (Array.isArray(value)) return value.map((item) => keep(item, chosen));
  if (typeof value !== 'object' || value === null) return value;
  const kept: Fields = Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    const within = chosen.get(name);
    if (within !== undefined) kept[name] = within === 'whole' ? member : keep(member, within);
  }
  return kept;
}
