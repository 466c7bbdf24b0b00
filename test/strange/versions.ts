/** Part 9 of strange documents: no versions, one, and several with changes of every sort. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, isMap, laid, mapAt } from './layers.ts';

/** States versions, and adds to the first resource the fields that they changed. */
export function layVersions(draw: Draw, draft: Draft): Draft {
  const sort = pick(draw, ['open', 'none', 'one', 'several', 'several']);
  if (sort === 'open') return draft;
  if (sort === 'none') return laid(draft, { versioning: 'none' }, 'versions none');
  const schemes = Object.values(mapAt(draft.document, 'authentication', 'schemes'));
  const isKeyed = schemes.length > 0 && schemes.every((scheme) => isMap(scheme) && scheme.type === 'api_key');
  const select: JsonMap = {
    ...pick<JsonMap>(draw, [{ header: 'Strange-Version' }, { query: 'version' }, { path: '/{version}' }]),
    default: pick(draw, ['current', 'oldest', 'none', ...(isKeyed ? ['pinned'] : [])]),
  };
  const guarantee = pick<JsonMap>(draw, [{}, { guarantee: 'additive' }, { guarantee: 'nothing' }]);
  const [resource] = draft.resources;
  if (sort === 'one' || !resource) {
    const versions = { '1': { current: true } };
    return laid(draft, { versioning: { versions, select, ...guarantee, changes: { '1': 'none' } } }, 'versions one');
  }
  const { name } = resource;
  const chosen = draw(fc.subarray<string>, Object.keys(changesOf), { minLength: 1 });
  const made = chosen.map((word) => changesOf[word]!(name));
  const fields = Object.assign({}, ...made.map(({ field }) => field)) as JsonMap;
  const old: JsonMap = pick<JsonMap>(draw, [
    {},
    { deprecated: '2026-01-01' },
    { deprecated: '2026-01-01', alternative: '2', link: 'https://strange.example/up' },
    { deprecated: '2026-01-01', sunset: '2099-01-01' },
  ]);
  const versioning: JsonMap = {
    ...{ versions: { '1': old, '2': { current: true } }, select, ...guarantee },
    changes: { '1': 'none', '2': made.map(({ change }) => change) },
  };
  const told = ['versions several', ...chosen.map((word) => `version ${word}`), `version by ${Object.keys(select)[0]}`];
  return laid(draft, { versioning, resources: { [name]: { fields } } }, ...told);
}

interface Change {
  readonly field: JsonMap;
  readonly change: Json;
}

const changesOf: Readonly<Record<string, (resource: string) => Change>> = {
  rename: (name) => ({
    field: { weight_g: { type: 'integer', minimum: 1, maximum: 9000 } },
    change: { rename: `${name}.weight`, to: 'weight_g' },
  }),
  add: (name) => ({
    field: { tier: { enum: ['low', 'high'], default: 'low' } },
    change: { add: `${name}.tier`, default: 'low' },
  }),
  remove: (name) => ({ field: {}, change: { remove: `${name}.legacy`, was: { type: 'string' }, down: "'none'" } }),
  map: (name) => ({
    field: { price: { type: 'integer', minimum: 0, maximum: 100_000 } },
    change: { map: `${name}.price`, was: 'number', down: 'double(value) / 100.0', up: 'int(round(value * 100.0))' },
  }),
  enum: (name) => ({
    field: { mode: { enum: ['standard', 'express'], default: 'standard' } },
    change: { enum: `${name}.mode`, values: { normal: 'standard' } },
  }),
};
