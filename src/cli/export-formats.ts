import type { JsonMap } from '../document/document.ts';
import type { Spec } from '../parts/spec.ts';

/** A format that a document can be written in. */
export interface ExportFormat {
  /** The word after `--to`. */
  readonly name: string;
  /** What it is, for the help. */
  readonly help: string;
  /** Loads what writes it: a text, or a value that is written as JSON, or as YAML into a file whose name ends so. */
  readonly load: () => Promise<(spec: Spec) => string | JsonMap>;
}

/** The formats of `ninefold export`, in the order of the help. */
export const exportFormats: readonly ExportFormat[] = [
  {
    name: 'typescript',
    help: 'types for handlers and clients',
    load: async () => (await import('../convert/typescript.ts')).toTypescript,
  },
];
