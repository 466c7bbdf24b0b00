import type { Json } from '../../document/document.ts';
import type { Answer } from '../../parts/answers.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import type { Effect } from '../../parts/effects.ts';
import type { Endpoint, Idempotency } from '../../parts/endpoints.ts';
import type { Named } from '../../parts/fact.ts';
import type { Pagination } from '../../parts/limits.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Reader, Row, Transaction } from '../../store/store.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Violation } from '../http/violation.ts';
import type { Work } from './act.ts';
import type { RowModel } from './model.ts';

/**
 * What a stand-in for somebody else's service does beyond an ordinary one: the named places where it enters. An ordinary service has
 * none. `stand-in/` fills it.
 */
export interface StandIn {
  /** What is left of the violations of a request once those are gone that it lets pass. */
  readonly forgive: Forgive;
  /** Takes away from what was sent what is null and may not be. */
  readonly withoutNulls: WithoutNulls;
  /** Times as numbers, of clients that speak of them so: writes them as they are asked for, and gives what else is wrong; and what they are told. */
  readonly times: {
    hear(exchange: Exchange, value: Value, violations: readonly Violation[], validate: Validated): readonly Violation[];
    told(exchange: Exchange, shape: Shape, value: Value): Value;
  };
  /** Whether media types are taken as they are meant, and a missing body as an empty one. */
  readonly isLenient: boolean;
  /** Whether an endpoint gives a token for what its body shows, so that it asks for no other. */
  exchangesCredential(endpoint: Endpoint): boolean;
  /** A call as it is meant, where its path has other methods; nothing where it is meant as it came. */
  asMeant(call: Call, allowed: readonly string[], bodyBytesMax: number): PromiseOrValue<Call | 'too large'> | undefined;
  /** A call to a path that no endpoint has, as it is meant: without a slash at its end, in the document's letter case; nothing where it is meant as it came. */
  readonly asRouted: AsRouted;
  /** The idempotency key that is usual where none is stated. */
  usualKey(endpoint: Endpoint): UsualKey | undefined;
  /** The status that is usual for a refusal of which no code is stated; nothing where it is that of the language. */
  usualStatus(refusal: Refusal, endpoint: Endpoint | undefined): number | undefined;
  /** A new identifier for a resource that does not state how they are made, of what is known of the row; nothing where none fits its shape. */
  newIdentifier(work: Work, model: RowModel, fields?: Fields): string | undefined;
  /** An identifier that is the same for the same place. */
  identifierAt(model: RowModel, place: string): string | undefined;
  /** A new row with everything that its resource requires: of what is given, what fits stays. */
  completeRow(work: Work, model: RowModel, id: string, fields: Fields): Fields;
  /** Rows that are there although no operation makes them. */
  readonly given: {
    /** Whether nothing makes the rows of a resource. */
    has(resource: string): boolean;
    /** The row of an identifier, made when it is first asked for; `bound` = the fields that the path sets. */
    find(work: Work, model: RowModel, id: string, bound: Fields): Row | undefined;
    /** The row that people call so, where its identifier is another; `beside` = what a path says besides, of which the row holds what nobody sees of it. */
    called(rows: Reader, model: RowModel, name: string, beside?: Readonly<Record<string, string>>): Row | undefined;
    /** Makes the rows that a list begins with. */
    list(work: Work, model: RowModel, bound: Fields): void;
    /** Remembers that a row is gone. */
    gone(rows: Transaction, model: RowModel, id: string, fields: Fields): void;
    /** Rows that stand below one that was deleted, where names are paths: they go with it. */
    below(work: Work, id: string): readonly { readonly model: RowModel; readonly row: Row }[];
    /** The row that was deleted, there again; nothing where nothing brings such rows back. */
    back(work: Work, model: RowModel, id: string): Row | undefined;
    /** Whether nobody has ever made or deleted a row of a resource. */
    isUntouched(rows: Reader, resource: string): boolean;
    /** Whether a row that is not stored may be referred to. */
    mayBeNamed(rows: Reader, resource: string, id: string): boolean;
  };
  /** Stores a row of this identifier, made of what is given of it. */
  makeRow(work: Work, model: RowModel, id: string, given: Fields): Fields;
  /** A changed row, with what of it is made up. */
  mendRow(
    work: Work,
    model: RowModel,
    id: string,
    next: Fields,
    before: Fields,
  ): { readonly whole: Fields; readonly names: readonly string[] };
  /** Shows a row, as it is now, in the list that its owner has of such rows; takes it out once it is gone. */
  showInOwners(work: Work, model: RowModel, row: Fields, isGone: boolean): void;
  /** Remembers which fields of a row were made up. */
  keepNames(rows: Transaction, model: RowModel, id: string, names: readonly string[]): void;
  /** Names in the answer what was made up of a row that it shows. */
  tellRow(exchange: Exchange, rows: Reader, model: RowModel, id: string, names?: readonly string[]): void;
  /** Tells in the header fields of an answer what was made up, and what was let pass. */
  tell(exchange: Exchange, headers: Record<string, string>): void;
  /** Compiles how the path of an endpoint tells a row by another field than its identifier; nothing where it does not. */
  compileToldBy(endpoint: Endpoint, model: RowModel): RowToldBy | undefined;
  /** Whether an act brings back what was deleted. */
  readonly isRestoring: (endpoint: Endpoint) => boolean;
  /** Whether a request of which only shapes are known makes something each time that it is sent. */
  readonly makesEachTime: (endpoint: Endpoint) => boolean;
  /** Counts the requests that were sent to a path so, and says which one this is. */
  readonly timesSent: (rows: Transaction, exchange: Exchange) => number;
  /** Compiles what an endpoint does with things that belong to a row of its path, whose segments are so many; nothing where it does none of that. */
  compileRelation(endpoint: Endpoint, owner: RowModel, depth: number): Relate | undefined;
  /** Compiles the reading and changing of a member of a row at a path of its own, behind so many steps that name the row; nothing where it is no such path. */
  compileMemberPath(endpoint: Endpoint, model: RowModel, depth: number): MemberPath | undefined;
  /** Compiles the keeping of what is sent to a path of which only the shapes are known; nothing where it is not read there again. */
  compileKept(endpoint: Endpoint): KeptAnswer | undefined;
  compileUndescribed(endpoint: Endpoint): ((rows: Transaction, exchange: Exchange) => Reply) | undefined;
  /** Compiles how a list of which only the shapes are known is narrowed and cut into pages; nothing where it is no one list. */
  compileOpenPages(endpoint: Endpoint): CutOpenly | undefined;
  /** Compiles what an endpoint says of how many things a list has; nothing where it counts none. */
  compileCountOf(endpoint: Endpoint): CountOf | undefined;
  /** Compiles how an endpoint lists the names of things; nothing where it lists none. */
  compileNamesOf(endpoint: Endpoint): NamesOf | undefined;
  /** Compiles how a list that is asked for by POST is cut into pages by members of its body; nothing where none says so. */
  compileBodyPages(endpoint: Endpoint): BodyPages | undefined;
  /** Compiles what a creation says of the new row beside its body. */
  compileAskedFields(endpoint: Endpoint, model: RowModel): AskedFields;
  /** Compiles what a creation copies whose path names a thing of the same kind; nothing where it names none. */
  compileCopied(endpoint: Endpoint, model: RowModel): CopiedFrom | undefined;
  /** Compiles the making anew of keys and tokens by an act that is called so; nothing where it is not. */
  compileSecretRenewal(endpoint: Endpoint, model: RowModel): Renew | undefined;
  /** Compiles what an update mask leaves of a change; nothing where none is asked for. */
  compileUpdateMask(endpoint: Endpoint, model: RowModel): Masked | undefined;
  /** Compiles what is done with a list of things in a body; `named` is the resource of the row that the path names. Nothing where there is no such list. */
  compileMany(endpoint: Endpoint, models: ReadonlyMap<string, RowModel>, named: string | undefined): ChangeMany | undefined;
  /** A row after a list of changes (RFC 6902), or what of it cannot be; nothing where a body is no such list. */
  patchedBy(
    request: Value,
    before: Fields,
  ): { readonly fields: Fields } | { readonly violations: readonly Violation[] } | undefined;
  /** Compiles what narrows and orders a list by parameters that no fact explains, but for those of `paging`; nothing where there are none. */
  compileNarrowing(endpoint: Endpoint, model: RowModel, paging: readonly string[]): Narrow | undefined;
  /** Completes what came out to the shape that an answer states, in the likeness of its examples. */
  compileCompletion(shape: Shape, answer: Pick<Answer, 'examples' | 'data' | 'status'>, does: Effect | undefined): CompleteAnswer;
  /** Compiles the header fields that tell of a page, where an answer states them; nothing where it states none. */
  compilePageHeaders(answer: Pick<Answer, 'headerShapes' | 'headers'>): TellPageHeaders | undefined;
  /** Compiles the answering as a stream, where an answer is stated in one and the request asks for it; nothing where it is in none. */
  compileStream(answer: Answer, produces: readonly string[]): AnswerStream | undefined;
  /** The example that a request asks for by its name; nothing where it names none of them. */
  exampleAsked(exchange: Exchange, examples: Named<Json>): { readonly value: Json } | undefined;
  /** Gives refusals the shape of the errors that an endpoint states. */
  compileErrors(endpoint: Endpoint | undefined): AnswerError;
  /** The message of a refusal with the first thing that is wrong, for those who are shown nothing else. */
  sayWrong(told: { readonly message: string; readonly violations?: readonly Violation[] | undefined }): string;
  /** Completes what the stated payload makes of a refusal to the shape that is stated for it. */
  compilePayload(shape: Shape): CompletePayload;
}

