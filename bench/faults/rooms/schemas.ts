/** JSON Schemas of what may be sent, and their validators. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Switches } from '../fault.ts';
import type { RoomsFault } from './faults.ts';
import { type Complaint, Refused, type Version } from './house.ts';

export interface Schemas {
  /** A whole new one, of which what a caller cannot write is dropped; what is missing is filled in. */
  whole(name: SchemaName, version: Version, body: unknown): Record<string, unknown>;
}

export type SchemaName = 'room' | 'booking' | 'guest' | 'key' | 'decline' | 'check_in' | 'finish';

const mail = { type: 'string', format: 'mail' };

function schemasOf(
  faults: Switches<RoomsFault>,
): Record<SchemaName, { readonly properties: Record<string, object>; readonly required: string[] }> {
  return {
    room: {
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 40 },
        floor: { type: 'integer', minimum: faults.has('no-cellar') ? 0 : -2, maximum: 30 },
        seats: { type: 'integer', minimum: 1, maximum: 200 },
        rate: { type: 'integer', minimum: 0, maximum: 50_000 },
        kind: { enum: faults.has('room-of-any-kind') ? undefined : ['meeting', 'lecture', 'lounge'], type: 'string' },
        equipment: {
          type: 'array',
          items: { enum: ['screen', 'board', 'phone'] },
          maxItems: 3,
          uniqueItems: !faults.has('equipment-twice'),
          default: [],
        },
        remark: { type: 'string', maxLength: 100 },
        opened_on: { type: 'string', format: faults.has('opened-on-any-text') ? 'text' : 'date' },
      },
      required: ['name', 'floor', 'seats', 'rate', 'kind'],
    },
    booking: {
      properties: {
        room: { type: 'integer' },
        title: { type: 'string', minLength: 1, maxLength: faults.has('title-one-longer') ? 81 : 80 },
        day: { type: 'string', format: 'date' },
        hour: { type: 'integer', minimum: 0, maximum: faults.has('hour-24') ? 24 : 23 },
        hours: { type: 'integer', minimum: 1, maximum: 8, default: 1 },
        people: { type: 'integer', minimum: 1, maximum: 200 },
        contact: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 1, maxLength: 60 }, email: mail },
          required: ['name', 'email'],
          additionalProperties: false,
        },
        colour: { enum: ['red', 'green', 'blue'], default: faults.has('another-colour') ? 'blue' : 'green' },
        pin: { type: 'string', pattern: '^[0-9]{4}$' },
      },
      required: ['room', 'title', 'day', 'hour', 'people'],
    },
    guest: {
      properties: {
        booking: { type: 'string' },
        name: { type: 'string', minLength: 1, maxLength: 60 },
        email: faults.has('guest-mail-unchecked') ? { type: 'string' } : mail,
        vip: { type: 'boolean', default: false },
      },
      required: ['name'],
    },
    key: {
      properties: { booking: { type: 'string' }, label: { type: 'string', minLength: 1, maxLength: 30 } },
      required: ['label'],
    },
    decline: { properties: { reason: { type: 'string', minLength: 1, maxLength: 100 } }, required: ['reason'] },
    check_in: { properties: { people: { type: 'integer', minimum: 1, maximum: 200 } }, required: ['people'] },
    finish: { properties: { damaged: { type: 'boolean' } }, required: faults.has('damage-not-asked') ? [] : ['damaged'] },
  };
}

const readOnly: Readonly<Partial<Record<SchemaName, readonly string[]>>> = {
  room: ['id', 'added_by', 'changed_at'],
  booking: ['id', 'member', 'status', 'price', 'reason', 'confirmed_at', 'created_at', 'changed_at'],
  guest: ['id', 'added_at'],
  key: ['number', 'code'],
};
const forms = new Set<SchemaName>(['decline', 'check_in', 'finish']);

export function compileSchemas(faults: Switches<RoomsFault>): Schemas {
  const ajv = new Ajv({ allErrors: true, coerceTypes: faults.has('types-are-coerced'), useDefaults: true, strict: false });
  // The package is CommonJS: its default export is found one step below.
  addFormats.default(ajv);
  ajv.addFormat('text', true);
  ajv.addFormat(
    'mail',
    /^[^\s@."(),:;<>[\\\]]+(?:\.[^\s@."(),:;<>[\\\]]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i,
  );
  const validators = new Map<string, ValidateFunction>();
  const schemas = schemasOf(faults);
  const open = (name: SchemaName): boolean => forms.has(name) || (name === 'room' && faults.has('misspelt-fields-pass'));
  for (const [key, { properties, required }] of Object.entries(schemas)) {
    // Of the schemas above.
    const name = key as SchemaName;
    const newest = { type: 'object', properties, required, additionalProperties: open(name) };
    validators.set(`${name} v3`, ajv.compile(newest));
    validators.set(`${name} v2`, ajv.compile({ ...newest, ...older(name, properties, required) }));
  }
  return {
    whole(name, version, body) {
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
      const dropped = readOnly[name] ?? [];
      const sent: unknown = isObject
        ? Object.fromEntries(Object.entries(body).filter(([field]) => !dropped.includes(field)))
        : body;
      const validate = validators.get(`${name} ${version}`);
      if (!validate?.(sent)) throw new Refused('INVALID', (validate?.errors ?? []).map(complaint));
      // It has just been found to be an object.
      return sent as Record<string, unknown>;
    },
  };
}

/** The shapes of version 2: other names, another unit, fields that were not there yet. */
function older(name: SchemaName, properties: Record<string, object>, required: readonly string[]): object {
  if (name === 'booking') {
    const { colour: _colour, ...rest } = properties;
    return { properties: rest };
  }
  if (name !== 'room') return {};
  const { seats, ...rest } = properties;
  return {
    properties: {
      ...rest,
      ...(seats && { places: seats }),
      rate: { type: 'number', minimum: 0, maximum: 500 },
      kind: { enum: ['meeting', 'theatre', 'lounge'] },
    },
    required: required.map((field) => (field === 'seats' ? 'places' : field)),
  };
}

function complaint(error: NonNullable<ValidateFunction['errors']>[number]): Complaint {
  const params: Record<string, unknown> = error.params;
  const member = params.missingProperty ?? params.additionalProperty;
  const path = member === undefined ? error.instancePath : `${error.instancePath}/${String(member)}`;
  return { path, expected: error.message ?? 'another value' };
}
