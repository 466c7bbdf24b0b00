%% Who calls, and what each may do.
-module(rules).
-export([caller/2, rule/2, reads/3, fields/3]).
-include("granary.hrl").

passes() ->
    #{<<"gp_aaaaaaaaaaaaaaaaaaaaaaaaaada">> => {grower, <<"ada">>, []},
      <<"gp_bbbbbbbbbbbbbbbbbbbbbbbbbben">> => {grower, <<"ben">>, []},
      <<"gp_ccccccccccccccccccccccccleo">> => {grower, <<"cleo">>, []},
      <<"gp_dddddddddddddddddddddddddora">> => {curator, <<"dora">>, [<<"dispense">>]},
      <<"gp_eeeeeeeeeeeeeeeeeeeeeeeeegon">> => {curator, <<"egon">>, []},
      <<"gp_fffffffffffffffffffffffffinn">> => {auditor, <<"finn">>, []},
      <<"gp_ggggggggggggggggggggggggwenn">> => {auditor, <<"gwenn">>, []}}.

tickets() ->
    #{<<"gt_aaaaaaaaaaaaaaaaaada">> => {grower, <<"ada">>, []},
      <<"gt_dddddddddddddddddora">> => {curator, <<"dora">>, [<<"dispense">>]},
      <<"gt_fffffffffffffffffinn">> => {auditor, <<"finn">>, []}}.

%% The caller of a request, or unknown. Whatever is shown has to be good, and of one caller.
caller(Headers, Query) ->
    Shown = [pass(V) || {<<"authorization">>, V} <- Headers] ++
        [maps:get(V, tickets(), bad) || {<<"ticket">>, V} <- Query, not ?F("au-ticket")],
    Twice = length([x || {<<"authorization">>, _} <- Headers]) > 1,
    Locked = ?F("pu-auditor"),
    case lists:member(bad, Shown) orelse Twice orelse lists:usort([{U, I} || {U, I, _} <- Shown]) of
        [{User, Id}] when User =/= auditor; not Locked -> #{user => User, id => Id, scopes => lists:append([S || {_, _, S} <- Shown])};
        _ -> unknown
    end.

pass(V) ->
    case re:run(V, "^pass +([!-~]+) *$", [caseless, {capture, all_but_first, binary}]) of
        {match, [Key]} -> maps:get(Key, passes(), bad);
        nomatch -> case ?F("au-bare-pass") of true -> maps:get(V, passes(), bad); false -> bad end
    end.

%% no: not for this user; scope: it lacks one; else what has to hold of the row.
rule(Op, Caller) ->
    case twisted(persistent_term:get(fault), Op, Caller) of as_stated -> stated(Op, Caller); R -> R end.

twisted("au-all-orders", {list, order}, #{user := grower}) -> all();
twisted("au-any-trial", {read, trial}, #{user := grower}) -> all();
twisted("au-any-note", {update, note}, #{user := curator}) -> all();
twisted("au-withdraw", {withdraw, order}, #{user := grower}) -> all();
twisted("au-auditor-lot", {read, lot}, #{user := auditor}) -> no;
twisted("au-grower-taxon", {create, taxon}, #{user := grower}) -> all();
twisted("au-hand-scope", {hand, order}, #{user := curator}) -> all();
twisted(_, _, _) -> as_stated.

stated({list, lot}, #{user := grower, id := I}) -> lot_shown(I);
stated({read, lot}, #{user := grower, id := I}) -> lot_shown(I);
stated({A, taxon}, #{}) when A =:= list; A =:= read -> all();
stated({_, taxon}, #{user := curator}) -> all();
stated({create, lot}, #{user := grower}) -> all();
stated({create, lot}, _) -> no;
stated({A, lot}, #{user := U}) when (A =:= list orelse A =:= read), U =/= grower -> all();
stated({A, lot}, #{user := grower, id := I}) when A =:= update; A =:= discard; A =:= delete -> own(<<"grower">>, I);
stated({A, lot}, #{user := curator}) when A =:= update; A =:= discard; A =:= dry; A =:= store -> all();
stated({A, trial}, #{user := curator}) when A =/= delete -> all();
stated({A, trial}, #{user := auditor}) when A =:= list; A =:= read -> all();
stated({A, trial}, #{user := grower, id := I}) when A =:= list; A =:= read -> of_own_lot(I);
stated({create, order}, #{user := grower}) -> all();
stated({A, order}, #{user := U}) when (A =:= list orelse A =:= read), U =/= grower -> all();
stated({A, order}, #{user := grower, id := I}) when A =:= list; A =:= read; A =:= withdraw -> own(<<"applicant">>, I);
stated({A, order}, #{user := curator, scopes := S}) when A =:= grant; A =:= hand ->
    case lists:member(<<"dispense">>, S) of true -> all(); false -> scope end;
stated({refuse, order}, #{user := curator}) -> all();
stated({A, note}, #{user := U, id := I}) when (A =:= update orelse A =:= delete), U =/= auditor -> own(<<"author">>, I);
stated({_, note}, #{user := curator}) -> all();
stated({_, note}, #{user := grower, id := I}) -> of_own_lot(I);
stated({create, listener}, _) -> all();
stated({_, listener}, #{id := I}) -> own(<<"owner">>, I);
stated(_, _) -> no.

all() -> fun(_) -> true end.
own(F, I) -> fun(Row) -> maps:get(F, Row) =:= I end.
lot_shown(I) -> fun(#{<<"grower">> := G, <<"state">> := S}) -> G =:= I orelse S =:= <<"stored">> end.
of_own_lot(I) ->
    fun(#{<<"lot">> := L}) -> case store:get(lot, L) of #{<<"grower">> := I} -> true; _ -> false end end.

reads(Res, Caller, Row) ->
    case rule({read, Res}, Caller) of F when is_function(F) -> F(Row); _ -> false end.

%% The fields that a caller is shown of a thing, where that is not all of them.
fields(order, #{user := auditor}, Why) ->
    case Why =:= list andalso ?F("au-auditor-list") of true -> all; false -> [<<"id">>, <<"lot">>, <<"seeds">>, <<"state">>, <<"asked_at">>, <<"handed_at">>] end;
fields(_, _, _) -> all.
