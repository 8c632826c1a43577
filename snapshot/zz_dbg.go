package snapshot
import ("fmt";"math";"sort";"os")
func (s *Statistics) Dump(r *Registry, frames int) {
 t:=r.tab; m:=map[string]float64{}
 for i,n:=range s.flags { c:=0.0; for b:=range 2 { p:=float64(t.probs[i]); if b==1 {p=4096-p}; c+=float64(n[b])*math.Log2(4096/p) }
  k:=""; switch { case i<ctxComponent: k=fmt.Sprint("ctx",i); case i<ctxExpected: k="component"; case i<ctxUnit: k="expected"; case i<ctxRank: k=fmt.Sprint("unit",(i-ctxUnit)/12); case i<ctxZero: k="rank"; default: j:=i-ctxZero; row:=j/surprises%rows; z:="motion"; if row>=motionRows {z="short"}; if row>=rowBit {z="bit"}; k=fmt.Sprint("zero",j/surprises/rows,z) }
  m[k]+=c }
 for i:=range s.symbols { b:=&t.books[t.bookOf[i]]; row:=i/surprises%rows; z:="motion"; if row>=motionRows {z="short"}
  tot:=0.0; for _,n:=range s.symbols[i] {tot+=float64(n)}
  for k,n:=range s.symbols[i] { if n==0 {continue}; l:=float64(b.lengths[k]); e:=0.0; if k!=symEscape && l>0 { if k/2>=directSymbols { e=float64((k/2-directSymbols)/2+2) } } else { l=float64(b.lengths[symEscape]); e=20 }
   key:=fmt.Sprint("val",i/surprises/rows,z); m[key]+=float64(n)*(l+e); m[key+"-ideal"]+=float64(n)*(math.Log2(tot/float64(n))+e) } }
 var ks []string; for k:=range m {ks=append(ks,k)}; sort.Strings(ks)
 sum:=0.0
 for _,k:=range ks { if m[k]>0 {fmt.Fprintf(os.Stderr,"%s %.2f\n",k,m[k]*60/1000/float64(frames))}; if len(k)<6||k[len(k)-5:]!="ideal" {sum+=m[k]} }
 fmt.Fprintf(os.Stderr,"sum %.2f\n",sum*60/1000/float64(frames))
}
