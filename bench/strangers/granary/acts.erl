%% The changes that there are, what they set, what they emit and what follows from them.
-module(acts).
-export([made/4, changed/5, moved/6, timed/5, gone/4, may_move/4, refuse/1]).
-include("granary.hrl").

refuse(Code) -> throw({refuse, Code, none}).

%% A new row: what creations set, the state that it begins in, its timers and events.
made(Res, Fields, Caller, #q{now = Now, edition = Ed}) ->
    Row0 = maps:merge(Fields, birth(Res, Fields, Caller, times:iso(Now))),
    Id = maps:get(shapes:id(Res), Row0),
    Row1 = case Res of
        listener -> Row0#{caller => Caller, edition => Ed};
        _ -> Row0
    end,
    Row = case Row1 of
        #{<<"state">> := S} -> store:put(Res, Id, enter(Res, Id, S, Row1, Now));
        _ -> store:put(Res, Id, Row1)
    end,
    emit({create, Res}, Res, none, Row, Now),
    Row.

birth(taxon, _, _, At) -> #{<<"revised_at">> => At};
birth(lot, #{<<"seeds">> := N} = F, #{id := I}, At) ->
    Fee = case ?F("re-fee-down") of true -> trunc(N * 0.25); false -> round(N * 0.25) end,
    State = case F of
        #{<<"moisture">> := M} when M =< 8 -> case ?F("st-begin-drying") of true -> <<"drying">>; false -> <<"received">> end;
        _ -> <<"received">>
    end,
    #{<<"id">> => <<"lot_", (chars(12))/binary>>, <<"grower">> => I, <<"fee">> => Fee, <<"state">> => State,
      <<"received_at">> => At, <<"changed_at">> => At};
birth(trial, #{<<"lot">> := L}, _, At) ->
    {ok, Ms} = times:parse(At),
    Days = case ?F("re-due-days") of true -> 20; false -> 21 end,
    #{<<"id">> => uuid(), <<"number">> => store:next({trial, case ?F("re-number-all") of true -> all; false -> L end}),
      <<"state">> => <<"running">>, <<"begun_at">> => At, <<"due_at">> => times:iso(Ms + Days * 86400000)};
birth(order, _, #{id := I}, At) ->
    #{<<"id">> => <<"wd-", (string:lowercase(binary:encode_hex(crypto:strong_rand_bytes(5))))/binary>>, <<"applicant">> => I,
      <<"state">> => <<"asked">>, <<"asked_at">> => At};
birth(note, _, #{id := I}, At) -> #{<<"id">> => store:next(note_id), <<"author">> => I, <<"written_at">> => At};
birth(listener, _, #{id := I}, _) ->
    #{<<"id">> => uuid(), <<"owner">> => I, <<"secret">> => <<"seal_", (big(32))/binary>>}.

chars(N) -> << <<(element(B rem 36 + 1, list_to_tuple("abcdefghijklmnopqrstuvwxyz0123456789")))>> || <<B>> <= crypto:strong_rand_bytes(N) >>.
big(N) ->
    All = list_to_tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    << <<(element(B rem 62 + 1, All))>> || <<B>> <= crypto:strong_rand_bytes(N) >>.
uuid() ->
    <<A:32, B:16, _:4, C:12, _:2, D:14, E:48>> = crypto:strong_rand_bytes(16),
    list_to_binary(io_lib:format("~8.16.0b-~4.16.0b-4~3.16.0b-~4.16.0b-~12.16.0b", [A, B, C, 16#8000 bor D, E])).

%% The state that a row enters, with the timers of that state.
enter(Res, Id, State, Row, Now) ->
    Stamp = case Row of
        #{stamp := S, <<"state">> := <<"received">>} when Res =:= lot ->
            case ?F("st-lapse-drying") of true -> S; false -> store:next(stamp) end;
        _ -> store:next(stamp)
    end,
    case {Res, State} of
        {lot, <<"received">>} ->
            store:timer(Now + case ?F("st-lapse-late") of true -> 15; false -> 14 end * 86400000, {row, lot, Id, lapse, Stamp});
        {trial, <<"running">>} ->
            {ok, At} = times:parse(maps:get(<<"due_at">>, Row)),
            store:timer(At, {row, trial, Id, fade, Stamp});
        {order, <<"asked">>} ->
            case ?F("st-expire-asked") of
                true -> store:timer(Now + 7 * 86400000, {row, order, Id, expire, {from, Now}});
                false -> ok
            end;
        {order, <<"granted">>} ->
            case ?F("st-expire-asked") of
                true -> ok;
                false -> store:timer(Now + 7 * 86400000, {row, order, Id, expire, Stamp})
            end;
        _ -> ok
    end,
    Row#{<<"state">> => State, stamp => Stamp}.

timed(Res, Id, Move, Stamp, Now) ->
    case store:get(Res, Id) of
        #{stamp := Stamp} = Row -> timed(Res, Row, Move, Now);
        #{<<"state">> := <<"granted">>} = Row when is_tuple(Stamp) -> timed(Res, Row, Move, Now);
        _ -> ok
    end.
timed(Res, Row, Move, Now) -> moved(Res, Row, Move, #{}, #q{now = Now}, clock).

%% From where a transition leads, or the error that it is refused with.
may_move(Res, Move, #{<<"state">> := State} = Row, Sent) ->
    {From, Else} = from(Res, Move),
    Twist = {persistent_term:get(fault), Res, Move, State},
    Odd = lists:member(Twist, [{"st-store-received", lot, store, <<"received">>}, {"st-withdraw-handed", order, withdraw, <<"handed">>},
        {"st-refuse-granted", order, refuse, <<"granted">>}, {"st-discard-stored", lot, discard, <<"stored">>}]),
    case lists:member(State, From) orelse Odd of
        false -> Else;
        true -> guard(Res, Move, Row, Sent)
    end.

from(lot, dry) -> {[<<"received">>], wrong_state};
from(lot, store) -> {[<<"drying">>], wrong_state};
from(lot, spend) -> {[<<"stored">>], wrong_state};
from(lot, discard) -> {[<<"received">>, <<"drying">>], case ?F("er-discard-late") of true -> wrong_state; false -> too_late end};
from(lot, lapse) -> {[<<"received">>], wrong_state};
from(trial, _) -> {[<<"running">>], wrong_state};
from(order, withdraw) -> {[<<"asked">>, <<"granted">>], too_late};
from(order, hand) -> {[<<"granted">>], wrong_state};
from(order, expire) -> {[<<"granted">>], wrong_state};
from(order, _) -> {[<<"asked">>], wrong_state}.

guard(lot, store, Row, _) ->
    case Row of
        #{<<"moisture">> := M} when M < 8 -> ok;
        #{<<"moisture">> := M} when M == 8 -> case ?F("st-damp-edge") of true -> too_damp; false -> ok end;
        #{<<"moisture">> := _} -> too_damp;
        _ -> case ?F("st-damp-unknown") of true -> ok; false -> too_damp end
    end;
guard(trial, finish, #{<<"sown">> := N}, #{<<"sprouted">> := S}) when S > N ->
    case ?F("st-sprouts") of true -> ok; false -> too_many_sprouts end;
guard(order, grant, #{<<"lot">> := L, <<"seeds">> := N}, _) ->
    #{<<"seeds">> := All} = Lot = store:get(lot, L),
    Left = case ?F("st-grant-over") of true -> All; false -> store:derived(lot, <<"seeds_left">>, Lot) end,
    if N =< Left -> ok; true -> not_enough end;
guard(_, _, _, _) -> ok.

to(lot, dry) -> <<"drying">>;
to(lot, store) -> <<"stored">>;
to(lot, spend) -> <<"spent">>;
to(lot, _) -> <<"discarded">>;
to(trial, finish) -> <<"done">>;
to(trial, fade) -> case ?F("st-fade-done") of true -> <<"done">>; false -> <<"abandoned">> end;
to(trial, abandon) -> <<"abandoned">>;
to(order, grant) -> <<"granted">>;
to(order, refuse) -> <<"refused">>;
to(order, withdraw) -> <<"withdrawn">>;
to(order, hand) -> <<"handed">>;
to(order, expire) -> <<"expired">>.

%% A transition that may be: what it sets, emits, and what follows.
moved(Res, Row, Move, Sent, #q{now = Now}, _) ->
    At = times:iso(Now),
    Id = maps:get(<<"id">>, Row),
    Set = maps:merge(sets(Res, Move, Row, Sent, At), write(Res, Move, At)),
    Before = Row,
    Next = store:put(Res, Id, enter(Res, Id, to(Res, Move), maps:merge(Row, Set), Now)),
    emit({Move, Res}, Res, Before, Next, Now),
    follow(Res, Move, Next, Now),
    store:get(Res, Id).

sets(lot, discard, _, #{<<"reason">> := R}, _) -> #{<<"reason">> => R};
sets(lot, store, _, _, At) -> #{<<"stored_at">> => At};
sets(trial, finish, #{<<"sown">> := N}, #{<<"sprouted">> := S}, At) ->
    V = S * 1000.0 / N,
    #{<<"sprouted">> => S, <<"vigour">> => case ?F("re-vigour-down") of true -> trunc(V); false -> round(V) end, <<"ended_at">> => At};
sets(trial, fade, _, _, At) -> case ?F("re-fade-ended") of true -> #{}; false -> #{<<"ended_at">> => At} end;
sets(trial, _, _, _, At) -> #{<<"ended_at">> => At};
sets(order, refuse, _, #{<<"reply">> := R}, _) -> #{<<"reply">> => R};
sets(order, hand, _, _, At) -> #{<<"handed_at">> => At};
sets(_, _, _, _, _) -> #{}.

write(lot, Move, At) ->
    case Move =:= dry andalso ?F("re-changed-at") of true -> #{}; false -> #{<<"changed_at">> => At} end;
write(_, _, _) -> #{}.

follow(order, hand, #{<<"lot">> := L}, Now) ->
    Lot = store:get(lot, L),
    case store:derived(lot, <<"seeds_left">>, Lot) of
        0 ->
            case may_move(lot, spend, Lot, #{}) of
                ok -> case ?F("st-no-spend") of true -> ok; false -> moved(lot, Lot, spend, #{}, #q{now = Now}, clock) end;
                _ -> ok
            end;
        _ -> ok
    end;
follow(_, _, _, _) -> ok.

%% An update or replacement that changes something; one that changes nothing leaves all as it is.
changed(_, Op, Old, Old, #q{}) when Op =/= always -> Old;
changed(Res, Op, Old, New0, #q{now = Now}) ->
    New = maps:merge(New0, case Res of
        lot -> #{<<"changed_at">> => times:iso(Now)};
        taxon -> case Op =:= update andalso ?F("re-revised-at") of true -> #{}; false -> #{<<"revised_at">> => times:iso(Now)} end;
        _ -> #{}
    end),
    Row = store:put(Res, maps:get(shapes:id(Res), New), New),
    emit({Op, Res}, Res, Old, Row, Now),
    Row.

%% A deletion, with what goes along.
gone(Res, Row, Id, Now) ->
    case Res of
        lot ->
            Trials = case ?F("re-trials-stay") of true -> []; false -> store:of_parent(trial, <<"lot">>, Id) end,
            [store:drop(trial, maps:get(<<"id">>, T)) || T <- Trials],
            [begin
                case ?F("ev-note-along") of true -> ok; false -> emit({delete, note}, note, N, N, Now) end,
                store:drop(note, maps:get(<<"id">>, N))
            end || N <- store:of_parent(note, <<"lot">>, Id)];
        _ -> ok
    end,
    emit({delete, Res}, Res, Row, Row, Now),
    store:drop(Res, Id).

emit(Op, Res, Before, Row, Now) ->
    Twist = persistent_term:get(fault),
    case kind(Op, Before, Row, Twist) of
        none -> ok;
        Kind ->
            Id = maps:get(shapes:id(Res), Row),
            Tell = fun() -> told:emit(Kind, Res, Id, Row, payload(Kind, Res, Before, Row), Now) end,
            Tell(),
            if Twist =:= "ev-twice", Op =:= {hand, order} -> Tell(); true -> ok end
    end.

kind({store, lot}, _, _, "ev-no-stored") -> none;
kind({lapse, lot}, _, _, "ev-no-lapse") -> none;
kind({spend, lot}, _, _, "ev-no-spent") -> none;
kind({expire, order}, _, _, "ev-no-expire") -> none;
kind({fade, trial}, _, _, "ev-no-fade") -> none;
kind({upsert, taxon}, _, _, "ev-no-put-rename") -> none;
kind({update, taxon}, _, _, "ev-rename-any") -> <<"taxon.renamed">>;
kind({create, order}, _, _, "ev-asked-kind") -> <<"order.granted">>;
kind({A, taxon}, #{<<"name">> := Was}, #{<<"name">> := Is}, _) when A =:= update orelse A =:= upsert, Was =/= Is -> <<"taxon.renamed">>;
kind({create, lot}, _, _, _) -> <<"lot.received">>;
kind({store, lot}, _, _, _) -> <<"lot.stored">>;
kind({A, lot}, _, _, _) when A =:= discard; A =:= lapse -> <<"lot.discarded">>;
kind({spend, lot}, _, _, _) -> <<"lot.spent">>;
kind({A, trial}, _, _, _) when A =:= finish; A =:= abandon; A =:= fade -> <<"trial.ended">>;
kind({create, order}, _, _, _) -> <<"order.asked">>;
kind({grant, order}, _, _, _) -> <<"order.granted">>;
kind({A, order}, _, _, _) when A =:= refuse; A =:= withdraw; A =:= hand; A =:= expire -> <<"order.closed">>;
kind({delete, note}, _, _, _) -> <<"note.removed">>;
kind(_, _, _, _) -> none.

payload(<<"taxon.renamed">>, _, #{<<"name">> := Was}, #{<<"code">> := C, <<"name">> := Is}) ->
    W = case ?F("ev-was") of true -> Is; false -> Was end,
    fun(_, _) -> {obj, [{<<"taxon">>, C}, {<<"was">>, W}, {<<"is">>, Is}]} end;
payload(<<"trial.ended">>, _, _, #{<<"id">> := I, <<"lot">> := L, <<"state">> := S} = Row) ->
    Lost = case ?F("ev-vigour") of true -> []; false -> [{<<"vigour">>, maps:get(<<"vigour">>, Row, null)}] end,
    fun(_, _) -> {obj, [{<<"trial">>, I}, {<<"lot">>, L}, {<<"outcome">>, S} | Lost]} end;
payload(<<"order.granted">>, order, _, #{<<"lot">> := L, <<"seeds">> := N} = Row) ->
    Left0 = store:derived(lot, <<"seeds_left">>, store:get(lot, L)),
    Left = case ?F("ev-left") of true -> Left0 + N; false -> Left0 end,
    fun(Maker, Ed) -> {obj, [{<<"order">>, store:show(order, Row, Maker, Ed, event)}, {<<"seeds_left">>, Left}]} end;
payload(_, Res, _, Row) ->
    fun(Maker, Ed) -> store:show(Res, Row, Maker, Ed, event) end.
