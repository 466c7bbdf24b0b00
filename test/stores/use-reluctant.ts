import { registerHooks } from 'node:module';

/**
 * Loaded before everything else (`node --import`), puts the reluctant store in the place of SQLite wherever something opens it;
 * no source knows of it.
 */
const own = new URL('./reluctant-sqlite.ts', import.meta.url).href;
const sqlite = new URL('../../src/store/sqlite.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url === sqlite && context.parentURL !== own ? { ...found, url: own } : found;
  },
});
