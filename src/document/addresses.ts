import type { Json, JsonMap, Pointer } from './document.ts';
import { below, fragmentStepOf, pathOf, percentDecoded } from './pointer.ts';
import { valueAt } from './source.ts';
import { isMap, newMap, type OpenMap } from './values.ts';

/** What stands directly inside a map and may have an address or refer to one, with the keys that lead there. */
type Inside = (map: JsonMap) => Iterable<readonly [path: readonly (string | number)[], value: Json]>;

/** The keywords by which a schema has an address, or refers by one (JSON Schema 2020-12 Core, section 8.2). */
export const addressWords: readonly string[] = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef'];

/** Whether a map has an address of its own, or refers to one that depends on who refers to it. */
export function hasAddress(map: JsonMap): boolean {
  return addressWords.some((word) => typeof map[word] === 'string');
}

/**
 * Leads every reference of a tree by an address (`$id`, `$anchor`, `$dynamicRef`) to where it stands in the same tree, so that each of them is
 * a `$ref` with a pointer. A schema that means something else where it is referred to from elsewhere, by `$dynamicRef`, is copied below
 * `copies` for each meaning, 1,000 at most. References that lead out of the tree stay, and so does a `$dynamicRef` beside a `$ref` where nobody says by
 * which keyword a value fits both. The tree is changed in place.
 */
export function leadByPointers(root: OpenMap, tree: AddressedTree): void {
  new Addresses(root, tree).lead();
}

interface AddressedTree {
  readonly inside: Inside;
  readonly copies: Pointer;
  /** The address of the tree itself. */
  readonly base?: string;
  /** The keyword of a list of schemas all of which a value has to fit. */
  readonly conjunction?: string;
}

/** A schema with an address: what its inner ones are called by, and those that whoever refers to it may stand in for. */
interface Addressed {
  readonly at: Pointer;
  readonly base: URL;
  readonly anchors: Map<string, Pointer>;
  readonly dynamic: Map<string, Pointer>;
}

/** By name, the anchor that the outermost schema on the way to a place has: the dynamic scope as far as it matters. */
type Scope = ReadonlyMap<string, Pointer>;

const nowhere: Scope = new Map();
const copiesMost = 1000;
/** What relative addresses are relative to where the tree has none itself. */
const unnamed = 'https://document.invalid/';

class Addresses {
  readonly #root: OpenMap;
  readonly #inside: Inside;
  readonly #copies: Pointer;
  readonly #conjunction: string | undefined;
  readonly #whole: Addressed;
  readonly #byAddress = new Map<string, Addressed>();
  readonly #owners = new Map<Pointer, Addressed>();
  /** What stood in each map before it was changed, for copies are made of that. */
  readonly #written = new Map<JsonMap, JsonMap>();
  /** The scope in which each schema stands in the tree itself. */
  readonly #home = new Map<Pointer, string>();
  /** The schemas from which a reference that depends on the scope can be reached. */
  readonly #moving = new Set<Pointer>();
  readonly #copied = new Map<string, Pointer>();
  readonly #todo: (() => void)[] = [];

  constructor(root: OpenMap, { inside, copies, base = '', conjunction }: AddressedTree) {
    this.#root = root;
    this.#inside = inside;
    this.#copies = copies;
    this.#conjunction = conjunction;
    this.#whole = { at: '', base: addressOf(base, new URL(unnamed)) ?? new URL(unnamed), anchors: new Map(), dynamic: new Map() };
    this.#byAddress.set(this.#whole.base.href, this.#whole);
  }

