/** Which methods each path takes, for requests that Fastify finds no route for. */
import type { FastifyInstance } from 'fastify';

export interface Places {
  methodsOf(url: string): string[];
}

export function openPlaces(app: FastifyInstance): Places {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`);
    for (const one of [method].flat()) routes.push({ method: one, pattern });
  });
  return {
    methodsOf(url) {
      const path = url.split('?')[0] ?? '';
      return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    },
  };
}
