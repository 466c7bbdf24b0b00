# trials by hand: prints what comes
node service.mjs --port 5871 --clock-port 5872 & P=$!
sleep 0.5
U=http://127.0.0.1:5871/ring
c() { local who=$1 m=$2 p=$3; shift 3; echo "--- $who $m $p $*"; local a=()
 case $who in anna) a=(-H 'Ring-Key: ring.annaAAAA1111bbbb2222cccc');; bert) a=(-H 'Ring-Key: ring.bertAAAA1111bbbb2222dddd');; emil) a=(-H 'Ring-Key: ring.emilAAAA1111bbbb2222ffff');; hedi) a=(-H 'Ring-Key: ring.hediAAAA1111bbbb2222hhhh');; ivo) a=(-u vogt-ivo:ledger-1911);; esac
 [ $m = HEAD ] && a+=(-I) || a+=(-X $m)
 curl -s -i "${a[@]}" "$@" "$U$p" | tr -d '\r' | grep -v -i -E '^(date|connection|keep-alive|content-length|vary|ring-slip|ring-edition):'; echo; }
J='Content-Type: application/json'
c none GET /farms
c none GET /farms -H 'Accept: text/html'
c none GET /farms -H 'Ring-Key: nope'
c none OPTIONS /farms/abc
c hedi DELETE /farms
c none GET /almanac -H 'Ring-Edition: second-cut'
c none GET /almanac
c none HEAD /crops
c none GET /crops -H 'Ring-Edition: tenth-cut'
c none GET /crops?x=1
c hedi PUT /farms/oberhof -H "$J" -d '{"name":"Oberhof","yard":{"lane":"Mill lane","bank":"sunny"},"acres":50,"holder":"hof-anna","phone":"123","remarks":"late payer"}'
c hedi PUT /farms/oberhof -H "$J" -d '{"name":"Oberhof","yard":{"lane":"Mill lane","bank":"sunny"},"acres":50,"holder":"hof-anna"}'
c hedi PUT /farms/Ober -H "$J" -d '{"name":"Obeof","yard":{"lane":"Mill lane","bank":"sunny"},"acres":50,"holder":"hof-anna"}'
c hedi PUT /farms/oberhof -H "$J" -d '[]'
c hedi PUT /farms/oberhof -H "$J" -d ''
c hedi PUT /farms/oberhof -H 'Content-Type: text/plain' -d 'x'
c hedi PUT /farms/oberhof -H "$J" -d '{'
c hedi PUT /farms/oberhof -H "$J" -d '{"code":"other","acres":"x","gold":1}'
c ivo GET /farms/oberhof -H 'Ring-Edition: first-cut'
c anna PATCH /farms/oberhof -H "$J" -d '{"acres":3}'
c anna PATCH /farms/oberhof -H "$J" -H 'If-Match: *' -d '{"acres":3,"yard":{"bank":"shady"},"remarks":"mine","holder":"hof-bert"}'
c hedi POST /machines -H "$J" -d '{"kind":"baler","name":"Red","width":2.5,"home":"oberhof","fee_cents":100}' -H 'Ring-Edition: second-cut'
c hedi POST /machines -H "$J" -d '{"kind":"baler","name":"Blue","width":250,"home":"nirgends","fee_cents":100}'
M=$(curl -s -H 'Ring-Key: ring.annaAAAA1111bbbb2222cccc' $U/machines | grep -o 'mch-[A-Z0-9]*' | head -1)
c anna GET "/machines/$M"
c anna GET "/machines?show=kind,width&rows=1" -H 'Ring-Edition: first-cut'
c anna GET "/machines?show=gold"
c hedi PUT "/machines/$M" -H "$J" -H 'If-Match: *' -d '{"name":"Red","width":260,"home":"oberhof","fee_cents":120,"crops":["hay"],"plate":"x"}'
c hedi PUT "/machines/$M" -H "$J" -H 'If-Match: *' -d '{"name":"Red","width":260,"home":"oberhof","fee_cents":120,"crops":["hay"]}'
c hedi PATCH "/machines/$M" -H "$J" -d '{"crops":["hay","rye","oats"],"kind":"drill"}'
c hedi PATCH "/machines/$M" -H "$J" -d '{"crops":["hay","rye","oats"]}'
S=$(date -u -d '+1 hour' +%FT%TZ); E2=$(date -u -d '+4 hour' +%FT%TZ)
c anna POST "/machines/$M/turns" -H "$J" -d '{"farm":"oberhof","starts_at":"'$S'","ends_at":"'$S'","note":null,"remark":1}'
c anna POST "/machines/$M/turns" -H "$J" -d '{"farm":"oberhof","starts_at":"'$S'","ends_at":"'$E2'","note":null}'
c anna POST "/machines/$M/turns" -H "$J" -d '{"farm":"oberhof","starts_at":"'$S'","ends_at":"'$E2'"}'
c bert GET /turns/1
c bert POST "/machines/$M/turns" -H "$J" -d '{"farm":"oberhof","starts_at":"'$S'","ends_at":"'$E2'"}'
c hedi POST /turns/1/grant
c anna POST /turns/1/collect
c hedi POST "/machines/$M/retire"
c anna POST /turns/1/bring
c hedi POST /turns/1/settle
c hedi DELETE "/machines/$M"
c hedi POST "/machines/$M/retire"
c hedi DELETE "/machines/$M"
c anna POST /repairs -H "$J" -d '{"machine":"'$M'","fault":"belt"}'
c emil POST "/machines/$M/inspections" -H "$J" -d '{"verdict":"fit","findings":"old"}'
c emil GET "/machines/$M/inspections/1"
c emil GET "/machines/$M/inspections/01"
c ivo GET "/roster?per=99" -H 'Ring-Edition: second-cut'
c hedi GET '/entries?take=2'
c emil GET '/entries?topic=turn'
c anna POST /hooks -H "$J" -d '{"url":"ftp://x","kinds":["turn.*","cow"]}'
c anna POST /hooks -H "$J" -d '{"url":"http://127.0.0.1:1/"}'
c bert GET /hooks
c anna PATCH /repairs/x -H "$J" -d '{}'
c emil PATCH /repairs/x -H "$J" -d '{}'
c none GET /crops/wheat -H 'If-None-Match: *'
curl -s http://127.0.0.1:5872/ -d '{"advance":"P1M"}'; echo
curl -s -i http://127.0.0.1:5872/ -d '{"now":"2020-01-01T00:00:00Z"}' | head -1
curl -s -i http://127.0.0.1:5872/ -d '{}' | head -1
python3 - <<'PY'
import socket,time
def raw(b,wait=0.5):
    s=socket.create_connection(('127.0.0.1',5871)); s.sendall(b); s.settimeout(12); 
    out=b''
    try:
        while True:
            d=s.recv(65536)
            if not d: break
            out+=d
            if wait and b'}' in out: break
    except Exception as e: out+=repr(e).encode()
    print(out.decode()[:60].split('\r\n')[0], out[-150:])
raw(b'GET /ring/crops?'+b'a'*1009+b' HTTP/1.1\r\nHost: x\r\n\r\n')
raw(b'GET /ring/crops?'+b'a'*1008+b' HTTP/1.1\r\nHost: x\r\n\r\n') 
raw(b'GET /ring/crops HTTP/1.1\r\nHost: x\r\nX: '+b'a'*8170+b'\r\n\r\n')
raw(b'GET /ring/crops HTTP/1.1\r\nHost: x\r\nX: '+b'a'*8178+b'\r\n\r\n')
raw(b'GET /ring/crops HTTP/1.1\r\nHost: x\r\nX: '+b'a'*8179+b'\r\n\r\n')
t=time.time()
raw(b'POST /ring/repairs HTTP/1.1\r\nHost: x\r\nRing-Key: ring.annaAAAA1111bbbb2222cccc\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a"')
print('slow',time.time()-t)
raw(b'POST /ring/repairs HTTP/1.1\r\nHost: x\r\nRing-Key: ring.annaAAAA1111bbbb2222cccc\r\nContent-Type: application/json\r\nContent-Length: 8193\r\n\r\n{"a"')
PY
kill $P