/** What stays of a row before a change, and what the change sends of it, where a mask says which; nothing where it says nothing. */
export type Masked = (
  exchange: Exchange,
  before: Fields,
  sent: Fields,
) => { readonly before: Fields; readonly sent: Fields } | undefined;

/** What is known of a page of a list when what stands around its rows is said. */
export interface PageTold {
  /** How many rows it shows. */
  readonly shown: number;
  /** How many rows all pages have; absent = nobody counted. */
  readonly total: number | undefined;
  /** How many rows a page has; absent = the list is in one piece. */
  readonly size: number | undefined;
  /** How many rows stand before it; absent = it is told by something else. */
  readonly skipped: number | undefined;
  /** The number of the first page. */
  readonly firstPage: number;
  readonly hasMore: boolean;
  /** What the parameter of the next page takes. */
  readonly next: string | number | null;
  readonly previous: string | number | null;
  readonly nextUrl: string | null;
  readonly previousUrl: string | null;
  /** Its own address. */
  readonly url: string;
  /** The `Link` header that tells of the pages around it, where they are told so. */
  readonly link?: string | undefined;
}

/** The page that a request asks for of what is listed, as the answer holds it; nothing where that is no list. */
export type CutOpenly = (listed: Value, exchange: Exchange) => { readonly value: Value; readonly page: PageTold } | undefined;

