/** What Node is given to run tests on the reluctant store. */
export const onReluctant: readonly string[] = ['--import', new URL('./use-reluctant.ts', import.meta.url).href];

/** `NINEFOLD_TEST_STORE=reluctant` runs every test, and every command line that a test starts, on the reluctant store. */
export function chooseStore(environment: NodeJS.ProcessEnv): void {
  const { NINEFOLD_TEST_STORE: store, NODE_OPTIONS: options } = environment;
  if (store === undefined || store === 'sqlite') return;
  if (store !== 'reluctant') throw new Error(`There is no store ${store} for tests: NINEFOLD_TEST_STORE is sqlite or reluctant.`);
  environment.NODE_OPTIONS = [options, ...onReluctant].filter((option) => option !== undefined).join(' ');
}
