import { quoted, report } from '../catalogue.ts';
import { type Document, type Finding, type Place, partNames } from '../document.ts';
import { fileName, folderOf, gatherForeign, includePath, type Overlay, type ReadOther } from '../foreign/files.ts';
import { type FromForeign, languageOf, looksForeign } from '../foreign/foreign.ts';
import { readJson } from '../json.ts';
import { readMarkdown } from '../markdown/markdown.ts';
import { type Head, readWhole } from '../merge.ts';
import { newReadContext, type ReadBounds, type ReadContext } from '../read-context.ts';
import { type SourceText, snippetOf, takeSource } from '../source.ts';
import { readYaml } from '../yaml/yaml.ts';

/** How a document is read. */
export interface ParseOptions {
  /** True of a word that is a key at a place (a part's name, then keys); a table is read if its first header is one. */
  readonly isKey: (path: readonly string[], word: string) => boolean;
  /**
   * The content of an included file, by its path from the document's folder (`/` between names, never out of it), or why there
   * is none. Without it every include is a finding.
   */
  readonly include?: (path: string) => string | Uint8Array | Pick<Finding, 'code' | 'message' | 'remedy'>;
  readonly bounds?: Partial<ReadBounds>;
  /** How large the heap may grow: no more values are read than fit into it. */
  readonly heapBytes?: number;
  /** Makes a document of one in another language, such as OpenAPI; without it such a text is read as any other. */
  readonly foreign?: FromForeign;
  /** The content of a file that a document in another language refers to, by its path from the document's folder. */
  readonly other?: ReadOther;
  /** Changes a document in another language before it is taken over. */
  readonly overlay?: Overlay;
}

/** The bounds that hold for documents in other languages, which machines write. */
export const foreignBounds: Partial<ReadBounds> & { readonly bytes: number } = {
  bytes: 64 * 1024 * 1024,
  depth: 200,
  values: 20_000_000,
  tokens: 30_000_000,
  files: 10_000,
};

/** Reads a document from its text. Whatever the text, it gives a document; what is wrong is among its findings. */
export function parseDocument(content: string | Uint8Array, file: string, options: ParseOptions): Document {
  return parseForeign(content, file, options) ?? parseOwn(content, file, options);
}

/** A document in another language, where the text is one. */
function parseForeign(
  content: string | Uint8Array,
  file: string,
  { foreign, other, bounds, heapBytes, overlay }: ParseOptions,
): Document | undefined {
  if (foreign === undefined || formOf(file, '{') === 'markdown') return undefined;
  // Most of what machines write describes, and nothing is made of it.
  const gathering = newReadContext(() => false, { ...foreignBounds, ...bounds }, heapBytes && 2 * heapBytes);
  if (content.length > gathering.bounds.bytes) return undefined;
  const source = takeSource(content, file, gathering);
  if (!looksForeign(source.text)) return undefined;
  const gathered = gatherForeign(source, gathering, other, overlay);
  const taken = gathered && languageOf(gathered.value) && foreign(gathered);
  return taken && { ...taken, isTaken: true };
}

function parseOwn(content: string | Uint8Array, file: string, options: ParseOptions): Document {
  const gathering = newReadContext(options.isKey, options.bounds, options.heapBytes);
  const reading: Reading = { gathering, options, folder: folderOf(file), done: new Set(), open: [] };
  const head = readFile(content, file, fileName(file), reading);
  const { tree, places, prose, sources, findings } = gathering;
  return { title: head.title ?? '', tree, places, prose, sources, findings };
}

interface Reading {
  readonly gathering: ReadContext;
  readonly options: ParseOptions;
  /** The folder of the root document, as it was given. */
  readonly folder: string;
  /** Paths from that folder: of the files read, and of those that are being read, outermost first. */
  readonly done: Set<string>;
  readonly open: string[];
}

