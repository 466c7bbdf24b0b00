%% What each thing is made of, what is taken in of it, and how it is shown.
-module(shapes).
-export([spec/1, id/1, intake/6, fits/2, body/2, name_in/3, filter_type/2, words/2, show_enum/3]).
-include("granary.hrl").

id(taxon) -> <<"code">>;
id(_) -> <<"id">>.

spec(taxon) ->
    [{<<"code">>, {str, 0, none, <<"^[A-Z]{3,6}(-[0-9]{1,3})?$">>}, [id, req, imm]},
     {<<"name">>, {str, 2, 60}, [req]},
     {<<"family">>, {str, 1, 40}, []},
     {<<"rest_days">>, {int, 0, 400}, [req, {def, 30}]},
     {<<"protected">>, bool, [req, {def, false}]},
     {<<"lots">>, any, [ro]}, {<<"seeds_held">>, any, [ro]}, {<<"revised_at">>, any, [ro]}];
spec(lot) ->
    [{<<"id">>, any, [ro]},
     {<<"taxon">>, {ref, taxon}, [req, imm]},
     {<<"grower">>, any, [ro]},
     {<<"label">>, {str, 1, 80}, [req]},
     {<<"seeds">>, {int, 1, 1000000}, [req]},
     {<<"moisture">>, {num, 0, 60}, []},
     {<<"collected_on">>, {str, 0, none}, []},
     {<<"traits">>, {arr, {str, 1, 20}, 5, true}, [req, {def, []}]},
     {<<"place">>, {obj, [{<<"aisle">>, {enum, [<<"A">>, <<"B">>, <<"C">>, <<"D">>]}}, {<<"shelf">>, {int, 1, 40}}]}, []},
     {<<"seal">>, {str, 4, 20}, [wo]},
     {<<"remark">>, {str, 0, 200}, [{vis, [curator]}, {wr, [curator]}]},
     {<<"fee">>, any, [ro]}, {<<"seeds_left">>, any, [ro]}, {<<"state">>, any, [ro]}, {<<"reason">>, any, [ro]},
     {<<"received_at">>, any, [ro]}, {<<"stored_at">>, any, [ro]}, {<<"changed_at">>, any, [ro]}];
spec(trial) ->
    [{<<"id">>, any, [ro]}, {<<"number">>, any, [ro]},
     {<<"lot">>, {ref, lot}, [req, imm]},
     {<<"sown">>, {int, 10, 1000}, [req]},
     {<<"warmth">>, {enum, [<<"cool">>, <<"mild">>, <<"warm">>]}, [req, {def, <<"mild">>}]},
     {<<"sprouted">>, any, [ro]}, {<<"vigour">>, any, [ro]}, {<<"state">>, any, [ro]},
     {<<"begun_at">>, any, [ro]}, {<<"due_at">>, any, [ro]}, {<<"ended_at">>, any, [ro]}];
spec(order) ->
    [{<<"id">>, any, [ro]},
     {<<"lot">>, {ref, lot}, [req, imm]},
     {<<"applicant">>, any, [ro]},
     {<<"seeds">>, {int, 1, 5000}, [req]},
     {<<"purpose">>, {enum, [<<"breeding">>, <<"research">>, <<"display">>]}, [req, {def, <<"research">>}]},
     {<<"reply">>, any, [ro]}, {<<"state">>, any, [ro]}, {<<"asked_at">>, any, [ro]}, {<<"handed_at">>, any, [ro]}];
spec(note) ->
    [{<<"id">>, any, [ro]},
     {<<"lot">>, {ref, lot}, [req, imm]},
     {<<"author">>, any, [ro]},
     {<<"text">>, {str, 1, 500}, [req]},
     {<<"pinned">>, bool, [req, {def, false}]},
     {<<"written_at">>, any, [ro]}];
spec(listener) ->
    [{<<"id">>, any, [ro]}, {<<"owner">>, any, [ro]},
     {<<"url">>, {uri, 300}, [req]},
     {<<"kinds">>, {arr, kind, 10, false}, []},
     {<<"active">>, bool, [req, {def, true}]},
     {<<"secret">>, any, [ro]}].

kinds() ->
    [<<"taxon.renamed">>, <<"lot.received">>, <<"lot.stored">>, <<"lot.discarded">>, <<"lot.spent">>, <<"trial.ended">>,
     <<"order.asked">>, <<"order.granted">>, <<"order.closed">>, <<"note.removed">>, <<"*">>,
     <<"taxon.*">>, <<"lot.*">>, <<"trial.*">>, <<"order.*">>, <<"note.*">>].

