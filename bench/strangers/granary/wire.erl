%% HTTP/1.1 on sockets: a process for each connection, which asks at the desk.
-module(wire).
-export([listen/2]).
-include("granary.hrl").

-define(MOST, 4194304).
-define(WAIT, 10000).

listen(Port, Handle) ->
    {ok, L} = gen_tcp:listen(Port, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {reuseaddr, true}, {nodelay, true}, {backlog, 1024}]),
    [spawn_link(fun() -> accept(L, Handle) end) || _ <- lists:seq(1, 8)],
    L.

accept(L, Handle) ->
    {ok, S} = gen_tcp:accept(L),
    Pid = spawn(fun() -> receive go -> serve(S, <<>>, Handle) end end),
    ok = gen_tcp:controlling_process(S, Pid),
    Pid ! go,
    accept(L, Handle).

serve(S, Had, Handle) ->
    case Had =:= <<>> andalso gen_tcp:recv(S, 0, 600000) of
        false -> asked(S, Had, Handle);
        {ok, B} -> asked(S, B, Handle);
        {error, _} -> gen_tcp:close(S)
    end.

asked(S, Had, Handle) ->
    Until = erlang:monotonic_time(millisecond) + ?WAIT,
    put(until, Until),
    try
        {{Method, Target}, R1} = line(S, Had),
        {Headers, R2} = headers(S, R1, [], 0),
        case lists:keyfind(<<"expect">>, 1, Headers) of
            {_, _} -> gen_tcp:send(S, <<"HTTP/1.1 100 Continue\r\n\r\n">>);
            false -> ok
        end,
        {Body, R3} = body(S, R2, Headers),
        {ok, {Peer, _}} = inet:peername(S),
        Close = Body =:= too_big orelse lists:any(fun({N, V}) -> N =:= <<"connection">> andalso string:lowercase(V) =:= <<"close">> end, Headers),
        Answer = Handle(request(Method, Target, Headers, Body, Peer)),
        write(S, Method, Answer, Close),
        case Close of true -> gen_tcp:close(S); false -> serve(S, R3, Handle) end
    catch
        throw:late ->
            write(S, <<"GET">>, late(), true), gen_tcp:close(S);
        throw:heads ->
            write(S, <<"GET">>, {431, [], <<>>}, true), gen_tcp:close(S);
        throw:closed -> gen_tcp:close(S);
        _:_ -> write(S, <<"GET">>, {400, [], <<>>}, true), gen_tcp:close(S)
    end.

late() ->
    Body = jot:encode({obj, [{<<"error">>, {obj, [{<<"kind">>, too_slow}, {<<"http">>, 408},
        {<<"says">>, <<"The request did not arrive in time.">>}, {<<"request">>, name()}]}}]}),
    {case ?F("li-late") of true -> 400; false -> 408 end,
        [{<<"Content-Type">>, <<"application/json">>}, {<<"Granary-Error">>, <<"too_slow">>}], Body}.

more(S, Had) ->
    Left = get(until) - erlang:monotonic_time(millisecond),
    case gen_tcp:recv(S, 0, max(1, Left)) of
        {ok, B} -> <<Had/binary, B/binary>>;
        {error, timeout} -> throw(late);
        {error, _} -> throw(closed)
    end.

line(S, Had) ->
    case erlang:decode_packet(http_bin, Had, []) of
        {ok, {http_request, M, {abs_path, T}, _}, R} -> {{text(M), T}, R};
        {ok, {http_request, M, '*', _}, R} -> {{text(M), <<"*">>}, R};
        {more, _} when byte_size(Had) > 65536 -> throw(heads);
        {more, _} -> line(S, more(S, Had))
    end.

headers(_, _, _, Size) when Size > 32768 -> throw(heads);
headers(S, Had, Acc, Size) ->
    case erlang:decode_packet(httph_bin, Had, []) of
        {ok, http_eoh, R} -> {lists:reverse(Acc), R};
        {ok, {http_header, _, N, _, V}, R} ->
            headers(S, R, [{string:lowercase(text(N)), string:trim(V)} | Acc], Size + byte_size(Had) - byte_size(R));
        {more, _} when byte_size(Had) > 65536 -> throw(heads);
        {more, _} -> headers(S, more(S, Had), Acc, Size)
    end.

text(A) when is_atom(A) -> atom_to_binary(A);
text(B) -> B.