function readFile(content: string | Uint8Array, file: string, path: string, reading: Reading): Head {
  const { gathering } = reading;
  const head: Head = { title: undefined, includes: [] };
  reading.done.add(path);
  reading.open.push(path);
  readText(takeSource(content, file, gathering), head, gathering);
  for (const { path: written, place } of head.includes) readInclude(written, place, path, reading);
  reading.open.pop();
  return head;
}

function readText(source: SourceText, head: Head, gathering: ReadContext): void {
  const form = formOf(source.file, source.text);
  if (form === 'markdown') {
    readMarkdown(source, head, gathering);
    return;
  }
  if (isNoDocument(source)) {
    const message = 'This is no document: no line of it is a heading or begins with a key.';
    report(gathering, 'document/not-a-map', source.place(0, source.text.split('\n', 1)[0]?.length ?? 0), message, { at: '' });
    return;
  }
  const snippet = snippetOf(source, [[0, source.text.length]]);
  const located = (form === 'json' ? readJson : readYaml)(snippet, '', 0, gathering);
  if (located !== undefined) readWhole(located, head, gathering);
}

function readInclude(written: string, place: Place, from: string, reading: Reading): void {
  const { gathering, options, open, done } = reading;
  const path = includePath(from, written);
  if (path === undefined) {
    report(gathering, 'document/include-outside', place, `${quoted(written)} is no path inside the document's folder.`);
  } else if (open.includes(path)) {
    const ring = [...open.slice(open.indexOf(path)), path].join(' → ');
    report(gathering, 'document/include-cycle', place, `The file includes itself: ${ring}.`);
  } else if (!done.has(path)) {
    const { files, includeDepth } = gathering.bounds;
    if (open.length > includeDepth || done.size >= files) {
      const bound = done.size >= files ? `A document has at most ${files} files.` : `Includes go at most ${includeDepth} deep.`;
      report(gathering, 'document/include-bound', place, bound);
      return;
    }
    const content = options.include?.(path) ?? {
      code: 'document/include-unreadable' as const,
      message: 'Nothing can be included here.',
    };
    if (typeof content === 'string' || content instanceof Uint8Array) readFile(content, reading.folder + path, path, reading);
    else
      report(
        gathering,
        codeOf(content.code),
        place,
        content.message,
        content.remedy === undefined ? {} : { remedy: content.remedy },
      );
  }
}

function codeOf(code: string): 'document/include-outside' | 'document/too-large' | 'document/include-unreadable' {
  return code === 'document/include-outside' || code === 'document/too-large' ? code : 'document/include-unreadable';
}

/** A text of which neither its name nor its first signs say what it is, and that has no key at its left edge. */
function isNoDocument({ file, text }: SourceText): boolean {
  if (formByName(file) !== undefined || /^\s*[{[]/.test(text)) return false;
  return /^[^\s#]/m.test(text) && !/^[^\s#,;()]+(?: [^\s,;()]+){0,2}:(?:\s|$)/m.test(text) && !/^- /m.test(text);
}

/** How a document is written down. */
type TextForm = 'markdown' | 'yaml' | 'json';

/** The form of a file, by the ending of its name, else by its text. */
export function formOf(file: string, text: string): TextForm {
  return formByName(file) ?? formOfText(text);
}

function formByName(file: string): TextForm | undefined {
  return endings.get(/\.([^./\\]+)$/.exec(file.replace(/\.gz$/i, ''))?.[1]?.toLowerCase() ?? '');
}

const endings: ReadonlyMap<string, TextForm> = new Map([
  ['md', 'markdown'],
  ['markdown', 'markdown'],
  ['txt', 'markdown'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['json', 'json'],
]);

function formOfText(text: string): TextForm {
  if (/^\s*\{/.test(text)) return 'json';
  // A comment of YAML looks like a heading; a part's name at the left edge tells them apart.
  return /^#{1,2}[ \t]+\S/m.test(text) && !partKey.test(text) ? 'markdown' : 'yaml';
}

const partKey = new RegExp(`^(?:title|include|evidence|${partNames.join('|')}):`, 'm');
