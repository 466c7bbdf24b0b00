%% The one desk at which everything is done, one thing after the other: requests, timers, and what came of deliveries.
-module(desk).
-export([start/0, ask/1, forward/1]).
-include("granary.hrl").

start() ->
    Ready = self(),
    Pid = spawn_link(fun() ->
        register(desk, self()),
        process_flag(message_queue_data, off_heap),
        store:start(),
        Ready ! {ready, self()},
        loop()
    end),
    receive {ready, Pid} -> ok end.

ask(Q) -> call({ask, Q}).
forward(Ms) -> call({forward, Ms}).

call(What) ->
    Ref = monitor(process, desk),
    desk ! {What, self(), Ref},
    receive
        {Ref, Answer} -> demonitor(Ref, [flush]), Answer;
        {'DOWN', Ref, _, _, _} -> down
    end.

loop() ->
    Wait = case store:first_due() of none -> 60000; Ms -> min(60000, max(0, Ms - times:now())) end,
    receive
        {{ask, Q}, From, Ref} -> ripe(), From ! {Ref, house:answer(Q#q{now = times:now()})};
        {{forward, By}, From, Ref} -> times:forward(By), ripe(), From ! {Ref, times:now()};
        {sent, Key, Result} -> told:sent(Key, Result)
    after Wait -> ripe()
    end,
    loop().

%% Carries out what is due.
ripe() ->
    case store:due(times:now()) of
        none -> ok;
        {_, {send, Key}} -> told:try_now(Key), ripe();
        {_, {row, Res, Id, Move, Stamp}} -> acts:timed(Res, Id, Move, Stamp, times:now()), ripe()
    end.
