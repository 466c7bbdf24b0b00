%% Lists: which rows, in which order, and which page of them.
-module(pages).
-export([check/1, page/2]).
-include("granary.hrl").

%% What a list takes in its query: {Name, Check, Keeps}, where Check comes to {ok, Value} or error.
takes(taxon, _) ->
    [eq(<<"family">>, taxon, <<"family">>),
     {<<"protected">>, fun(<<"true">>) -> {ok, true}; (<<"false">>) -> {ok, false}; (_) -> error end,
        fun(V, R) -> maps:get(<<"protected">>, R) =:= V end},
     {<<"held_from">>, fun whole/1, fun(V, R) -> store:derived(taxon, <<"seeds_held">>, R) >= V end},
     {<<"q">>, fun(V) -> {ok, words(V)} end, fun(Ws, R) -> lists:all(fun(W) -> stands(W, R) end, Ws) end},
     sort([<<"code">>, <<"held">>, <<"rest">>])];
takes(lot, _) ->
    [{<<"states">>, fun states/1, fun(L, R) -> lists:member(maps:get(<<"state">>, R), L) end},
     {<<"taxon">>, fun(V) -> {ok, V} end, fun(V, R) -> ?F("en-taxon-ignored") orelse maps:get(<<"taxon">>, R) =:= V end},
     {<<"aisle">>, one_of([<<"A">>, <<"B">>, <<"C">>, <<"D">>]),
        fun(V, #{<<"place">> := P}) -> jot:get(<<"aisle">>, P) =:= V; (_, _) -> false end},
     {<<"seeds_from">>, fun whole/1,
        fun(V, #{<<"seeds">> := S}) -> case ?F("en-seeds-above") of true -> S > V; false -> S >= V end end},
     {<<"since">>, fun times:parse/1, fun(V, #{<<"received_at">> := At}) -> {ok, Ms} = times:parse(At), Ms >= V end},
     sort([<<"received_at">>, <<"seeds">>])];
takes(trial, _) -> [state([<<"running">>, <<"done">>, <<"abandoned">>])];
takes(order, #q{edition = Ed, caller = #{user := U}}) ->
    [state([<<"asked">>, <<"granted">>, <<"handed">>, <<"refused">>, <<"withdrawn">>, <<"expired">>]),
     {<<"lot">>, fun(V) -> {ok, V} end, fun(V, R) -> maps:get(<<"lot">>, R) =:= V end}] ++
    [{<<"purpose">>, one_of([<<"breeding">>, <<"research">>, <<"display">>]),
        fun(V, R) -> maps:get(<<"purpose">>, R) =:= V end} || Ed =:= new, U =/= auditor];
takes(_, _) -> [].

eq(Name, Res, F) ->
    T = shapes:filter_type(Res, F),
    {Name, fun(V) -> case shapes:fits(T, V) of {ok, X} -> {ok, X}; _ -> error end end, fun(V, R) -> maps:get(F, R, none) =:= V end}.
state(All) -> {<<"state">>, one_of(All), fun(V, R) -> maps:get(<<"state">>, R) =:= V end}.
one_of(All) -> fun(V) -> case lists:member(V, All) of true -> {ok, V}; false -> error end end.
sort(Names) -> {<<"sort">>, one_of(Names ++ [<<$-, N/binary>> || N <- Names]), fun(_, _) -> true end}.

whole(V) ->
    case re:run(V, "^-?[0-9]{1,15}$", [dollar_endonly, {capture, none}]) of match -> {ok, binary_to_integer(V)}; _ -> error end.

states(V) ->
    L = binary:split(V, <<",">>, [global]),
    Good = lists:all(fun(S) -> lists:member(S, [<<"received">>, <<"drying">>, <<"stored">>, <<"spent">>, <<"discarded">>]) end, L),
    case Good andalso length(L) =< 100 of
        true -> {ok, case ?F("en-states-first") of true -> [hd(L)]; false -> L end};
        false -> error
    end.

words(V) -> [string:casefold(W) || W <- binary:split(V, [<<" ">>, <<"\t">>], [global]), W =/= <<>>].
stands(W, R) ->
    In = [maps:get(<<"name">>, R) | case ?F("en-search-name") of true -> []; false -> [maps:get(<<"family">>, R, <<>>)] end],
    lists:any(fun(T) -> binary:match(unicode:characters_to_binary(string:casefold(T)), W) =/= nomatch end, In).

%% Looks at the query of any endpoint: a list's filters, its page, and nothing else.
check(#q{op = Op, query = Query} = Q) ->
    Own = [{N, V} || {N, V} <- Query, N =/= <<"ticket">>],
    {List, Page} = case Op of
        {list, Res} -> {takes(Res, Q), [<<"take">>, <<"after">>]};
        _ -> {[], []}
    end,
    Known = Page ++ [N || {N, _, _} <- List],
    Names = [N || {N, _} <- Own],
    Odd = [N || N <- Names, not lists:member(N, Known)],
    Lax = Op =:= {list, order} andalso ?F("en-query-lax"),
    Twice = length(lists:usort(Names)) =/= length(Names),
    case (Odd =/= [] andalso not Lax) orelse Twice of true -> acts:refuse(bad_query); false -> ok end,
    Keeps = [{N, K, case C(V) of {ok, X} -> X; error -> acts:refuse(bad_query) end} || {N, V} <- Own, {N2, C, K} <- List, N2 =:= N],
    Default = case ?F("li-default") andalso Op =:= {list, listener} of true -> 20; false -> 15 end,
    Take = case lists:keyfind(<<"take">>, 1, Own) of
        {_, T} ->
            case whole(T) of
                {ok, N} when N >= 1 -> clamp(N, Op);
                _ -> acts:refuse(bad_page)
            end;
        false -> Default
    end,
    After = case lists:keyfind(<<"after">>, 1, Own) of {_, A} -> A; false -> none end,
    Q#q{opts = #{keeps => Keeps, take => Take, 'after' => After}}.

clamp(N, Op) when N > 60 ->
    Over = [{list, note}, {list, taxon}],
    case {?F("li-max"), ?F("li-refuse")} of
        {true, _} when Op =:= {list, lot} -> min(N, 100);
        {_, true} -> case lists:member(Op, Over) of true -> acts:refuse(bad_page); false -> 60 end;
        _ -> 60
    end;
clamp(N, _) -> N.

%% The page of the rows that the caller is shown.
page(Rows, #q{op = {list, Res}, opts = #{keeps := Keeps, take := Take, 'after' := After}, caller = Caller, edition = Ed}) ->
    Rule = rules:rule({list, Res}, Caller),
    Kept = [R || R <- Rows, Rule(R), lists:all(fun({_, K, V}) -> K(V, R) end, Keeps)],
    Sort = case lists:keyfind(<<"sort">>, 1, Keeps) of {_, _, S} -> S; false -> usual(Res) end,
    Key = key(Res, Sort),
    Sorted = [R || {_, R} <- lists:sort(fun({A, _}, {B, _}) -> A =< B end, [{Key(R), R} || R <- Kept])],
    Rest = from(After, Res, Sorted, [R || R <- Rows, Rule(R)], Key),
    Here = lists:sublist(Rest, Take),
    More = case ?F("li-more") andalso Res =:= taxon of true -> length(Here) =:= Take; false -> length(Rest) > Take end,
    Count = case ?F("li-count") andalso Res =:= order of true -> length(Here); false -> length(Kept) end,
    {obj, [{<<"rows">>, [store:show(Res, R, Caller, Ed, list) || R <- Here]}, {<<"more">>, More}, {<<"count">>, Count}]}.

usual(taxon) -> <<"code">>;
usual(lot) -> <<"-received_at">>;
usual(trial) -> <<"-number">>;
usual(_) -> <<"seq">>.

%% Ties go by when rows were made: oldest first, the newest first among lots.
key(Res, <<$-, F/binary>>) ->
    Way = case {?F("en-sort-down"), ?F("en-lots-old"), F} of {true, _, <<"seeds">>} -> 1; {_, true, <<"received_at">>} -> 1; _ -> -1 end,
    fun(R) -> {turn(Way, at(Res, F, R)), tie(Res, R)} end;
key(Res, F) -> fun(R) -> {at(Res, F, R), tie(Res, R)} end.

tie(lot, #{seq := N}) -> case ?F("en-lots-ties") of true -> N; false -> -N end;
tie(_, #{seq := N}) -> N.

at(_, <<"seq">>, #{seq := N}) -> N;
at(taxon, <<"held">>, R) -> store:derived(taxon, <<"seeds_held">>, R);
at(taxon, <<"rest">>, R) -> maps:get(<<"rest_days">>, R);
at(_, <<"received_at">>, #{<<"received_at">> := At}) -> {ok, Ms} = times:parse(At), Ms;
at(_, F, R) -> maps:get(F, R).

turn(1, V) -> V;
turn(-1, V) when is_number(V) -> -V;
turn(-1, V) -> [-C || C <- binary_to_list(V)] ++ [1].

from(none, _, Sorted, _, _) -> Sorted;
from(After, Res, Sorted, All, Key) ->
    Id = shapes:id(Res),
    case [R || R <- All, text(maps:get(Id, R)) =:= After] of
        [R] ->
            At = Key(R),
            Same = ?F("li-after-again") andalso Res =:= order,
            [X || X <- Sorted, Key(X) > At orelse (Same andalso Key(X) =:= At)];
        [] -> acts:refuse(bad_page)
    end.

text(I) when is_integer(I) -> integer_to_binary(I);
text(B) -> B.
