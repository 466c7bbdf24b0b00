import http.client, json, subprocess, sys, time, threading, os, hmac, hashlib, base64, socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
C={k:v for k,v in dict(cu='tf_kQ7mZr2xWv9LpTn4BsYc8HdA',cu2='tf_Rw3NvX8cJb5GtPq1MzKe6YsU',cu0='tf_Zp1GsK5uMw8RcXd3NvTb7FqL',pr='tf_Yb4JxQ9tHe7KmWz2LnRv5CsD',prj='tf_Vc8DnM3rAw6BpTy0XkJz1GfS',pr2='tf_Ls2WqF7hUv5EnCx4RtPb9KmY',pr0='tf_Nx9RkB1jSg3QvLw6ZhTc0MdP',fo='tf_Gm5CzT8wKr2YnHb7VpXs3LqJ').items()}
LOGIN='Basic '+base64.b64encode(b'fo-garamond:Punch&Counter9').decode()
PORT=[24500]
class Svc:
    def __init__(s, fault='', port=None):
        s.p=port or PORT[0]; PORT[0]+=0 if port else 2
        here=os.path.dirname(os.path.abspath(__file__))
        s.proc=subprocess.Popen([sys.executable,'service.py','--port',str(s.p),'--clock-port',str(s.p+1)]+(['--fault',fault] if fault else []),cwd=here,stdout=subprocess.PIPE)
        s.proc.stdout.readline(); s.conn=http.client.HTTPConnection('127.0.0.1',s.p)
    def stop(s): s.proc.kill(); s.proc.wait()
    def raw(s, method, path, who=None, body=None, **h):
        heads={k.replace('_','-'):v for k,v in h.items()}
        if who=='login': heads['Authorization']=LOGIN
        elif who: heads['X-Shop-Card']=C.get(who,who)
        if body is not None and not isinstance(body,(bytes,str)):
            body=json.dumps(body); heads.setdefault('Content-Type','application/json')
        try:
            s.conn.request(method,path,body,heads); r=s.conn.getresponse()
        except (http.client.RemoteDisconnected,BrokenPipeError,ConnectionResetError):
            s.conn.close(); s.conn.request(method,path,body,heads); r=s.conn.getresponse()
        data=r.read()
        try: data=json.loads(data)
        except ValueError: pass
        return r.status, data, r.headers
    def __call__(s, method, path, *a, **k): return s.raw(method,'/shop'+path,*a,**k)
    def clock(s, d):
        c=http.client.HTTPConnection('127.0.0.1',s.p+1); c.request('POST' if d else 'GET','/',json.dumps(d) if d else None); r=c.getresponse(); return r.status, json.loads(r.read())
    def adv(s, d): return s.clock({'advance':d})
    n=0
    def matrix(s, **k):
        s.n+=1
        st,b,_=s('POST','/matrices','fo',{'face':'Face %03d'%s.n,'style':'roman','body_pt':12}|k); assert st==201,b; return b
    def fount(s, who='cu', **k):
        st,b,_=s('POST','/founts',who,{'matrix':s.matrix()['id'],'weight_kg':10,'ship_to':{'town':'Leiden','country':'NL'}}|k); assert st==201,b; return b
    def placed(s,who='cu',**k):
        f=s.fount(who,**k); st,b,_=s('POST','/founts/%s/place'%f['id'],who); assert st==200,b; return b
class Hear:
    def __init__(s, answer=lambda n:(200,{})):
        s.got=[]; o=s
        class H(BaseHTTPRequestHandler):
            def do_POST(self):
                b=self.rfile.read(int(self.headers['Content-Length'])); o.got.append((dict(self.headers),b)); st,h=answer(len(o.got))
                self.send_response(st); [self.send_header(*x) for x in h.items()]; self.send_header('Content-Length','0'); self.end_headers()
            def log_message(self,*a): pass
        s.srv=ThreadingHTTPServer(('127.0.0.1',0),H); s.url='http://127.0.0.1:%d/in'%s.srv.server_port
        threading.Thread(target=s.srv.serve_forever,daemon=True).start()
    def wait(s,n,t=2):
        e=time.time()+t
        while len(s.got)<n and time.time()<e: time.sleep(.01)
        return [json.loads(b) for _,b in s.got]
OLD={'Foundry_Version':'2024-09'}
bad=0
def eq(what,a,b):
    global bad
    if a!=b: bad+=1; print('WRONG',what,'\n   is    ',a,'\n   wanted',b)
