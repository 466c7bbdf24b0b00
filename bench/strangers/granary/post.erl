%% One POST to a receiver, and the status that it gave.
-module(post).
-export([post/4]).

post(Url, Head, Body, Timeout) ->
    try
        #{scheme := <<"http">>, host := Host} = U = uri_string:parse(Url),
        Port = maps:get(port, U, 80),
        Path = case maps:get(path, U, <<>>) of <<>> -> <<"/">>; P -> P end,
        Query = case U of #{query := Q} -> [$?, Q]; _ -> [] end,
        {ok, S} = gen_tcp:connect(binary_to_list(Host), Port, [binary, {active, false}, {nodelay, true}], Timeout),
        ok = gen_tcp:send(S, [<<"POST ">>, Path, Query, <<" HTTP/1.1\r\nHost: ">>, Host, $:, integer_to_binary(Port),
            <<"\r\nConnection: close\r\nContent-Length: ">>, integer_to_binary(byte_size(Body)), <<"\r\n">>,
            [[N, <<": ">>, V, <<"\r\n">>] || {N, V} <- Head], <<"\r\n">>, Body]),
        R = status(S, <<>>, erlang:monotonic_time(millisecond) + Timeout),
        gen_tcp:close(S),
        R
    catch _:_ -> failed
    end.

status(S, Had, Until) ->
    case re:run(Had, "^HTTP/1\\.[01] ([0-9]{3})", [{capture, all_but_first, binary}]) of
        {match, [Code]} -> binary_to_integer(Code);
        nomatch ->
            {ok, More} = gen_tcp:recv(S, 0, max(1, Until - erlang:monotonic_time(millisecond))),
            status(S, <<Had/binary, More/binary>>, Until)
    end.
