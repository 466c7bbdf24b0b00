%% The seed bank, started: erl … -s granary start -extra --port N --clock-port M [--fault ID]
-module(granary).
-export([start/0]).
-include("granary.hrl").

start() ->
    spawn(fun() -> run(init:get_plain_arguments()) end).

run(Args) ->
    Told = told(Args, #{}),
    persistent_term:put(fault, maps:get("--fault", Told, "none")),
    times:start(),
    desk:start(),
    wire:listen(list_to_integer(maps:get("--port", Told, "8080")), fun desk:ask/1),
    case Told of
        #{"--clock-port" := P} -> wire:listen(list_to_integer(P), fun clock/1);
        _ -> ok
    end,
    receive never -> ok end.

told([K, V | R], M) -> told(R, M#{K => V});
told(_, M) -> M.

%% The door by which trials read the clock and set it forward.
clock(#q{method = <<"POST">>, body = B}) ->
    By = case jot:decode(B) of
        {ok, {obj, [{<<"advance">>, D}]}} when is_binary(D) -> times:duration(D);
        {ok, {obj, [{<<"now">>, T}]}} ->
            case times:parse(T) of {ok, Ms} -> {ok, Ms - times:now()}; error -> error end;
        _ -> error
    end,
    case By of
        {ok, Ms2} when Ms2 >= 0 -> told_now(desk:forward(Ms2));
        _ -> {400, [{<<"Content-Type">>, <<"application/json">>}], <<"{\"error\":\"Say {\\\"advance\\\":\\\"PT1H\\\"}.\"}">>}
    end;
clock(_) -> told_now(times:now()).

told_now(Ms) -> {200, [{<<"Content-Type">>, <<"application/json">>}], jot:encode({obj, [{<<"now">>, times:iso(Ms)}]})}.
