/**
 * The dialect of PostgreSQL and the engine over it, in this process: the tests of the store's contract on PGlite. Races between connections are
 * of `npm run test:long`, which runs the same and more on PostgreSQL itself, and so does `NINEFOLD_TEST_STORE=postgres npm test -- NAME`.
 */
process.env.NINEFOLD_TEST_STORE = 'pglite';
for (const name of ['store', 'store-changes', 'store-counters', 'store-credentials', 'store-outbox', 'store-queries'])
  await import(`./${name}.test.ts`);

// What imports the least is a module all the same.
export {};