/** The list that is counted, and what an answer says of how many things it has. */
export interface CountOf {
  readonly list: Endpoint;
  said(total: number): Value;
}

/** The things whose names are listed, and how an answer holds these. */
export interface NamesOf {
  readonly resource: string;
  said(names: readonly string[]): Value;
}

/** Pages that are asked for in a body. */
export interface BodyPages {
  readonly pagination: Pagination;
  /** The members that hold what asks for them. */
  readonly holders: readonly string[];
  /** What is sent, by the names of what asks for pages. */
  readonly sent: (exchange: Exchange) => Readonly<Record<string, Value>>;
}

/** A member of a row that has a path of its own. */
export interface MemberPath {
  /** What reading there shows of a row. */
  shown(row: Fields): Fields;
  /** The fields of the row after what was sent; nothing where that is no such member. */
  change(request: Value, before: Fields): Fields | undefined;
}

/** What was sent to a path, and is there when it is read. */
export interface KeptAnswer {
  /** The members that were sent. */
  sent(work: Work, exchange: Exchange): Fields;
  /** What was sent of a list, as the answer holds it; nothing where nothing was. */
  listed(work: Work, exchange: Exchange): Value | undefined;
  /** Keeps what the request sends. */
  keep(work: Work, exchange: Exchange): void;
}