  lead(): void {
    this.#gather(this.#root, '', this.#whole, new Set());
    const scopes: [OpenMap, Pointer, Scope][] = [];
    this.#place(this.#root, '', this.#entered(nowhere, this.#whole), new Set(), scopes);
    this.#reach(scopes);
    for (const [map, at, scope] of scopes) this.#write(map, at, scope);
    for (let next = this.#todo.pop(); next; next = this.#todo.pop()) next();
  }

  /** Notes every address of the tree. */
  #gather(map: JsonMap, at: Pointer, around: Addressed, seen: Set<JsonMap>): void {
    if (seen.has(map)) return;
    seen.add(map);
    const own = this.#ownOf(map, at, around);
    this.#owners.set(at, own);
    if (typeof map.$anchor === 'string') own.anchors.set(map.$anchor, at);
    if (typeof map.$dynamicAnchor === 'string') {
      own.anchors.set(map.$dynamicAnchor, at);
      own.dynamic.set(map.$dynamicAnchor, at);
    }
    for (const [path, inner] of this.#inside(map)) if (isMap(inner)) this.#gather(inner, down(at, path), own, seen);
  }

  #ownOf(map: JsonMap, at: Pointer, around: Addressed): Addressed {
    const base = typeof map.$id === 'string' ? addressOf(map.$id, around.base) : undefined;
    // A fragment alone is an anchor of older drafts, and no address.
    if (base !== undefined && base.hash.length > 1) around.anchors.set(base.hash.slice(1), at);
    if (base === undefined || base.hash.length > 1) return around;
    base.hash = '';
    const own: Addressed = at === '' ? { ...this.#whole, base } : { at, base, anchors: new Map(), dynamic: new Map() };
    this.#byAddress.set(base.href, own);
    return own;
  }

  /** Notes in which scope each schema stands where it is. */
  #place(map: JsonMap, at: Pointer, scope: Scope, seen: Set<JsonMap>, found: [OpenMap, Pointer, Scope][]): void {
    if (seen.has(map)) return;
    seen.add(map);
    const own = this.#owners.get(at);
    const inner = own?.at === at ? this.#entered(scope, own) : scope;
    this.#home.set(at, keyOf(inner));
    this.#written.set(map, Object.assign(newMap(), map));
    // The tree was given to be changed.
    found.push([map as OpenMap, at, inner]);
    for (const [path, value] of this.#inside(map)) if (isMap(value)) this.#place(value, down(at, path), inner, seen, found);
  }

  /** Notes from where what depends on the scope is reached: from what holds it, and from what refers to that. */
  #reach(schemas: readonly (readonly [JsonMap, Pointer, Scope])[]): void {
    const from = new Map<Pointer, Pointer[]>();
    const lead = (target: Pointer, at: Pointer) => {
      const known = from.get(target);
      if (known) known.push(at);
      else from.set(target, [at]);
    };
    const todo: Pointer[] = [];
    for (const [map, at] of schemas) {
      if (typeof map.$dynamicRef === 'string') todo.push(at);
      const target = typeof map.$ref === 'string' ? this.#target(map.$ref, at) : undefined;
      if (target !== undefined) lead(target, at);
      for (const [path, value] of this.#inside(map)) if (isMap(value)) lead(down(at, path), at);
    }
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (this.#moving.has(at)) continue;
      this.#moving.add(at);
      todo.push(...(from.get(at) ?? []));
    }
  }

  /** The scope inside a schema with an address: who stands further out comes first. */
  #entered(scope: Scope, { dynamic }: Addressed): Scope {
    return dynamic.size === 0 ? scope : new Map([...dynamic, ...scope]);
  }

