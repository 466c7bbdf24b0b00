%% Which path does what.
-module(paths).
-export([find/1, name/1]).

%% The methods of a path with what each does, and the parameters in it; none where there is no such path.
find([<<"hours">>]) -> {[{<<"GET">>, {read, hours}}], #{}};
find([<<"taxa">>]) -> {[{<<"GET">>, {list, taxon}}, {<<"POST">>, {create, taxon}}], #{}};
find([<<"taxa">>, C]) ->
    {[{<<"GET">>, {read, taxon}}, {<<"PUT">>, {upsert, taxon}}, {<<"PATCH">>, {update, taxon}}, {<<"DELETE">>, {delete, taxon}}], #{id => C}};
find([<<"lots">>]) -> {[{<<"GET">>, {list, lot}}, {<<"POST">>, {create, lot}}], #{}};
find([<<"lots">>, I]) -> {[{<<"GET">>, {read, lot}}, {<<"PATCH">>, {update, lot}}, {<<"DELETE">>, {delete, lot}}], #{id => I}};
find([<<"lots">>, I, <<"trials">>]) -> {[{<<"GET">>, {list, trial}}, {<<"POST">>, {create, trial}}], #{lot => I}};
find([<<"lots">>, I, <<"notes">>]) -> {[{<<"GET">>, {list, note}}, {<<"POST">>, {create, note}}], #{lot => I}};
find([<<"lots">>, I, M]) -> move(lot, I, M, [<<"dry">>, <<"store">>, <<"discard">>]);
find([<<"trials">>, I]) -> {[{<<"GET">>, {read, trial}}], #{id => I}};
find([<<"trials">>, I, M]) -> move(trial, I, M, [<<"finish">>, <<"abandon">>]);
find([<<"orders">>]) -> {[{<<"GET">>, {list, order}}, {<<"POST">>, {create, order}}], #{}};
find([<<"orders">>, I]) -> {[{<<"GET">>, {read, order}}], #{id => I}};
find([<<"orders">>, I, M]) -> move(order, I, M, [<<"grant">>, <<"refuse">>, <<"withdraw">>, <<"hand">>]);
find([<<"notes">>, I]) -> {[{<<"GET">>, {read, note}}, {<<"PATCH">>, {update, note}}, {<<"DELETE">>, {delete, note}}], #{id => I}};
find([<<"listeners">>]) -> {[{<<"GET">>, {list, listener}}, {<<"POST">>, {create, listener}}], #{}};
find([<<"listeners">>, I]) ->
    {[{<<"GET">>, {read, listener}}, {<<"PATCH">>, {update, listener}}, {<<"DELETE">>, {delete, listener}}], #{id => I}};
find(_) -> none.

move(Res, I, M, All) ->
    case lists:member(M, All) of
        true -> {[{<<"POST">>, {binary_to_existing_atom(M), Res}}], #{id => I}};
        false -> none
    end.

%% Where a row is read.
name(taxon) -> <<"/bank/taxa/">>;
name(Res) -> <<"/bank/", (atom_to_binary(Res))/binary, "s/">>.
