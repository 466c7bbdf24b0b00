import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { Document, Finding, JsonMap, Pointer, Prose } from '../document/document.ts';

/** What is kept of a document in another language once it was taken over: all but the places, which the text still tells. */
interface Kept {
  readonly title: string;
  readonly tree: JsonMap;
  readonly prose: readonly { readonly at: Pointer; readonly text: string }[];
  readonly findings: readonly Omit<Finding, 'place' | 'also'>[];
}

/** How many documents are kept; those that were not used for longest go. */
const keptMost = 32;

/** Documents of other languages as they were taken over, by what their text is. It is only a cache: whatever goes wrong with it is nothing. */
export class ImportCache {
  readonly #folder: string;

  /** The folder is the user's own for such things (XDG Base Directory). */
  constructor(environment: Readonly<Record<string, string | undefined>>) {
    const { XDG_CACHE_HOME: stated, LOCALAPPDATA: windows } = environment;
    const base = stated !== undefined && stated !== '' ? stated : (windows ?? join(homedir(), '.cache'));
    this.#folder = join(base, 'ninefold', 'imports');
  }

  /** What was kept for a text; places are looked for in `whole`, which takes the text over anew, when one is first asked for. */
  find(content: Uint8Array, path: string, whole: () => Document): Document | undefined {
    try {
      const file = this.#fileOf(content, path);
      // What is kept was written whole, below.
      const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
      markUsed(file);
      return revive(kept, content, path, lazily(whole));
    } catch {
      return undefined;
    }
  }

  keep(content: Uint8Array, path: string, document: Document): void {
    // A document of several files changes without its own text, also where one of them is not there yet.
    const isAlone = document.sources.size === 1 && !document.findings.some(({ code }) => elsewhere.has(code));
    if (!isAlone) return;
    const { title, tree, prose, findings } = document;
    const kept: Kept = {
      title,
      tree,
      prose: prose.map(({ at, text }) => ({ at, text })),
      findings: findings.map(({ place: _place, also: _also, ...rest }) => rest),
    };
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const file = this.#fileOf(content, path);
      const fresh = `${file}.${process.pid}`;
      writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 });
      renameSync(fresh, file);
      this.#prune();
    } catch {
      // A cache that cannot be written is none.
    }
  }

  #fileOf(content: Uint8Array, path: string): string {
    const ending = /\.\w+(?:\.gz)?$/.exec(path)?.[0] ?? '';
    const hash = createHash('sha256').update(`${manifest.version}\n${builtMs()}\n${ending}\n`).update(content);
    return join(this.#folder, `${hash.digest('hex')}.json`);
  }

  #prune(): void {
    const files = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    const aged = files.map((file) => ({ file, usedMs: statSync(file).mtimeMs })).toSorted((a, b) => b.usedMs - a.usedMs);
    for (const { file } of aged.slice(keptMost)) rmSync(file, { force: true });
  }
}

/** Findings about other files that a document refers to. */
const elsewhere: ReadonlySet<string> = new Set(['document/ref-unreadable', 'document/ref-outside']);

/** What is used stays longest. */
function markUsed(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // In a folder that can only be read nothing is removed either.
  }
}

/** Whoever works on the taking over sees the effect: the newest file of it is part of what a document is kept by. */
function builtMs(): number {
  const { dirname, filename } = import.meta;
  // In the built package everything lies beside this file, and what lies in folders there is somebody else's.
  const isSource = filename.endsWith('.ts');
  // What is taken over is read by kinds of things, too.
  const folders = isSource ? ['convert', 'kinds', 'parts'].map((name) => join(dirname, '..', name)) : [dirname];
  const times = folders.flatMap((folder) => {
    const files = readdirSync(folder, { recursive: isSource, encoding: 'utf8' });
    return files.map((name) => statSync(join(folder, name)).mtimeMs);
  });
  return Math.max(0, ...times);
}

function revive(kept: Kept, content: Uint8Array, path: string, whole: () => Document): Document {
  const prose = kept.prose.map(
    (one, index): Prose => ({
      ...one,
      get place() {
        return placeIn(whole().prose[index], path);
      },
    }),
  );
  const findings = kept.findings.map(
    (one, index): Finding => ({
      ...one,
      get place() {
        return placeIn(whole().findings[index], path);
      },
    }),
  );
  return {
    title: kept.title,
    tree: kept.tree,
    places: new LaterPlaces(whole),
    prose,
    sources: new LaterSources(path, content),
    findings,
  };
}

function placeIn(one: Prose | Finding | undefined, file: string): Finding['place'] {
  return one?.place ?? { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

/** The places of a document that is taken over when one of them is asked for. */
class LaterPlaces extends Map<string, Finding['place']> {
  readonly #whole: () => Document;

  constructor(whole: () => Document) {
    super();
    this.#whole = whole;
  }

  override get(pointer: string): Finding['place'] | undefined {
    return this.#whole().places.get(pointer);
  }

  override has(pointer: string): boolean {
    return this.get(pointer) !== undefined;
  }
}

/** The text of the one file, decoded when it is asked for. */
class LaterSources extends Map<string, string> {
  readonly #content: Uint8Array;
  #isDecoded = false;

  constructor(path: string, content: Uint8Array) {
    super([[path, '']]);
    this.#content = content;
  }

  override get(path: string): string | undefined {
    if (!this.#isDecoded && this.has(path)) {
      this.#isDecoded = true;
      this.set(path, new TextDecoder().decode(this.#content));
    }
    return super.get(path);
  }
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