/** What a request says of a new row beside what it sends of it. */
export type AskedFields = (exchange: Exchange, sent: Fields) => Fields;

/** The row that is told by a value of another field than its identifier. */
export type RowToldBy = (rows: Reader, value: string) => Row | undefined;

/** The fields of the thing that is copied; nothing where it is not there. */
export type CopiedFrom = (work: Work, exchange: Exchange) => Fields | undefined;

/** The secrets of a row that an act makes anew. */
export type Renew = (fields: Fields, row: Row) => Fields;

export type AsRouted = (call: Call) => Call | undefined;

/** An idempotency key that is taken in a header, or in a member of the body. */
export interface UsualKey extends Idempotency {
  readonly member?: string;
  /** The parameter of the query that holds it. */
  readonly query?: string;
}

/** How a request narrows and orders a list; nothing where it does neither. */
export type Narrow = (exchange: Exchange) => Narrowed | undefined;

export interface Narrowed {
  /** What was asked for, as a text. */
  readonly key: string;
  keeps(row: Fields): boolean;
  /** How rows follow each other; absent = as they always do. */
  readonly order: ((one: Fields, other: Fields) => number) | undefined;
}

/** Binds, looses or shows what belongs to a row; gives what it shows of it, where it shows any. */
export type Relate = (work: Work, exchange: Exchange, owner: string) => Value | undefined;

/** Makes and changes what a body lists; gives what the answer shows of it, or nothing where it lists nothing of the kind. */
export type ChangeMany = (work: Work, exchange: Exchange, row: Row | undefined) => Value | undefined;

/** The violations that told of a null which is no longer there. */
export type WithoutNulls = (value: Value, violations: readonly Violation[]) => readonly Violation[];

type Validated = (value: Value) => readonly Violation[];

export type Forgive = (exchange: Exchange, violations: readonly Violation[]) => readonly Violation[];

/** Where rows are looked at, and in a change made. */
export type Rows = Pick<Work<Reader>, 'rows' | 'models'>;

/** The stream of an answer: its media type and its text; nothing where it is not asked for. */
export type AnswerStream = (exchange: Exchange, work: Rows) => { readonly type: string; readonly body: string } | undefined;

/**
 * `sent`: where nothing came out, what the request says, of which an answer keeps what it has a place for; `page`: what is known of the page that a list is.
 */
export type CompleteAnswer = (value: Value, exchange: Exchange, work: Rows, sent?: Fields, page?: PageTold) => Value;

/** The header fields by which an answer tells of a page. */
export type TellPageHeaders = (page: PageTold) => Record<string, string>;

/** What a refusal comes to before it has a shape. */
export interface RefusalWords {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly violations: readonly Violation[] | undefined;
}

/** Gives a refusal the shape of an error that the endpoint states; nothing where it states none for it. */
export type AnswerError = (refusal: Refusal, told: RefusalWords, requestId: string) => Reply | undefined;

export type CompletePayload = (
  body: Value,
  told: RefusalWords & { readonly condition: ErrorCondition | undefined },
  requestId: string,
) => { readonly body: Value; readonly headers: Readonly<Record<string, string>> };

/**
 * Whether a stand-in makes up an identifier that a client is said to send and does not: where that was read off one shape for what is sent
 * and what is answered alike, as most descriptions have it, and nobody stated it.
 */
export function isMadeUpWhereUnsent({ identifier, resource }: RowModel, standIn: StandIn | undefined): boolean {
  return standIn?.isLenient === true && identifier.generate.by === 'client' && resource.identifier.standing === 'inferred';
}
