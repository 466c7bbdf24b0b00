%% The rows, in memory, with their indexes, their timers, and what is derived of them.
-module(store).
-export([start/0, get/2, put/3, drop/2, rows/1, of_parent/3, next/1, derived/3, show/5, due/1, timer/2, first_due/0, etag/3]).
-include("granary.hrl").

start() ->
    [ets:new(T, [named_table, public, Kind]) || {T, Kind} <- [{rows, set}, {ord, ordered_set}, {ix, ordered_set},
        {seq, set}, {dues, ordered_set}, {rates, set}, {tokens, set}, {quotas, set}, {queues, set}]].

next(What) -> ets:update_counter(seq, What, 1, {What, 0}).

get(Res, Id) -> case ets:lookup(rows, {Res, Id}) of [{_, Row}] -> Row; [] -> none end.

%% Keeps a row, new or changed. References never change, but for the one fault that lets them.
put(Res, Id, Row0) ->
    Row = case Row0 of #{seq := _} -> Row0; _ -> Row0#{seq => next(Res)} end,
    #{seq := Seq} = Row,
    case get(Res, Id) of
        none -> ok;
        Old -> [ets:delete(ix, {Res, F, maps:get(F, Old), Seq}) || F <- refs(Res)]
    end,
    ets:insert(rows, {{Res, Id}, Row}),
    ets:insert(ord, {{Res, Seq}, Id}),
    [ets:insert(ix, {{Res, F, maps:get(F, Row), Seq}, Id}) || F <- refs(Res)],
    Row.

drop(Res, Id) ->
    #{seq := Seq} = Row = get(Res, Id),
    [ets:delete(ix, {Res, F, maps:get(F, Row), Seq}) || F <- refs(Res)],
    ets:delete(ord, {Res, Seq}),
    ets:delete(rows, {Res, Id}).

refs(lot) -> [<<"taxon">>];
refs(R) when R =:= trial; R =:= order; R =:= note -> [<<"lot">>];
refs(_) -> [].

%% All rows of a thing, in the order in which they were made.
rows(Res) -> [get(Res, Id) || Id <- ets:select(ord, [{{{Res, '_'}, '$1'}, [], ['$1']}])].
of_parent(Res, F, Id) -> [get(Res, R) || R <- ets:select(ix, [{{{Res, F, Id, '_'}, '$1'}, [], ['$1']}])].

derived(taxon, <<"lots">>, #{<<"code">> := C}) -> length(of_parent(lot, <<"taxon">>, C));
derived(taxon, <<"seeds_held">>, #{<<"code">> := C}) ->
    lists:sum([S || #{<<"seeds">> := S, <<"state">> := St} <- of_parent(lot, <<"taxon">>, C),
        St =:= <<"stored">> orelse (?F("re-held-all") andalso St =:= <<"drying">>)]);
derived(lot, <<"seeds_left">>, #{<<"id">> := I, <<"seeds">> := S}) ->
    S - lists:sum([N || #{<<"seeds">> := N, <<"state">> := St} <- of_parent(order, <<"lot">>, I),
        St =:= <<"granted">> orelse (St =:= <<"handed">> andalso not ?F("re-left-handed"))]);
derived(_, F, Row) -> maps:get(F, Row, undefined).

%% A row as a caller sees it in an edition; Why is read, list, made or event.
show(Res, Row, Caller, Ed, Why) ->
    Shown = rules:fields(Res, Caller, Why),
    {obj, lists:append([field(Res, F, Os, Row, Caller, Ed, Why) || {F, _, Os} <- shapes:spec(Res),
        Shown =:= all orelse lists:member(F, Shown)])}.

field(Res, F, Os, Row, #{user := User}, Ed, Why) ->
    Name = case ?F("ve-list-names") andalso Why =:= list of true -> F; false -> shapes:name_in(Ed, Res, F) end,
    Vis = case lists:keyfind(vis, 1, Os) of {_, Us} -> lists:member(User, Us); false -> true end,
    Hidden = Name =:= none orelse (lists:member(wo, Os) andalso not ?F("re-seal-shown"))
        orelse not (Vis orelse (?F("re-remark-listed") andalso Why =:= list))
        orelse (F =:= <<"secret">> andalso Why =/= made andalso not (?F("re-secret-again") andalso Why =:= read)),
    case Hidden of
        true -> [];
        false ->
            case derived(Res, F, Row) of
                undefined -> [];
                V -> [{Name, down(Res, F, Ed, V)}]
            end
    end.

down(trial, <<"vigour">>, old, V) -> case ?F("ve-vigour") of true -> V / 1; false -> V / 1000 end;
down(trial, <<"warmth">>, Ed, V) -> case ?F("ve-warmth") of true -> V; false -> shapes:show_enum(Ed, <<"warmth">>, V) end;
down(taxon, <<"lots">>, _, V) -> case ?F("re-lots-text") of true -> integer_to_binary(V); false -> V end;
down(_, _, _, V) -> V.

etag(Row, Shown, Ed) ->
    Of = case ?F("en-tag-stale") of
        true -> [maps:get(<<"id">>, Row), maps:get(<<"changed_at">>, Row)];
        false -> [jot:encode(Shown), atom_to_binary(Ed)]
    end,
    iolist_to_binary([$", binary:encode_hex(erlang:md5(Of)), $"]).

%% Timers: what is due by a time, in order.
timer(Ms, What) -> ets:insert(dues, {{Ms, next(timer)}, What}).
first_due() -> case ets:first(dues) of '$end_of_table' -> none; {Ms, _} -> Ms end.
due(Now) ->
    case ets:first(dues) of
        {Ms, _} = K when Ms =< Now -> [{_, What}] = ets:take(dues, K), {Ms, What};
        _ -> none
    end.
