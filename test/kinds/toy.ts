import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A kind that is added from outside, as somebody who forks the project would: one pure file and one row in its sort's list. */
export interface Toy {
  /** The folder of its sort under `src/kinds/`. */
  readonly sort: string;
  /** The name that its file exports, which the row repeats. */
  readonly name: string;
  /** Where its file lies; or its text, which is then read as if it lay in the folder of its sort. */
  readonly source: URL | { readonly text: string };
}

const kinds = new URL('../../src/kinds/', import.meta.url);

/**
 * Adds kinds to their lists for whatever this process imports from now on. Nothing else of the project is touched, so that
 * what works with them afterwards works by the file and the row alone. Throws where a list had been imported before.
 */
export async function addKinds(toys: readonly Toy[]): Promise<void> {
  const lists = new Map<string, Toy[]>();
  for (const toy of toys) {
    const list = new URL(`${toy.sort}/all.ts`, kinds).href;
    lists.set(list, [...(lists.get(list) ?? []), toy]);
  }
  const texts = new Map<string, string>();
  for (const toy of toys) if (!(toy.source instanceof URL)) texts.set(placeOf(toy), toy.source.text);
  registerHooks({
    resolve(specifier, context, next) {
      const toy = lists.get(context.parentURL ?? '')?.find(({ name }) => specifier === toyFile(name));
      const url = toy ? placeOf(toy) : specifier;
      return toy || texts.has(url) ? { url, format: 'module-typescript', shortCircuit: true } : next(specifier, context);
    },
    load(url, context, next) {
      const added = lists.get(url);
      const source = added ? withRows(readFileSync(fileURLToPath(url), 'utf8'), added) : texts.get(url);
      return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true };
    },
  });
  for (const [list, added] of lists) {
    const rows = Object.values(await import(list))
      .filter(Array.isArray)
      .flat();
    for (const toy of added) {
      const kind = (await import(placeOf(toy)))[toy.name];
      if (!rows.includes(kind)) throw new Error(`${toy.name} is not in the list of ${toy.sort}: it was imported before`);
    }
  }
}

function placeOf({ sort, name, source }: Toy): string {
  return source instanceof URL ? source.href : new URL(`${sort}/${toyFile(name)}`, kinds).href;
}

function toyFile(name: string): string {
  return `./${name}.toy.ts`;
}

/** The list with a row more for each toy, last, and the imports that they need. */
function withRows(list: string, toys: readonly Toy[]): string {
  const names = toys.map(({ name }) => name);
  const rows = list.replace(
    /(=\s*\[)([^[\]]*?),?(\s*\])/,
    (_whole, open, inside, close) => `${open}${[inside, ...names].join(', ')}${close}`,
  );
  if (rows === list) throw new Error('the list of a sort has to be one array of names');
  return `${names.map((name) => `import { ${name} } from '${toyFile(name)}';`).join('\n')}\n${rows}`;
}
