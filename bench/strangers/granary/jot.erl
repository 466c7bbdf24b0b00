%% JSON, read and written. A map is {obj, [{Key, Value}]} in the order in which it came; null, true, false are atoms.
-module(jot).
-export([decode/1, encode/1, get/2, get/3]).

-spec decode(binary()) -> {ok, term()} | error.
decode(Bin) ->
    try
        Bin = unicode:characters_to_binary(Bin),
        {V, Rest} = value(ws(Bin), 0),
        <<>> = ws(Rest),
        {ok, V}
    catch _:_ -> error
    end.

get(Key, Obj) -> get(Key, Obj, undefined).
get(Key, {obj, L}, Default) ->
    case lists:keyfind(Key, 1, L) of {_, V} -> V; false -> Default end.

ws(<<C, R/binary>>) when C =:= 32; C =:= 9; C =:= 10; C =:= 13 -> ws(R);
ws(B) -> B.

value(_, Depth) when Depth > 60 -> error(deep);
value(<<"null", R/binary>>, _) -> {null, R};
value(<<"true", R/binary>>, _) -> {true, R};
value(<<"false", R/binary>>, _) -> {false, R};
value(<<$", R/binary>>, _) -> str(R, []);
value(<<${, R/binary>>, D) ->
    case ws(R) of
        <<$}, R2/binary>> -> {{obj, []}, R2};
        R2 -> obj(R2, [], D + 1)
    end;
value(<<$[, R/binary>>, D) ->
    case ws(R) of
        <<$], R2/binary>> -> {[], R2};
        R2 -> arr(R2, [], D + 1)
    end;
value(B, _) -> num(B).

obj(<<$", R/binary>>, Acc, D) ->
    {K, R1} = str(R, []),
    <<$:, R2/binary>> = ws(R1),
    {V, R3} = value(ws(R2), D),
    Acc2 = [{K, V} | lists:keydelete(K, 1, Acc)],
    case ws(R3) of
        <<$,, R4/binary>> -> obj(ws(R4), Acc2, D);
        <<$}, R4/binary>> -> {{obj, lists:reverse(Acc2)}, R4}
    end.

arr(B, Acc, D) ->
    {V, R} = value(B, D),
    case ws(R) of
        <<$,, R2/binary>> -> arr(ws(R2), [V | Acc], D);
        <<$], R2/binary>> -> {lists:reverse([V | Acc]), R2}
    end.

str(<<$", R/binary>>, Acc) -> {unicode:characters_to_binary(lists:reverse(Acc)), R};
str(<<$\\, $u, H:4/binary, R/binary>>, Acc) ->
    case binary_to_integer(H, 16) of
        Hi when Hi >= 16#D800, Hi =< 16#DBFF ->
            <<$\\, $u, L:4/binary, R2/binary>> = R,
            Lo = binary_to_integer(L, 16),
            true = Lo >= 16#DC00 andalso Lo =< 16#DFFF,
            str(R2, [16#10000 + ((Hi - 16#D800) bsl 10) + (Lo - 16#DC00) | Acc]);
        C when C < 16#D800; C > 16#DFFF -> str(R, [C | Acc])
    end;
str(<<$\\, C, R/binary>>, Acc) ->
    Ch = case C of
        $n -> 10; $t -> 9; $r -> 13; $b -> 8; $f -> 12; $" -> $"; $\\ -> $\\; $/ -> $/
    end,
    str(R, [Ch | Acc]);
str(<<C/utf8, R/binary>>, Acc) when C >= 32 -> str(R, [C | Acc]).

num(B) ->
    {match, [{0, L}]} = re:run(B, "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?", [{capture, first}]),
    <<T:L/binary, R/binary>> = B,
    {number(T), R}.

number(T) ->
    case re:run(T, "^(-?[0-9]+)(\\.[0-9]+)?([eE].+)?$", [{capture, all_but_first, binary}]) of
        {match, [I]} -> binary_to_integer(I);
        {match, [_, <<_, _/binary>>]} -> binary_to_float(T);
        {match, [I, F, E]} ->
            Frac = case F of <<>> -> <<".0">>; _ -> F end,
            binary_to_float(<<I/binary, Frac/binary, E/binary>>)
    end.

encode(null) -> <<"null">>;
encode(true) -> <<"true">>;
encode(false) -> <<"false">>;
encode(I) when is_integer(I) -> integer_to_binary(I);
encode(F) when is_float(F) ->
    T = trunc(F),
    if F == T, abs(F) < 1.0e15 -> integer_to_binary(T); true -> float_to_binary(F, [short]) end;
encode(B) when is_binary(B) -> [$", escape(B), $"];
encode(A) when is_atom(A) -> encode(atom_to_binary(A));
encode({obj, L}) -> [${, lists:join($,, [[encode(K), $:, encode(V)] || {K, V} <- L]), $}];
encode(L) when is_list(L) -> [$[, lists:join($,, [encode(V) || V <- L]), $]].

escape(B) ->
    case re:run(B, "[\"\\\\\\x00-\\x1f]", [{capture, none}]) of
        nomatch -> B;
        match -> [esc(C) || <<C>> <= B]
    end.

esc($") -> <<"\\\"">>;
esc($\\) -> <<"\\\\">>;
esc(10) -> <<"\\n">>;
esc(13) -> <<"\\r">>;
esc(9) -> <<"\\t">>;
esc(C) when C < 32 -> io_lib:format("\\u~4.16.0b", [C]);
esc(C) -> C.
