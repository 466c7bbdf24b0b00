/** The stores that tests can be run on in place of SQLite. */
export const otherStores = ['reluctant', 'pglite', 'postgres'] as const;
export type OtherStore = (typeof otherStores)[number];

const use: readonly string[] = ['--import', new URL('./use.ts', import.meta.url).href];

/** `NINEFOLD_TEST_STORE=reluctant` runs every test, and every command line that a test starts, on the reluctant store; and so on. */
export function chooseStore(environment: NodeJS.ProcessEnv): void {
  const { NINEFOLD_TEST_STORE: store, NODE_OPTIONS: options } = environment;
  if (store === undefined || store === 'sqlite') return;
  if (!otherStores.some((other) => other === store))
    throw new Error(`There is no store ${store} for tests: NINEFOLD_TEST_STORE is sqlite, ${otherStores.join(' or ')}.`);
  environment.NODE_OPTIONS = [options, ...use].filter((option) => option !== undefined).join(' ');
}
