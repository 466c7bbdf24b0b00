import type { JsonMap } from '../../../document/document.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { ProseAt } from '../../spec/prose.ts';

/**
 * What a schema is for: an answer, one of which a caller chose the fields, what makes or replaces a resource, or a change of one (JSON Merge Patch,
 * RFC 7396).
 */
export type SchemaView = 'answer' | 'chosen' | 'create' | 'update';

/** Whether it is of what is shown. */
export function isOfAnswers(view: SchemaView): boolean {
  return view === 'answer' || view === 'chosen';
}

/** Where a shape is written out: whose document, for what, and how what it speaks of is called. */
export interface Writing {
  readonly spec: Spec;
  readonly view: SchemaView;
  readonly prose: ProseAt;
  /** Whether some endpoint shows what a resource refers to whole, when it is asked to. */
  readonly expandable: (resource: string) => boolean;
  /** Formats that the reader knows; of the others of this language a keyword of JSON Schema says what it can. */
  readonly knownFormats: ReadonlySet<string>;
  /** Words beside those of JSON Schema that the reader knows too, such as OpenAPI's `discriminator`. */
  readonly knownWords: ReadonlySet<string>;
  /** A reference to a resource in a view. */
  readonly resource: (name: string, view: SchemaView) => JsonMap;
  /** A reference to what `$ref: '#/…'` names inside a shape, wherever that shape comes to stand. */
  readonly inner: (root: Shape, ref: string, view: SchemaView) => JsonMap;
}

/** Gives every definition a name of its own, made of the letters that OpenAPI and AsyncAPI allow in one. */
export class DefinitionNames {
  readonly #taken = new Set<string>();

  claim(text: string): string {
    const plain = text.replace(/[^A-Za-z0-9._-]/g, '_') || '_';
    let name = plain;
    for (let number = 2; this.#taken.has(name); number++) name = `${plain}_${number}`;
    this.#taken.add(name);
    return name;
  }
}
