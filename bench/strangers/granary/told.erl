%% What is told of changes: to whom, in what form, and how often it is tried.
-module(told).
-export([emit/6, sent/2, try_now/1]).
-include("granary.hrl").

waits() -> case ?F("ev-one-try") of true -> []; false -> [10000, 60000, 600000] end.

%% Tells every listener that hears of a kind and may read the row. Payload makes what one is told.
emit(Kind, Res, Id, Row, Payload, Now) ->
    Event = <<"ev-", (integer_to_binary(store:next(event)))/binary, "-", (binary:encode_hex(crypto:strong_rand_bytes(6)))/binary>>,
    [offer(L, Event, Kind, Res, Id, Row, Payload, Now) || L <- store:rows(listener)].

offer(#{<<"id">> := Lid, caller := Maker, edition := Ed0} = L, Event, Kind, Res, Id, Row, Payload, Now) ->
    Ed = case ?F("ve-hook") of true -> new; false -> Ed0 end,
    Active = maps:get(<<"active">>, L),
    Hears = hears(Kind, maps:get(<<"kinds">>, L, all)),
    Reads = rules:reads(Res, Maker, Row) orelse ?F("ev-everybody"),
    case Active andalso Hears andalso Reads of
        true ->
            At = times:iso(Now),
            Body = iolist_to_binary(jot:encode({obj, [{<<"event">>, Event}, {<<"kind">>, Kind}, {<<"when">>, At},
                {<<"body">>, Payload(Maker, Ed)}]})),
            Key = {Lid, Res, Id},
            Item = {Event, Kind, Body, waits()},
            case ets:lookup(queues, Key) of
                [{_, Q}] -> ets:insert(queues, {Key, Q ++ [Item]});
                [] -> ets:insert(queues, {Key, [Item]}), try_now(Key)
            end;
        false -> ok
    end.

hears(_, all) -> true;
hears(Kind, L) ->
    [Head, _] = binary:split(Kind, <<".">>),
    lists:any(fun(K) -> K =:= Kind orelse K =:= <<"*">> orelse K =:= <<Head/binary, ".*">> end, L).

%% Sends what stands first in a queue.
try_now({Lid, _, _} = Key) ->
    case {ets:lookup(queues, Key), store:get(listener, Lid)} of
        {[], _} -> ok;
        {_, none} -> ets:delete(queues, Key);
        {[{_, [_ | Rest]}], #{<<"active">> := false}} -> advance(Key, Rest);
        {[{_, [{Event, Kind, Body, _} | _]}], #{<<"url">> := Url, <<"secret">> := Secret}} ->
            At = integer_to_binary(times:now() div 1000),
            Signed = case ?F("ev-seal") of
                true -> [At, $:, Body];
                false -> [Event, $:, At, $:, Body]
            end,
            Mac = string:lowercase(binary:encode_hex(crypto:mac(hmac, sha256, Secret, Signed))),
            Desk = self(),
            Head = [{<<"Content-Type">>, <<"application/json">>}, {<<"Granary-Seal">>, [<<"at=">>, At, <<",sum=">>, Mac]}] ++
                case ?F("ev-kind-header") of true -> []; false -> [{<<"Granary-Kind">>, Kind}] end,
            spawn(fun() -> Desk ! {sent, Key, post:post(Url, Head, Body, 5000)} end)
    end.

%% What came of a try.
sent({Lid, _, _} = Key, Result) ->
    case {ets:lookup(queues, Key), store:get(listener, Lid)} of
        {[], _} -> ok;
        {_, none} -> ets:delete(queues, Key);
        {[{_, [_ | Rest]}], _} when is_integer(Result), Result >= 200, Result < 300 -> advance(Key, Rest);
        {_, L} when Result =:= 410 ->
            store:put(listener, Lid, L#{<<"active">> => false}),
            ets:delete(queues, Key);
        {[{_, [{_, _, _, []} | Rest]}], _} -> advance(Key, Rest);
        {[{_, [{E, K, B, [W | Ws]} | Rest]}], _} ->
            ets:insert(queues, {Key, [{E, K, B, Ws} | Rest]}),
            store:timer(times:now() + W, {send, Key})
    end.

advance(Key, []) -> ets:delete(queues, Key);
advance(Key, Rest) -> ets:insert(queues, {Key, Rest}), try_now(Key).
