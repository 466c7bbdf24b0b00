/** Who asks, in every module alike; the users and scopes are the document's own. */
export const callerPrelude = `/** Who is asking. */
export type Caller = {
  readonly id: string;
  readonly user: CallerUser;
  readonly scopes: readonly CallerScope[];
  /** What a token says, as it came. */
  readonly claims?: { readonly [claim: string]: unknown };
  /** The API key that was shown, by its own identifier. */
  readonly key?: string;
};`;

/** What is shown of a row of which its caller chose the fields. */
export const chosenPrelude = `/** A row of which the caller chose what is shown: whatever it did not name is not there, but for the identifier. */
export type ChosenFields<Row, Always extends keyof Row> = Pick<Row, Always> & SomeOf<Row>;

/** Some of a value, as deep as it goes. */
export type SomeOf<T> = T extends readonly (infer Item)[] ? SomeOf<Item>[] : T extends object ? { [P in keyof T]?: SomeOf<T[P]> } : T;`;

/** What every handler is given, whatever the document: it stands on the types that the document makes. */
export const handlerPrelude = `/** A value in which some properties are always there: their defaults are filled in. */
export type Filled<T, K extends keyof T> = T & { [P in K]-?: T[P] };

/** The fields of a new row: what is needed, and whatever else its own code may set. */
export type NewRow<Row, Needed extends keyof Row, Fixed extends PropertyKey> = { [P in Needed]: Row[P] } & {
  [P in keyof Row as Exclude<P, Fixed>]?: Row[P];
};

/** A change of a row (RFC 7396): null removes what need not be there. */
export type RowPatch<Row, Fixed extends PropertyKey> = {
  -readonly [P in keyof Row as Exclude<P, Fixed>]?: object extends { [Q in P]: Row[Q] } ? Row[P] | null : Row[P];
};

/** What is stored, as the service's own code reads it. */
export type StoreReader = {
  get<R extends keyof StoredRows>(resource: R, id: string): Promise<StoredRows[R] | undefined>;
  /** Rows whose fields equal what is given, in the order of their creation, 100 unless \`most\` says otherwise. */
  list<R extends keyof StoredRows>(
    resource: R,
    where?: { readonly [P in keyof StoredRows[R]]?: StoredRows[R][P] },
    options?: { readonly most?: number },
  ): Promise<StoredRows[R][]>;
};

/** What a handler may do with stored things. It sees its own writes; nothing is stored before it has answered. */
export type HandlerStore = StoreReader & {
  create<R extends keyof StoredRows>(resource: R, fields: NewRows[R]): Promise<CreatedRows[R]>;
  update<R extends keyof StoredRows>(resource: R, id: string, patch: RowPatches[R]): Promise<StoredRows[R]>;
  delete(resource: keyof StoredRows, id: string): Promise<void>;
};

/** What a handler is given. */
export type HandlerContext<Request, Params, By extends Caller | undefined> = {
  /** The body, once it is right. */
  readonly request: Request;
  readonly params: Params;
  readonly caller: By;
  readonly now: Date;
  readonly store: HandlerStore;
  /** Records an event, with everything else that this handler does. */
  emit<K extends EventKind>(kind: K, data: EventPayloads[K]): void;
  /** Refuses with one of the document's own codes; nothing is stored. Write \`return fail(…)\`, so that the checker knows. */
  fail(code: ErrorCode, message?: string): never;
  /** Fires a transition on a row, with everything else that this handler does. */
  fire<R extends keyof Transitions>(resource: R, id: string, transition: Transitions[R]): void;
};

/** What stands before a stated operation is given. It reads, it fails, or it changes what would be stored; it writes nothing itself. */
export type BeforeContext<Request, Params, By extends Caller | undefined, Before, Next> = {
  /** The body, as it was sent. */
  readonly request: Request;
  readonly params: Params;
  readonly caller: By;
  readonly now: Date;
  readonly store: StoreReader;
  /** Refuses with one of the document's own codes; nothing is stored. Write \`return fail(…)\`, so that the checker knows. */
  fail(code: ErrorCode, message?: string): never;
  /** The row as it is stored. */
  readonly resource: Before;
  /** What would be stored; it may be changed. */
  readonly next: Next;
};`;