def err(what, ans, st, code):
    eq(what,(ans[0],ans[1].get('error') if isinstance(ans[1],dict) else ans[1]),(st,code)); 
    if isinstance(ans[1],dict): eq(what+' header',ans[2].get('X-Foundry-Error'),code); eq(what+' members',{'error','number','message','reference'}<=set(ans[1]),True)
def main():
    s=Svc()
    st,m,h=s('POST','/matrices','fo',{'face':'Garamond','style':'italic','body_pt':12,'status':'lent','borrower':'x'})
    eq('matrix',(st,sorted(m),m['status'],h['Location']),(201,['body_pt','face','id','status','style'],'shelved','/shop/matrices/'+m['id']))
    err('dup',s('POST','/matrices','fo',{'face':'Garamond','style':'italic','body_pt':12}),409,'taken')
    err('unknown field',s('POST','/matrices','fo',{'face':'Garamond','style':'italic','body_pt':12,'x':1}),422,'invalid')
    for b in ({'face':'G','style':'italic','body_pt':12},{'face':'G'*41,'style':'italic','body_pt':12},{'face':'Ga','style':'bold','body_pt':12},{'face':'Ga','style':'italic','body_pt':4},{'face':'Ga','style':'italic','body_pt':97},{'face':'Ga','style':'italic','body_pt':'12'},{'face':'Ga','style':'italic','body_pt':12.5},{'face':'Ga','style':'italic','body_pt':True},{'face':'Ga','style':'italic'},[],{'face':None,'style':'italic','body_pt':5}):
        a=s('POST','/matrices','fo',b); err('bad matrix %s'%b,a,422,'invalid'); eq('faults',isinstance(a[1]['faults'],list),True)
    eq('é 40',s('POST','/matrices','fo',{'face':'é'*40,'style':'italic','body_pt':5})[0],201)
    err('no card',s('POST','/matrices'),401,'no_card'); eq('chal',s('POST','/matrices')[2]['WWW-Authenticate'].count('realm="Hollow Lane Type Foundry"'),2)
    err('bad',s('GET','/matrices','nope'),401,'bad_card'); err('bad2',s('GET','/matrices',Authorization='Bearer x'),401,'bad_card')
    eq('both',s('GET','/matrices','fo',Authorization=LOGIN)[0],200); err('both differ',s('GET','/matrices','pr',Authorization=LOGIN),401,'bad_card')
    err('user',s('POST','/matrices','pr',{}),403,'forbidden'); err('user before body',s('POST','/matrices','pr','zzz'),403,'forbidden')
    err('media',s('POST','/matrices','fo','{}'),415,'wrong_type'); err('missing',s('POST','/matrices','fo'),400,'unreadable'); err('json',s('POST','/matrices','fo','{',Content_Type='application/json'),400,'unreadable')
    err('media2',s('POST','/matrices','fo','{}',Content_Type='application/merge-patch+json'),415,'wrong_type')
    st,b,h=s('GET','/matrices/'+m['id'],'cu'); eq('cust',b,{k:m[k] for k in ('id','face','style','body_pt','status')})
    err('missing',s('GET','/matrices/zz','cu'),404,'not_found'); err('route',s('GET','/nope','cu'),404,'not_found'); err('route2',s.raw('GET','/matrices','cu'),404,'not_found')
    err('405',s('PUT','/matrices','cu'),405,'wrong_method'); eq('allow',s('PUT','/matrices','cu')[2]['Allow'],'GET, HEAD, OPTIONS, POST'); st,b,h=s('OPTIONS','/matrices'); eq('options',(st,h['Allow']),(204,'GET, HEAD, OPTIONS, POST'))
    st,b,h=s('HEAD','/matrices/'+m['id'],'cu'); eq('head',(st,b,int(h['Content-Length'])>10),(200,b'',True))
    # lend
    p='/matrices/%s/'%m['id']
    err('scope',s('POST',p+'lend','pr0',{'days':3}),403,'forbidden'); err('cust',s('POST',p+'lend','cu',{'days':3}),403,'forbidden')
    for b in ({},{'days':0},{'days':61},{'days':'3'}): err('lend %s'%b,s('POST',p+'lend','pr',b),422,'invalid')
    err('takeback shelved',s('POST',p+'take-back','fo'),409,'wrong_state'); err('takeback unlent pr',s('POST',p+'take-back','pr'),403,'forbidden')
    st,b,h=s('POST',p+'lend','pr',{'days':3,'extra':1}); eq('lend',(st,b['borrower'],b['house'],b['status']),(200,'pr-kelm','kelm','lent'))
    eq('lend rate',(h['X-RateLimit-Limit']),'10')
    err('relend',s('POST',p+'lend','pr2',{'days':3}),409,'not_on_shelf'); err('house',s('POST',p+'take-back','pr2'),403,'forbidden')
    eq('cust sees',sorted(s('GET','/matrices/'+m['id'],'cu')[1]),['body_pt','face','id','status','style'])
    eq('due',s.adv('P3DT1S')[0],200); eq('overdue',s('GET','/matrices/'+m['id'],'pr')[1]['status'],'overdue')
    st,b,_=s('POST',p+'take-back','prj'); eq('back',(st,b['status']),(200,'shelved'))
    ms=[s.matrix() for _ in range(4)]
    for x in ms[:3]: eq('lend3',s('POST','/matrices/%s/lend'%x['id'],'pr',{'days':60})[0],200)
    a=s('POST','/matrices/%s/lend'%ms[3]['id'],'pr',{'days':60}); err('rows',a,429,'used_up'); eq('no ra',a[2].get('Retry-After'),None)
    # list
    st,b,h=s('GET','/matrices?take=2','pr'); eq('page',(st,len(b['matrices']),sorted(b)),(200,2,['after','matrices'])); ids=[x['face'] for x in b['matrices']]
    while b['after']:
        st,b,_=s('GET','/matrices?take=2&after='+b['after'],'pr'); ids+=[x['face'] for x in b['matrices']]
    eq('all',ids,sorted(ids)); eq('n',len(ids),6)
    cur=s('GET','/matrices?take=2','pr')[1]['after']
    err('cursor other',s('GET','/matrices?take=2&style=roman&after='+cur,'pr'),400,'bad_page'); err('cursor',s('GET','/matrices?after=zz','pr'),400,'bad_page')
    eq('clamp',s('GET','/matrices?take=500','pr')[0],200); err('take0',s('GET','/matrices?take=0','pr'),400,'bad_page'); err('skip',s('GET','/matrices?skip=0','pr'),400,'bad_parameter')
    err('unk',s('GET','/matrices?x=0','pr'),400,'bad_parameter'); err('style',s('GET','/matrices?style=x','pr'),400,'bad_parameter'); err('borrower',s('GET','/matrices?borrower=pr-kelm','cu'),400,'bad_parameter')
    eq('borrower',len(s('GET','/matrices?borrower=pr-kelm','pr')[1]['matrices']),4); eq('status',len(s('GET','/matrices?status=lent,overdue','cu')[1]['matrices']),3); eq('max',len(s('GET','/matrices?max_pt=11','cu')[1]['matrices']),1)
    eq('sort',s('GET','/matrices?sort=-body_pt&take=1','cu')[1]['matrices'][0]['face'],'Garamond'); err('sort',s('GET','/matrices?sort=status','cu'),400,'bad_parameter'); err('twice',s('GET','/matrices?style=roman&style=roman','cu'),400,'bad_parameter')
    # founts
    st,f,h=s('POST','/founts','cu',{'matrix':m['id'],'weight_kg':2.5,'alloy':'foundry'}); eq('fount',(st,f['price_pence'],f['proofs'],f['status'],f['customer']),(201,5500,0,'drafted','cu-aldine'))
    err('ref',s('POST','/founts','cu',{'matrix':'mtx_nope','weight_kg':2.5}),422,'no_reference'); err('w',s('POST','/founts','cu',{'matrix':m['id'],'weight_kg':0.4}),422,'invalid'); eq('w.5',s('POST','/founts','cu',{'matrix':m['id'],'weight_kg':0.5})[1]['alloy'],'monotype')
    err('country',s('POST','/founts','cu',{'matrix':m['id'],'weight_kg':2.5,'ship_to':{'town':'Ab','country':'XX'}}),422,'invalid')
    a=s('POST','/founts','cu',{'matrix':m['id'],'weight_kg':2.5,'ship_to':{'town':'Ab'}}); err('country',a,422,'invalid'); eq('path',a[1]['faults'][0]['path'],'ship_to.country')
    F='/founts/'+f['id']; err('other',s('GET',F,'cu2'),404,'not_found'); err('printer',s('GET',F,'pr'),403,'forbidden'); err('noaddr',s('POST',F+'/place','cu'),409,'no_address')
    st,b,h=s('GET',F,'cu'); tag=h['ETag']; eq('304',s('GET',F,'cu',If_None_Match=tag)[0],304); eq('founder tag',s('GET',F,'fo')[2]['ETag'],tag)
    err('428',s('PATCH',F,'cu',{}),428,'tag_missing'); err('412',s('PATCH',F,'cu',{},If_Match='"x"'),412,'changed'); err('412w',s('PATCH',F,'cu',{},If_Match='W/'+tag),412,'changed'); err('fo',s('PATCH',F,'fo',{},If_Match=tag),403,'forbidden')
    time.sleep(.01); st,b,h=s('PATCH',F,'cu',{'weight_kg':2.5,'status':'shipped','price_pence':4},If_Match=tag); eq('noop',(st,b,h['ETag']),(200,f,tag))
    err('imm',s('PATCH',F,'cu',{'matrix':ms[0]['id']},If_Match='*'),422,'invalid'); eq('imm same',s('PATCH',F,'cu',{'matrix':m['id']},If_Match='*')[0],200); err('null',s('PATCH',F,'cu',{'weight_kg':None},If_Match='*'),422,'invalid'); err('null',s('PATCH',F,'cu',{'alloy':None},If_Match='*'),422,'invalid')
    err('part',s('PATCH',F,'cu',{'ship_to':{'town':'Gent'}},If_Match='*'),422,'invalid')
    st,b,h=s('PATCH',F,'cu',json.dumps({'weight_kg':5,'ship_to':{'town':'Gent','country':'BE'}}),If_Match=tag,Content_Type='application/merge-patch+json'); eq('patch',(st,b['price_pence'],b['weight_kg'],b['updated_at']>f['updated_at']),(200,11000,5,True))
    st,b,h=s('PATCH',F,'cu',{'ship_to':{'town':'Brugge'}},If_Match=h['ETag']); eq('merge',b['ship_to'],{'town':'Brugge','country':'BE'})
    eq('rm',s('PATCH',F,'cu',{'ship_to':None},If_Match='*')[1].get('ship_to'),None); s('PATCH',F,'cu',{'ship_to':{'town':'Brugge','country':'BE'}},If_Match='*')
    # old
    st,b,h=s('GET',F,'cu',**OLD); eq('old',(b.get('weight'),b.get('alloy'),'weight_kg' in b),(5,'hard',False)); eq('oldh',(h['Foundry-Version'],h['Deprecation'],h['Sunset'],h['Link']),('2024-09','@1772323200','Tue, 01 Mar 2033 00:00:00 GMT','<https://hollowlane.example/upgrade>; rel="deprecation", </shop%s>; rel="successor-version"'%F))
    eq('oldtag',h['ETag']!=s('GET',F,'cu')[2]['ETag'],True); err('old tag',s('PATCH',F,'cu',{},If_Match=h['ETag']),412,'changed')
    eq('old patch',s('PATCH',F,'cu',{'weight':6,'alloy':'hard'},If_Match=h['ETag'],**OLD)[1]['weight'],6); err('old unk',s('PATCH',F,'cu',{'weight_kg':6},If_Match='*',**OLD),422,'invalid'); err('old alloy',s('PATCH',F,'cu',{'alloy':'foundry'},If_Match='*',**OLD),422,'invalid')
    err('scrap old',s('POST',F+'/scrap','cu',**OLD),404,'not_found'); err('ver',s('GET',F,'cu',Foundry_Version='1'),400,'no_version'); a=s('GET',F,'cu',Foundry_Version='2023-04'); err('sunset',a,410,'old_version'); eq('ver first',s('GET','/nope','cu',Foundry_Version='1')[0],404)
    eq('filter old',len(s('GET','/founts?alloy=hard','cu',**OLD)[1]['rows']),1); err('filter old',s('GET','/founts?alloy=foundry','cu',**OLD),400,'bad_parameter'); err('filter',s('GET','/founts?alloy=hard','cu'),400,'bad_parameter'); eq('min',s('GET','/founts?min_kg=6','cu')[1]['total'],1)
    # hooks
    hear=Hear(); st,k,h=s('POST','/hooks','cu',{'url':hear.url}); eq('hook',(st,sorted(k)),(201,['enabled','id','owner','secret','url'])); eq('hook get','secret' in s('GET','/hooks/'+k['id'],'cu')[1],False); err('hook other',s('GET','/hooks/'+k['id'],'pr'),404,'not_found')
    hold=Hear(); s('POST','/hooks','cu',{'url':hold.url,'kinds':['fount.*','invoice.raised']},**OLD); hf=Hear(lambda n:(500,{})); _,kf,_=s('POST','/hooks','fo',{'url':hf.url,'kinds':['proof.pulled','fount.placed']})
    for u in ('x','ftp://a/b','http://','a b'): err('url '+u,s('POST','/hooks','cu',{'url':u}),422,'invalid')
    err('kind',s('POST','/hooks','cu',{'url':hear.url,'kinds':['x.y']}),422,'invalid'); err('kinds',s('POST','/hooks','cu',{'url':hear.url,'kinds':[]}),422,'invalid')
    eq('place',s('POST',F+'/place','cu')[1]['status'],'placed'); err('again',s('POST',F+'/place','cu'),409,'wrong_state'); err('patch placed',s('PATCH',F,'cu',{},If_Match='*'),409,'wrong_state'); err('412 first',s('PATCH',F,'cu',{'x':1},If_Match='"q"'),412,'changed'); err('422 first',s('PATCH',F,'cu',{'x':1},If_Match='*'),422,'invalid')
    g=hear.wait(1); eq('event',(g[0]['kind'],g[0]['about']['weight_kg'],sorted(g[0])),('fount.placed',6,['about','at','event','kind'])); eq('old event',(hold.wait(1)[0]['about']['weight'],hold.wait(1)[0]['event']),(6,g[0]['event']))
    hd,body=hear.got[0]; t=hd['Foundry-Seal'].split(',')[0][2:]; eq('seal',hd['Foundry-Seal'],'t=%s,v1=%s'%(t,hmac.new(k['secret'].encode(),t.encode()+b'.'+body,hashlib.sha256).hexdigest())); eq('xh',hd['X-Foundry-Event'],'fount.placed')
    hf.wait(1); time.sleep(.1)
    d=s.fount(); err('not placed',s('POST','/founts/%s/proofs'%d['id'],'fo',{'sheet':'x'}),409,'not_placed')
    st,pf,h=s('POST',F+'/proofs','fo',{'sheet':'ABC'}); eq('proof',(st,pf['round'],pf['fount'],pf['status']),(201,1,f['id'],'pulled')); err('taken',s('POST',F+'/proofs','fo',{'sheet':'ABC'}),409,'taken'); err('parent',s('POST','/founts/zz/proofs','fo',{'sheet':'ABC'}),404,'not_found'); err('bound',s('POST',F+'/proofs','fo',{'sheet':'ABC','fount':d['id']}),422,'invalid')
    eq('derive',s('GET',F,'cu')[1]['proofs'],1); eq('expand',s('GET','/proofs/%s?expand=fount'%pf['id'],'cu')[1]['fount']['id'],f['id']); err('expand',s('GET','/proofs/%s?expand=x'%pf['id'],'cu'),400,'bad_parameter'); err('list other',s('GET',F+'/proofs','cu2'),404,'not_found'); err('read other',s('GET','/proofs/'+pf['id'],'cu2'),404,'not_found')
    err('sb',s('POST','/proofs/%s/send-back'%pf['id'],'cu',{'remarks':'no'}),422,'invalid'); st,b,_=s('POST','/proofs/%s/send-back'%pf['id'],'cu',{'remarks':'nope'}); eq('sb',(b['status'],b['remarks']),('sent_back','nope')); err('appr',s('POST','/proofs/%s/approve'%pf['id'],'cu'),409,'wrong_state')
    st,p2,_=s('POST',F+'/proofs','fo',{'sheet':'ABD'}); eq('round',p2['round'],2); eq('order',[x['round'] for x in s('GET',F+'/proofs','cu')[1]['rows']],[2,1]); eq('appr',s('POST','/proofs/%s/approve'%p2['id'],'cu')[1]['status'],'approved'); eq('ready',s('GET',F,'cu')[1]['status'],'ready'); err('scrap',s('POST',F+'/scrap','cu'),409,'too_late')
    eq('answered',[x['about'] for x in hear.wait(5) if x['kind']=='proof.answered'],[{'proof':pf['id'],'round':1,'verdict':'sent_back'},{'proof':p2['id'],'round':2,'verdict':'approved'}])
    eq('ship',s('POST',F+'/ship','fo')[1]['status'],'shipped'); inv=s('GET','/invoices','cu')[1]; eq('inv',(inv['total'],inv['more'],inv['rows'][0]['amount'],inv['rows'][0]['number'],inv['rows'][0]['payer']),(1,False,13200,'INV-00001','cu-aldine')); i=inv['rows'][0]['id']
    eq('inv old',s('GET','/invoices/'+i,'cu',**OLD)[1]['amount'],132.0); eq('ev old',[x['about']['amount'] for x in hold.wait(2) if x['kind']=='invoice.raised'],[132.0]); err('inv other',s('GET','/invoices/'+i,'pr'),404,'not_found'); err('pay fo',s('POST','/invoices/%s/pay'%i,'fo'),403,'forbidden')
    # retries: hf got fount.placed once, then 10s, 2m, 1h
    n=len([1 for _,b in hf.got if b'fount.placed' in b]); s.adv('PT11S'); n2=len([1 for _,b in hf.got if b'fount.placed' in b]); s.adv('PT2M1S'); n3=len([1 for _,b in hf.got if b'fount.placed' in b]); s.adv('PT1H1S'); s.adv('PT3H'); n4=len([1 for _,b in hf.got if b'fount.placed' in b]); eq('tries',(n,n2,n3,n4),(1,2,3,4))
    eq('same',len({json.loads(b)['event'] for _,b in hf.got if b'fount.placed' in b}),1)
    s.adv('P3D'); pl=s.placed(); time.sleep(.2); eq('disabled',s('GET','/hooks/'+kf['id'],'fo')[1]['enabled'],False)
    s.adv('P26D'); eq('overdue inv',s('GET','/invoices/'+i,'cu')[1]['status'],'open' if 0 else s('GET','/invoices/'+i,'cu')[1]['status']); s.adv('P2D'); eq('overdue inv',s('GET','/invoices/'+i,'cu')[1]['status'],'overdue'); eq('falling',len([x for x in hear.wait(8) if x['kind']=='invoice.falling_due']),1)
    eq('pay',s('POST','/invoices/%s/pay'%i,'cu')[1]['status'],'paid'); err('pay2',s('POST','/invoices/%s/pay'%i,'cu'),409,'wrong_state')
    pf=s.placed(); pp=s('POST','/founts/%s/proofs'%pf['id'],'fo',{'sheet':'A'})[1]; s('POST','/founts/%s/scrap'%pf['id'],'cu'); err('act refused',s('POST','/proofs/%s/approve'%pp['id'],'cu'),409,'wrong_state'); eq('rolled back',s('GET','/proofs/'+pp['id'],'cu')[1]['status'],'pulled'); s.adv('PT2M')
    err('held',s('DELETE','/matrices/'+m['id'],'fo'),409,'in_use'); x=s.matrix(); eq('del',s('DELETE','/matrices/'+x['id'],'fo')[:2],(204,b'')); err('del2',s('DELETE','/matrices/'+x['id'],'fo'),404,'not_found')
    # bookings
    t=lambda d: time.strftime('%Y-%m-%dT%H:%M:%S',time.gmtime(time.time()+86400*365*2+d*3600))+'Z'
    st,b,h=s('POST','/bookings','pr',{'press':'albion','starts_at':t(0)}); eq('bk',(st,b['hours'],b['cost_pence'],b['starts_at']),(201,2,3000,t(0))); bk=b['id']
    err('bk dup',s('POST','/bookings','pr2',{'press':'albion','starts_at':t(1)[:-1]+'+01:00'}),409,'taken'); err('zone',s('POST','/bookings','pr2',{'press':'albion','starts_at':t(0)[:-1]}),422,'invalid'); err('scope',s('POST','/bookings','pr0',{}),403,'forbidden')
    err('early',s('POST','/bookings/%s/work'%bk,'fo'),409,'too_early'); err('cancel other',s('POST','/bookings/%s/cancel'%bk,'pr2'),403,'forbidden'); 
    for d in (1,2,3): eq('bk',s('POST','/bookings','pr',{'press':'heidelberg','starts_at':t(d),'hours':10})[1].get('cost_pence'),24000)
    err('rows',s('POST','/bookings','pr',{'press':'heidelberg','starts_at':t(9)}),429,'used_up'); eq('cancel',s('POST','/bookings/%s/cancel'%bk,'pr')[1]['status'],'cancelled'); err('cancel2',s('POST','/bookings/%s/cancel'%bk,'pr'),409,'too_late')
    past='2026-01-01T10:00:00+01:00'; st,b,_=s('POST','/bookings','pr',{'press':'columbian','starts_at':past}); eq('past',(st,b['starts_at']),(201,past)); eq('work',s('POST','/bookings/%s/work'%b['id'],'fo')[1]['status'],'worked'); eq('pinv',s('GET','/invoices','pr')[1]['rows'][0]['amount'],3000)
    eq('from',s('GET','/bookings?from='+t(2),'fo')[1]['total'],2); err('from',s('GET','/bookings?from=x','fo'),400,'bad_parameter'); s.adv('P7DT1M'); eq('lapsed',s('GET','/bookings?status=lapsed','fo')[1]['total'],3)
    # idem
    b={'press':'columbian','starts_at':t(50)}; a1=s('POST','/bookings','pr',b,Idempotency_Key='k1'); a2=s('POST','/bookings','pr',b,Idempotency_Key='k1'); eq('idem',(a1[:2],a1[2]['Location']),(a2[:2],a2[2]['Location'])); err('reused',s('POST','/bookings','pr',b|{'hours':3},Idempotency_Key='k1'),422,'key_reused'); eq('other caller',s('POST','/bookings','pr2',b|{'hours':3},Idempotency_Key='k1')[1]['error'],'taken'); s.adv('P1DT1S'); err('after',s('POST','/bookings','pr',b,Idempotency_Key='k1'),409,'taken')
    a1=s('POST','/hooks','pr',{'url':hear.url},Idempotency_Key='h'); a2=s('POST','/hooks','pr',{'url':hear.url},Idempotency_Key='h'); eq('once',('secret' in a1[1],'secret' in a2[1],a1[1]['id']==a2[1]['id']),(True,False,True)); eq('del hook',s('DELETE','/hooks/'+a1[1]['id'],'pr')[0],204)
    a1=s('POST','/founts/%s/place'%s.fount('cu')['id'],'cu',Idempotency_Key='z')
    # paper
    P='/papers/LAID-100'; pb={'name':'Zerkall','gsm':100,'sheets':50}
    err('403',s('PUT',P,'pr',pb),403,'forbidden'); err('401',s('PUT',P,None,pb),401,'no_card'); st,b,h=s('PUT',P,'fo',pb); eq('put',(st,b,h['Location']),(201,pb|{'code':'LAID-100','finish':'wove'},'/shop/papers/LAID-100')); eq('put2',s('PUT',P,'fo',pb|{'finish':'laid'})[0],200)
    eq('anon',s('GET',P)[1],{'code':'LAID-100','name':'Zerkall','gsm':100,'finish':'laid'}); eq('pr',s('GET',P,'pr')[1]['sheets'],50); err('bad anon',s('GET',P,'nope'),401,'bad_card'); eq('public',s('GET','/papers','nope')[0],200); eq('nosheets','sheets' in s('GET','/papers','fo')[1]['rows'][0],False)
    eq('old',s('GET',P,**OLD)[1],{'code':'LAID-100','name':'Zerkall','gsm':100,'mill':'unnamed'}); s('PUT',P,'fo',pb|{'mill':'x','name':'Zork'},**OLD); eq('kept',s('GET',P)[1]['finish'],'laid'); eq('old new',s('PUT','/papers/AA-11','fo',pb|{'mill':'x'},**OLD)[0],201); eq('coated',s('GET','/papers/AA-11')[1]['finish'],'coated'); err('mill',s('PUT',P,'fo',pb|{'mill':'x'}),422,'invalid'); err('finish',s('PUT',P,'fo',pb|{'finish':'laid'},**OLD),422,'invalid')
    a=s('PUT',P,'fo',pb|{'finish':'laid','gsm':301}); err('rule',a,422,'invalid'); eq('rp',a[1]['faults'][0]['path'],'finish'); err('code',s('PUT','/papers/zz','fo',pb),422,'invalid'); err('code2',s('PUT',P,'fo',pb|{'code':'AA-22'}),422,'invalid'); eq('name',s('GET','/papers?name=zORK')[1]['total'],1); err('p',s('GET','/papers?take=101'),400,'bad_page'); eq('skip',s('GET','/papers?skip=99')[1],{'rows':[],'total':2,'more':False}); eq('more',s('GET','/papers?take=1')[1]['more'],True)
    eq('del',s('DELETE',P,'fo')[0],204); err('gone',s('GET',P),410,'gone'); err('gone2',s('DELETE',P,'fo'),410,'gone'); eq('again',s('PUT',P,'fo',pb)[0],201); s('DELETE',P,'fo'); s.adv('P30DT1S'); err('buried',s('GET',P),404,'not_found')
    # sizes
    pad=lambda n: json.dumps(pb)[:-1]+' '*(n-len(json.dumps(pb)))+'}'
    eq('8192',s('PUT',P,'fo',pad(8192),Content_Type='application/json')[0],201); err('8193',s('PUT',P,'fo',pad(8193),Content_Type='application/json'),413,'too_large')
    u='/papers?name='; eq('2048',s('GET',u+'a'*(2048-len('/shop'+u)))[0],200); err('2049',s('GET',u+'a'*(2049-len('/shop'+u))),414,'url_too_long')
    def rawh(total):
        c=socket.create_connection(('127.0.0.1',s.p)); base='Host: x\r\nX-Pad: '; head=base+'a'*(total-len(base)-2)+'\r\n'; c.sendall(('GET /shop/papers HTTP/1.1\r\n'+head+'\r\n').encode()); r=c.recv(99999).decode(); c.close(); return r.split(' ')[1]
    eq('hdr',(rawh(8192),rawh(8193)),('200','431'))
    # rates
    s.adv('PT2H'); st,b,h=s('GET','/invoices','cu'); eq('rate',(h['X-RateLimit-Limit'],h['X-RateLimit-Remaining'],h['X-RateLimit-Reset']),('240','239','60'))
    for n in range(239): st=s('GET','/invoices','cu')[0]
    eq('st',st,200); a=s('GET','/invoices','cu'); err('240',a,429,'slow_down'); print('ra',a[2]['Retry-After'],a[2]['X-RateLimit-Reset']); eq('other',s('GET','/invoices','cu2')[0],200); s.adv('PT61S'); eq('again',s('GET','/invoices','cu')[0],200)
    for n in range(8):
        a=s('POST','/matrices/%s/lend'%m['id'],'prj',{'days':0})
    h=a[2]; eq('lend left',(h['X-RateLimit-Limit'],h['X-RateLimit-Remaining']),('10','2'))
    for n in range(3): a=s('POST','/matrices/%s/lend'%m['id'],'prj',{'days':0})
    err('lend rate',a,429,'slow_down'); s.adv('PT10M1S')
    for n in range(13): a=s('POST','/bookings','pr2',{})
    err('bucket',a,429,'slow_down'); eq('bucket',(a[2]['Retry-After'],a[2]['X-RateLimit-Remaining']),('300','0')); s.adv('PT5M'); err('refilled',s('POST','/bookings','pr2',{}),422,'invalid'); err('empty',s('POST','/bookings','pr2',{}),429,'slow_down')
    t0=time.time()
    for n in range(200): s('GET','/papers/AA-11')
    print('ms each',(time.time()-t0)*5)
    err('xsite',s('POST','/matrices','login',{},Sec_Fetch_Site='cross-site'),403,'forbidden')
    eq('clock',(s.clock({'now':'2020-01-01T00:00:00Z'})[0],s.clock({'x':1})[0],s.clock(None)[0]),(422,400,200))
    for n in range(41): 
        if n%30==0: s.adv('PT61S') if n else s.clock({'now':s.clock(None)[1]['now'][:11].replace('T','T')+'23:00:00Z'}) if s.clock(None)[1]['now'][11:13]<'23' else s.adv('PT3H')
        a=s('POST','/founts','cu2',{'matrix':m['id'],'weight_kg':1})
    print('quota',a[0],a[1],a[2].get('Retry-After'))
    s.adv('PT1H1M'); 
    c=socket.create_connection(('127.0.0.1',s.p)); c.sendall(b'POST /shop/founts HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{'); t0=time.time(); r=c.recv(9999); eq('408',(r.split(b' ')[1],4.5<time.time()-t0<5.6),(b'408',True))
    s.adv('P8Y'); eq('old sunset',s('GET','/papers',**OLD)[0],410); eq('fine',s('GET','/papers')[0],200)
    s.stop(); print('wrong:',bad)
if __name__=='__main__': main()
