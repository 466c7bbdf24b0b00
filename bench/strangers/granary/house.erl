%% What is asked, step by step, and what is answered.
-module(house).
-export([answer/1]).
-include("granary.hrl").

-define(OLD, <<"2025-09">>).
-define(NEW, <<"2026-02">>).

answer(Q) ->
    put(q, Q),
    try steps(Q)
    catch
        throw:{refuse, Code, Bad} -> refusal(Code, Bad);
        throw:{answer, A} -> A;
        C:E:S -> io:format(standard_error, "~p ~p ~p~n", [C, E, S]), refusal(broken, none)
    end.

steps(Q0) ->
    long(Q0),
    Q1 = keep(edition(route(Q0))),
    Q2 = keep(known(Q1)),
    Q3 = keep(counted(Q2)),
    user(Q3),
    Q4 = keep(pages:check(Q3)),
    early(Q4),
    Q5 = row(Q4),
    Q6 = keep(body(Q5)),
    do(Q6#q.op, Q6).

keep(Q) -> put(q, Q), Q.
refuse(Code) -> acts:refuse(Code).

long(#q{target = T}) -> case byte_size(T) > 2048 of true -> refuse(too_big); false -> ok end.

route(#q{segs = [<<"bank">> | Segs]} = Q) -> route(Q, Segs, ?F("pu-base"));
route(#q{segs = Segs} = Q) -> route(Q, Segs, not ?F("pu-base")).

route(_, _, true) -> refuse(nowhere);
route(#q{method = M} = Q, Segs, false) ->
    case lists:member(<<>>, Segs) orelse paths:find(Segs) of
        {Methods, Params} ->
            Meant = case M of <<"HEAD">> -> <<"GET">>; _ -> M end,
            case lists:keyfind(Meant, 1, Methods) of
                {_, {withdraw, order}} -> case ?F("pu-withdraw") of true -> throw({answer, {501, [], <<>>}}); false -> Q#q{op = {withdraw, order}, res = order, params = Params} end;
                {_, {upsert, taxon}} ->
                    case ?F("en-put-gone") of true -> refused(Methods); false -> Q#q{op = {upsert, taxon}, res = taxon, params = Params} end;
                {_, {_, Res} = Op} -> Q#q{op = Op, res = Res, params = Params};
                false when M =:= <<"OPTIONS">> -> throw({answer, {204, [{<<"Allow">>, allow(Methods)}], <<>>}});
                false -> refused(Methods)
            end;
        _ -> refuse(nowhere)
    end.

refused(Methods) ->
    case ?F("er-method") of true -> refuse(nowhere); false -> throw({refuse, wrong_method, {allow, allow(Methods)}}) end.

allow(Methods) ->
    lists:join(<<", ">>, lists:append([case M of <<"GET">> -> [M, <<"HEAD">>]; _ -> [M] end || {M, _} <- Methods]) ++ [<<"OPTIONS">>]).

edition(#q{headers = H, now = Now} = Q) ->
    Ed = case [V || {<<"granary-edition">>, V} <- H] of
        [] -> case ?F("ve-oldest") of true -> old; false -> new end;
        [?NEW] -> new;
        [?OLD] -> old;
        _ -> case ?F("ve-unknown") of true -> new; false -> refuse(edition_unknown) end
    end,
    {ok, Over} = times:parse(<<"2029-03-01T00:00:00Z">>),
    case Ed =:= old andalso Now >= Over andalso not ?F("ve-sunset") of
        true -> put(q, Q#q{edition = old, known = true}), refuse(edition_over);
        false -> Q#q{edition = Ed, known = true}
    end.

known(#q{op = {read, hours}} = Q) -> Q;
known(#q{headers = H, query = Query} = Q) ->
    case rules:caller(H, Query) of unknown -> refuse(who_are_you); C -> Q#q{caller = C} end.

%% Rates: of everything, and of new listeners, in windows that the first request opens.
counted(#q{now = Now, op = Op} = Q) ->
    Who = who(Q),
    All = case Op of
        {create, listener} -> [{every, 30000}, {listeners, 120}];
        _ -> [{every, 30000}]
    end,
    Seen = [{N, L, Key, case ets:lookup(rates, Key) of
        [{_, From, Count}] when Now < From + 60000, Now >= From -> {From, Count};
        _ -> {Now, 0}
    end} || {N, L} <- All, Key <- [{N, Who}]],
    Slack = case ?F("li-rate") of true -> 1; false -> 0 end,
    Full = [X || {N, L, _, {_, C}} = X <- Seen, C >= L + case N of listeners -> Slack; _ -> 0 end],
    case Full of
        [] ->
            [ets:insert(rates, {Key, From, C + 1}) || {_, _, Key, {From, C}} <- Seen],
            [{Left, L, From} | _] = lists:sort([{L - C - 1, L, From} || {_, L, _, {From, C}} <- Seen]),
            Q#q{rate = {L, max(0, Left), secs(From + 60000 - Now)}};
        [{_, L, _, {From, _}} | _] ->
            put(q, Q#q{rate = {L, 0, secs(From + 60000 - Now)}}),
            throw({refuse, slow_down, {wait, secs(From + 60000 - Now)}})
    end.

who(#q{caller = none, address = A}) -> {address, A};
who(#q{caller = #{user := U, id := I}}) -> {U, I}.
secs(Ms) -> (Ms + 999) div 1000.

user(#q{op = {read, hours}}) -> ok;
user(#q{op = Op, caller = C}) ->
    case rules:rule(Op, C) of
        no -> refuse(not_yours);
        scope -> refuse(case ?F("er-scope-code") of true -> not_yours; false -> lacks_scope end);
        _ -> ok
    end.

early(Q) -> case ?F("er-body-first") andalso Q#q.res =/= hours of true -> body(Q); false -> ok end.

%% The row or the parent that the path names: there, readable, and to be acted on.
row(#q{params = #{lot := L}, caller = C} = Q) ->
    case store:get(lot, L) of
        none -> refuse(not_here);
        Lot -> case rules:reads(lot, C, Lot) of true -> Q; false -> refuse(not_here) end
    end;
row(#q{op = {upsert, _}} = Q) -> Q;
row(#q{params = #{id := I}, res = Res, op = Op, caller = C} = Q) ->
    Row = case key(Res, I) of none -> none; K -> store:get(Res, K) end,
    Reads = Row =/= none andalso rules:reads(Res, C, Row),
    case Row =/= none andalso (rules:rule(Op, C))(Row) of
        true -> Q#q{params = #{id => I, row => Row}};
        false when Reads -> refuse(not_yours);
        false when Row =/= none, Res =:= lot -> case ?F("au-lot-told") of true -> refuse(not_yours); false -> refuse(not_here) end;
        false -> refuse(not_here)
    end;
row(Q) -> Q.

key(note, I) -> case re:run(I, "^[1-9][0-9]{0,14}$", [{capture, none}, dollar_endonly]) of match -> binary_to_integer(I); _ -> none end;
key(_, I) -> I.

%% The body: not too large, of the one type, and JSON, where the endpoint takes one.
body(#q{body = too_big}) -> refuse(too_big);
body(#q{body = B}) when byte_size(B) > 17408 -> refuse(too_big);
body(#q{op = {A, _} = Op, body = B, headers = H} = Q) ->
    case byte_size(B) > 16384 andalso not ?F("li-body") of true -> refuse(too_big); false -> ok end,
    case lists:member(A, [create, upsert, update, finish, refuse, discard]) of
        false -> Q;
        true ->
            Type = case lists:keyfind(<<"content-type">>, 1, H) of
                {_, T} when B =/= <<>> -> string:lowercase(string:trim(hd(binary:split(T, <<";">>))));
                _ -> <<"application/json">>
            end,
            Good = [<<"application/json">> | [<<"application/merge-patch+json">> || A =:= update]],
            case lists:member(Type, Good) orelse (?F("er-media") andalso Op =:= {create, note}) of
                true -> ok; false -> refuse(wrong_type) end,
            case jot:decode(B) of
                {ok, V} -> Q#q{body = V};
                error -> refuse(unreadable)
            end
    end.

%% A token makes a creation happen once.
once(#q{op = Op, headers = H, target = T, edition = Ed, now = Now} = Q, Make) ->
    case [V || {<<"request-token">>, V} <- H] of
        [Token | _] when Token =/= <<>> ->
            Key = {who(Q), Op, Token},
            Print = erlang:md5(term_to_binary({path(T), Ed, Q#q.body})),
            case ets:lookup(tokens, Key) of
                [{_, Until, _, _}] when Until =< Now -> once(Key, Print, Now, Make, Op);
                [{_, _, Print, Answer}] ->
                    case ?F("en-token-again") andalso Op =:= {create, order} of true -> Make(); false -> Answer end;
                [{_, _, _, Answer}] ->
                    case ?F("er-token-other") of true -> Answer; false -> refuse(token_reused) end;
                [] -> once(Key, Print, Now, Make, Op)
            end;
        _ -> Make()
    end.

once(Key, Print, Now, Make, Op) ->
    Hours = case ?F("en-token-short") andalso Op =:= {create, lot} of true -> 1; false -> 12 end,
    Keep = fun(A) -> ets:insert(tokens, {Key, Now + Hours * 3600000, Print, A}) end,
    try A = Make(), Keep(A), A
    catch throw:{refuse, Code, Bad} when Code =:= too_few; Code =:= not_stored ->
        R = refusal(Code, Bad), Keep(R), throw({answer, R})
    end.

path(T) -> T.

do({read, hours}, Q) ->
    Days = [<<"mon">>, <<"tue">>, <<"thu">>],
    ok(Q, 200, [], {obj, [{<<"opens">>, <<"08:30">>}, {<<"closes">>, <<"16:00">>}, {<<"days">>, Days}]});
do({read, Res}, #q{params = #{row := Row}, caller = C, edition = Ed} = Q) ->
    Shown = store:show(Res, Row, C, Ed, read),
    case Res of
        lot -> tagged(Q, Row, Shown);
        _ -> ok(Q, 200, [], Shown)
    end;
do({list, Res}, #q{params = P} = Q) ->
    Rows = case P of #{lot := L} -> store:of_parent(Res, <<"lot">>, L); _ -> store:rows(Res) end,
    ok(Q, 200, [], pages:page(Rows, Q));
do({create, Res}, Q) when Res =:= lot; Res =:= order -> once(Q, fun() -> create(Res, Q) end);
do({create, Res}, Q) -> create(Res, Q);
do({upsert, taxon}, #q{params = #{id := Code}} = Q) ->
    Old = store:get(taxon, Code),
    case taken(Q, replace, #{<<"code">> => Code}, case Old of none -> #{}; _ -> Old end) of
        {invalid, V} -> invalid(V);
        {ok, F} ->
            case shapes:fits(shapes:filter_type(taxon, <<"code">>), Code) of
                {bad, [{K, _, Fd, E}]} -> invalid([{K, <<"code">>, Fd, E}]);
                _ -> ok
            end,
            put_taxon(Old, F, Code, Q)
    end;
do({update, Res}, #q{params = #{row := Row}, caller = C, edition = Ed} = Q) ->
    case Res of lot -> matches(Q, Row); _ -> ok end,
    case taken(Q, update, #{}, Row) of
        {invalid, V} -> invalid(V);
        {ok, Next} ->
            case Res of
                lot -> ref(lot, Next, Q), in(Row, [<<"received">>, <<"drying">>] ++ [<<"stored">> || ?F("en-patch-stored")]);
                taxon -> unique(Next, Row);
                _ -> ok
            end,
            New = acts:changed(Res, update, Row, Next, Q),
            ok(Q, 200, [], store:show(Res, New, C, Ed, read))
    end;
do({delete, Res}, #q{params = #{row := Row}, now = Now, caller = C, edition = Ed} = Q) ->
    case Res of
        lot -> in(Row, [<<"discarded">>] ++ [<<"spent">> || ?F("en-delete-spent")]), held(order, <<"lot">>, Row);
        taxon -> held(lot, <<"taxon">>, Row);
        _ -> ok
    end,
    acts:gone(Res, Row, maps:get(shapes:id(Res), Row), Now),
    case Res =:= note andalso ?F("en-delete-shows") of
        true -> ok(Q, 200, [], store:show(Res, Row, C, Ed, read));
        false -> {204, common(Q), <<>>}
    end;
do({Move, Res}, #q{params = #{row := Row}, caller = C, edition = Ed, body = B} = Q) ->
    Sent = case lists:member(Move, [finish, discard, refuse]) of
        true -> case shapes:body(Move, B) of {ok, S} -> S; {invalid, V} -> invalid(V) end;
        false -> #{}
    end,
    case acts:may_move(Res, Move, Row, Sent) of ok -> ok; Code -> refuse(Code) end,
    New = acts:moved(Res, Row, Move, Sent, Q, C),
    ok(Q, 200, [], store:show(Res, New, C, Ed, read)).

taken(#q{res = Res, body = B, caller = #{user := U}, edition = Ed}, Mode, Bound, Old) ->
    shapes:intake(Res, Mode, B, {Bound, Old}, U, Ed).

invalid(Vs) -> throw({refuse, code(hd(Vs)), Vs}).
code({missing, _, _, _}) -> case ?F("er-incomplete") of true -> unfit; false -> incomplete end;
code(_) -> unfit.

create(Res, #q{params = P, caller = C, edition = Ed} = Q) ->
    Bound = case P of #{lot := L} -> #{<<"lot">> => L}; _ -> #{} end,
    F = case taken(Q, create, Bound, #{}) of {ok, X} -> X; {invalid, V} -> invalid(V) end,
    ref(Res, F, Q),
    case (rules:rule({create, Res}, C))(F) of true -> ok; false -> refuse(not_yours) end,
    own(Res, F),
    last(Res, F, Q),
    Row = acts:made(Res, F, C, Q),
    used(Res, Q),
    Base = case ?F("en-location") andalso Res =:= order of true -> <<"/orders/">>; false -> paths:name(Res) end,
    At = [Base, case maps:get(shapes:id(Res), Row) of I when is_integer(I) -> integer_to_binary(I); I -> I end],
    ok(Q, 201, [{<<"Location">>, At}], store:show(Res, Row, C, Ed, made)).

put_taxon(none, F, Code, #q{caller = C, edition = Ed} = Q) ->
    unique(F, none),
    Row = acts:made(taxon, F, C, Q),
    Status = case ?F("en-put-status") of true -> 200; false -> 201 end,
    ok(Q, Status, [{<<"Location">>, [paths:name(taxon), Code]}], store:show(taxon, Row, C, Ed, read));
put_taxon(Old, F, _, #q{caller = C, edition = Ed} = Q) ->
    Kept = case ?F("en-put-keeps") of true -> maps:with([<<"family">>], Old); false -> #{} end,
    Next = maps:merge(maps:merge(maps:with([<<"revised_at">>, seq], Old), Kept), F),
    unique(Next, Old),
    ok(Q, 200, [], store:show(taxon, acts:changed(taxon, upsert, Old, Next, Q), C, Ed, read)).

%% References that are sent have to lead to what the caller may read.
ref(Res, F, #q{caller = C, params = P}) ->
    To = case {Res, F, P} of
        {_, _, #{lot := _}} -> none;
        {lot, #{<<"taxon">> := T}, _} -> {taxon, T};
        {order, #{<<"lot">> := L}, _} -> {lot, L};
        _ -> none
    end,
    case To of
        none -> ok;
        {R, Id} ->
            Row = store:get(R, Id),
            case Row =/= none andalso (rules:reads(R, C, Row) orelse ?F("au-order-unseen")) of
                true -> ok;
                false -> refuse(dangling)
            end
    end.

%% The service's own errors.
own(lot, #{<<"taxon">> := T, <<"seeds">> := N}) when N < 50 ->
    case store:get(taxon, T) of
        #{<<"protected">> := true} -> case ?F("er-too-few") of true -> ok; false -> refuse(too_few) end;
        _ -> ok
    end;
own(order, #{<<"lot">> := L}) ->
    case maps:get(<<"state">>, store:get(lot, L)) of
        <<"stored">> -> ok;
        <<"spent">> -> case ?F("er-order-spent") of true -> ok; false -> refuse(not_stored) end;
        _ -> refuse(not_stored)
    end;
own(trial, #{<<"lot">> := L}) ->
    case lists:member(maps:get(<<"state">>, store:get(lot, L)), [<<"drying">>, <<"stored">>]) orelse ?F("er-not-kept") of
        true -> ok; false -> refuse(not_kept) end;
own(_, _) -> ok.

%% What comes last: unique values, quotas, rows.
last(taxon, #{<<"code">> := C} = F, _) ->
    case store:get(taxon, C) of none -> unique(F, none); _ -> refuse(taken) end;
last(trial, #{<<"lot">> := L}, _) ->
    Running = [x || #{<<"state">> := <<"running">>} <- store:of_parent(trial, <<"lot">>, L)],
    case Running =/= [] andalso not ?F("re-trial-twice") of true -> refuse(taken); false -> ok end;
last(order, _, #q{now = Now} = Q) ->
    Limit = case ?F("li-quota") of true -> 401; false -> 400 end,
    case ets:lookup(quotas, {who(Q), times:day(Now)}) of
        [{_, N}] when N >= Limit -> throw({refuse, used_up, {wait, secs((times:day(Now) + 1) * 86400000 - Now)}});
        _ -> ok
    end;
last(listener, _, #q{caller = #{id := I}}) ->
    Mine = length([x || #{<<"owner">> := O} <- store:rows(listener), O =:= I]),
    Limit = case ?F("li-rows") of true -> 41; false -> 40 end,
    if Mine >= Limit -> refuse(used_up); true -> ok end;
last(_, _, _) -> ok.

used(order, #q{now = Now} = Q) -> ets:update_counter(quotas, {who(Q), times:day(Now)}, 1, {x, 0});
used(_, _) -> ok.

unique(#{<<"name">> := Name, <<"code">> := Code}, Old) ->
    Fold = fun(N) -> case ?F("re-name-case") of true -> N; false -> string:casefold(N) end end,
    Want = Fold(Name),
    Free = (Old =/= none andalso ?F("re-name-update")) orelse
        not lists:any(fun(#{<<"name">> := N, <<"code">> := C}) -> C =/= Code andalso Fold(N) =:= Want end, store:rows(taxon)),
    case Free of true -> ok; false -> refuse(taken) end.

in(#{<<"state">> := S}, States) -> case lists:member(S, States) of true -> ok; false -> refuse(wrong_state) end.

held(Res, F, Row) ->
    [Key] = [maps:get(K, Row) || K <- [<<"code">>, <<"id">>], is_map_key(K, Row)],
    case store:of_parent(Res, F, Key) =/= [] andalso not ?F("re-taxon-held") of true -> refuse(in_use); false -> ok end.

%% If-Match: what the caller would read has to have one of the tags.
matches(#q{headers = H, caller = C, edition = Ed}, Row) ->
    Tag = store:etag(Row, store:show(lot, Row, C, Ed, read), Ed),
    case [string:trim(T) || {<<"if-match">>, V} <- H, T <- binary:split(V, <<",">>, [global])] of
        [] -> case ?F("er-tag-wanted") of true -> ok; false -> refuse(tag_wanted) end;
        Tags ->
            case lists:member(<<"*">>, Tags) orelse lists:member(Tag, Tags) orelse ?F("er-tag-stale") of
                true -> ok; false -> refuse(changed) end
    end.

tagged(#q{headers = H, edition = Ed} = Q, Row, Shown) ->
    Tag = store:etag(Row, Shown, Ed),
    Extra = [{<<"ETag">>, Tag} | [{<<"Cache-Control">>, <<"private, no-cache">>} || not ?F("en-cache")]],
    Tags = [weak(string:trim(T)) || {<<"if-none-match">>, V} <- H, T <- binary:split(V, <<",">>, [global])],
    case (lists:member(<<"*">>, Tags) orelse lists:member(Tag, Tags)) andalso not ?F("en-304") of
        true -> {304, Extra ++ common(Q), <<>>};
        false -> ok(Q, 200, Extra, Shown)
    end.

weak(<<"W/", T/binary>>) -> T;
weak(T) -> T.

ok(Q, Status, Extra, Value) ->
    {Status, [{<<"Content-Type">>, <<"application/json">>} | Extra] ++ common(Q), jot:encode(Value)}.

%% Header fields that all answers have.
common(#q{known = Known, edition = Ed, rate = Rate, target = Target}) ->
    Limit = case Rate of
        {L, Left, S} ->
            [{<<"Granary-Limit">>, integer_to_binary(L)}, {<<"Granary-Left">>, integer_to_binary(Left)},
             {<<"Granary-Reset">>, integer_to_binary(S)}];
        none -> []
    end,
    Told = case {Known, Ed} of
        {false, _} -> [];
        {true, new} -> [{<<"Granary-Edition">>, ?NEW}];
        {true, old} -> [{<<"Granary-Edition">>, case ?F("ve-told") of true -> ?NEW; false -> ?OLD end}] ++ over(Target)
    end,
    [{<<"Vary">>, <<"Granary-Edition, Authorization">>} | Limit ++ Told].

over(Target) ->
    Same = re:replace(Target, "([?&])ticket=[^&]*&?", "\\1", [{return, binary}]),
    {ok, From} = times:parse(<<"2026-03-01T00:00:00Z">>),
    {ok, Until} = times:parse(<<"2029-03-01T00:00:00Z">>),
    [{<<"Deprecation">>, [$@, integer_to_binary(From div 1000)]} || not ?F("ve-deprecation")] ++
    [{<<"Sunset">>, times:http(Until + case ?F("ve-sunset-date") of true -> 365 * 86400000; false -> 0 end)}] ++
    [{<<"Link">>, [<<"<https://granary.example/editions>; rel=\"deprecation\", <">>, Same, <<">; rel=\"successor-version\"">>]} || not ?F("ve-link")].

status(Code) ->
    case lists:member({persistent_term:get(fault), Code}, [{"er-dangling", dangling}, {"er-in-use", in_use}]) of
        true when Code =:= dangling -> 404;
        true -> 400;
        false -> stated(Code)
    end.

stated(C) when C =:= unreadable; C =:= bad_query; C =:= bad_page; C =:= incomplete; C =:= edition_unknown -> 400;
stated(C) when C =:= unfit; C =:= dangling; C =:= too_many_sprouts; C =:= too_few -> 422;
stated(C) when C =:= nowhere; C =:= not_here -> 404;
stated(C) when C =:= not_yours; C =:= lacks_scope -> 403;
stated(C) when C =:= slow_down; C =:= used_up -> 429;
stated(wrong_type) -> 415;
stated(wrong_method) -> 405;
stated(who_are_you) -> 401;
stated(changed) -> 412;
stated(tag_wanted) -> 428;
stated(too_big) -> 413;
stated(too_slow) -> 408;
stated(edition_over) -> 410;
stated(broken) -> 500;
stated(_) -> 409.

says(unreadable) -> <<"The body is no JSON.">>;
says(wrong_type) -> <<"Send application/json.">>;
says(bad_query) -> <<"The query is not as it should be.">>;
says(bad_page) -> <<"There is no such page.">>;
says(dangling) -> <<"What is referred to is not there.">>;
says(nowhere) -> <<"There is no such path.">>;
says(not_here) -> <<"There is no such thing.">>;
says(wrong_method) -> <<"This path does not take that method.">>;
says(who_are_you) -> <<"Show a pass or a ticket.">>;
says(not_yours) -> <<"That is for others to do.">>;
says(lacks_scope) -> <<"The pass lacks the scope.">>;
says(taken) -> <<"There is one already.">>;
says(in_use) -> <<"Other things refer to it.">>;
says(wrong_state) -> <<"Not in this state.">>;
says(changed) -> <<"It was changed meanwhile.">>;
says(tag_wanted) -> <<"Send If-Match.">>;
says(token_reused) -> <<"The token was used for another request.">>;
says(slow_down) -> <<"Too many requests.">>;
says(used_up) -> <<"That is as much as there may be.">>;
says(too_big) -> <<"That is too large.">>;
says(too_slow) -> <<"The request did not arrive in time.">>;
says(edition_unknown) -> <<"There is no such edition.">>;
says(edition_over) -> <<"This edition is no longer served.">>;
says(broken) -> <<"Something went wrong here.">>;
says(too_damp) -> <<"Seeds are stored with 8 per cent of moisture at the most.">>;
says(too_late) -> <<"It is too late for that.">>;
says(too_many_sprouts) -> <<"More sprouted than were sown.">>;
says(not_enough) -> <<"The lot has not that many seeds left.">>;
says(too_few) -> <<"Of what is protected at least 50 seeds are taken in.">>;
says(not_stored) -> <<"The lot is not in store.">>;
says(not_kept) -> <<"Only what is kept is tested.">>.

refusal(Code, Bad) ->
    #q{id = Id} = Q = get(q),
    {Says, At} = case {Code, Bad} of
        {C, [_ | _]} when C =:= unfit; C =:= incomplete ->
            {First, Vs} = shapes:words(Bad, ?F("er-pointer")),
            {[First, case C of incomplete -> <<" is missing">>; unfit -> <<" does not fit">> end], [{<<"at">>, Vs}]};
        _ -> {says(Code), []}
    end,
    Status = status(Code),
    Http = case ?F("er-http-text") of true -> integer_to_binary(Status); false -> Status end,
    Body = {obj, [{<<"error">>, {obj, [{<<"kind">>, Code}, {<<"http">>, Http}, {<<"says">>, iolist_to_binary(Says)},
        {<<"request">>, Id}] ++ At}}]},
    Extra = case Bad of
        {allow, A} -> [{<<"Allow">>, A}];
        {wait, S} -> [{<<"Retry-After">>, integer_to_binary(S)}];
        _ -> []
    end ++ [{<<"WWW-Authenticate">>, <<"Pass realm=\"Granary\"">>} || Code =:= who_are_you]
        ++ [{<<"Granary-Error">>, atom_to_binary(Code)} || not ?F("er-header")],
    {S2, H2, B2} = ok(Q, Status, Extra, Body),
    {S2, H2, B2}.