  /** Writes the references of one map of the tree, or of a copy of it. */
  #write(map: OpenMap, at: Pointer, scope: Scope): void {
    const { $ref, $dynamicRef } = map;
    const target = typeof $ref === 'string' ? this.#target($ref, at) : undefined;
    if (target !== undefined) map.$ref = this.#refTo(target, scope);
    const word = this.#conjunction;
    if (typeof $dynamicRef !== 'string' || (map.$ref !== undefined && word === undefined)) return;
    const first = this.#target($dynamicRef, at);
    const name = percentDecoded($dynamicRef.slice($dynamicRef.indexOf('#') + 1));
    const isDynamic = first !== undefined && this.#ownerOf(first).dynamic.get(name) === first;
    const meant = isDynamic ? (scope.get(name) ?? first) : first;
    const ref = meant === undefined ? $dynamicRef : this.#refTo(meant, scope);
    delete map.$dynamicRef;
    const both = word === undefined ? undefined : map[word];
    if (map.$ref === undefined || word === undefined) map.$ref = ref;
    else map[word] = [...(Array.isArray(both) ? both : []), { $ref: ref }];
  }

  /** Where a reference from a place leads; nothing where that is not in the tree. */
  #target(ref: string, from: Pointer): Pointer | undefined {
    const { base } = this.#ownerOf(from);
    const address = addressOf(ref, base);
    if (address === undefined) return undefined;
    const fragment = percentDecoded(address.hash.slice(1));
    address.hash = '';
    const named = this.#byAddress.get(address.href);
    if (named === undefined) return undefined;
    if (fragment === '') return named.at;
    if (!fragment.startsWith('/')) return named.anchors.get(fragment);
    // A pointer is one into the schema with the address; it is written for the whole tree as well.
    const inner = `${named.at}${fragment}`;
    const isWhole = ref.startsWith('#') && valueAt(this.#root, inner) === undefined;
    return isWhole && valueAt(this.#root, fragment) !== undefined ? fragment : inner;
  }

  #ownerOf(at: Pointer): Addressed {
    for (let place = at; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const own = this.#owners.get(place);
      if (own) return own;
    }
    return this.#owners.get('') ?? this.#whole;
  }

  #refTo(target: Pointer, from: Scope): string {
    const scope = this.#entered(from, this.#ownerOf(target));
    const key = keyOf(scope);
    const home = this.#home.get(target);
    const isSame = home === undefined || home === key || !this.#moving.has(target);
    const found = isSame ? target : (this.#copied.get(`${key} ${target}`) ?? this.#copy(target, scope));
    return `#${pathOf(found)
      .map((step) => `/${fragmentStepOf(step).replaceAll('%24', '$')}`)
      .join('')}`;
  }

  /** A schema in another scope than its own, below `copies`. */
  #copy(target: Pointer, scope: Scope): Pointer {
    const value = valueAt(this.#root, target);
    if (!isMap(value) || this.#copied.size >= copiesMost) return target;
    const holder = this.#holder();
    const wanted = pathOf(target).at(-1) ?? 'whole';
    let name = wanted;
    for (let count = 2; Object.hasOwn(holder, name); count++) name = `${wanted}_${count}`;
    const at = below(this.#copies, name);
    this.#copied.set(`${keyOf(scope)} ${target}`, at);
    holder[name] = newMap();
    this.#todo.push(() => {
      holder[name] = this.#cloned(value, target, scope);
    });
    return at;
  }

  #holder(): OpenMap {
    let holder = this.#root;
    for (const step of pathOf(this.#copies)) {
      const inner = holder[step];
      // The tree was given to be changed.
      const next = isMap(inner) ? (inner as OpenMap) : newMap();
      holder[step] = next;
      holder = next;
    }
    return holder;
  }

  #cloned(map: JsonMap, at: Pointer, scope: Scope): OpenMap {
    const clone = cloneOf(this.#written.get(map) ?? map);
    const own = this.#owners.get(at);
    const inner = own?.at === at ? this.#entered(scope, own) : scope;
    for (const [path, value] of this.#inside(this.#written.get(map) ?? map)) {
      if (isMap(value) && path[0] !== '$defs') put(clone, path, this.#cloned(value, down(at, path), inner));
    }
    this.#write(clone, at, inner);
    for (const word of [...addressWords, '$defs']) delete clone[word];
    return clone;
  }
}

function addressOf(written: string, { href }: URL): URL | undefined {
  return URL.canParse(written, href) ? new URL(written, href) : undefined;
}

function keyOf(scope: Scope): string {
  return [...scope]
    .map((entry) => entry.join(' '))
    .sort()
    .join('\n');
}

function down(at: Pointer, path: readonly (string | number)[]): Pointer {
  return path.reduce<Pointer>((pointer, key) => below(pointer, key), at);
}

/** The same map, with lists and maps directly in it that may be changed. */
function cloneOf(map: JsonMap): OpenMap {
  const clone = newMap();
  for (const [key, value] of Object.entries(map)) {
    clone[key] = Array.isArray(value) ? [...value] : isMap(value) ? Object.assign(newMap(), value) : value;
  }
  return clone;
}

function put(map: OpenMap, path: readonly (string | number)[], value: Json): void {
  const [key = '', inner] = path;
  // What holds schemas in a clone is a clone too.
  if (inner === undefined) map[key] = value;
  else (map[key] as Record<string | number, Json>)[inner] = value;
}
