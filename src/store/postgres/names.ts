import { createHash } from 'node:crypto';

/** Words that stand in a name as they are. PostgreSQL cuts names after 63 bytes, and knows no U+0000. */
const plain = /^[a-z][a-z0-9_]{0,40}$/;

/** A word as part of a name: as it is, or as a hash of it where it cannot stand there. */
function named(word: string): string {
  return plain.test(word) ? word : `#${hashOf(word)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** An identifier as it stands in SQL. */
export function quoteName(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** The column of a stated one. Its type is part of the name: another type is another column, and the old one stays. */
export function columnName(name: string, type: string): string {
  return `${named(name)}:${type}`;
}

/** Where in a database a store lies, and what its tables are called there. */
export class StoreNames {
  readonly schema: string;
  /** Whether the database is asked for nothing but what others that speak PostgreSQL's protocol have too. */
  readonly isPlain: boolean;

  constructor(schema: string, isPlain = false) {
    this.schema = schema;
    this.isPlain = isPlain;
  }

  /** One of the engine's own tables, as SQL. */
  own(name: string): string {
    return `${quoteName(this.schema)}.${quoteName(`ninefold_${name}`)}`;
  }

  /** The table of a resource's rows, as PostgreSQL knows it. */
  bareRows(resource: string): string {
    return `rows:${named(resource)}`;
  }

  rows(resource: string): string {
    return `${quoteName(this.schema)}.${quoteName(this.bareRows(resource))}`;
  }

  /** An index or a constraint; what it is of decides what it is called. */
  index(kind: 'unique' | 'index', resource: string, columns: string): string {
    return `${kind}:${hashOf(`${resource}\n${columns}`)}`;
  }
}
