/**
 * A condition over rows that a database can decide. What it says of a row is what the expression says of it; where the
 * expression fails, it is null, by the rules of SQL (null and false = false, null or true = true), and the row is not meant.
 */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: '=' | '!=' | '<' | '<=' | '>' | '>='; readonly left: FilterOperand; readonly right: FilterOperand }
  | { readonly op: 'prefix' | 'contains'; readonly left: FilterOperand; readonly right: FilterOperand }
  /** `right` comes to a list. */
  | { readonly op: 'in'; readonly left: FilterOperand; readonly right: FilterOperand }
  | { readonly op: 'absent'; readonly of: FilterField }
  | { readonly op: 'true' | 'false' };

export type FilterOperand = FilterField | FilterParam | { readonly value: FilterScalar };

/** A value that does not read the row. */
export interface FilterParam {
  readonly param: number;
}

export type FilterField =
  | { readonly field: readonly string[]; readonly type: FilterKind }
  /** A field of the row that the reference at `via` refers to. */
  | { readonly via: readonly string[]; readonly resource: string; readonly then: FilterField }
  /** A field of the one row whose fields have these values. */
  | { readonly find: string; readonly by: readonly FilterKey[]; readonly then: FilterField };

/** A field that a row is found by, and the value that it has to have. */
export interface FilterKey {
  readonly field: string;
  readonly type: Exclude<FilterKind, 'any'>;
  readonly is: FilterOperand;
}

/** Times are milliseconds since 1970. */
export type FilterScalar = string | number | bigint | boolean;
export type FilterValue = FilterScalar | null | readonly (FilterScalar | null)[];

/** What a column holds, as far as comparing goes: `id` = an identifier as text, `any` where nothing says. */
export type FilterKind = 'bool' | 'int' | 'double' | 'string' | 'id' | 'timestamp' | 'any';