%% The name that a field has in an edition, or none where it is not there.
name_in(old, lot, <<"label">>) -> <<"title">>;
name_in(old, order, <<"purpose">>) -> none;
name_in(_, _, F) -> F.

type_in(old, trial, <<"warmth">>, _) -> {enum, [<<"cool">>, <<"medium">>, <<"warm">>]};
type_in(_, _, _, T) -> T.

up(old, trial, <<"warmth">>, <<"medium">>) -> <<"mild">>;
up(_, _, _, V) -> V.

show_enum(old, <<"warmth">>, <<"mild">>) -> <<"medium">>;
show_enum(_, _, V) -> V.

filter_type(Res, F) -> {_, T, _} = lists:keyfind(F, 1, spec(Res)), T.

%% Takes what was sent: Mode is create, update or replace, Bound what the path says, Old the row as it is.
%% Comes to {ok, Fields} or {invalid, Violations} in the order in which they were sent, what is missing last.
intake(Res, Mode, {obj, Sent}, {Bound, Old}, User, Ed) ->
    Fields = [{name_in(Ed, Res, F), F, type_in(Ed, Res, F, T), Os} || {F, T, Os} <- spec(Res), name_in(Ed, Res, F) =/= none],
    Start = case Mode of update -> Old; _ -> Bound end,
    {Row, Bad} = lists:foldl(fun({K, V}, {R, B}) ->
        case lists:keyfind(K, 1, Fields) of
            false ->
                case Res =:= lot andalso ?F("re-lot-extra") of
                    true -> {R, B};
                    false -> {R, [bad(unknown, K, V, <<"no such field">>) | B]}
                end;
            {_, F, T, Os} ->
                case writable(F, Os, User) of
                    false -> {R, B};
                    true ->
                        case one(Res, Mode, F, T, Os, V, Bound, Old, Ed) of
                            {set, X} -> {R#{F => X}, B};
                            drop -> {maps:remove(F, R), B};
                            keep -> {R, B};
                            {bad, Vs} -> {R, lists:reverse([{Kd, path(K, P), Fd, Ex} || {Kd, P, Fd, Ex} <- Vs]) ++ B}
                        end
                end
        end
    end, {Start, []}, Sent),
    SentNames = [K || {K, _} <- Sent],
    Row2 = defaults(Res, Mode, Row, Fields, Ed),
    Missing = [bad(missing, N, undefined, expected(T)) || {N, F, T, Os} <- Fields, Mode =/= update, lists:member(req, Os),
        not lists:member(N, SentNames), not maps:is_key(F, Row2)],
    case rules(Res, Row2, lists:reverse(Bad)) ++ Missing of
        [] -> {ok, Row2};
        Vs -> {invalid, Vs}
    end;
intake(_, _, V, _, _, _) -> {invalid, [bad(type, <<>>, V, <<"object">>)]}.

writable(_, Os, User) ->
    not lists:member(ro, Os) andalso
        case lists:keyfind(wr, 1, Os) of
            {_, Us} -> lists:member(User, Us) orelse ?F("re-remark-written");
            false -> true
        end.

one(Res, Mode, F, T, Os, V, Bound, Old, Ed) ->
    Req = lists:member(req, Os),
    Imm = lists:member(imm, Os) andalso not (?F("re-taxon-moved") andalso F =:= <<"taxon">> andalso Res =:= lot),
    case Bound of
        #{F := V} -> keep;
        #{F := X} -> {bad, [bad(value, <<>>, V, X)]};
        _ when V =:= null, Mode =:= update, not Req ->
            case F =:= <<"family">> andalso ?F("en-null-kept") of true -> keep; false -> drop end;
        _ when V =:= null -> {bad, [bad(type, <<>>, V, expected(T))]};
        _ when Mode =:= update, Imm ->
            case Old of #{F := V} -> keep; _ -> {bad, [bad(value, <<>>, V, <<"what it was">>)]} end;
        _ ->
            Was = case Old of #{F := O} when Mode =:= update -> O; _ -> Mode end,
            case fits(T, merged(Was, V)) of
                {ok, X} -> {set, up(Ed, Res, F, X)};
                {bad, Vs} -> {bad, Vs}
            end
    end.

merged(update, {obj, Sent}) -> merged({obj, []}, {obj, Sent});
merged({obj, Was}, {obj, Sent}) ->
    L = lists:foldl(fun({K, null}, A) -> lists:keydelete(K, 1, A);
                       ({K, V}, A) -> lists:keystore(K, 1, A, {K, V}) end, Was, Sent),
    {obj, L};
merged(_, V) -> V.

defaults(_, update, Row, _, _) -> Row;
defaults(Res, _, Row, _, Ed) ->
    lists:foldl(fun({F, _, Os}, R) ->
        case {lists:keyfind(def, 1, Os), R, {persistent_term:get(fault), F, Ed}} of
            {_, #{F := _}, _} -> R;
            {_, _, {"re-warmth-default", <<"warmth">>, _}} -> R#{F => <<"cool">>};
            {_, _, {"ve-purpose", <<"purpose">>, old}} -> R#{F => <<"display">>};
            {_, _, {"re-sown-missing", <<"sown">>, _}} -> R#{F => 100};
            {{def, D}, _, _} -> R#{F => D};
            _ -> R
        end
    end, Row, spec(Res)).

%% A rule that spans fields is told beside the others, where the fields themselves are well.
rules(taxon, #{<<"protected">> := true, <<"rest_days">> := D}, Bad) when D < 10 ->
    case ?F("re-rest-rule") of
        true -> Bad;
        false -> Bad ++ [bad(value, <<"rest_days">>, D, <<"at least 10 days for what is protected">>)]
    end;
rules(_, _, Bad) -> Bad.

bad(Kind, Path, Found, Expected) -> {Kind, Path, Found, Expected}.
path(K, <<>>) -> K;
path(K, P) -> <<K/binary, ".", P/binary>>.

%% A body of an endpoint that states its own.
body(finish, Sent) -> inline(Sent, [{<<"sprouted">>, {int, 0, none}}], closed);
body(discard, Sent) -> inline(Sent, [{<<"reason">>, {str, 3, 100}}], free);
body(refuse, Sent) -> inline(Sent, [{<<"reply">>, {str, 1, 200}}], free).

inline({obj, Sent}, Fields, How) ->
    Bad = lists:append([case lists:keyfind(K, 1, Fields) of
        false when How =:= closed -> [bad(unknown, K, V, <<"no such field">>)];
        false -> [];
        {_, T} -> case fits(T, V) of {ok, _} -> []; {bad, Vs} -> [{Kd, path(K, P), F, E} || {Kd, P, F, E} <- Vs] end
    end || {K, V} <- Sent]),
    Missing = [bad(missing, F, undefined, expected(T)) || {F, T} <- Fields, not lists:keymember(F, 1, Sent)],
    case Bad ++ Missing of
        [] -> {ok, maps:from_list([{F, element(2, fits(T, jot:get(F, {obj, Sent})))} || {F, T} <- Fields])};
        Vs -> {invalid, Vs}
    end;
inline(V, _, _) -> {invalid, [bad(type, <<>>, V, <<"object">>)]}.

%% Whether a value fits a type: {ok, Value} or {bad, Violations}.
fits(any, V) -> {ok, V};
fits({ref, _}, V) when is_binary(V) -> {ok, V};
fits(bool, V) when is_boolean(V) -> {ok, V};
fits({int, Lo, Hi}, V) when is_float(V), V == trunc(V) -> fits({int, Lo, Hi}, trunc(V));
fits({int, Lo, Hi} = T, V) when is_integer(V) -> within(T, V, Lo, Hi);
fits({num, Lo, Hi} = T, V0) when is_number(V0) ->
    V = if V0 == trunc(V0) -> trunc(V0); true -> V0 end,
    within(T, V, Lo, case ?F("re-moisture-bound") of true -> 100; false -> Hi end);
fits({enum, L} = T, V) ->
    case lists:member(V, L) of true -> {ok, V}; false -> {bad, [bad(kind_of(is_binary(V)), <<>>, V, expected(T))]} end;
fits({str, Lo, Hi}, V) when is_binary(V) ->
    N = case Hi =:= 80 andalso ?F("re-label-bytes") of true -> byte_size(V); false -> length(unicode:characters_to_list(V)) end,
    case N >= Lo andalso (Hi =:= none orelse N =< Hi) of
        true -> {ok, V};
        false -> {bad, [bad(value, <<>>, V, expected({str, Lo, Hi}))]}
    end;
fits({str, _, _, Re} = T, V) when is_binary(V) ->
    Opts = case ?F("re-code-case") of true -> [caseless]; false -> [] end,
    case re:run(V, Re, [dollar_endonly, {capture, none} | Opts]) of
        match -> {ok, V};
        nomatch -> {bad, [bad(value, <<>>, V, expected(T))]}
    end;
fits({uri, Hi} = T, V) when is_binary(V) ->
    case length(unicode:characters_to_list(V)) =< Hi andalso (uri(V) orelse ?F("re-url-free")) of
        true -> {ok, V};
        false -> {bad, [bad(value, <<>>, V, expected(T))]}
    end;
fits(kind, V) when is_binary(V) ->
    case lists:member(V, kinds()) of true -> {ok, V}; false -> {bad, [bad(value, <<>>, V, expected(kind))]} end;
fits({arr, _, Max, _} = T, V) when is_list(V), length(V) > Max -> {bad, [bad(value, <<>>, V, expected(T))]};
fits({arr, Item, _, Unique} = T, V) when is_list(V) ->
    Rs = [{I, fits(Item, X)} || {I, X} <- lists:zip(lists:seq(0, length(V) - 1), V)],
    case [{Kd, path(integer_to_binary(I), P), F, E} || {I, {bad, Vs}} <- Rs, {Kd, P, F, E} <- Vs] of
        [] when Unique ->
            case length(lists:usort(V)) =:= length(V) orelse ?F("re-traits-twice") of
                true -> {ok, V};
                false -> {bad, [bad(value, <<>>, V, expected(T))]}
            end;
        [] -> {ok, V};
        Vs -> {bad, Vs}
    end;
fits({obj, Fields}, {obj, Sent}) ->
    Bad = lists:append([case lists:keyfind(K, 1, Fields) of
        false -> [bad(unknown, K, V, <<"no such field">>)];
        {_, T} -> case fits(T, V) of {ok, _} -> []; {bad, Vs} -> [{Kd, path(K, P), F, E} || {Kd, P, F, E} <- Vs] end
    end || {K, V} <- Sent]),
    Missing = [bad(missing, F, undefined, expected(T)) || {F, T} <- Fields, not lists:keymember(F, 1, Sent)],
    case Bad ++ Missing of
        [] -> {ok, {obj, [{F, element(2, fits(T, jot:get(F, {obj, Sent})))} || {F, T} <- Fields]}};
        Vs -> {bad, Vs}
    end;
fits(T, V) -> {bad, [bad(type, <<>>, V, expected(T))]}.

within(T, V, Lo, Hi) ->
    case V >= Lo andalso (Hi =:= none orelse V =< Hi) of
        true -> {ok, V};
        false -> {bad, [bad(value, <<>>, V, expected(T))]}
    end.

kind_of(true) -> value;
kind_of(false) -> type.

uri(V) ->
    re:run(V, "^[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9._~!$&'()*+,;=:@%\\[\\]-]*)?[A-Za-z0-9._~!$&'()*+,;=:@%/-]*"
        "(\\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?(#[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?$",
        [dollar_endonly, {capture, none}]) =:= match
        andalso re:run(V, "%(?![0-9A-Fa-f]{2})", [{capture, none}]) =:= nomatch.

expected({str, Lo, none}) -> io("a text of at least ~p characters", [Lo]);
expected({str, Lo, Hi}) -> io("a text of ~p to ~p characters", [Lo, Hi]);
expected({str, _, _, Re}) -> io("a text like ~s", [Re]);
expected({int, Lo, none}) -> io("a whole number of at least ~p", [Lo]);
expected({int, Lo, Hi}) -> io("a whole number from ~p to ~p", [Lo, Hi]);
expected({num, Lo, Hi}) -> io("a number from ~p to ~p", [Lo, Hi]);
expected({enum, L}) -> io("one of ~s", [lists:join(", ", L)]);
expected({arr, _, Max, _}) -> io("a list of at most ~p", [Max]);
expected({obj, _}) -> <<"a map">>;
expected({ref, R}) -> io("the identifier of a ~s", [R]);
expected({uri, _}) -> <<"an address">>;
expected(kind) -> <<"a kind of event">>;
expected(bool) -> <<"true or false">>;
expected(any) -> <<"a value">>.

io(F, A) -> unicode:characters_to_binary(io_lib:format(F, A)).

%% What is told of violations, and the place of the first.
words([{_, P, _, _} | _] = Vs, Pointer) ->
    {P, [{obj, [{<<"in">>, <<"body">>}, {<<"path">>, place(Q, Pointer)}] ++ found(F) ++ [{<<"expected">>, E}]} || {_, Q, F, E} <- Vs]}.

place(P, false) -> P;
place(P, true) -> iolist_to_binary([[$/, X] || X <- binary:split(P, <<".">>, [global])]).

found(undefined) -> [{<<"found">>, <<"nothing">>}];
found(V) -> [{<<"found">>, unicode:characters_to_binary(lists:sublist(unicode:characters_to_list(iolist_to_binary(jot:encode(V))), 100))}].
