import type { Json, JsonMap } from '../../document/document.ts';
import { plainName } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { pageStyles } from '../../kinds/pages/all.ts';
import type { PageStyle } from '../../kinds/pages/kind.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import { type Ground, nothing, type SampleMeans, type Sampler, type SamplerOf } from './sampler.ts';

const quietly = (ground: Ground): Ground => ({ ...ground, sampled: () => {} });

/** Objects: what is required is made; of what is given, members that fit stay, others are mended or left out. */
export function compileObject(shape: Shape, of: SamplerOf): SampleMeans {
  const properties = isPlainMap(shape.properties) ? shape.properties : {};
  const required = new Set(Array.isArray(shape.required) ? shape.required.filter((name) => typeof name === 'string') : []);
  const names = [...new Set([...Object.keys(properties), ...required])];
  const { additionalProperties, minProperties } = shape;
  let others: Sampler | undefined;
  const rest = (name: string): Sampler | undefined => {
    if (additionalProperties === false) return undefined;
    others ??= of(additionalProperties ?? {}, name);
    return others;
  };
  const memberOf = (name: string): Sampler => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return own === undefined ? (rest(name) ?? of(false, name)) : of(own, name);
  };
  const around = listMember(properties);
  const least = typeof minProperties === 'number' ? minProperties : 0;

  function fill(out: Record<string, unknown>, ground: Ground, path: string): unknown {
    const wished = [...required, ...Object.keys(properties), ...Array.from({ length: least }, (_, at) => `key_${at + 1}`)];
    const isFull = ground.isFull === true && isShort(path);
    for (const [at, name] of wished.entries()) {
      const isAsked = at < required.size || Object.keys(out).length < least;
      if (!isAsked && !(isFull && isCurrent(properties[name]) && !isOfPages(name) && hasRoom(ground))) continue;
      if (Object.hasOwn(out, name)) continue;
      const place = below(path, name);
      const member = memberOf(name);
      const end = isOfPages(name) ? [null, ''].find((last) => member.fits(last)) : undefined;
      const value =
        end !== undefined ? end : isAsked || Number.isFinite(member.cost) ? member.make(quietly(ground), place) : nothing;
      if (value !== nothing) {
        out[name] = value;
        if (!member.isFixed) ground.sampled(place);
      } else if (required.has(name)) return nothing;
    }
    return inOrder(out, names);
  }

  return {
    make: (ground, path) => fill(Object.create(null), quietly(ground), path),
    complete(given, ground, path) {
      if (Array.isArray(given)) return around === undefined ? nothing : mend({ [around]: given }, ground, path);
      return typeof given === 'object' && given !== null ? mend(given, ground, path) : nothing;
    },
  };

  function mend(given: object, ground: Ground, path: string): unknown {
    const out: Record<string, unknown> = Object.create(null);
    let kept = 0;
    for (const [name, value] of Object.entries(given)) {
      const isNamed = Object.hasOwn(properties, name);
      const member = isNamed ? memberOf(name) : rest(name);
      if (!member || value === undefined) continue;
      const mended = keep(member, value, ground, below(path, name), required.has(name));
      if (mended !== nothing) out[name] = mended;
      if (mended !== nothing) kept += 1;
    }
    return kept === 0 && Object.keys(given).length > 0 ? nothing : fill(out, ground, path);
  }
}

/** Whether a member is stated, and not one that is on its way out, or is only ever sent. */
function isCurrent(shape: Json | undefined): boolean {
  return (
    shape !== undefined && shape !== false && !(isPlainMap(shape) && (shape.deprecated === true || shape.writeOnly === true))
  );
}

/** How deep members that nothing requires are made. */
const fullDepth = 4;

function isShort(path: string): boolean {
  return path.split('/').length <= fullDepth;
}

/** Whether a member tells of other pages: a made-up one would lead to a page that is not there. */
function isOfPages(name: string): boolean {
  const plain = plainName(name);
  return usualOfPages.has(plain) || /^(?:next|prev)|continuation/.test(plain);
}

const usualOfPages: ReadonlySet<string> = new Set(
  (pageStyles as readonly PageStyle[]).flatMap(({ parameters }) => parameters.flatMap(({ usualNames }) => usualNames)),
);

/** Whether the budget has something left for what is not required. */
function hasRoom({ budget }: Ground): boolean {
  return budget === undefined || budget.left > reserved;
}

/** What is kept of a budget for what has to be there. */
const reserved = 200;

/** The member of an envelope that holds a list, where it has only one: a list that is given in place of the envelope goes there. */
function listMember(properties: JsonMap): string | undefined {
  const lists = Object.entries(properties).filter(([, shape]) => isPlainMap(shape) && shape.items !== undefined);
  return lists.length === 1 ? lists[0]?.[0] : undefined;
}

/** A member that does not fit is mended if it is required or can keep something; else it is left out. */
function keep(member: Sampler, value: unknown, ground: Ground, path: string, isRequired: boolean): unknown {
  if (member.fits(value)) return value;
  const told: string[] = [];
  const mended = member.complete(value, { ...ground, sampled: (place) => told.push(place) }, path);
  if (mended === nothing || (!isRequired && told.includes(path))) return nothing;
  for (const place of told) ground.sampled(place);
  return mended;
}

/** Lists: as short as they may be, or with one item where samples are full. */
export function compileListSampler(shape: Shape, of: SamplerOf, name: string): SampleMeans {
  const least = typeof shape.minItems === 'number' ? shape.minItems : 0;
  const first: readonly Json[] = Array.isArray(shape.prefixItems) ? shape.prefixItems : [];
  const itemName = name.replace(/s$/, '');
  const at = (index: number): Sampler => of(first[index] ?? shape.items ?? shape.contains ?? {}, itemName);
  const most = typeof shape.maxItems === 'number' ? shape.maxItems : Number.POSITIVE_INFINITY;
  const fill = (out: unknown[], ground: Ground, path: string): unknown => {
    if (
      ground.isFull &&
      isShort(path) &&
      out.length === 0 &&
      least === 0 &&
      most > 0 &&
      shape.items !== undefined &&
      hasRoom(ground)
    ) {
      const item = at(0).make(quietly(ground), below(path, 0));
      if (item !== nothing) out.push(item);
    }
    while (out.length < least) {
      const place = below(path, out.length);
      const item = at(out.length).make(quietly(ground), place);
      if (item === nothing) return nothing;
      out.push(item);
      ground.sampled(place);
    }
    return out;
  };
  return {
    make: (ground, path) =>
      fill(shape.contains !== undefined && least === 0 ? contained(shape, of, ground, path) : [], quietly(ground), path),
    complete(given, ground, path) {
      if (!Array.isArray(given)) return nothing;
      const items = given.map((item, index) => keep(at(index), item, ground, below(path, index), false));
      return fill(
        items.filter((item) => item !== nothing),
        { ...ground, isFull: false },
        path,
      );
    },
  };
}

function contained({ contains = {} }: Shape, of: SamplerOf, ground: Ground, path: string): unknown[] {
  const item = of(contains, '').make(quietly(ground), `${path}/0`);
  return item === nothing ? [] : [item];
}

function inOrder(out: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const ordered: Record<string, unknown> = Object.create(null);
  for (const name of names) if (Object.hasOwn(out, name)) ordered[name] = out[name];
  for (const name of Object.keys(out)) if (!Object.hasOwn(ordered, name)) ordered[name] = out[name];
  return ordered;
}
