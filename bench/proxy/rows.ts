/** Alterations of rows, of what makes them, and of the states that they show. */
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import { allMachines } from '../../src/parts/states.ts';
import type { Bent } from '../../test/verify/stand.ts';
import { type Alteration, isOf, type Row, type Setting, withJson, withRows } from './alteration.ts';

/** What goes wrong with the fields of every resource that has endpoints. */
export function ofResources(setting: Setting): Alteration[] {
  return [...new Set(setting.endpoints.map(resourceOf))].flatMap((name) => (name === undefined ? [] : ofResource(setting, name)));
}

function ofResource(setting: Setting, resource: string): Alteration[] {
  const stated = entriesOf(setting.spec.resources.all).find(([name]) => name === resource)?.[1];
  const fields = stated ? entriesOf(stated.fields) : [];
  const identifier = stated && statedValue(stated.identifier);
  const made = identifier?.generate === 'client' ? undefined : identifier?.field;
  const of = (id: string, change: (row: Row) => Row): Alteration => ({
    id: `${id} (${resource})`,
    part: 'resources',
    altering: { spoil: (passing) => withRows(setting, resource, change, passing) },
  });
  const alterations = fields.flatMap(([field, { required }]) => [
    ...(statedValue(required) === true ? [of(`${field} is left out`, (row) => without(row, field))] : []),
    of(`${field} is of another type`, (row) => (field in row ? { ...row, [field]: retyped(row[field]) } : row)),
    of(`${field} is another value`, (row) => (field in row ? { ...row, [field]: another(row[field]) } : row)),
  ]);
  const sent = (verb: string): Alteration[] =>
    fields
      .filter(([name, { readOnly }]) => !readOnly && name !== made)
      .flatMap(([field]) => lost(setting, `${verb} ${resource}`, field));
  const more = stated?.additionalProperties ? [] : [of('there is one more field', (row) => ({ ...row, zz_more: 1 }))];
  return [...alterations, ...more, ...['create', 'update', 'upsert', 'replace'].flatMap(sent)];
}

/** A member of a body that does not come to the service. */
function lost(setting: Setting, operation: string, field: string): Alteration[] {
  const endpoint = setting.endpoints.find((one) => one.operation === operation);
  // What the path says is not sent.
  if (!endpoint || endpoint.path.includes(`{${field}}`)) return [];
  const bend: Alteration['altering']['bend'] = (request) =>
    isOf(setting, endpoint, request)
      ? changed(
          request.text,
          withJson(request.text, (body) => without(body, field)),
        )
      : {};
  return [{ id: `${field} is passed over (${operation})`, part: 'resources', altering: { bend } }];
}

const changed = (text: string, to: string): Partial<Bent> => (to === text ? {} : { text: to });

function resourceOf({ does }: Endpoint): string | undefined {
  const effect = statedValue(does);
  return effect && 'resource' in effect ? effect.resource : undefined;
}

function without(row: Row, field: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== field));
}

function retyped(value: unknown): unknown {
  return typeof value === 'string' ? { text: value } : String(value);
}

/** A value of the same type that was not meant. */
function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') {
    const ms = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? `${value}x` : new Date(ms - 86_400_000).toISOString();
  }
  if (Array.isArray(value)) return [...value, ...(value.length > 0 ? [value[0]] : ['x'])];
  if (typeof value !== 'object' || value === null) return value;
  const [[name, inner] = ['zz', 1]] = Object.entries(value);
  return { ...value, [name]: another(inner) };
}

/** What goes wrong with the states of every machine. */
export function ofStates(setting: Setting): Alteration[] {
  const { spec, endpoints } = setting;
  return allMachines(spec.states).flatMap((machine) => {
    const { field, resource } = machine;
    const states = statedValue(machine.states) ?? [];
    const alterations = states.map((state, at): Alteration => {
      const other = states[(at + 1) % states.length] ?? state;
      const change = (row: Row): Row => (row[field] === state ? { ...row, [field]: other } : row);
      return {
        id: `${state} is shown as ${other} (${resource})`,
        part: 'states',
        altering: { spoil: (passing) => withRows(setting, resource, change, passing) },
      };
    });
    const moving = endpoints.filter((one) => statedValue(one.does)?.verb === 'transition' && resourceOf(one) === resource);
    return [...alterations, ...moving.flatMap((endpoint) => ofTransition(setting, endpoint, field))];
  });
}

function ofTransition(setting: Setting, endpoint: Endpoint, field: string): Alteration[] {
  const { operation } = endpoint;
  const read = setting.endpoints.find(
    (one) => statedValue(one.does)?.verb === 'read' && resourceOf(one) === resourceOf(endpoint),
  );
  const of = (id: string, altering: Alteration['altering']): Alteration => ({
    id: `${id} (${operation})`,
    part: 'states',
    altering,
  });
  return [
    of('it always succeeds', {
      spoil: (passing) => (isOf(setting, endpoint, passing) && passing.status === 409 ? { status: 200 } : {}),
    }),
    of('it is always refused', {
      spoil: (passing) => (isOf(setting, endpoint, passing) && passing.status < 300 ? { status: 409 } : {}),
    }),
    of('the state is not told', {
      spoil: (passing) =>
        isOf(setting, endpoint, passing) && passing.status < 300
          ? { text: withJson(passing.text, (row) => without(row, field)) }
          : {},
    }),
    ...(read
      ? [
          of('it only reads', {
            bend: (request) =>
              isOf(setting, endpoint, request)
                ? { method: 'GET', target: request.target.replace(/\/[^/?]+(\?|$)/, '$1'), text: '' }
                : {},
          }),
        ]
      : []),
  ];
}
