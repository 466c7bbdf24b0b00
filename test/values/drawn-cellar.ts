import fc from 'fast-check';

/** An act that follows, as it is drawn; what it cannot be where it stands it is not drawn as. */
export interface DrawnAct {
  readonly does: 'line' | 'lines' | 'make boxes' | 'open boxes' | 'count boxes' | 'drop boxes' | 'open crate';
  /** Its own word in the lines that it makes. */
  readonly label: string;
  readonly isConditional: boolean;
  readonly skips: boolean;
}

/** The changes that are followed. */
const changes = [
  'crate created',
  'crate updated',
  'crate open',
  'crate shut',
  'crate deleted',
  'box created',
  'box updated',
  'box open',
  'box deleted',
] as const;
export type Change = (typeof changes)[number];

/** What a drawn document says. */
export interface DrawnCellar {
  readonly acts: Readonly<Record<Change, readonly DrawnAct[]>>;
  /** Whether no two boxes of a crate are called the same, and no two lines say the same. */
  readonly isUnique: boolean;
}

const kinds: Readonly<Record<'crate' | 'box' | 'gone', readonly DrawnAct['does'][]>> = {
  crate: ['line', 'lines', 'make boxes', 'make boxes', 'open boxes', 'count boxes', 'drop boxes'],
  box: ['line', 'line', 'open crate'],
  gone: ['line', 'lines'],
};

/** What follows in every document, so that each act there is has been stated. */
const always: readonly DrawnAct[] = [
  { does: 'line', label: 'shut', isConditional: false, skips: true },
  { does: 'count boxes', label: '', isConditional: false, skips: true },
];

function actsOf(change: Change): fc.Arbitrary<readonly DrawnAct[]> {
  if (change === 'crate shut') return fc.constant(always);
  const does = change === 'crate deleted' ? kinds.gone : change.startsWith('crate') ? kinds.crate : kinds.box;
  const act = fc.record({
    does: fc.constantFrom(...does),
    label: fc.constantFrom('x', 'y', 'z'),
    isConditional: fc.constantFrom(false, false, true),
    skips: fc.boolean(),
  });
  return fc.array(act, { maxLength: change.startsWith('crate') ? 3 : 2 });
}

export const drawnCellar: fc.Arbitrary<DrawnCellar> = fc.record({
  acts: fc.record(
    Object.fromEntries(changes.map((change) => [change, actsOf(change)])) as Record<Change, fc.Arbitrary<readonly DrawnAct[]>>,
  ),
  isUnique: fc.boolean(),
});

/** How an act is written: what it does, of which rows, what it is asked, and what it sets. */
function written(change: Change, { does, label, isConditional, skips }: DrawnAct): string {
  const row = change.endsWith('deleted') ? 'resource' : 'next';
  const own = change.startsWith('crate') ? `size(${row}.names) > 1` : `${row}.name != 'b'`;
  const words = {
    line: ['create: line', '', own, `{ text: "'${label} ' + ${row}.${change.startsWith('crate') ? 'id' : 'name'}" }`],
    lines: ['create: line', `${row}.names`, "item != 'b'", `{ text: "'${label} ' + item" }`],
    'make boxes': ['create: box', `${row}.names`, "item != 'b'", `{ crate: ${row}.id, name: item }`],
    'open boxes': ['do: open box', 'box.crate', "item.name != 'b'", ''],
    'count boxes': ['update: box', 'box.crate', "item.name != 'b'", '{ count: item.count + 1 }'],
    'drop boxes': ['delete: box', 'box.crate', "item.name != 'b'", ''],
    'open crate': [`do: open crate, to: ${row}.crate`, '', own, ''],
  } as const;
  const [act, each, condition, set] = words[does];
  const members = [
    act,
    each && `each: ${each}`,
    isConditional && `if: "${condition}"`,
    set && `set: ${set}`,
    skips && 'else: skip',
  ];
  return `{ ${members.filter(Boolean).join(', ')} }`;
}

/** Crates of boxes, of whose changes follows what was drawn. */
export function cellarOf({ acts, isUnique }: DrawnCellar): string {
  const then = (change: Change) => `then: [${acts[change].map((act) => written(change, act)).join(', ')}]`;
  const follows = (change: Change) => (acts[change].length === 0 ? '' : `${change.split(' ')[1]}: { ${then(change)} }`);
  const moved = (change: Change) => (acts[change].length === 0 ? '' : `, ${then(change)}`);
  return `
resources:
  crate:
    identifier: { field: id, generate: client }
    fields:
      id: string
      names: { type: array, items: string, maxItems: 5 }
      state: { type: string, readOnly: true }
    required: [id, names, state]
    ${follows('crate created')}
    ${follows('crate updated')}
    ${follows('crate deleted')}
  box:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      crate: { ref: crate, onDelete: cascade }
      name: { type: string, maxLength: 4 }
      count: { type: integer, default: 0 }
      state: { type: string, readOnly: true }
    required: [id, crate, name, count, state]
    ${isUnique ? 'unique: [[crate, name]]' : ''}
    ${follows('box created')}
    ${follows('box updated')}
    ${follows('box deleted')}
  line:
    identifier: { field: id, generate: integer }
    fields: { id: integer, text: { type: string, readOnly: true } }
    required: [id, text]
    ${isUnique ? 'unique: [[text]]' : ''}
states:
  line: none
  crate:
    field: state
    initial: shut
    states: [shut, open]
    transitions: { open: { from: shut, to: open${moved('crate open')} }, shut: { from: open, to: shut${moved('crate shut')} } }
  box:
    field: state
    initial: shut
    states: [shut, open]
    transitions: { open: { from: shut, to: open${moved('box open')} } }
endpoints:
  POST /crates: { does: create crate }
  GET /crates: { does: list crate }
  PATCH /crates/{id}: { does: update crate }
  DELETE /crates/{id}: { does: delete crate }
  POST /crates/{id}/open: { does: open crate }
  POST /crates/{id}/shut: { does: shut crate }
  POST /crates/{crate}/boxes: { does: create box }
  GET /boxes: { does: list box }
  POST /boxes/{id}/open: { does: open box }
  DELETE /boxes/{id}: { does: delete box }
  GET /lines: { does: list line }
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds:
    line.made: { on: [create line], payload: line }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, reference.missing] }
    taken: { status: 409, when: [resource.exists, transition.illegal] }
    full: { status: 409, on: [update box], if: next.count > 2 }
limits: { pagination: none }
`;
}
