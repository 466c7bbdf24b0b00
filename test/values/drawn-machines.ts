import fc from 'fast-check';

/** A transition of a drawn machine; no two of a machine lead from one state to the same other. */
export interface DrawnTransition {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  /** What it asks, if anything; and whether a refusal has an error of its own. */
  readonly guard: string | undefined;
  readonly isGuardNamed: boolean;
  readonly isElseNamed: boolean;
  readonly isErring: boolean;
  readonly isFollowed: boolean;
  readonly isTold: boolean;
}

/** A field of a thing that moves, with the states `${field}0` and on. */
export interface DrawnMachine {
  readonly field: string;
  readonly transitions: readonly DrawnTransition[];
  /** Whether time moves it as well. */
  readonly lapses: boolean;
}

const count = 3;
const numbers = Array.from({ length: count }, (_, at) => at);

/** Of each pair of states which of two transitions leads from one to the other, or none; the next state is always led to. */
function machine(field: string): fc.Arbitrary<DrawnMachine> {
  const pairs = numbers.flatMap((from) => numbers.flatMap((to) => (from === to ? [] : [{ from, to }])));
  const drawn = pairs.map(({ from, to }) => fc.constantFrom(...(to === from + 1 ? [1, 2] : [0, 0, 1, 2])));
  const beside = field === 'state' ? 'other' : 'state';
  const words = fc.record({
    guard: fc.constantFrom(undefined, undefined, 'next.n < 2', `next.${beside} == '${beside}0'`),
    isGuardNamed: fc.boolean(),
    isElseNamed: fc.boolean(),
    isErring: fc.constantFrom(false, false, true),
    isFollowed: fc.boolean(),
    isTold: fc.boolean(),
  });
  const each = fc.array(words, { minLength: 2 * count, maxLength: 2 * count });
  return fc.tuple(fc.tuple(...drawn), each, fc.boolean()).map(([ways, all, lapses]) => ({
    field,
    lapses,
    transitions: all.flatMap((said, at) => {
      const [to, way] = [Math.floor(at / 2), 1 + (at % 2)];
      const from = pairs.flatMap((pair, which) => (pair.to === to && ways[which] === way ? [`${field}${pair.from}`] : []));
      return from.length === 0 ? [] : [{ ...said, name: `${field}_to${to}_${way}`, from, to: `${field}${to}` }];
    }),
  }));
}

export const drawnMachines: fc.Arbitrary<readonly DrawnMachine[]> = fc.tuple(machine('state'), machine('other'));

function transitionText(one: DrawnTransition, isUpdate: boolean): string {
  const { name, from, to, guard, isGuardNamed, isElseNamed, isFollowed } = one;
  const asked = guard && (isGuardNamed ? `{ if: "${guard}", else: ${name}_guard }` : `"${guard}"`);
  const members = [
    `from: [${from.join(', ')}], to: ${to}`,
    asked && `if: ${asked}`,
    isElseNamed && `else: ${name}_else`,
    isUpdate && 'on: update thing',
    isFollowed && `then: { create: line, set: { text: "'${name} ' + next.state + next.other + string(next.moves)" } }`,
  ];
  return `${name}: { ${members.filter(Boolean).join(', ')} }`;
}

function machineText({ field, transitions, lapses }: DrawnMachine, isUpdate: boolean): string {
  const lapse = lapses ? [`${field}_lapse: { from: ${field}1, to: ${field}2, after: 1h }`] : [];
  const all = [...transitions.map((one) => transitionText(one, isUpdate)), ...lapse];
  return `
  thing.${field}:
    initial: ${field}0
    states: [${numbers.map((at) => `${field}${at}`).join(', ')}]
    transitions:
      ${all.join('\n      ')}`;
}

/** Things with two machines, stated with an endpoint for each transition, or with the update as the way to move them. */
export function machinesOf(machines: readonly DrawnMachine[], isUpdate: boolean): string {
  const transitions = machines.flatMap((one) => one.transitions);
  const set = (what: (name: string) => string) =>
    `set: { ${transitions.map(({ name }) => `${name}: ${what(name)}`).join(', ')} }`;
  const lines = (what: (one: DrawnTransition) => string | false, indent: string) =>
    transitions.flatMap((one) => what(one) || []).join(`\n${indent}`);
  return `
resources:
  thing:
    identifier: { field: id, generate: client }
    fields:
      id: string
      n: { type: integer, minimum: 0, maximum: 3, default: 0 }
      state: string
      other: string
      moves: { type: integer, readOnly: true, default: 0, ${set(() => '"next.moves + 1"')} }
      last: { type: string, readOnly: true, ${set((name) => `"'${name} ' + string(next.n)"`)} }
      at: { type: string, format: date-time, readOnly: true, ${set((name) => (name.endsWith('1') ? 'now' : '"null"'))} }
    required: [id, n, state, other, moves]
  line:
    identifier: { field: id, generate: integer }
    fields: { id: integer, text: { type: string, readOnly: true } }
    required: [id, text]
states:
  line: none${machines.map((one) => machineText(one, isUpdate)).join('')}
endpoints:
  POST /things: { does: create thing }
  GET /things/{id}: { does: read thing }
  PATCH /things/{id}: { does: update thing }
  GET /lines: { does: list line }
  ${isUpdate ? '' : lines(({ name }) => `POST /things/{id}/${name}: { does: ${name} thing }`, '  ')}
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds:
    thing.made: { on: [create thing], payload: thing }
    ${lines(({ name, isTold }) => isTold && `thing.${name}: { on: [${name} thing], payload: thing }`, '    ')}
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    wrong_state: { status: 409, when: transition.illegal }
    ${lines(({ name, guard, isGuardNamed }) => guard !== undefined && isGuardNamed && `${name}_guard: { status: 409 }`, '    ')}
    ${lines(({ name, isElseNamed }) => isElseNamed && `${name}_else: { status: 409 }`, '    ')}
    ${lines(({ name, isErring }) => isErring && `${name}_own: { status: 409, on: [${name} thing], if: next.n == 1 }`, '    ')}
limits: { pagination: none }
`;
}
