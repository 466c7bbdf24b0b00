-define(F(Id), (persistent_term:get(fault) =:= Id)).
%% A request on its way through the house.
-record(q, {method, segs, query, headers, body, target, address, now, id, op, res, params = #{}, caller = none,
            edition = new, known = false, rate = none, opts = #{}}).
