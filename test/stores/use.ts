import { registerHooks } from 'node:module';

/**
 * Loaded before everything else (`node --import`), puts the store that `NINEFOLD_TEST_STORE` names in the place of SQLite wherever a source
 * opens it; no source knows of it. Tests that open SQLite themselves mean SQLite.
 */
const own = new URL(`./${process.env.NINEFOLD_TEST_STORE}-sqlite.ts`, import.meta.url).href;
const sources = new URL('../../src/', import.meta.url).href;
const sqlite = new URL('store/sqlite/sqlite.ts', sources).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isAskedBySource = context.parentURL?.startsWith(sources) === true;
    return found.url === sqlite && isAskedBySource ? { ...found, url: own } : found;
  },
});
