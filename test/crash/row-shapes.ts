import type { Resource, Row } from './records.ts';

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTime = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const bears = (prefix: string) => (value: unknown) => typeof value === 'string' && value.startsWith(prefix) && value.length > 20;

interface FieldShape {
  readonly fits: (value: unknown) => boolean;
  readonly optional?: true;
}

/** What the document says of each field, once more by hand. */
const shapes: Readonly<Record<Resource, Readonly<Record<string, FieldShape>>>> = {
  team: { id: { fits: bears('team_') }, name: { fits: isText } },
  account: {
    id: { fits: isCount },
    team: { fits: bears('team_') },
    handle: { fits: isText },
    seat: { fits: isCount, optional: true },
    op: { fits: isText },
    status: { fits: (value) => ['invited', 'active', 'suspended', 'closed', 'expired'].includes(String(value)) },
    remind_at: { fits: isTime },
    balance: { fits: isCount },
    changes: { fits: isCount },
    log: { fits: isText },
    created_at: { fits: isTime },
    entered_at: { fits: isTime },
    updated_at: { fits: isTime },
  },
  entry: { id: { fits: bears('ent_') }, account: { fits: isCount }, op: { fits: isText } },
  card: {
    id: { fits: bears('card_') },
    account: { fits: isCount },
    issuer: { fits: bears('team_'), optional: true },
    op: { fits: isText },
  },
  ticket: {
    id: { fits: isCount },
    place: { fits: isText },
    number: { fits: isCount },
    op: { fits: isText },
    created_at: { fits: isTime },
  },
};

/** What of a row is not as the document has it. */
export function misshapen(resource: Resource, row: Row): string[] {
  const shape = shapes[resource];
  const wrong = Object.entries(shape)
    .filter(([name, { fits, optional }]) => (row[name] === undefined ? !optional : !fits(row[name])))
    .map(([name]) => `its ${name} is ${JSON.stringify(row[name])}`);
  const unknown = Object.keys(row).filter((name) => shape[name] === undefined);
  return [...wrong, ...unknown.map((name) => `it has ${name}, which is no field`)];
}
