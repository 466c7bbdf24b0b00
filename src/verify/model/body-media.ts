import type { Endpoint } from '../../parts/endpoints.ts';

/** In what an endpoint is sent members by name: JSON, where nothing else is stated, or a form; nothing where it takes neither first. */
export function bodyMedia({ consumes }: Endpoint): 'json' | 'form' | undefined {
  const [first = 'application/json'] = consumes ?? [];
  if (first === 'application/json') return 'json';
  return first === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}
