import json,subprocess,sys,http.client,socket,time,random
from service import PEOPLE
def free():
    s=socket.socket();s.bind(('127.0.0.1',0));p=s.getsockname()[1];s.close();return p
class S:
    def __init__(s,fault=None):
        s.p,s.c=free(),free()
        s.proc=subprocess.Popen([sys.executable,'service.py','--port',str(s.p),'--clock-port',str(s.c)]+(['--fault',fault] if fault else []),stdout=subprocess.PIPE,stderr=sys.stderr)
        s.proc.stdout.readline()
    def stop(s): s.proc.terminate();s.proc.wait()
    def __call__(s,who,method,path,body=None,headers=None,raw=None,base='/api'):
        h=dict(headers or {})
        if who:
            person=next(p for p in PEOPLE if p[1]==who.strip('!'))
            if who.endswith('!'): h['Authorization']='Badge '+person[5]
            else: h['X-Cave-Key']=person[4]
        data=raw
        if body is not None: data=json.dumps(body);h.setdefault('Content-Type','application/json')
        c=http.client.HTTPConnection('127.0.0.1',s.p,timeout=20)
        c.request(method,base+path,data,h);r=c.getresponse();t=r.read();c.close()
        return R(r.status,json.loads(t) if t else None,r.headers)
    def clock(s,**k):
        c=http.client.HTTPConnection('127.0.0.1',s.c,timeout=20)
        c.request('POST' if k else 'GET','/',json.dumps(k) if k else None);r=c.getresponse();t=r.read();c.close()
        return r.status,json.loads(t)
class R:
    def __init__(s,status,doc,headers): s.status,s.doc,s.headers=status,doc,headers
    code=property(lambda s:s.doc.get('code') if s.doc else None)
    def __repr__(s): return '%d %s'%(s.status,json.dumps(s.doc)[:300])
