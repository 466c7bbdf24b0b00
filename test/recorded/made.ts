import { chanceOf as chanceOfSeed } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import { requestShape } from '../../src/parts/payload.ts';
import { chanceOf } from '../../src/parts/samples/sampler.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import { toJsonSchema, toNamingSchema } from '../../src/parts/schemas.ts';
import type { Shape } from '../../src/parts/shape.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { Carries } from '../../src/parts/versions/carries.ts';
import { historyOf } from '../../src/parts/versions/carry.ts';
import { CannotCarry } from '../../src/parts/versions/change-values.ts';
import { specInVersion } from '../../src/parts/versions/spec-in-version.ts';
import { editAt, edited, sitesOf } from './edits.ts';
import { grounds } from './spoken.ts';

/** Values of the shapes of a document: what is made by a seed, what fits, what is mended, and the schemas of them. */
export function made(spec: Spec, seed: number): unknown[] {
  const samples = new Samples(spec);
  return shapesIn(spec).map(([name, shape]) => {
    const sampler = samples.of(shape, name);
    const told: string[] = [];
    const values = grounds.map((ground) => sampler.make({ ...ground, sampled: (path) => told.push(path) }, `/${name}`));
    const wrong = wrongOf(values[0], seed);
    return [
      name,
      [sampler.cost, sampler.isFixed, told, values],
      [...values, ...wrong].map((value) => sampler.fits(value)),
      wrong.map((value) => sampler.complete(value, grounds[2]!, '')),
      samples.membersOf(shape),
      (['sent', 'stored', 'shown'] as const).map((use) => toJsonSchema(spec, shape, use)),
      toNamingSchema(spec, shape, 'sent'),
    ];
  });
}

/** What goes between the versions of a document. */
export function carried(spec: Spec, seed: number): unknown[] {
  const history = historyOf(spec);
  const samples = new Samples(spec);
  return (history?.versions ?? []).flatMap(({ name }) => {
    if (!history || history.levelOf(name) === history.newest) return [];
    const carries = new Carries(spec, history, name, () => 0);
    const { document: _, ...older } = specInVersion(spec, history, carries);
    const rows = entriesOf(spec.resources.all).flatMap(([resource]) => {
      const carry = carries.resource(resource);
      if (!carry) return [];
      const [row, least] = grounds.map((ground) => samples.of({ resource }).make(ground, ''));
      const down = tried(() => carry.down(row));
      const sent = [down, ...wrongOf(down, seed)];
      return [
        [resource, carry.lines, carry.unseen, down, tried(() => carry.down(least))],
        sent.map((value) => [tried(() => carry.up(value)), tried(() => carry.up(value, row))]),
        sent.flatMap((value) => (isMap(value as Json) ? tried(() => carry.merge(row as JsonMap, value as JsonMap)) : [])),
        sitesOf(row as Json).map(({ path }) => carry.place(path)),
      ];
    });
    return [[name, history.openAbove(name), older, rows]];
  });
}

/** Each resource, and each shape that is sent or answered. */
function shapesIn(spec: Spec): [string, Shape][] {
  const resources = entriesOf(spec.resources.all).map(([name]): [string, Shape] => [name, { resource: name }]);
  const bodies = entriesOf(spec.endpoints.all).flatMap(([key, endpoint]) => {
    const answers = statedValue(endpoint.response) ?? [];
    return [requestShape(spec, endpoint), ...answers.map(({ shape }) => shape)].flatMap((shape): [string, Shape][] => {
      const stated = statedValue(shape);
      return stated === undefined ? [] : [[key, stated]];
    });
  });
  return [...resources, ...bodies];
}

/** A value with something else in some of its places. */
function wrongOf(value: unknown, seed: number): Json[] {
  if (typeof value !== 'object' || value === null) return [null, 'word', 7];
  const chance = chanceOfSeed(seed);
  const sites = sitesOf(value as Json);
  return chance
    .shuffled(sites)
    .slice(0, 4)
    .map((site) => edited(value as JsonMap, [editAt(site, sites, chance)]));
}

function tried<T>(make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    if (error instanceof CannotCarry) return error.message;
    throw error;
  }
}

/** Identifiers that are made up for a resource which does not say how. */
export function named(spec: Spec): unknown[] {
  const samples = new Samples(spec);
  return entriesOf(spec.resources.all).map(([name]) => {
    const make = samples.identifiers(name);
    return [name, [1, 2].map((at) => make(chanceOf(`${name} ${at}`), at))];
  });
}
