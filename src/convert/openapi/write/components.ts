import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { DefinitionNames } from '../../json-schema/definition-names.ts';

type Kind = 'parameters' | 'headers' | 'responses';

/** What several operations share, each once under a name of its own. */
export class Components {
  readonly #kinds = new Map<
    Kind,
    { readonly names: DefinitionNames; readonly refs: Map<string, string>; readonly all: OpenMap }
  >();

  /** A reference to a thing: the one that is there already, or a new one under the wished name. */
  share(kind: Kind, wish: string, thing: JsonMap): JsonMap {
    const known = this.#kinds.get(kind) ?? { names: new DefinitionNames(), refs: new Map(), all: newMap() };
    this.#kinds.set(kind, known);
    const text = JSON.stringify(thing);
    const name = known.refs.get(text) ?? known.names.claim(wish);
    known.refs.set(text, name);
    known.all[name] = thing;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** What was shared, by kind. */
  all(): Readonly<Record<string, Json>> {
    return Object.fromEntries([...this.#kinds].map(([kind, { all }]) => [kind, all]));
  }
}
