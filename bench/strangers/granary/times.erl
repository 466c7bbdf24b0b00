%% One clock for everything, which trials may set forward; and how times are written.
-module(times).
-export([start/0, now/0, forward/1, iso/1, parse/1, http/1, duration/1, day/1]).

start() -> persistent_term:put(offset, atomics:new(1, [{signed, true}])).
now() -> os:system_time(millisecond) + atomics:get(persistent_term:get(offset), 1).
forward(Ms) -> atomics:add(persistent_term:get(offset), 1, Ms).

iso(Ms) -> list_to_binary(calendar:system_time_to_rfc3339(Ms, [{unit, millisecond}, {offset, "Z"}])).
day(Ms) -> Ms div 86400000.

%% RFC 3339, as milliseconds; or error.
parse(B) when is_binary(B) ->
    Re = "^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
    case re:run(B, Re, [{capture, all_but_first, list}, dollar_endonly]) of
        {match, [Y, Mo, D, H, Mi, S, Fr, Z]} ->
            [Y1, Mo1, D1, H1, Mi1, S1] = [list_to_integer(X) || X <- [Y, Mo, D, H, Mi, S]],
            Good = calendar:valid_date(Y1, Mo1, D1) andalso H1 < 24 andalso Mi1 < 60 andalso S1 < 61,
            case {Good, zone(Z)} of
                {true, Off} when is_integer(Off) ->
                    Secs = calendar:datetime_to_gregorian_seconds({{Y1, Mo1, D1}, {H1, Mi1, 0}}) + S1 - 62167219200 - Off,
                    {ok, Secs * 1000 + frac(Fr)};
                _ -> error
            end;
        _ -> error
    end;
parse(_) -> error.

zone([C]) when C =:= $Z; C =:= $z -> 0;
zone([S, A, B, $:, C, D]) ->
    H = list_to_integer([A, B]), M = list_to_integer([C, D]),
    if H > 23; M > 59 -> bad; S =:= $- -> -(H * 3600 + M * 60); true -> H * 3600 + M * 60 end.

frac([]) -> 0;
frac([$. | Ds]) -> list_to_integer(lists:sublist(Ds ++ "000", 3)).

http(Ms) ->
    {{Y, Mo, D} = Date, {H, Mi, S}} = calendar:system_time_to_universal_time(Ms, millisecond),
    Wd = element(calendar:day_of_the_week(Date), {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}),
    Mn = element(Mo, {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}),
    list_to_binary(io_lib:format("~s, ~2..0b ~s ~4..0b ~2..0b:~2..0b:~2..0b GMT", [Wd, D, Mn, Y, H, Mi, S])).

%% An ISO 8601 duration of weeks, days, hours, minutes and seconds, as milliseconds.
duration(B) ->
    Re = "^P(?:([0-9.]+)W)?(?:([0-9.]+)D)?(?:T(?:([0-9.]+)H)?(?:([0-9.]+)M)?(?:([0-9.]+)S)?)?$",
    case re:run(B, Re, [{capture, all_but_first, list}]) of
        {match, L} ->
            Units = [604800000, 86400000, 3600000, 60000, 1000],
            {ok, round(lists:sum([number(X) * U || {X, U} <- lists:zip(L, lists:sublist(Units, length(L)))]))};
        nomatch -> error
    end.

number([]) -> 0;
number(X) -> case string:to_float(X) of {F, _} when is_float(F) -> F; _ -> list_to_integer(X) end.