body(S, Had, Headers) ->
    Chunked = [x || {<<"transfer-encoding">>, V} <- Headers, string:lowercase(V) =:= <<"chunked">>] =/= [],
    case {Chunked, lists:keyfind(<<"content-length">>, 1, Headers)} of
        {true, _} -> chunks(S, Had, []);
        {_, false} -> {<<>>, Had};
        {_, {_, N}} -> exactly(S, Had, binary_to_integer(N))
    end.

exactly(_, _, N) when N > ?MOST -> {too_big, <<>>};
exactly(_, Had, N) when byte_size(Had) >= N -> <<B:N/binary, R/binary>> = Had, {B, R};
exactly(S, Had, N) -> exactly(S, more(S, Had), N).

chunks(S, Had, Acc) ->
    case iolist_size(Acc) > ?MOST of true -> throw(heads); false -> ok end,
    case binary:split(Had, <<"\r\n">>) of
        [Size, R] ->
            N = binary_to_integer(hd(binary:split(string:trim(Size), <<";">>)), 16),
            {B, R2} = exactly(S, R, N + 2),
            case N of
                0 -> {iolist_to_binary(lists:reverse(Acc)), R2};
                _ -> chunks(S, R2, [binary:part(B, 0, N) | Acc])
            end;
        [_] -> chunks(S, more(S, Had), Acc)
    end.

request(Method, Target, Headers, Body, Peer) ->
    {Path, Query} = case binary:split(Target, <<"?">>) of [P] -> {P, <<>>}; [P, Qs] -> {P, Qs} end,
    Segs = case binary:split(Path, <<"/">>, [global]) of [<<>> | L] -> [plain(X) || X <- L]; L -> L end,
    #q{method = Method, target = Target, segs = Segs, query = query(Query), headers = Headers, body = Body, address = Peer, id = name()}.

name() -> <<"rq-", (binary:encode_hex(crypto:strong_rand_bytes(8)))/binary>>.

plain(X) ->
    try
        D = uri_string:percent_decode(X),
        true = is_binary(D) andalso is_binary(unicode:characters_to_binary(D)),
        D
    catch _:_ -> <<>> end.

query(<<>>) -> [];
query(Qs) ->
    [case binary:split(P, <<"=">>) of
        [N] -> {form(N), <<>>};
        [N, V] -> {form(N), form(V)}
    end || P <- binary:split(Qs, <<"&">>, [global]), P =/= <<>>].

form(X) ->
    case plain(binary:replace(X, <<"+">>, <<" ">>, [global])) of
        <<>> when X =/= <<>> -> <<0>>;
        D -> D
    end.

write(S, Method, {Status, Headers, Body}, Close) ->
    Bare = Status =:= 204 orelse Status =:= 304,
    gen_tcp:send(S, [<<"HTTP/1.1 ">>, integer_to_binary(Status), $ , phrase(Status), <<"\r\n">>,
        [[N, <<": ">>, V, <<"\r\n">>] || {N, V} <- Headers],
        [[<<"Content-Length: ">>, integer_to_binary(iolist_size(Body)), <<"\r\n">>] || not Bare],
        [<<"Connection: close\r\n">> || Close],
        <<"Date: ">>, times:http(times:now()), <<"\r\n\r\n">>,
        case Method of <<"HEAD">> -> <<>>; _ -> Body end]).

phrase(200) -> <<"OK">>;
phrase(201) -> <<"Created">>;
phrase(204) -> <<"No Content">>;
phrase(304) -> <<"Not Modified">>;
phrase(400) -> <<"Bad Request">>;
phrase(401) -> <<"Unauthorized">>;
phrase(403) -> <<"Forbidden">>;
phrase(404) -> <<"Not Found">>;
phrase(405) -> <<"Method Not Allowed">>;
phrase(408) -> <<"Request Timeout">>;
phrase(409) -> <<"Conflict">>;
phrase(410) -> <<"Gone">>;
phrase(412) -> <<"Precondition Failed">>;
phrase(413) -> <<"Content Too Large">>;
phrase(415) -> <<"Unsupported Media Type">>;
phrase(422) -> <<"Unprocessable Content">>;
phrase(428) -> <<"Precondition Required">>;
phrase(429) -> <<"Too Many Requests">>;
phrase(431) -> <<"Request Header Fields Too Large">>;
phrase(500) -> <<"Internal Server Error">>;
phrase(501) -> <<"Not Implemented">>;
phrase(_) -> <<"Other">>.
